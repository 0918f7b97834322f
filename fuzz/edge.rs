//! Feeds libFuzzer's inputs to the edge of the protocol. What must hold is in `src/mcp/protocol/fuzz_edge.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_delegator::fuzz_edge(bytes));
