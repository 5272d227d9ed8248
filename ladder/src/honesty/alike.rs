//! Bots of different owners that play alike: as near to each other as each is to itself.

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
    let (mut looked, mut pairs) = (Vec::new(), Vec::new());
    for one in 0..profiles.len() {
        for other in one + 1..profiles.len() {
            if season.of_different_owners(one, other) {
                let of_pair = [&profiles[one], &profiles[other]];
                looked.extend(compare([one, other], of_pair.map(|profile| &profile.stretches[..]), settings));
                pairs.push(of_pair);
            }
        }
    }
    let uncompared = uncompared(&pairs, looked.len(), settings);
    (listed(looked, season, settings), uncompared)
}

/// The pairs that would not be listed if all their stretches were nearer, where so many were looked at.
fn uncompared(pairs: &[[&Profile; 2]], compared: usize, settings: &HonestySettings) -> Uncompared {
    let least = least_stretches(compared, settings);
    // There are as many to look at when all have played enough.
    let wanted = least_stretches(pairs.len(), settings);
    let too_short = pairs
        .iter()
        .filter(|pair| pair.iter().any(|profile| profile.stretches.len() < least))
        .collect::<Vec<_>>();
    let lacking = too_short
        .iter()
        .filter_map(|[one, other]| Some(one.matches_to(wanted)?.max(other.matches_to(wanted)?)));
    let mut lacking: Vec<usize> = lacking.collect();
    lacking.sort_unstable();
    Uncompared {
        pairs: too_short.len(),
        of_pairs: pairs.len(),
        lacking_matches: lacking.get(lacking.len() / 2).copied(),
    }
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
