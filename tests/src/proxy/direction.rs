//! One direction of one connection: frames are read, counted and passed on, one of them with a fault.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use prost::bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::sync::CancellationToken;

use super::{DELAY, Direction, Fault, Frame, Passed, Plan};

/// What all connections of a proxy share.
pub(super) struct Link {
    plan: Option<Plan>,
    pub(super) to_server: AtomicU64,
    pub(super) to_client: AtomicU64,
    pub(super) struck: OnceLock<Frame>,
    pub(super) passed: Mutex<Vec<Passed>>,
    /// For the connections that are made now: whether they have fallen silent.
    silence: Mutex<CancellationToken>,
}

impl Link {
    pub(super) fn new(plan: Option<Plan>) -> Self {
        Self {
            plan,
            to_server: AtomicU64::new(0),
            to_client: AtomicU64::new(0),
            struck: OnceLock::new(),
            passed: Mutex::default(),
            silence: Mutex::default(),
        }
    }

    /// What tells that a connection which is made now has fallen silent.
    pub(super) fn silence(&self) -> CancellationToken {
        self.silence.lock().unwrap().clone()
    }

    /// Lets all connections that were made up to now fall silent.
    pub(super) fn fall_silent(&self) {
        std::mem::take(&mut *self.silence.lock().unwrap()).cancel();
    }

    /// Counts a frame: the fault to do to it.
    fn count(&self, direction: Direction, frame: &Frame) -> Option<Fault> {
        let counter = match direction {
            Direction::ToServer => &self.to_server,
            Direction::ToClient => &self.to_client,
        };
        let number = counter.fetch_add(1, Ordering::Relaxed) + 1;
        let plan = self.plan.filter(|plan| plan.direction == direction && plan.frame == number)?;
        // A number comes once, so nothing was struck before.
        let _ = self.struck.set(frame.clone());
        Some(plan.fault)
    }
}

/// Passes on what comes `from` one side `to` the other, up to the end of the direction or of the connection,
/// which `closed` stands for. Once it is silent, what comes is lost, and neither side hears of an end.
pub(super) async fn pass_on(
    link: Arc<Link>,
    connection: u64,
    direction: Direction,
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    closed: CancellationToken,
    silence: CancellationToken,
) {
    let passing = pass_frames(link, connection, direction, &mut from, &mut to, &closed);
    if silence.run_until_cancelled(passing).await.is_none() {
        swallow(&mut from).await;
        std::future::pending::<()>().await;
    }
}

async fn pass_frames(
    link: Arc<Link>,
    connection: u64,
    direction: Direction,
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    closed: &CancellationToken,
) {
    let mut buffer = BytesMut::with_capacity(16 * 1024);
    loop {
        while let Some(frame) = Frame::take(&mut buffer) {
            let fault = link.count(direction, &frame);
            if fault == Some(Fault::Delay) {
                tokio::time::sleep(DELAY).await;
            }
            // Before it goes out: its receiver may be done with the match before this task runs again.
            let lost = matches!(fault, Some(Fault::Cut | Fault::Truncate | Fault::HalfClose));
            if direction == Direction::ToServer || !lost {
                link.passed.lock().unwrap().push(Passed { connection, direction, frame: frame.clone() });
            }
            let written = match fault {
                None | Some(Fault::Delay) => to.write_all(frame.bytes()).await,
                Some(Fault::Duplicate) => to.write_all(&[frame.bytes(), frame.bytes()].concat()).await,
                Some(Fault::Cut) => return reset(from, to, closed),
                Some(Fault::Truncate) => {
                    // Both sides find a connection that is closed, or they have closed it themselves.
                    let _ = to.write_all(&frame.bytes()[..frame.bytes().len() / 2]).await;
                    let _ = to.shutdown().await;
                    return closed.cancel();
                }
                Some(Fault::HalfClose) => {
                    let _ = to.shutdown().await;
                    return swallow(from).await;
                }
            };
            if written.is_err() {
                return reset(from, to, closed);
            }
        }
        match from.read_buf(&mut buffer).await {
            // What is left in the buffer is no whole frame, but it was sent.
            Ok(0) => {
                let _ = to.write_all(&buffer).await;
                let _ = to.shutdown().await;
                return;
            }
            Ok(_) => {}
            Err(_) => return reset(from, to, closed),
        }
    }
}

/// Both sides find the connection reset.
fn reset(from: &OwnedReadHalf, to: &OwnedWriteHalf, closed: &CancellationToken) {
    for socket in [from.as_ref(), to.as_ref()] {
        // A socket that is closed already needs no reset.
        let _ = socket.set_zero_linger();
    }
    closed.cancel();
}

/// Reads what nobody gets, so that its sender is not held up.
async fn swallow(from: &mut OwnedReadHalf) {
    let mut lost = vec![0; 16 * 1024];
    while from.read(&mut lost).await.is_ok_and(|length| length > 0) {}
}
