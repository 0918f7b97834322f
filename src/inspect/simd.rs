//! Runs loops that the compiler vectorizes with the instructions that this processor has, not only with those
//! that all processors of its architecture have.

/// `work` must be one short loop over bytes: then it is inlined and processes many of them at once. A loop
/// too long to be inlined gains nothing (the one in `control_bytes.rs` took twice as long) and needs its own
/// function of this kind.
pub(super) fn wide<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { with_avx2(work) };
    }
    work()
}
