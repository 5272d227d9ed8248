//! Where the first generator of a run waits for the others.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout_at};

use super::generators::{Other, next_of};
use super::greeting::welcome;
use super::link::{frames, shown};
use super::message::Message;

/// How long it is waited for all to join.
const JOINED_WITHIN: Duration = Duration::from_mins(10);
/// Who connect and have not said what they are, at once. More are turned away.
const MOST_GREETED: usize = 64;
/// How long to wait where the system gives no more connections.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Where the first generator of a run waits for the others.
#[derive(Debug)]
pub struct Meeting {
    listener: TcpListener,
    generators: NonZeroU32,
}

/// The generators that have joined.
#[derive(Debug)]
pub struct Met(pub(super) Vec<Other>);

/// What happens while it waits.
#[derive(Debug)]
pub enum Arrival {
    /// A generator has joined.
    Joined {
        /// From where.
        from: SocketAddr,
        /// How many are still to come.
        missing: usize,
    },
    /// Somebody has connected who may not join.
    Refused {
        /// From where.
        from: SocketAddr,
        /// Why.
        problem: String,
    },
    /// A generator that had joined is gone: another is waited for.
    Left {
        /// From where it was.
        from: SocketAddr,
        /// Why.
        problem: String,
    },
}

/// Why the generators have not met.
#[derive(Debug, thiserror::Error)]
pub enum MeetingError {
    /// The address can't be listened on.
    #[error("{address} can't be listened on for other generators: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What is in the way.
        source: io::Error,
    },
    /// Not all have come.
    #[error("{missing} of {generators} generators have not joined within {} minutes", JOINED_WITHIN.as_secs() / 60)]
    Missing {
        /// How many have not.
        missing: usize,
        /// How many there were to be, with this one.
        generators: NonZeroU32,
    },
}

impl Meeting {
    /// Listens for so many generators, with this one.
    ///
    /// # Errors
    /// [`MeetingError::Listen`].
    pub async fn open(address: SocketAddr, generators: NonZeroU32) -> Result<Self, MeetingError> {
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| MeetingError::Listen { address, source })?;
        Ok(Self { listener, generators })
    }

    /// Where the others find it.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits until all have joined, and listens no more then. Whoever else connects is refused and holds up nobody.
    ///
    /// # Errors
    /// [`MeetingError::Missing`] if not all have joined within ten minutes.
    pub async fn wait(self, mut told: impl FnMut(Arrival)) -> Result<Met, MeetingError> {
        let wanted = usize::try_from(self.generators.get()).unwrap_or(usize::MAX) - 1;
        let until = Instant::now() + JOINED_WITHIN;
        let mut others: Vec<Other> = Vec::new();
        let mut greeted = FuturesUnordered::new();
        while others.len() < wanted {
            let missing = wanted - others.len();
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, from)) if greeted.len() < MOST_GREETED => {
                        // Without it, it is a little slower.
                        let _ = stream.set_nodelay(true);
                        greeted.push(welcome(frames(stream), self.generators).map(move |link| (from, link)));
                    }
                    Ok((_, from)) => {
                        let problem = "too many have connected and not said what they are".to_owned();
                        told(Arrival::Refused { from, problem });
                    }
                    Err(_) => sleep(AGAIN_AFTER).await,
                },
                Some((from, link)) = greeted.next() => match link {
                    Ok(link) => {
                        others.push(Other { from, link, name: String::new() });
                        told(Arrival::Joined { from, missing: missing - 1 });
                    }
                    Err(problem) => told(Arrival::Refused { from, problem }),
                },
                (place, heard) = next_of(&mut others) => {
                    let Other { from, .. } = others.swap_remove(place);
                    let problem = match heard {
                        Ok(Message::Failed { problem }) => shown(&problem),
                        Ok(_) => "has said something before it was asked".to_owned(),
                        Err(lost) => lost.to_string(),
                    };
                    told(Arrival::Left { from, problem });
                }
                _ = timeout_at(until, std::future::pending::<()>()) => {
                    return Err(MeetingError::Missing { missing, generators: self.generators });
                }
            }
        }
        for (number, other) in (2_u32..).zip(&mut others) {
            other.name = format!("generator {number} of {} ({})", self.generators, other.from);
        }
        Ok(Met(others))
    }
}
