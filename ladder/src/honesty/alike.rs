//! Bots of different owners that play alike: as near to each other as each is to itself.

use std::collections::BTreeMap;

use super::bar::{Looked, bar, listed};
use super::finding::Finding;
use super::profile::{Agreement, Profile, Stretch, profiles};
use super::season::{BotIndex, Season};
use super::settings::HonestySettings;
use super::suspicion::Suspicion;
use super::suspicions::Uncompared;
use super::tail::at_least;

/// Who plays alike, and of whom that could not be told. Each stretch of the one's matches is compared with that of the other's which has the same number. Two that are less
/// alike than is allowed are nearer than that in every other stretch at most, by chance; the stretches are of different matches, so
/// that this is as if a coin were tossed for each.
pub(super) fn alike<B: Clone, O: Eq>(
    season: &Season<'_, B, O>,
    settings: &HonestySettings,
) -> (Vec<Suspicion<B>>, Uncompared) {
    let profiles = profiles(season);
    let stretches = |bot: BotIndex| &profiles[bot].stretches[..];
    let looked: Vec<Looked> =
        pairs(season).filter_map(|bots| compare(bots, bots.map(stretches), settings)).collect();
    let uncompared = uncompared(season, &profiles, looked.len(), settings);
    (listed(looked, season, settings), uncompared)
}

/// All pairs of bots of different owners. They are not kept, as thousands of bots have millions.
fn pairs<B, O: Eq>(season: &Season<'_, B, O>) -> impl Iterator<Item = [BotIndex; 2]> {
    let bots = season.bots().len();
    let all = (0..bots).flat_map(move |one| (one + 1..bots).map(move |other| [one, other]));
    all.filter(|&[one, other]| season.of_different_owners(one, other))
}

/// The pairs that would not be listed if all their stretches were nearer, where so many were looked at.
fn uncompared<B, O: Eq>(
    season: &Season<'_, B, O>,
    profiles: &[Profile],
    compared: usize,
    settings: &HonestySettings,
) -> Uncompared {
    let of_pairs = pairs(season).count();
    let least = least_stretches(compared, settings);
    // There are as many to look at when all have played enough.
    let wanted = least_stretches(of_pairs, settings);
    let lacked: Vec<Lacked> = profiles
        .iter()
        .map(|profile| profile.matches_to(wanted).map_or(Lacked::Unknown, Lacked::Matches))
        .collect();
    // How many pairs lack as much.
    let mut lacking: BTreeMap<Lacked, usize> = BTreeMap::new();
    for [one, other] in pairs(season) {
        if [one, other].iter().any(|&bot| profiles[bot].stretches.len() < least) {
            *lacking.entry(lacked[one].max(lacked[other])).or_default() += 1;
        }
    }
    let lacking_matches = median(&lacking).and_then(|lacked| match lacked {
        Lacked::Matches(matches) => Some(matches),
        Lacked::Unknown => None,
    });
    Uncompared { pairs: lacking.values().sum(), of_pairs, lacking_matches }
}

/// How much a bot has to play until it can be compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lacked {
    Matches(usize),
    /// It never chose between cards, so that no number of matches is known to do.
    Unknown,
}

/// That of all that were counted, the greater one of two; `None` if nothing was.
fn median(counted: &BTreeMap<Lacked, usize>) -> Option<Lacked> {
    let middle = counted.values().sum::<usize>() / 2;
    let mut so_far = 0;
    let reaches = |&(_, times): &(&Lacked, &usize)| {
        so_far += times;
        so_far > middle
    };
    counted.iter().find(reaches).map(|(&one, _)| one)
}

/// The least number of stretches with which a pair can be listed, if all of them are nearer and so many pairs are looked at.
fn least_stretches(compared: usize, settings: &HonestySettings) -> usize {
    let bar = bar(compared, settings);
    let mut stretches = settings.least_matches as usize;
    while chance(stretches, stretches) > bar {
        stretches += 1;
    }
    stretches
}

/// `None` if there is too little to compare.
fn compare(bots: [BotIndex; 2], [one, other]: [&[Stretch]; 2], settings: &HonestySettings) -> Option<Looked> {
    let stretches = one.len().min(other.len());
    if stretches < settings.least_matches as usize {
        return None;
    }
    let (mut nearer, mut all, mut seen_in) = (0, Agreement::default(), Vec::new());
    for (number, (own, met)) in one.iter().zip(other).enumerate() {
        let agreement = Agreement::of(own, met);
        all.add(agreement);
        if agreement.likeness() > settings.alike {
            nearer += 1;
            seen_in.extend([own.place, met.place]);
        }
        // Most pairs are soon seen to be different, and there are very many.
        let best = nearer + (stretches - number - 1);
        if chance(best, stretches) > settings.false_alarms {
            break;
        }
    }
    let finding = Finding::SameDecisions { bots, stretches, nearer, likeness: all.likeness() };
    Some(Looked { p_value: chance(nearer, stretches), finding, seen_in })
}

/// How likely so many are nearer, or more, of bots that are just as much alike as is allowed.
fn chance(nearer: usize, stretches: usize) -> f64 {
    at_least(nearer, &vec![0.5; stretches])
}
