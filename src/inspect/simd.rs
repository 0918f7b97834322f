//! Runs loops that the compiler makes vectors of with those that the processor
//! has, not with those that every processor of its kind has.

/// `work` has to be one short loop over bytes: then it is inlined, and takes
/// many of them at once. One that is too long to be inlined gains nothing (that
/// of `unlike.rs` took twice as long) and needs such a function of its own.
pub(super) fn wide<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { with_avx2(work) };
    }
    work()
}
