//! Bots of teams whose side does far worse with or against one bot than with and against all others.

use std::collections::BTreeMap;

use super::bar::{Looked, listed};
use super::finding::{Finding, Shortfall};
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

/// The margins of two bots' matches.
#[derive(Default)]
struct Together {
    /// How far all of them are off, in points.
    off: f64,
    /// The places of the matches.
    places: Vec<usize>,
}

/// Who feeds whom. A mean margin that is short by more than the allowance is held against the normal tail.
pub(super) fn feeding<B: Clone, O: Eq>(
    season: &Season<'_, B, O>,
    settings: &HonestySettings,
) -> Vec<Suspicion<B>> {
    let margins = Margins::new(season);
    let mut looked = Vec::new();
    for ((tie, one, other), Together { off, places }) in together(&margins) {
        let deviation = margins.deviation(one, other);
        if places.len() < settings.least_matches as usize
            || !season.of_different_owners(one, other)
            || deviation <= 0.0
        {
            continue;
        }
        let matches = whole(places.len());
        let short = Shortfall { matches: places.len(), points: -off / matches, deviation };
        let beyond = short.points / deviation - settings.margin_allowance;
        let finding = match tie {
            Tie::Opponents => Finding::FeedsOpponent { feeder: one, fed: other, short },
            Tie::Partners => Finding::FailPartner { partners: [one, other], short },
        };
        looked.push(Looked { p_value: normal(beyond * matches.sqrt()), finding, seen_in: places });
    }
    listed(looked, season, settings)
}

fn together(margins: &Margins) -> BTreeMap<(Tie, BotIndex, BotIndex), Together> {
    let mut all: BTreeMap<_, Together> = BTreeMap::new();
    let mut add = |pair, place, off| {
        let together = all.entry(pair).or_default();
        together.off += off;
        together.places.push(place);
    };
    for (margin, off) in margins.off() {
        for &one in &margin.own {
            for &other in margin.own.iter().filter(|&&other| one < other) {
                add((Tie::Partners, one, other), margin.place, off);
            }
            for &other in &margin.others {
                add((Tie::Opponents, one, other), margin.place, off);
            }
        }
    }
    all
}
