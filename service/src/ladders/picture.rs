//! What everyone may read of a ladder.

use std::sync::Arc;

use zetema_ladder::conduct::Status;
use zetema_ladder::{Certainty, Entry};

use crate::journal::{BotName, ResultNumber};

/// A ladder at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The last result of the server that was looked at.
    pub result_number: ResultNumber,
    /// How many results up to there are lost: a repair went on without them.
    pub lost_results: u64,
    /// How many bots are in the queue, those that play all that they want to too.
    pub queued: usize,
    /// How many of its matches are not over.
    pub live: usize,
    /// How many results are rated.
    pub rated_matches: u64,
    /// The standings, the best first.
    pub rows: Arc<[Row]>,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            result_number: ResultNumber::ZERO,
            lost_results: 0,
            queued: 0,
            live: 0,
            rated_matches: 0,
            rows: Arc::default(),
        }
    }
}

impl Picture {
    /// Whether it shows the same. Standings that were made anew are others, so that nobody compares them row by row.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let Self { result_number, lost_results, queued, live, rated_matches, rows } = self;
        (*result_number, *lost_results, *queued, *live, *rated_matches)
            == (other.result_number, other.lost_results, other.queued, other.live, other.rated_matches)
            && Arc::ptr_eq(rows, &other.rows)
    }
}

/// One bot in the standings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// From 1.
    pub rank: usize,
    /// The bot.
    pub bot: BotName,
    /// Its rating, and what it did.
    pub entry: Entry,
    /// Whether its rating can be relied on.
    pub certainty: Certainty,
    /// Whether it is paired now.
    pub conduct: Status,
}
