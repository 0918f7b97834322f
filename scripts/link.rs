//! Links the program to fixed addresses.
//!
//! Wherever else the system may load it, 13,000 addresses in its tables have
//! to be written first, which dirties 80 pages: a third of what every start
//! takes, and memory that each process of ours then holds by itself. Stack,
//! heap and libraries stay where chance puts them.

// Cargo tells and is told in no other way.
#[expect(clippy::disallowed_methods, clippy::print_stdout)]
fn main() {
    println!("cargo::rerun-if-changed=scripts/link.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
