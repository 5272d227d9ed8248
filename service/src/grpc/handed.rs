//! What goes past the generated code.

use std::sync::{Arc, Mutex, PoisonError};

/// What is wrong with a request that has not what its handler is to find.
pub(super) const BY_ANOTHER_WAY: &str = "a stream came by another way";

/// In the extensions of a request: what its handler is to find, or leaves there.
pub(super) struct Handed<T>(Arc<Mutex<Option<T>>>);

impl<T> Handed<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(Some(value))))
    }

    pub(super) fn put(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }

    pub(super) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Default for Handed<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Handed<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
