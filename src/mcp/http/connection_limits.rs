//! How many connections there may be. Those whose client has shown the token are
//! counted apart from the others, so that strangers keep nobody out.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Connections of clients that have shown the token; the next one waits for an end.
const MOST_ADMITTED: u32 = 256;
/// Others; the oldest one goes for the next.
const MOST_STRANGERS: usize = 256;

pub(crate) struct Places {
    admitted: Arc<Semaphore>,
    /// The oldest one first.
    strangers: Mutex<VecDeque<(u64, CancellationToken)>>,
    next: AtomicU64,
}

/// The place of one connection, free again when it is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    evicted: CancellationToken,
    admitted: OnceCell<Option<OwnedSemaphorePermit>>,
}

impl Places {
    pub(crate) fn new() -> Arc<Self> {
        let admitted = Arc::new(Semaphore::new(MOST_ADMITTED as usize));
        Arc::new(Self { admitted, strangers: Mutex::default(), next: AtomicU64::new(0) })
    }

    /// A place for somebody who has shown nothing yet.
    pub(crate) fn enter(self: &Arc<Self>) -> Place {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let evicted = CancellationToken::new();
        if self.strangers().len() >= MOST_STRANGERS {
            self.evict();
        }
        self.strangers().push_back((number, evicted.clone()));
        Place { places: self.clone(), number, evicted, admitted: OnceCell::new() }
    }

    /// Ends the oldest connection of a stranger.
    pub(crate) fn evict(&self) {
        if let Some((_, evicted)) = self.strangers().pop_front() {
            evicted.cancel();
        }
    }

    /// Returns when all connections of admitted clients have ended.
    pub(crate) async fn empty(&self) {
        let _ = self.admitted.acquire_many(MOST_ADMITTED).await;
    }

    fn forget(&self, number: u64) {
        self.strangers().retain(|(known, _)| *known != number);
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<(u64, CancellationToken)>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The token was shown: waits for a place among the admitted. Until there is
    /// one, this connection may be evicted like any other.
    pub(crate) async fn admit(&self) {
        let admitted = || async {
            let place = self.places.admitted.clone().acquire_owned().await.ok();
            self.places.forget(self.number);
            place
        };
        self.admitted.get_or_init(admitted).await;
    }

    /// Returns when somebody else needs the place.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.forget(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn strangers_make_room_for_each_other_and_take_none_from_the_admitted() {
        let places = Places::new();
        let admitted = places.enter();
        admitted.admit().await;
        let strangers: Vec<Place> = (0..MOST_STRANGERS + 2).map(|_| places.enter()).collect();
        let evicted = |place: &&Place| place.evicted.is_cancelled();
        assert_eq!(strangers.iter().take_while(evicted).count(), 2);
        assert_eq!(strangers.iter().filter(evicted).count(), 2);
        assert!(!admitted.evicted.is_cancelled());
        assert_eq!(places.admitted.available_permits(), MOST_ADMITTED as usize - 1);
        drop(strangers);
        assert!(places.strangers().is_empty());
        drop(admitted);
        places.empty().await;
    }
}
