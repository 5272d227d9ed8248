//! Bots that lose to bots of other owners far more often than their ratings and their other results give.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::bar::{Looked, listed};
use super::finding::Finding;
use super::season::{BotIndex, Season};
use super::season_ratings::SeasonRatings;
use super::settings::HonestySettings;
use super::suspicion::Suspicion;
use super::tail::{at_least, whole};

/// What became of one bot against another.
#[derive(Default)]
struct Meetings {
    /// How likely the one was to be behind, for each meeting.
    chances: Vec<f64>,
    /// The places of those matches in which it was.
    lost: Vec<usize>,
    /// In how many it forfeited: then it loses to the weakest too.
    forfeited: usize,
}

impl Meetings {
    /// How many more were lost than the ratings give.
    fn excess(&self) -> f64 {
        whole(self.lost.len()) - self.chances.iter().sum::<f64>()
    }
}

/// All meetings of one bot: how many more of them were lost than the ratings give, and how many the loser forfeited.
#[derive(Clone, Copy, Default)]
struct Total {
    meetings: usize,
    excess: f64,
    forfeited: usize,
}

/// The same, of one meeting.
struct Share {
    /// 0 if fewer were lost.
    excess: f64,
    forfeited: f64,
}

impl Total {
    fn add(&mut self, meetings: &Meetings) {
        self.meetings += meetings.chances.len();
        self.excess += meetings.excess();
        self.forfeited += meetings.forfeited;
    }

    /// Against all others, without these meetings.
    fn in_the_rest(self, without: &Meetings) -> Share {
        let rest = whole((self.meetings - without.chances.len()).max(1));
        let excess = ((self.excess - without.excess()) / rest).max(0.0);
        Share { excess, forfeited: whole(self.forfeited - without.forfeited) / rest }
    }
}

/// Who loses to whom. A pair's meetings are held against what the ratings give and what the rest adds to it: how often the loser
/// forfeits against others, and how much more often than the ratings give it loses to others, and the winner wins. The
/// allowance comes on top.
pub(super) fn losing<B: Clone, O: Eq>(
    season: &Season<'_, B, O>,
    ratings: &SeasonRatings,
    settings: &HonestySettings,
) -> Vec<Suspicion<B>> {
    let all = meetings(season, ratings);
    let mut losing = vec![Total::default(); season.bots().len()];
    let mut winning = losing.clone();
    for (&(loser, winner), meetings) in &all {
        losing[loser].add(meetings);
        winning[winner].add(meetings);
    }
    let mut looked = Vec::new();
    for (&(loser, winner), meetings) in &all {
        let Meetings { chances, lost, .. } = meetings;
        if chances.len() < settings.least_matches as usize || !season.of_different_owners(loser, winner) {
            continue;
        }
        let Share { excess, forfeited } = losing[loser].in_the_rest(meetings);
        let excess = excess + winning[winner].in_the_rest(meetings).excess;
        let rest = |chance: f64| forfeited + (1.0 - forfeited) * chance + excess;
        let at_most: Vec<f64> =
            chances.iter().map(|&chance| (rest(chance) + settings.win_allowance).min(1.0)).collect();
        let finding = Finding::LosesTo {
            loser,
            winner,
            meetings: chances.len(),
            lost: lost.len(),
            by_ratings: chances.iter().sum(),
            by_the_rest: chances.iter().map(|&chance| rest(chance).min(1.0)).sum(),
        };
        looked.push(Looked { p_value: at_least(lost.len(), &at_most), finding, seen_in: lost.clone() });
    }
    listed(looked, season, settings)
}

/// All that met without teams, by who may lose to whom.
fn meetings<B, O>(
    season: &Season<'_, B, O>,
    ratings: &SeasonRatings,
) -> BTreeMap<(BotIndex, BotIndex), Meetings> {
    let mut all: BTreeMap<_, Meetings> = BTreeMap::new();
    for (place, one) in season.matches().iter().enumerate().filter(|(_, one)| !one.is_of_teams()) {
        let played = one.finished.played();
        for (seat, _, side) in played.seats() {
            for (other, _, met) in played.seats().filter(|&(_, _, met)| met != side) {
                let pair = (one.bots[seat.index()], one.bots[other.index()]);
                let meetings = all.entry(pair).or_default();
                meetings.chances.push(ratings.chance_behind(place, seat, other, pair));
                meetings.forfeited += usize::from(played.forfeited().contains(seat));
                if played.rank(side).cmp(&played.rank(met)) == Ordering::Greater {
                    meetings.lost.push(place);
                }
            }
        }
    }
    all
}
