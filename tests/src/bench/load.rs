//! What matches are played, and how.

use std::fmt;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use zetema_load::amount;
use zetema_proto::v1;

use super::planted::Planted;

/// How matches are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// By unary calls of Act, with one Observe stream for the seats of a match.
    Unary,
    /// One Play stream for each seat.
    PlayPerSeat,
    /// One Play stream on each connection.
    PlayPerConnection,
    /// So many Play streams for all seats.
    Play {
        /// How many.
        streams: usize,
    },
    /// By sessions of the SDK, one on each connection.
    Sdk,
}

/// Where a server keeps its matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journaled {
    /// On the disk, as a server does that is embedded: every answer is durable.
    Disk,
    /// In memory: nothing outlives it.
    Memory,
    /// On the disk, with this planted in the way to it.
    Slowed(Planted),
}

impl ValueEnum for Journaled {
    fn value_variants<'a>() -> &'a [Self] {
        use Planted::{Lock, Sleep, Wake};
        &[Self::Disk, Self::Memory, Self::Slowed(Sleep), Self::Slowed(Wake), Self::Slowed(Lock)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Disk => Some(PossibleValue::new("disk")),
            Self::Memory => Some(PossibleValue::new("memory")),
            Self::Slowed(planted) => planted.to_possible_value(),
        }
    }
}

/// When an observation has the view of its seat in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Views {
    /// With every decision, as a bot gets it that asks for nothing else.
    EveryDecision,
    /// In the snapshot alone, as for a bot that keeps its own.
    SnapshotsOnly,
}

/// Matches of two that are always there, played by seeded random bots: when one is over another is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matches {
    /// How they are played.
    pub via: Via,
    /// How many there are.
    pub live: usize,
    /// How many of them wait for the answer to an action at once.
    pub in_flight: usize,
    /// Where the server keeps them.
    pub journaled: Journaled,
    /// What is shown with a decision.
    pub views: Views,
}

impl Views {
    /// As it is asked for.
    pub(super) fn asked(self) -> i32 {
        let views = match self {
            Self::EveryDecision => v1::Views::EveryDecision,
            Self::SnapshotsOnly => v1::Views::SnapshotsOnly,
        };
        views.into()
    }
}

impl Matches {
    /// So many, each with an action in flight, in a journal on the disk, with views in snapshots only.
    pub const fn new(via: Via, live: usize) -> Self {
        Self { via, live, in_flight: live, journaled: Journaled::Disk, views: Views::SnapshotsOnly }
    }

    /// The same, of which so many wait at once.
    #[must_use]
    pub const fn with_in_flight(self, in_flight: usize) -> Self {
        Self { in_flight, ..self }
    }

    /// The same in memory.
    #[must_use]
    pub const fn in_memory(self) -> Self {
        Self { journaled: Journaled::Memory, ..self }
    }

    /// The same with something planted.
    #[must_use]
    pub const fn slowed(self, planted: Planted) -> Self {
        Self { journaled: Journaled::Slowed(planted), ..self }
    }

    /// The same with a view in every decision.
    #[must_use]
    pub const fn with_views(self) -> Self {
        Self { views: Views::EveryDecision, ..self }
    }
}

impl fmt::Display for Matches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { via, live, in_flight, journaled, views } = self;
        let matches = if *live == 1 { "match" } else { "matches" };
        write!(f, "{} {matches}, ", amount::count(*live as u64))?;
        match via {
            Via::Unary => f.write_str("Observe + Act")?,
            Via::PlayPerSeat => f.write_str("a Play stream each seat")?,
            Via::PlayPerConnection => f.write_str("a Play stream each connection")?,
            Via::Play { streams } => write!(f, "{streams} Play streams")?,
            Via::Sdk => f.write_str("sessions of the SDK")?,
        }
        if in_flight != live {
            write!(f, ", {} in flight", amount::count(*in_flight as u64))?;
        }
        if *views == Views::EveryDecision {
            f.write_str(", views with every decision")?;
        }
        match journaled {
            Journaled::Disk => Ok(()),
            Journaled::Memory => f.write_str(", in memory"),
            Journaled::Slowed(Planted::Sleep) => f.write_str(", 50 µs slept in each append"),
            Journaled::Slowed(Planted::Wake) => f.write_str(", a wake for each record"),
            Journaled::Slowed(Planted::Lock) => f.write_str(", a lock held in each append"),
        }
    }
}
