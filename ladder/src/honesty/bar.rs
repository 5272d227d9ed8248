//! How unlikely a finding must be to be listed.

use super::finding::Finding;
use super::season::{BotIndex, Season};
use super::settings::HonestySettings;
use super::suspicion::{Significance, Suspicion};
use super::tail::whole;

/// The kinds of suspicions that share the chance of a false alarm: losing, feeding, time-outs, abandoned matches, same decisions.
const KINDS: f64 = 5.0;

/// Something that was looked at.
pub(super) struct Looked {
    /// How likely it is if all play honestly.
    pub(super) p_value: f64,
    pub(super) finding: Finding<BotIndex>,
    /// The places in the season of the matches in which it was seen.
    pub(super) seen_in: Vec<usize>,
}

/// How unlikely a finding must be to be listed where so many are looked at.
///
/// Bonferroni: each kind has the same part of the chance of a false alarm, and each of the things looked at the same part of that.
pub(super) fn bar(compared: usize, settings: &HonestySettings) -> f64 {
    settings.false_alarms / KINDS / whole(compared.max(1))
}

/// What is to be listed of all that was looked at of one kind, the least likely first, then by who played first.
pub(super) fn listed<B: Clone, O>(
    mut looked: Vec<Looked>,
    season: &Season<'_, B, O>,
    settings: &HonestySettings,
) -> Vec<Suspicion<B>> {
    let compared = looked.len();
    let bar = bar(compared, settings);
    looked.retain(|one| one.p_value <= bar);
    // Stable, and what was looked at comes in the order of who played first.
    looked.sort_by(|one, other| one.p_value.total_cmp(&other.p_value));
    let suspicion = |Looked { p_value, finding, seen_in }| Suspicion {
        finding: finding.with_bots(season.bots()),
        significance: Significance { p_value, bar, compared },
        matches: season.cite(seen_in),
    };
    looked.into_iter().map(suspicion).collect()
}
