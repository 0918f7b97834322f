//! Distributes numbered work over threads and returns the results in order. The caller works too while it
//! waits for the next result, and nobody gets further ahead than results can be stored.

use std::collections::VecDeque;
use std::iter;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many pieces of work may have been started beyond the next result: their results have to be stored,
/// however long that one takes.
const AHEAD: u64 = 8;

/// Runs `walk` with the results of pieces `0..pieces`, computed by up to this many threads, each with its own
/// value from `hand`. The results end early before a piece without one, and everything ends with `walk`.
pub(super) fn share_out<T: Send, H: FnMut(u64) -> Option<T>, W>(
    threads: usize,
    pieces: u64,
    hand: impl Fn() -> H + Sync,
    walk: impl FnOnce(&mut dyn Iterator<Item = T>) -> W,
) -> W {
    let shared = Shared::new(pieces);
    thread::scope(|scope| {
        // Also if `walk` panics, no thread keeps waiting.
        let _end = Ending(&shared);
        for _ in 1..threads {
            // A thread that cannot be started leaves its work to the others.
            let _ = thread::Builder::new().spawn_scoped(scope, || shared.work(&mut hand()));
        }
        let mut own = None;
        walk(&mut iter::from_fn(|| shared.next(|piece| own.get_or_insert_with(&hand)(piece))))
    })
}

struct Shared<T> {
    order: Mutex<Order<T>>,
    /// There is a result, or no more are coming.
    ready: Condvar,
    /// There is work, or no more is coming.
    room: Condvar,
}

impl<T> Shared<T> {
    fn new(pieces: u64) -> Self {
        Self { order: Mutex::new(Order::new(pieces)), ready: Condvar::new(), room: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Order<T>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, hand: &mut impl FnMut(u64) -> Option<T>) {
        let mut order = self.lock();
        while !order.is_all_begun() {
            if let Some(piece) = order.begin() {
                drop(order);
                self.do_one(piece, hand);
                order = self.lock();
            } else {
                order.idle += 1;
                order = self.room.wait(order).unwrap_or_else(PoisonError::into_inner);
                order.idle -= 1;
            }
        }
    }

    fn next(&self, mut hand: impl FnMut(u64) -> Option<T>) -> Option<T> {
        let mut order = self.lock();
        loop {
            if let Some(done) = order.hand_over() {
                // A notification costs as much without a waiter.
                let is_idle = order.idle > 0;
                drop(order);
                if is_idle {
                    self.room.notify_one();
                }
                return Some(done);
            }
            if order.is_over() {
                return None;
            }
            if let Some(piece) = order.begin() {
                drop(order);
                self.do_one(piece, &mut hand);
                order = self.lock();
            } else {
                order.is_awaited = true;
                order = self.ready.wait(order).unwrap_or_else(PoisonError::into_inner);
                order.is_awaited = false;
            }
        }
    }

    fn do_one(&self, piece: u64, hand: &mut impl FnMut(u64) -> Option<T>) {
        let mut begun = Begun { shared: self, piece, done: None };
        begun.done = hand(piece);
    }
}

/// A piece that is being worked on; reports its end when dropped, also after a panic.
struct Begun<'a, T> {
    shared: &'a Shared<T>,
    piece: u64,
    done: Option<T>,
}

impl<T> Drop for Begun<'_, T> {
    fn drop(&mut self) {
        let mut order = self.shared.lock();
        match self.done.take() {
            Some(done) => order.finish(self.piece, done),
            None => {
                order.end_at(self.piece);
                self.shared.room.notify_all();
            }
        }
        let is_awaited = order.is_awaited && (order.is_next_done() || order.is_over());
        drop(order);
        if is_awaited {
            self.shared.ready.notify_one();
        }
    }
}

struct Ending<'a, T>(&'a Shared<T>);

impl<T> Drop for Ending<'_, T> {
    fn drop(&mut self) {
        self.0.lock().end_at(0);
        self.0.room.notify_all();
    }
}

/// What was started, finished and returned.
struct Order<T> {
    /// The next piece to start, the next to return, and the end.
    begun: u64,
    next: u64,
    end: u64,
    /// The results of the pieces from `next` on.
    done: VecDeque<Option<T>>,
    /// How many threads are idle, and whether someone waits for the next result.
    idle: usize,
    is_awaited: bool,
}

