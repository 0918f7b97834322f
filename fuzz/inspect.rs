//! The fuzz target `inspect` for reading long files. Its checks are in `tests/inspect/invariants.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_delegator::fuzz_inspect(bytes));
