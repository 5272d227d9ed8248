//! Work that nobody waits for, on threads of the lowest priority.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::admission::Pressure;
use crate::limits;

/// The work did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum IdleError {
    /// It has panicked, as the log says.
    #[error("it has panicked")]
    Panicked,
    /// Nobody waits for it any more.
    #[error("nobody waits for it any more")]
    Left,
}

/// Waits until the server has nothing more pressing to do.
pub(super) async fn calm(pressure: &Pressure) {
    while !pressure.is_calm() {
        sleep(limits::IDLE_PAUSE).await;
    }
}

/// Does a piece of work on a thread of its own, of the lowest priority on Linux, as soon as there is one to be had. When nobody waits for
/// it any more it is left to its end, for which nothing else waits either.
pub(super) async fn do_idly<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, IdleError> {
    let left = CancellationToken::new();
    let _leave = left.clone().drop_guard();
    // One of the runtime's threads waits for it, which does nothing meanwhile.
    let done = spawn_blocking(move || {
        let told = begin(work, &left, |begun| {
            let thread = thread::Builder::new().name("zetema-idle".to_owned());
            thread.spawn(move || {
                take_the_lowest_priority();
                begun();
            })
        })?;
        loop {
            match told.recv_timeout(limits::IDLE_PAUSE) {
                Ok(value) => return Ok(value),
                Err(RecvTimeoutError::Disconnected) => return Err(IdleError::Panicked),
                Err(RecvTimeoutError::Timeout) if left.is_cancelled() => return Err(IdleError::Left),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    });
    done.await.map_err(|_| IdleError::Panicked)?
}

/// Begins the work on a thread. Where the system has none for it that is tried again, as what is given up would stay unknown.
fn begin<T: Send + 'static, H>(
    work: impl FnOnce() -> T + Send + 'static,
    left: &CancellationToken,
    mut thread: impl FnMut(Box<dyn FnOnce() + Send>) -> io::Result<H>,
) -> Result<Receiver<T>, IdleError> {
    // Kept here, as a thread that is not to be had takes what it was given with it.
    let work = Arc::new(Mutex::new(Some(work)));
    let mut is_told = false;
    loop {
        let (tell, told) = mpsc::sync_channel(1);
        let own = Arc::clone(&work);
        let begun = thread(Box::new(move || {
            let work = own.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(work) = work {
                // Nobody may wait for it any more.
                let _ = tell.send(work());
            }
        }));
        let Err(error) = begun else { return Ok(told) };
        if !std::mem::replace(&mut is_told, true) {
            tracing::warn!(%error, "there is no thread for what nobody waits for: trying again");
        }
        // Nobody wakes it before.
        thread::park_timeout(limits::IDLE_PAUSE);
        if left.is_cancelled() {
            return Err(IdleError::Left);
        }
    }
}

/// For good, so the thread does nothing else. On other systems it has the priority of the server.
fn take_the_lowest_priority() {
    // There it is of the calling thread alone.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(19) {
        tracing::debug!(%error, "an idle thread keeps its priority");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_found_no_thread_is_done_once_there_is_one() {
        let mut refused = 1;
        let told = begin(
            || 7,
            &CancellationToken::new(),
            |begun| {
                if refused > 0 {
                    refused -= 1;
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Ok(thread::spawn(begun))
            },
        );
        assert_eq!(told.unwrap().recv(), Ok(7));
    }

    #[test]
    fn what_finds_no_thread_and_nobody_waits_for_is_left() {
        let left = CancellationToken::new();
        left.cancel();
        let told = begin(|| 7, &left, |_| Err::<(), _>(io::ErrorKind::WouldBlock.into()));
        assert!(matches!(told, Err(IdleError::Left)));
    }

    #[tokio::test]
    async fn work_that_panics_is_known_to_have() {
        let done = do_idly(|| assert_eq!(1, 2, "as told")).await;
        assert!(matches!(done, Err(IdleError::Panicked)));
    }
}
