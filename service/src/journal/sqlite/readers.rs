//! The threads that read, so that reading delays no write.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{fmt, io, thread};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::limits;
use crate::journal::{Cause, ReadError};
use crate::own_task::hand_in;

enum Job {
    Read(Box<dyn FnOnce(&Connection) + Send>),
    Close(oneshot::Sender<()>),
}

/// Threads with a connection each, used in turn.
pub(super) struct Readers {
    threads: Vec<mpsc::Sender<Job>>,
    next: AtomicUsize,
}

impl Readers {
    pub(super) fn start(connections: Vec<Connection>) -> io::Result<Self> {
        let threads = connections.into_iter().map(start).collect::<io::Result<_>>()?;
        Ok(Self { threads, next: AtomicUsize::new(0) })
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        let closed = || ReadError::Unavailable(Cause::new("the journal is closed"));
        let (to, answer) = oneshot::channel();
        // An error says that nobody waits for the answer any more.
        let job = Job::Read(Box::new(move |conn| drop(to.send(read(conn)))));
        let thread = self.next.fetch_add(1, Relaxed) % self.threads.len().max(1);
        let thread = self.threads.get(thread).ok_or_else(closed)?;
        hand_in(thread, job).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Waits until all have closed their connection.
    pub(super) async fn close(&self) {
        for thread in &self.threads {
            let (to, closed) = oneshot::channel();
            if thread.send(Job::Close(to)).await.is_ok() {
                // An error says that it was closed in the meantime.
                let _already = closed.await;
            }
        }
    }
}

fn start(conn: Connection) -> io::Result<mpsc::Sender<Job>> {
    let (jobs, mut waiting) = mpsc::channel(limits::WAITING_READS);
    let run = move || {
        while let Some(job) = waiting.blocking_recv() {
            match job {
                Job::Read(read) => read(&conn),
                Job::Close(to) => {
                    drop(conn);
                    // A job that is being sent right now would be lost, and its sender wait for ever, if the queue were
                    // dropped: so it is closed, and what comes out of it until it is empty is dropped unanswered.
                    waiting.close();
                    while let Some(late) = waiting.blocking_recv() {
                        drop(late);
                    }
                    // An error says that nobody waits for it.
                    let _nobody = to.send(());
                    return;
                }
            }
        }
    };
    thread::Builder::new().name("journal reader".to_owned()).spawn(run)?;
    Ok(jobs)
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Readers({})", self.threads.len())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use futures::poll;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn those_who_are_left_while_they_wait_for_a_place_keep_none() {
        let readers = Readers::start(vec![Connection::open_in_memory().unwrap()]).unwrap();
        let (go_on, waits) = channel::<()>();
        let mut held = Box::pin(readers.read(move |_| waits.recv().map_err(|_| unreachable!())));
        assert!(poll!(&mut held).is_pending());
        let mut left = Vec::new();
        for _ in 0..=2 * limits::WAITING_READS {
            let mut read = Box::pin(readers.read(|_| Ok(())));
            assert!(poll!(&mut read).is_pending());
            left.push(read);
        }
        go_on.send(()).unwrap();
        held.await.unwrap();
        assert!(timeout(Duration::from_secs(10), readers.read(|_| Ok(()))).await.is_ok());
    }
}
