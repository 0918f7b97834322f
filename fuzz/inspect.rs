//! Feeds libFuzzer's inputs to what reads long files. What must hold is in `src/inspect/invariants.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_delegator::fuzz_inspect(bytes));
