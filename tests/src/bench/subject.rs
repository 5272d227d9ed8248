//! What is measured.

use std::fmt;
use std::sync::Arc;

use tokio::task::JoinSet;
use tonic::transport::Channel;
use zetema_load::amount;

use super::load::Matches;
use super::meter::Meter;
use super::ready::Ready;
use super::sample::sample;
use super::server::Server;
use super::setting::Setting;
use super::{Figure, Figures, appends, echo, fdatasync, idle, matches, readers, relay, rules};
use crate::floods::Readers;

/// What is measured in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The service.
    Matches(Matches),
    /// Unary calls of a bare server, with messages as long as those of these matches are.
    Echo {
        /// How many calls are in flight.
        in_flight: usize,
        /// Whose messages.
        like: Matches,
    },
    /// Streams of a bare server, each with a message in flight, as long as those of these matches are.
    PingPong {
        /// How many streams.
        streams: usize,
        /// Whose messages.
        like: Matches,
    },
    /// Pairs of streams of a bare server, as the seats of these matches are, with their messages.
    Relay {
        /// How many pairs, each with a message in flight.
        pairs: usize,
        /// Whose messages.
        like: Matches,
    },
    /// A batch of matches that is created, until every seat has had its first decision.
    Creation {
        /// How many.
        matches: usize,
    },
    /// Memory of matches whose seats are taken, and in which nothing happens.
    IdleMatches {
        /// How many.
        matches: usize,
    },
    /// Memory of Observe streams on which nothing happens.
    IdleStreams {
        /// How many.
        streams: usize,
    },
    /// A start with matches in the folder.
    Restart {
        /// Those that are played, of 20 actions each.
        live: usize,
        /// Those that are over.
        finished: usize,
    },
    /// Actions of 500 seats beside others that follow other matches.
    Beside {
        /// How those read.
        readers: Readers,
        /// How many they are.
        count: usize,
    },
    /// Writes of 200 bytes to the end of a file, each synced before the next.
    Fdatasync,
    /// Records of 64 bytes that many tables append to the journal at once, and as many of them in batches as long to a file.
    Appends,
    /// Random play of two by the rules alone.
    Rules,
}

/// How long messages are on average, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) request: usize,
    pub(super) response: usize,
}

impl Sizes {
    /// What a look at matches has found.
    pub(super) fn of(figures: &Figures) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length in bytes")]
        let whole = |figure| figures.get(&figure).map(|bytes| bytes.round() as usize);
        Some(Self { request: whole(Figure::RequestBytes)?, response: whole(Figure::ResponseBytes)? })
    }
}

impl Subject {
    /// Whose messages it imitates.
    pub(super) const fn like(self) -> Option<Matches> {
        match self {
            Self::Echo { like, .. } | Self::PingPong { like, .. } | Self::Relay { like, .. } => Some(like),
            _ => None,
        }
    }

    /// Measures it once.
    ///
    /// # Errors
    /// What is in the way, or came wrong.
    pub(super) async fn measure(self, setting: &Setting, ready: &Ready) -> anyhow::Result<Figures> {
        match self {
            Self::Matches(played) => matches::measure(played, setting).await,
            Self::Echo { in_flight, .. } => {
                let calls = |channels: &[Channel], request, meter: &_| {
                    echo::call(channels, setting.many(in_flight), request, meter)
                };
                self.measure_bare(setting, ready, calls).await
            }
            Self::PingPong { streams, .. } => {
                let streams = |channels: &[Channel], request, meter: &_| {
                    echo::ping_pong(channels, setting.many(streams), request, meter)
                };
                self.measure_bare(setting, ready, streams).await
            }
            Self::Relay { pairs, .. } => {
                let streams = |channels: &[Channel], request, meter: &_| {
                    relay::take_turns(channels, setting.many(pairs), request, meter)
                };
                self.measure_bare(setting, ready, streams).await
            }
            Self::Creation { matches } => matches::create(matches, setting).await,
            Self::IdleMatches { matches } => idle::matches(matches, setting).await,
            Self::IdleStreams { streams } => idle::streams(streams, setting).await,
            Self::Restart { .. } => ready.stopped(self)?.start(setting).await,
            Self::Beside { readers, count } => readers::measure(readers, count, setting).await,
            Self::Fdatasync => fdatasync::measure(setting).await,
            Self::Appends => appends::measure(setting).await,
            Self::Rules => rules::measure(setting).await,
        }
    }
}

impl Subject {
    /// Measures a bare server under these clients, whose requests have so many bytes.
    async fn measure_bare(
        self,
        setting: &Setting,
        ready: &Ready,
        clients: impl FnOnce(&[Channel], usize, &Arc<Meter>) -> JoinSet<()>,
    ) -> anyhow::Result<Figures> {
        let Sizes { request, response } = ready.sizes(self)?;
        let mut server = Server::echo(response).await?;
        let meter = Arc::new(Meter::default());
        let channels = server.connect(&meter).await?;
        let _clients = clients(&channels, request, &meter);
        sample(setting, &mut server, &meter).await
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matches(matches) => matches.fmt(f),
            Self::Echo { in_flight, like } => {
                write!(f, "unary echo, {} in flight, sizes of: {like}", amount::count(*in_flight as u64))
            }
            Self::PingPong { streams, like } => {
                write!(f, "ping-pong on {} streams, sizes of: {like}", amount::count(*streams as u64))
            }
            Self::Relay { pairs, like } => {
                write!(f, "a bare relay of {} pairs, sizes of: {like}", amount::count(*pairs as u64))
            }
            Self::Creation { matches } => {
                write!(f, "a batch of {} matches created", amount::count(*matches as u64))
            }
            Self::IdleMatches { matches } => {
                write!(f, "{} matches in which nothing happens", amount::count(*matches as u64))
            }
            Self::IdleStreams { streams } => {
                write!(f, "{} streams on which nothing happens", amount::count(*streams as u64))
            }
            Self::Restart { live, finished } => {
                let [live, finished] = [live, finished].map(|matches| amount::count(*matches as u64));
                write!(f, "a start with {live} matches that are played and {finished} that are over")
            }
            Self::Beside { readers, count } => {
                let count = amount::count(*count as u64);
                match readers {
                    Readers::None => write!(f, "500 seats beside {count} matches"),
                    Readers::Reading => write!(f, "500 seats beside {count} who read"),
                    Readers::NotReading => write!(f, "500 seats beside {count} who never read"),
                }
            }
            Self::Fdatasync => f.write_str("fdatasync of 200 bytes"),
            Self::Appends => f.write_str("appends of 64 bytes to the journal"),
            Self::Rules => f.write_str("random play by the rules alone"),
        }
    }
}
