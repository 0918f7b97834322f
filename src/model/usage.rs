//! Token usage as reported by an agent.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: u64,
    pub(crate) cached_input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) reasoning_output_tokens: u64,
}

impl Usage {
    /// The usage since `earlier`, for agents that report a thread's total.
    ///
    /// `None` if the total fell: then the two belong to different threads.
    pub(crate) fn since(self, earlier: Usage) -> Option<Usage> {
        Some(Usage {
            input_tokens: self.input_tokens.checked_sub(earlier.input_tokens)?,
            cached_input_tokens: self.cached_input_tokens.checked_sub(earlier.cached_input_tokens)?,
            output_tokens: self.output_tokens.checked_sub(earlier.output_tokens)?,
            reasoning_output_tokens: self
                .reasoning_output_tokens
                .checked_sub(earlier.reasoning_output_tokens)?,
        })
    }

    /// The share of the input that came from the cache, 0 to 1.
    pub(crate) fn cache_hit_rate(self) -> Option<f64> {
        (self.input_tokens > 0).then(|| (self.cached_input_tokens as f64 / self.input_tokens as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input: u64, cached: u64) -> Usage {
        Usage { input_tokens: input, cached_input_tokens: cached, ..Usage::default() }
    }

    #[test]
    fn a_resumed_thread_costs_the_difference() {
        assert_eq!(used(2400, 400).since(used(1200, 200)), Some(used(1200, 200)));
    }

    #[test]
    fn a_total_that_fell_gives_no_figure() {
        assert_eq!(used(100, 0).since(used(1200, 0)), None);
    }

    #[test]
    fn no_input_has_no_hit_rate() {
        assert_eq!(used(0, 0).cache_hit_rate(), None);
        assert_eq!(used(200, 50).cache_hit_rate(), Some(0.25));
    }
}
