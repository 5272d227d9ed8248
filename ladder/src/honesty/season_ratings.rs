//! What the ratings of a season predict.

use zetema_rules::Seat;

use super::season::{BotIndex, Season};
use crate::ratings::{Counted, Ladder, LadderError, LadderResult, Rating, RatingSettings};

/// The ratings before each match of a season, and those at its end.
pub(super) struct SeasonRatings {
    settings: RatingSettings,
    /// By match and seat.
    before: Vec<Vec<Rating>>,
    /// By bot.
    at_the_end: Vec<Rating>,
}

impl SeasonRatings {
    /// Counts a season on a ladder that stands as it was before it.
    ///
    /// # Errors
    /// [`LadderError`] names the first result that is there twice, or was counted before.
    pub(super) fn new<B: Clone + Ord, O>(
        mut ladder: Ladder<B>,
        season: &Season<'_, B, O>,
    ) -> Result<Self, LadderError> {
        let mut before = Vec::with_capacity(season.matches().len());
        for one in season.matches() {
            let counted = Counted::Rated(one.finished.played().clone());
            let changes = ladder.count(&LadderResult { number: one.finished.number(), counted })?;
            before.push(changes.into_iter().map(|change| change.before.rating).collect());
        }
        let at_the_end = season.bots().iter().map(|bot| ladder.entry(bot).rating).collect();
        Ok(Self { settings: *ladder.settings(), before, at_the_end })
    }

    /// How likely one bot of a match is behind another: by the ratings before it, or by those at the end if that is more. The
    /// ones know nothing of a bot that is new, the others nothing of one that has changed.
    pub(super) fn chance_behind(
        &self,
        place: usize,
        seat: Seat,
        other: Seat,
        (bot, met): (BotIndex, BotIndex),
    ) -> f64 {
        let before = &self.before[place];
        let before = self.settings.win_chance(before[other.index()], before[seat.index()]);
        let at_the_end = self.settings.win_chance(self.at_the_end[met], self.at_the_end[bot]);
        before.max(at_the_end)
    }
}