impl<T> Order<T> {
    fn new(end: u64) -> Self {
        Self { begun: 0, next: 0, end, done: VecDeque::new(), idle: 0, is_awaited: false }
    }

    /// The next piece to work on, if there is one now.
    fn begin(&mut self) -> Option<u64> {
        let piece = self.begun;
        let may_begin = piece < self.end && piece < self.next + AHEAD;
        may_begin.then(|| {
            self.begun += 1;
            self.done.push_back(None);
            piece
        })
    }

    fn finish(&mut self, piece: u64, done: T) {
        if let Some(place) = piece.checked_sub(self.next).and_then(|at| self.done.get_mut(at as usize)) {
            *place = Some(done);
        }
    }

    /// No pieces from this one on have results.
    fn end_at(&mut self, piece: u64) {
        self.end = self.end.min(piece);
    }

    fn hand_over(&mut self) -> Option<T> {
        if self.is_over() {
            return None;
        }
        let done = self.done.front_mut()?.take()?;
        self.done.pop_front();
        self.next += 1;
        Some(done)
    }

    fn is_next_done(&self) -> bool {
        matches!(self.done.front(), Some(Some(_)))
    }

    fn is_all_begun(&self) -> bool {
        self.begun >= self.end
    }

    fn is_over(&self) -> bool {
        self.next >= self.end
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_is_done_early_comes_in_order() {
        for threads in [1, 2, 4] {
            let hand = || {
                |piece: u64| {
                    // Some take longer than others.
                    (0..piece % 7 * 1000).for_each(|_| std::hint::spin_loop());
                    Some(piece)
                }
            };
            let handed: Vec<u64> = share_out(threads, 500, hand, |done| done.collect());
            assert_eq!(handed, (0..500).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn one_that_takes_long_keeps_the_others_from_going_far_ahead() {
        // Nobody is left to do more, and the first one is still being done.
        let (all_wait, is_done) = channel::<()>();
        let (began, is_done) = (AtomicU64::new(0), Mutex::new(Some(is_done)));
        let shared = Shared::new(10_000);
        let work = |piece: u64| {
            began.fetch_add(1, Ordering::Relaxed);
            if piece == 0 {
                let wait = is_done.lock().unwrap().take().unwrap();
                let _ = wait.recv();
            }
            Some(piece)
        };
        thread::scope(|scope| {
            // Dropped by a panic as well, lest the first one waits for ever.
            let (_end, all_wait) = (Ending(&shared), all_wait);
            for _ in 0..3 {
                scope.spawn(|| shared.work(&mut { work }));
            }
            // Room is only made by handing over: it cannot become more.
            while began.load(Ordering::Relaxed) < AHEAD {
                thread::yield_now();
            }
            for _ in 0..1000 {
                assert!(shared.lock().done.len() as u64 <= AHEAD);
                thread::yield_now();
            }
            assert_eq!(began.load(Ordering::Relaxed), AHEAD);
            all_wait.send(()).unwrap();
            let handed: Vec<u64> = iter::from_fn(|| shared.next(work)).collect();
            assert_eq!(handed, (0..10_000).collect::<Vec<u64>>());
        });
    }

    #[test]
    fn nothing_comes_after_a_piece_that_came_to_nothing() {
        for threads in [1, 3] {
            let hand = || |piece: u64| (piece != 100).then_some(piece);
            let handed: Vec<u64> = share_out(threads, 500, hand, |done| done.collect());
            assert_eq!(handed, (0..100).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn who_has_enough_or_panics_waits_for_nobody() {
        let hand = || Some;
        let handed: Vec<u64> = share_out(3, u64::MAX, hand, |done| done.take(20).collect());
        assert_eq!(handed.len(), 20);
        let walked = AssertUnwindSafe(|| share_out(3, u64::MAX, hand, |_| panic!("as it is meant")));
        assert!(catch_unwind(walked).is_err());
        let hand = || |piece: u64| if piece == 9 { panic!("as it is meant") } else { Some(piece) };
        let walked = AssertUnwindSafe(|| share_out(3, 50, hand, |done| done.count()));
        assert!(catch_unwind(walked).is_err());
    }
}
