//! Links the program to fixed addresses, with the C library in it.
//!
//! Wherever else the system may load it, 13,000 addresses in its tables have
//! to be written first, which dirties 80 pages: a third of what every start
//! takes, and memory that each process of ours then holds by itself. Another
//! quarter is spent on finding three shared libraries and what is wanted of
//! them. Stack and heap stay where chance puts them.

// Cargo tells and is told in no other way.
#![expect(clippy::disallowed_methods, clippy::print_stdout)]

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the linker is asked for, and what it is to find: the compiler asks for
/// the shared half of the one library that has two.
const LIBRARIES: [(&str, &str); 8] = [
    ("c", "c"),
    ("dl", "dl"),
    ("gcc", "gcc"),
    ("gcc_s", "gcc_eh"),
    ("m", "m"),
    ("pthread", "pthread"),
    ("rt", "rt"),
    ("util", "util"),
];

fn main() {
    println!("cargo::rerun-if-changed=scripts/link.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let Some(out) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    // Where one is not installed, or somebody else links or for another machine, all stay shared.
    let is_own = std::env::var("HOST") == std::env::var("TARGET");
    let is_usual = std::env::var("RUSTC_LINKER").map_or(true, |linker| linker == "cc");
    if is_own && is_usual && LIBRARIES.iter().all(|(asked, found)| offer(&out, asked, found).is_ok()) {
        println!("cargo::rustc-link-arg-bins=-L{}", out.display());
        println!("cargo::rustc-link-arg-bins=-static");
    }
}

/// Lets the linker find a library that goes into the program under the name
/// that it is asked for.
fn offer(dir: &Path, asked: &str, found: &str) -> io::Result<()> {
    let answer = Command::new("cc").arg(format!("-print-file-name=lib{found}.a")).output()?;
    let path = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    // A name without a directory is the question repeated.
    if !path.is_absolute() {
        return Err(io::ErrorKind::NotFound.into());
    }
    // A link that leads nowhere would be passed over for a shared library.
    println!("cargo::rerun-if-changed={}", path.display());
    let name = dir.join(format!("lib{asked}.a"));
    if fs::symlink_metadata(&name).is_ok() {
        fs::remove_file(&name)?;
    }
    symlink(path, name)
}
