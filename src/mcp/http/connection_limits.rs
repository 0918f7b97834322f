//! Limits the number of connections. Connections that have presented the token are counted separately, so that
//! strangers cannot lock clients out.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Connections that have presented the token; further ones wait until one ends.
const MOST_ADMITTED: u32 = 256;
/// Connections without the token; a further one ends the oldest.
const MOST_STRANGERS: usize = 256;

pub(crate) struct Places {
    admitted: Arc<Semaphore>,
    /// Oldest first.
    strangers: Mutex<VecDeque<(u64, CancellationToken)>>,
    next: AtomicU64,
}

/// The slot of one connection, freed on drop.
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

    /// A slot for a connection that has not presented the token yet.
    pub(crate) fn enter(self: &Arc<Self>) -> Place {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let evicted = CancellationToken::new();
        if self.strangers().len() >= MOST_STRANGERS {
            self.evict();
        }
        self.strangers().push_back((number, evicted.clone()));
        Place { places: self.clone(), number, evicted, admitted: OnceCell::new() }
    }

    /// Ends the oldest connection without the token.
    pub(crate) fn evict(&self) {
        if let Some((_, evicted)) = self.strangers().pop_front() {
            evicted.cancel();
        }
    }

    /// Returns once all connections with the token have ended.
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
    /// Waits for a slot with the token. Until there is one, this connection may be evicted like any other.
    pub(crate) async fn admit(&self) {
        let admitted = || async {
            let place = self.places.admitted.clone().acquire_owned().await.ok();
            self.places.forget(self.number);
            place
        };
        self.admitted.get_or_init(admitted).await;
    }

    /// Returns when another connection needs the slot.
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
