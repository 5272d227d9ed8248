//! Baselines that were computed once, for the usual ladders.

use zetema_rules::Preset;

use super::baseline::Baseline;
use super::reference::Reference;
use super::version::ReferenceVersion;

/// A preset in its first team form, how many play, and the sums of the whole sample of version 1. The tests compute each anew.
const PUBLISHED: [(Preset, u8, &[u64]); 4] = [
    (Preset::Sackson, 2, &[4_864_150, 4_585_470]),
    (Preset::Sackson, 4, &[3_286_515, 3_053_660]),
    (Preset::Quick, 2, &[10_189_360, 9_809_830]),
    (Preset::Quick, 3, &[5_185_780, 5_276_540, 4_561_180]),
];

impl Baseline {
    /// The baseline of these rules, if it is one of the few that are published with the code, such as those of the usual ladders: the
    /// same that [`Reference::baseline`] gives after many seconds.
    pub fn published(reference: &Reference) -> Option<Self> {
        let of = |preset: Preset, players: u8| {
            let rules = preset.rules(usize::from(players), None).ok()?;
            Some(Reference::new(&rules, ReferenceVersion::One))
        };
        let mut all = PUBLISHED.iter();
        let (_, _, sums) = all.find(|(preset, players, _)| of(*preset, *players) == Some(*reference))?;
        Self::from_sums(*reference, sums).ok()
    }
}
