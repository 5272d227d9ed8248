//! What is counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is counted. What went wrong is a [`Failure`](super::Failure) instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Actions or matches that were due by the schedule, whether they could be sent or not.
    Offered,
    /// Of these: actions that had no receipt when their schedule was over, and matches that were not created, whether they could be sent
    /// or not.
    Unanswered,
    /// Matches that were asked for.
    MatchAsked,
    /// Matches that were created.
    MatchCreated,
    /// Joins that were refused and are tried again.
    JoinRefused,
    /// Matches that were played to their end.
    MatchFinished,
    /// Matches that came to no end: aborted, or given up by this program.
    MatchBrokenOff,
    /// Actions that were sent.
    ActionSent,
    /// Actions that were acknowledged by a receipt.
    ActionAcknowledged,
    /// Observations that seats received.
    Observation,
    /// Observations that spectators received.
    SpectatorObservation,
    /// Connections and streams that this program cut on purpose.
    Dropped,
    /// Matches that their players left and joined again on purpose.
    Rejoined,
    /// Connections and streams that came again after an end, whoever ended them.
    Reconnected,
    /// Seats that a ladder gave to bots of the run.
    SeatAssigned,
    /// Results of a ladder's matches in which bots of the run played, and which count for ratings.
    RatedResult,
    /// What a ladder had to say to bots of the run: that they did not come, or forfeited.
    LadderNotice,
    /// Records of matches that were replayed, and say what the seats were told.
    RecordReplayed,
}

impl Count {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Offered,
        Self::Unanswered,
        Self::MatchAsked,
        Self::MatchCreated,
        Self::JoinRefused,
        Self::MatchFinished,
        Self::MatchBrokenOff,
        Self::ActionSent,
        Self::ActionAcknowledged,
        Self::Observation,
        Self::SpectatorObservation,
        Self::Dropped,
        Self::Rejoined,
        Self::Reconnected,
        Self::SeatAssigned,
        Self::RatedResult,
        Self::LadderNotice,
        Self::RecordReplayed,
    ];

    /// What it is, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::Unanswered => "of these without an answer at the end",
            Self::MatchAsked => "matches asked for",
            Self::MatchCreated => "matches created",
            Self::JoinRefused => "joins refused for now",
            Self::MatchFinished => "matches finished",
            Self::MatchBrokenOff => "matches broken off",
            Self::ActionSent => "actions sent",
            Self::ActionAcknowledged => "actions acknowledged",
            Self::Observation => "observations",
            Self::SpectatorObservation => "observations of spectators",
            Self::Dropped => "connections dropped on purpose",
            Self::Rejoined => "matches left and joined again on purpose",
            Self::Reconnected => "reconnects",
            Self::SeatAssigned => "seats assigned",
            Self::RatedResult => "rated results",
            Self::LadderNotice => "notices of the ladder",
            Self::RecordReplayed => "records replayed",
        }
    }
}

/// How many there were of each.
///
/// ```
/// use zetema_load::outcome::{Count, Counts};
///
/// let mut counts = Counts::default();
/// counts.add(Count::MatchCreated, 2);
/// assert_eq!(counts.of(Count::MatchCreated), 2);
/// assert_eq!(counts.of(Count::MatchFinished), 0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; Count::ALL.len()]);

impl Counts {
    /// How many.
    pub const fn of(&self, count: Count) -> u64 {
        self.0[count as usize]
    }

    /// Counts so many more.
    pub const fn add(&mut self, count: Count, more: u64) {
        let known = &mut self.0[count as usize];
        *known = known.saturating_add(more);
    }

    /// Counts what others have counted too.
    pub fn merge(&mut self, other: &Self) {
        for count in Count::ALL {
            self.add(count, other.of(count));
        }
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = Count::ALL.into_iter().map(|count| (count, self.of(count)));
        serializer.collect_map(known.filter(|(_, number)| *number > 0))
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counts = Self::default();
        for (count, number) in BTreeMap::<Count, u64>::deserialize(deserializer)? {
            counts.add(count, number);
        }
        Ok(counts)
    }
}
