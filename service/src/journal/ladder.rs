//! The ratings of ladders as the journal keeps them: they follow from the results, and are kept to be held against those.

use async_trait::async_trait;

use super::{BotName, LadderName, Outcome, ReadError, ResultNumber};

/// The numbers that a ladder rates by. The journal knows no more of them than that they are numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoredSettings {
    /// μ of a bot that has not played.
    pub mu: f64,
    /// Its σ.
    pub sigma: f64,
    /// β.
    pub beta: f64,
    /// κ.
    pub kappa: f64,
    /// τ.
    pub tau: f64,
    /// Above which σ a rating is provisional.
    pub provisional_sigma: f64,
}

/// What is stored of one bot of a ladder: its rating, bit by bit, and what it did, counted.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRating {
    /// Which bot.
    pub bot: BotName,
    /// μ, in rating points.
    pub mu: f64,
    /// σ, in rating points.
    pub sigma: f64,
    /// Its rated matches.
    pub matches: u64,
    /// Those in which its side alone was first.
    pub wins: u64,
    /// Those in which its side was first together with others.
    pub draws: u64,
    /// Those that it forfeited.
    pub forfeits: u64,
    /// The sides that it met.
    pub opponents: u64,
    /// The points of its side less those of each side that it met, summed.
    pub margin: i64,
}

/// What is stored of one ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredLadder {
    /// Its ratings are those after this result of the server.
    pub after: ResultNumber,
    /// What they were made by.
    pub settings: StoredSettings,
    /// Its bots, by name.
    pub bots: Vec<StoredRating>,
}

/// Ratings of a ladder to store, all or none of them.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderChange {
    /// Which ladder.
    pub ladder: LadderName,
    /// The bots that are not as they are stored, or all, with what is said of all of them.
    pub stored: StoredLadder,
    /// What becomes of bots that are stored and not among these.
    pub others: OtherBots,
    /// Whether they may take the place of ratings that are after a later result.
    pub later: LaterRatings,
}

/// What becomes of the bots that a change of a ladder does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherBots {
    /// They are as they are stored, after this result too.
    Stay,
    /// They are not on the ladder.
    Go,
}

/// What becomes of stored ratings that are after a later result than those to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaterRatings {
    /// They stay, and the change is refused.
    Stay,
    /// They are replaced.
    Go,
}

/// The ratings that are stored of a ladder are after a later result: they were not replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored ratings are after result {stored}, which is later")]
pub struct StoredLater {
    /// After which.
    pub stored: ResultNumber,
}

/// Durable memory of the ratings of ladders.
#[async_trait]
pub trait LadderStore: Send + Sync + 'static {
    /// What is stored of a ladder. That its bots are as they were written is for the results to say.
    async fn stored_ladder(&self, ladder: LadderName) -> Result<Option<StoredLadder>, ReadError>;

    /// Stores ratings.
    async fn change_ladder(&self, change: LadderChange) -> Outcome<(), StoredLater>;
}
