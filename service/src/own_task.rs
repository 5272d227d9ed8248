//! Work in a task of its own, for callers that nobody may poll for hours, or that may be dropped at any moment.
//!
//! A client that cancels its call, and a connection that is cut, drop what answers it where it stands. A change that the
//! journal was asked for is stored all the same, and must be known to all else then.
//!
//! What makes the body of a response is polled as fast as its client reads, and not at all while the client reads nothing. A
//! lock, a permit or a place in a queue that it waits for would be granted to it and kept until then, from everyone else.

use std::future::pending;
use std::panic::resume_unwind;

use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::{SendError, TrySendError};
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

/// Does the work in a task of its own, which is aborted when the answer is not waited for any more.
pub(crate) async fn in_own_task<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    done(AbortOnDropHandle::new(tokio::spawn(work)).await).await
}

/// Does the work in a task of its own, to its end, though nobody may wait for its answer any more.
pub(crate) async fn to_its_end<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    done(tokio::spawn(work.in_current_span()).await).await
}

async fn done<T>(joined: Result<T, JoinError>) -> T {
    match joined {
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
