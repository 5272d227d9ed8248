//! The floods, by their names.

use std::convert::Infallible;
use std::time::Duration;

use clap::ValueEnum;
use futures::future::join_all;

use super::{Ending, Reading, Request, Tally, Target, calls, control, silence, streams};

/// How long an attacker rests whose connection was cut, before it connects again.
const REST: Duration = Duration::from_millis(10);
/// A length that no message has.
const FOUR_GIGABYTES: u32 = u32::MAX;
/// A length that a message may have.
const ONE_MEGABYTE: u32 = 1024 * 1024;

/// A flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Flood {
    /// No attacker: what the figures are worth.
    Nobody,
    /// 1,000 connections that say half of HTTP/2's preface.
    HalfPreface,
    /// 1,000 connections that say nothing.
    SaysNothing,
    /// 1,000 connections that begin a TLS handshake.
    OpenHandshakes,
    /// 1,000 HTTP/2 connections that answer pings and ask nothing.
    IdleHttp2,
    /// 1,000 HTTP/1 connections that were answered once.
    IdleHttp1,
    /// 100 connections that say an HTTP/1 header byte by byte.
    SlowHeaders,
    /// 100 connections that say an HTTP/1 body byte by byte.
    SlowBody,
    /// Connections that one address opens without end, up to 10,000 at once.
    Connections,
    /// PING frames.
    Pings,
    /// SETTINGS frames.
    Settings,
    /// `WINDOW_UPDATE` frames.
    WindowUpdates,
    /// PRIORITY frames.
    Priorities,
    /// Headers without end.
    Continuations,
    /// Headers without end, of which nothing more comes.
    EmptyContinuations,
    /// DATA frames without data.
    EmptyData,
    /// Trailers again and again.
    Trailers,
    /// A call and its reset, together.
    RapidReset,
    /// Calls, and their resets when the server has begun with them.
    LateReset,
    /// Calls that the server resets: their window overflows.
    MadeToOverflow,
    /// Calls that the server resets: their window changes by 0.
    MadeByZero,
    /// Calls that the server resets: they go on after their end.
    MadeHalfClosed,
    /// Play streams without end on one connection.
    Streams,
    /// 100 connections with as many Play streams as each may have, on which nothing is said.
    HeldStreams,
    /// A Play stream on which messages without a meaning are sent.
    Nonsense,
    /// 10 connections of Play streams on which such messages are sent, 2,000 on each, and whose answers are taken byte by byte.
    Unanswered,
    /// 10 connections of messages that are said to have 4 GB.
    LieOf4Gb,
    /// 10 connections of messages that are said to have 1 MB.
    LieOf1Mb,
    /// 100 connections that send 1 MB of messages and never their ends.
    Unfinished,
    /// A connection that asks for much as an owner, and reads no byte of the socket.
    NeverReads,
    /// A connection that asks for much as an owner, and gives its streams no window.
    NoWindow,
    /// 10 connections that ask for what anybody may, and give their streams no window.
    NoWindowAnonymous,
    /// Connections from 40 addresses that ask for the page of metrics, and give their streams no window.
    Pages,
    /// A connection that asks for much as an owner, and takes a byte of each answer at a time.
    Trickle,
    /// 2 connections that ask for much as an owner, give all streams the widest window, and read slowly.
    WideWindows,
    /// Lists of public matches, which need no token, at full speed.
    Anonymous,
    /// What browsers ask before calls, at full speed.
    Preflights,
    /// Calls that need a token, without one, at full speed.
    NoToken,
    /// Calls with a wrong token, at full speed.
    WrongToken,
    /// Calls with an owner's token, at full speed.
    Lists,
    /// Matches that an owner creates, at full speed.
    Creates,
    /// The same in batches of 1,000.
    BatchCreates,
    /// 10,000 spectators of one match.
    Spectators,
    /// A match that is over, from its first observation on and its first receipt again, at full speed.
    Replays,
}

impl Flood {
    /// Its name in flags and tables.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// How many connections it has at once.
    pub const fn connections(self) -> u64 {
        match self {
            Self::Nobody => 0,
            Self::HalfPreface
            | Self::SaysNothing
            | Self::OpenHandshakes
            | Self::IdleHttp2
            | Self::IdleHttp1 => 1_000,
            Self::SlowHeaders | Self::SlowBody | Self::HeldStreams | Self::Unfinished => 100,
            Self::Connections => 10_000,
            Self::Unanswered
            | Self::LieOf4Gb
            | Self::LieOf1Mb
            | Self::NoWindowAnonymous
            | Self::Spectators => 10,
            Self::WideWindows => 2,
            Self::Pages => 40,
            Self::Anonymous
            | Self::Preflights
            | Self::NoToken
            | Self::WrongToken
            | Self::Lists
            | Self::Creates
            | Self::Replays => 4,
            _ => 1,
        }
    }

