//! Work in a task of its own, for callers that nobody may poll for hours.
//!
//! What makes the body of a response is polled as fast as its client reads, and not at all while the client reads nothing. A
//! lock, a permit or a place in a queue that it waits for would be granted to it and kept until then, from everyone else.

use std::future::pending;
use std::panic::resume_unwind;

use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::{SendError, TrySendError};
use tokio_util::task::AbortOnDropHandle;

/// Does the work in a task of its own, which is aborted when the answer is not waited for any more.
pub(crate) async fn in_own_task<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    match AbortOnDropHandle::new(tokio::spawn(work)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and with it whoever waits here.
            Err(_cancelled) => pending().await,
        },
    }
}

/// Puts a message into a queue, in a task of its own if it has to wait for room.
pub(crate) async fn hand_in<T: Send + 'static>(queue: &Sender<T>, message: T) -> Result<(), SendError<T>> {
    match queue.try_send(message) {
        Ok(()) => Ok(()),
        Err(TrySendError::Closed(message)) => Err(SendError(message)),
        Err(TrySendError::Full(message)) => {
            let queue = queue.clone();
            in_own_task(async move { queue.send(message).await }).await
        }
    }
}
