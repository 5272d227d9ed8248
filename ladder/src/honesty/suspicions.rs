//! All that is suspected in a season.

use super::abandoned::abandoned;
use super::alike::alike;
use super::feeding::feeding;
use super::finished::FinishedMatch;
use super::losing::losing;
use super::season::Season;
use super::season_ratings::SeasonRatings;
use super::settings::HonestySettings;
use super::suspicion::Suspicion;
use super::time_outs::time_outs;
use crate::ratings::{Ladder, LadderError};

/// What a season shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicions<B> {
    /// All that is suspected, by kind, in the order of [`Finding`](crate::Finding), feeding of either kind together; then the least
    /// likely first; then by who played first.
    pub listed: Vec<Suspicion<B>>,
    /// Of whom it can't be told whether they play alike.
    pub uncompared: Uncompared,
}

/// Pairs of bots of different owners that played too little to be listed for playing alike, even if they are one program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncompared {
    /// How many.
    pub pairs: usize,
    /// Of how many pairs of bots of different owners.
    pub of_pairs: usize,
    /// How many matches more the bot of such a pair that lacks most of them has to play in a season, or somewhat fewer, before
    /// the pair is compared: so many or more in half of the pairs. `None` if no pair is left out, or it is not known of half of
    /// them or more, as these have a bot that never chose between cards.
    pub lacking_matches: Option<usize>,
}

/// All that is suspected in a season of one ladder, given as it stood before, and the rated results since, in any order.
///
/// A bot's name is never looked at, so with other names all else stays.
///
/// ```
/// # use zetema_ladder::{FinishedMatch, FinishedSeat, HonestySettings, Ladder, Played};
/// # use zetema_ladder::{RatingSettings, ResultNumber, suspicions};
/// # use zetema_rules::{EndReason, MatchResult, Seats, Teams};
/// // Eve wins two of three against ada, and loses to dan forty times, who is no better than ada and bob.
/// let mut results = Vec::new();
/// for number in 0..320 {
///     // The first one wins.
///     let eve = [["dan", "eve"], ["eve", "ada"], ["ada", "eve"], ["eve", "ada"]];
///     let dan = [["dan", "ada"], ["ada", "dan"], ["dan", "bob"], ["bob", "dan"]];
///     let bots = [eve, dan].concat()[number % 8];
///     let result =
///         MatchResult { reason: EndReason::Target, ranks: [1, 2, 0, 0, 0, 0], totals: [310, 260, 0, 0, 0, 0] };
///     let played = Played::new(bots.to_vec(), Teams::Individual, result, Seats::EMPTY)?;
///     let number = ResultNumber::new(number as u64 + 1);
///     results.push(FinishedMatch::new(number, 0, played, bots.map(FinishedSeat::played_on).to_vec())?);
/// }
/// let found = suspicions(Ladder::new(RatingSettings::default()), &results, &HonestySettings::default())?;
/// assert_eq!(found.listed.len(), 1);
/// let line = found.listed[0].to_string();
/// assert!(line.starts_with("eve loses to dan: behind in 40 of 40 meetings"), "{line}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LadderError`] names the first result that is there twice, or that the ladder has counted before.
pub fn suspicions<B: Clone + Ord, O: Eq>(
    before: Ladder<B>,
    results: &[FinishedMatch<B, O>],
    settings: &HonestySettings,
) -> Result<Suspicions<B>, LadderError> {
    let season = Season::new(results);
    let ratings = SeasonRatings::new(before, &season)?;
    let (alike, uncompared) = alike(&season, settings);
    let listed = [
        losing(&season, &ratings, settings),
        feeding(&season, settings),
        time_outs(&season, settings),
        abandoned(&season, settings),
        alike,
    ]
    .concat();
    Ok(Suspicions { listed, uncompared })
}