    /// Whether it asks for matches, so that there have to be many.
    pub const fn wants_matches(self) -> bool {
        matches!(self, Self::NeverReads | Self::NoWindow | Self::Trickle | Self::WideWindows)
    }

    /// Whether it asks for a match that is over.
    pub const fn wants_the_past(self) -> bool {
        matches!(self, Self::Replays)
    }

    /// Whether there is such a flood without TLS.
    pub const fn needs_tls(self) -> bool {
        matches!(self, Self::OpenHandshakes)
    }

    /// Attacks without end.
    pub async fn attack(self, target: &Target, tally: &Tally) {
        join_all((0..self.connections()).map(|attacker| async move {
            let apart = u16::try_from(attacker).ok().filter(|_| self == Self::Pages);
            let target = apart.map_or_else(|| target.clone(), |number| target.clone().apart(number));
            loop {
                let number = tally.open();
                let Err(ending) = self.attempt(&target, tally).await;
                tally.cut(number, &ending);
                tokio::time::sleep(REST).await;
            }
        }))
        .await;
    }

    /// One connection, until it is cut.
    async fn attempt(self, target: &Target, tally: &Tally) -> Result<Infallible, Ending> {
        match self {
            Self::Nobody => Err(Ending::Closed),
            Self::HalfPreface => silence::half_preface(target).await,
            Self::SaysNothing => silence::nothing(target).await,
            Self::OpenHandshakes => silence::handshake(target).await,
            Self::IdleHttp2 | Self::Connections => silence::idle_http2(target, tally).await,
            Self::IdleHttp1 => silence::idle_http1(target).await,
            Self::SlowHeaders => silence::slow_headers(target).await,
            Self::SlowBody => silence::slow_body(target).await,
            Self::Pings => control::pings(target, tally).await,
            Self::Settings => control::settings_frames(target, tally).await,
            Self::WindowUpdates => control::window_updates(target, tally).await,
            Self::Priorities => control::priorities(target, tally).await,
            Self::Continuations => control::continuations(target, tally).await,
            Self::EmptyContinuations => control::empty_continuations(target, tally).await,
            Self::EmptyData => control::empty_data(target, tally).await,
            Self::Trailers => control::trailers(target, tally).await,
            Self::RapidReset => streams::rapid_reset(target, tally).await,
            Self::LateReset => streams::late_reset(target, tally).await,
            Self::MadeToOverflow => streams::made_to_overflow(target, tally).await,
            Self::MadeByZero => streams::made_by_zero(target, tally).await,
            Self::MadeHalfClosed => streams::made_half_closed(target, tally).await,
            Self::Streams => streams::without_end(target, tally).await,
            Self::HeldStreams => streams::held(target, tally).await,
            Self::Unanswered => streams::unanswered(target, tally).await,
            Self::Nonsense => streams::garrulous(target, tally).await,
            Self::LieOf4Gb => streams::lies(target, tally, &Request::play(), FOUR_GIGABYTES).await,
            Self::LieOf1Mb => {
                streams::lies(target, tally, &Request::batch(&target.token), ONE_MEGABYTE).await
            }
            Self::Unfinished => streams::unfinished(target, tally).await,
            Self::NeverReads => {
                let request = Request::matches(&target.token);
                streams::never_read(target, tally, Reading::Nothing, &request).await
            }
            Self::NoWindow => {
                let request = Request::matches(&target.token);
                streams::never_read(target, tally, Reading::All, &request).await
            }
            Self::NoWindowAnonymous => {
                streams::never_read(target, tally, Reading::All, &Request::presets()).await
            }
            Self::Pages => streams::never_read(target, tally, Reading::All, &Request::metrics()).await,
            Self::Trickle => streams::trickle(target, tally, &Request::matches(&target.token)).await,
            Self::WideWindows => streams::wide_windows(target, tally, &Request::matches(&target.token)).await,
            Self::Anonymous => calls::lists(target, tally, None).await,
            Self::Preflights => calls::preflights(target, tally).await,
            Self::NoToken => calls::creates(target, tally, None).await,
            Self::WrongToken => calls::lists(target, tally, Some("zto_wrong")).await,
            Self::Lists => calls::lists(target, tally, Some(&target.token)).await,
            Self::Creates => calls::creates(target, tally, Some(&target.token)).await,
            Self::BatchCreates => calls::batches(target, tally).await,
            Self::Spectators => calls::spectators(target, tally).await,
            Self::Replays => calls::replays(target, tally).await,
        }
    }
}
