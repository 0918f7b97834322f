#[test]
fn outside_adds() {
    assert_eq!(sample::next(3), 4);
}

#[test]
#[should_panic]
fn outside_overflows() {
    let _ = sample::next(u32::MAX);
}
