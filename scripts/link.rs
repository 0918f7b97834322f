//! Links the program statically and at fixed addresses.
//!
//! A relocatable program must first write 13,000 addresses in its tables, which dirties 80 pages: a
//! third of the start-up time, and private memory of every process. Loading three shared libraries
//! takes another quarter. The addresses of stack and heap stay random.

// Cargo's interface to build scripts.
#![expect(clippy::disallowed_methods, clippy::print_stdout)]

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries that the linker asks for, and the static ones to use. The compiler asks for the shared
/// half of the only library that has two.
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
    // If one is missing, or for another linker or target machine, all stay shared.
    let is_own = std::env::var("HOST") == std::env::var("TARGET");
    let is_usual = std::env::var("RUSTC_LINKER").map_or(true, |linker| linker == "cc");
    if is_own && is_usual && LIBRARIES.iter().all(|(asked, found)| offer(&out, asked, found).is_ok()) {
        println!("cargo::rustc-link-arg-bins=-L{}", out.display());
        println!("cargo::rustc-link-arg-bins=-static");
    }
}

/// Makes a static library available under the name that the linker asks for.
fn offer(dir: &Path, asked: &str, found: &str) -> io::Result<()> {
    let answer = Command::new("cc").arg(format!("-print-file-name=lib{found}.a")).output()?;
    let path = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    // The compiler repeats a name that it does not find.
    if !path.is_absolute() {
        return Err(io::ErrorKind::NotFound.into());
    }
    // The linker would skip a dangling link and use a shared library.
    println!("cargo::rerun-if-changed={}", path.display());
    let name = dir.join(format!("lib{asked}.a"));
    if fs::symlink_metadata(&name).is_ok() {
        fs::remove_file(&name)?;
    }
    symlink(path, name)
}
