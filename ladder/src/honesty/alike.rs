//! Bots of different owners that choose the same where they are asked the same.

use super::bar::{Looked, listed};
use super::finding::Finding;
use super::fingerprint::Fingerprints;
use super::season::{BotIndex, Season};
use super::settings::HonestySettings;
use super::suspicion::Suspicion;
use super::tail::at_least;

/// Whose decisions are the same. Two bots are held against how often any two others choose the same, question by question, and
/// against how often bots may that are alike.
pub(super) fn alike<B: Clone, O: Eq>(
    season: &Season<'_, B, O>,
    settings: &HonestySettings,
) -> Vec<Suspicion<B>> {
    let fingerprints = Fingerprints::new(season);
    let mut looked = Vec::new();
    // There are very many pairs.
    if fingerprints.is_empty() {
        return Vec::new();
    }
    for one in 0..season.bots().len() {
        for other in one + 1..season.bots().len() {
            if season.of_different_owners(one, other) {
                looked.extend(compare([one, other], &fingerprints, settings));
            }
        }
    }
    listed(looked, season, settings)
}

/// `None` if both have answered too few of the same questions.
fn compare(bots: [BotIndex; 2], fingerprints: &Fingerprints, settings: &HonestySettings) -> Option<Looked> {
    let (mut chances, mut agreed, mut expected) = (Vec::new(), 0, 0.0);
    let [one, other] = bots;
    for (own, met) in fingerprints.common(one, other) {
        let by_chance = fingerprints.others_agree(own, met);
        expected += by_chance.unwrap_or(settings.alike);
        chances.push(by_chance.unwrap_or(0.0).max(settings.alike));
        agreed += usize::from(own.action == met.action);
    }
    if chances.len() < settings.least_matches as usize {
        return None;
    }
    let p_value = at_least(agreed, &chances);
    let mut seen_in = Vec::new();
    // Else it is not listed whatever the bar is, and there are very many pairs.
    if p_value <= settings.false_alarms {
        for (own, met) in fingerprints.common(one, other).filter(|(own, met)| own.action == met.action) {
            seen_in.extend([own.place, met.place]);
        }
    }
    let finding = Finding::SameDecisions { bots, contexts: chances.len(), agreed, expected };
    Some(Looked { p_value, finding, seen_in })
}
