//! How many names are looked up at the same time: a look-up takes a thread, and can't be stopped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::journal::Owner;
use crate::limits;

/// Those for webhooks that are to be made: so many in all, and few of each who asks, so that nobody keeps the others waiting for
/// hosts whose names take long.
#[derive(Debug)]
pub(super) struct AllLookups {
    all: Arc<Semaphore>,
    /// Of those who look something up now; the admin is `None`.
    of_caller: Mutex<HashMap<Option<Owner>, Weak<Semaphore>>>,
}

impl AllLookups {
    pub(super) fn new() -> Self {
        Self { all: Arc::new(Semaphore::new(limits::WEBHOOK_LOOKUPS)), of_caller: Mutex::default() }
    }

    /// Those of one who asks.
    pub(super) fn of(&self, caller: Option<&Owner>) -> Lookups {
        let mut of_caller = self.of_caller.lock().unwrap_or_else(PoisonError::into_inner);
        of_caller.retain(|_, own| own.strong_count() > 0);
        let own = of_caller.entry(caller.cloned()).or_default();
        let own = own.upgrade().unwrap_or_else(|| {
            let new = Arc::new(Semaphore::new(limits::WEBHOOK_LOOKUPS_PER_OWNER));
            *own = Arc::downgrade(&new);
            new
        });
        Lookups(vec![own, Arc::clone(&self.all)])
    }
}

/// A name is looked up with a permit of each of these, in this order.
#[derive(Clone, Debug)]
pub(super) struct Lookups(Vec<Arc<Semaphore>>);

impl Lookups {
    /// One at a time.
    pub(super) fn one() -> Self {
        Self(vec![Arc::new(Semaphore::new(1))])
    }

    /// Waits until one more name may be looked up, for as long as what is returned lives.
    pub(super) async fn next(&self) -> Vec<OwnedSemaphorePermit> {
        let mut permits = Vec::new();
        for semaphore in &self.0 {
            // None is ever closed.
            permits.extend(Arc::clone(semaphore).acquire_owned().await.ok());
        }
        permits
    }
}
