//! The tokens that a run used.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Usage;

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Tokens {
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

impl Tokens {
    pub(super) fn of(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            output_tokens: usage.output_tokens,
            reasoning_output_tokens: usage.reasoning_output_tokens,
        }
    }

    /// `1200 in (1000 from the cache), 300 out (200 for reasoning)`.
    pub(super) fn line(&self) -> String {
        let Self { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens } = self;
        format!(
            "{input_tokens} in ({cached_input_tokens} from the cache), \
             {output_tokens} out ({reasoning_output_tokens} for reasoning)"
        )
    }
}
