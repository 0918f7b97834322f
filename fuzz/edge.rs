//! The fuzz target `edge` for the protocol layer. Its checks are in
//! `tests/mcp/fuzz_edge.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_delegator::fuzz_edge(bytes));
