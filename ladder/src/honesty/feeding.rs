//! Bots of teams whose side does far worse with or against one bot than with and against all others, or is given up there.

use std::collections::BTreeMap;

use super::bar::{Looked, listed};
use super::finding::{Finding, Shortfall};
use super::hopeless::Hopeless;
use super::margins::Margins;
use super::season::{BotIndex, Season};
use super::settings::HonestySettings;
use super::suspicion::Suspicion;
use super::tail::{normal, whole};

/// What two bots are to each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tie {
    /// The first one's side, against the second's.
    Opponents,
    /// Both are of the side; the one that played first stands first.
    Partners,
}

/// Two bots, and what they are to each other.
type Pair = (Tie, BotIndex, BotIndex);

/// The matches of two bots that have a margin, and those that they forfeited: the first one those against the second, both those
/// with each other. What others forfeited tells nothing of these two.
#[derive(Default)]
struct Together {
    /// How far the margins are off, in points.
    off: f64,
    with_margin: usize,
    /// How many the first forfeited, and the second.
    forfeited: [usize; 2],
    /// The places of the matches.
    places: Vec<usize>,
}

/// How many matches of teams a bot has of which something is told, and how many of them it forfeited.
#[derive(Clone, Copy, Default)]
struct Total {
    matches: usize,
    forfeited: usize,
}

impl Total {
    /// The share of its matches that it forfeits where this pair is not together: Laplace's, so that few matches are no certainty.
    fn in_the_rest(self, with_margin: usize, forfeited: usize) -> f64 {
        let rest = self.matches - with_margin - forfeited;
        whole(self.forfeited - forfeited + 1) / whole(rest + 2)
    }
}

/// Who feeds whom. A mean margin that is short by more than the allowance is held against the normal tail; a forfeit,
/// unless what was lost is resigned, is a margin that is short by as much as one counts at most, less what the bot loses by forfeits elsewhere.
pub(super) fn feeding<B: Clone, O: Eq>(
    season: &Season<'_, B, O>,
    settings: &HonestySettings,
) -> Vec<Suspicion<B>> {
    let margins = Margins::new(season, &Hopeless::of(season, settings));
    let totals = totals(&margins, season.bots().len());
    let mut looked = Vec::new();
    for ((tie, one, other), together) in together(&margins) {
        let matches = together.places.len();
        if matches < settings.least_matches as usize || !season.of_different_owners(one, other) {
            continue;
        }
        let rest = |bot: BotIndex, forfeited| totals[bot].in_the_rest(together.with_margin, forfeited);
        let usual = match tie {
            Tie::Opponents => rest(one, together.forfeited[0]),
            Tie::Partners => (rest(one, together.forfeited[0]) + rest(other, together.forfeited[1])).min(1.0),
        };
        let matches = whole(matches);
        let forfeited = whole(together.forfeited.iter().sum());
        let points = margins.lost() * (forfeited / matches - usual) - together.off / matches;
        let deviation = margins.deviation(one, other).hypot(margins.lost() * (usual * (1.0 - usual)).sqrt());
        if deviation <= 0.0 {
            continue;
        }
        let short = Shortfall { matches: together.places.len(), points, deviation };
        let beyond = points / deviation - settings.margin_allowance;
        let finding = match tie {
            Tie::Opponents => Finding::FeedsOpponent { feeder: one, fed: other, short },
            Tie::Partners => Finding::FailPartner { partners: [one, other], short },
        };
        let p_value = normal(beyond * matches.sqrt());
        looked.push(Looked { p_value, finding, seen_in: together.places });
    }
    listed(looked, season, settings)
}

fn totals(margins: &Margins, bots: usize) -> Vec<Total> {
    let mut totals = vec![Total::default(); bots];
    for (margin, _) in margins.off() {
        for &bot in &margin.own {
            totals[bot].matches += 1;
        }
    }
    for forfeit in margins.forfeits() {
        totals[forfeit.bot].matches += 1;
        totals[forfeit.bot].forfeited += 1;
    }
    totals
}

fn together(margins: &Margins) -> BTreeMap<Pair, Together> {
    let mut all: BTreeMap<Pair, Together> = BTreeMap::new();
    for (margin, off) in margins.off() {
        let mut add = |pair| {
            let together = all.entry(pair).or_default();
            together.off += off;
            together.with_margin += 1;
            together.places.push(margin.place);
        };
        for &one in &margin.own {
            for &other in margin.own.iter().filter(|&&other| one < other) {
                add((Tie::Partners, one, other));
            }
            for &other in &margin.others {
                add((Tie::Opponents, one, other));
            }
        }
    }
    for forfeit in margins.forfeits() {
        let bot = forfeit.bot;
        let mut add = |pair, who: usize| {
            let together = all.entry(pair).or_default();
            together.forfeited[who] += 1;
            together.places.push(forfeit.place);
        };
        for &partner in &forfeit.partners {
            add((Tie::Partners, bot.min(partner), bot.max(partner)), usize::from(partner < bot));
        }
        for &other in &forfeit.others {
            add((Tie::Opponents, bot, other), 0);
        }
    }
    all
}
