//! Two tests pass, one fails, one is ignored; one example passes.

/// Adds one.
///
/// ```
/// assert_eq!(sample::next(1), 2);
/// ```
pub fn next(n: u32) -> u32 {
    n + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        println!("test result: ok. 99 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        assert_eq!(next(1), 2);
    }

    #[test]
    fn adds_again() {
        eprintln!("5 steps, 5 passed");
        assert_eq!(next(2), 3);
    }

    #[test]
    fn breaks() {
        assert_eq!(next(1), 3, "on purpose");
    }

    #[test]
    #[ignore = "slow"]
    fn waits() {}
}
