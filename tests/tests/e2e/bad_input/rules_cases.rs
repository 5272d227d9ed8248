//! Inputs of `RulesService` that must be refused.

use zetema_proto::v1;
use zetema_proto::v1::Preset;

use super::case::{Case, Expected};

const GET: &str = "RulesService/GetPreset";
const CHECK: &str = "RulesService/CheckRules";

pub(crate) fn cases() -> Vec<Case> {
    let victorian = v1::PresetRules { preset: Preset::Victorian.into(), teams: None, imperial_suit: None };
    let unknown = 99;
    let get = |preset: v1::PresetRules, players| v1::GetPresetRequest { preset: Some(preset), players };
    let rows = [
        ("no preset", v1::GetPresetRequest { preset: None, players: 2 }, Expected::field("preset")),
        (
            "a preset unspecified",
            get(v1::PresetRules { preset: 0, ..victorian }, 2),
            Expected::field("preset.preset"),
        ),
        (
            "a preset that does not exist",
            get(v1::PresetRules { preset: unknown, ..victorian }, 2),
            Expected::field("preset.preset"),
        ),
        ("no players", get(victorian, 0), Expected::rules("players")),
        ("players that the preset does not allow", get(victorian, 5), Expected::rules("players")),
        ("more players than there are", get(victorian, u32::MAX), Expected::rules("players")),
        (
            "teams that the preset does not allow",
            get(v1::PresetRules { teams: Some(v1::Teams::Trios.into()), ..victorian }, 6),
            Expected::rules("preset.teams"),
        ),
        (
            "teams that do not exist",
            get(v1::PresetRules { teams: Some(unknown), ..victorian }, 6),
            Expected::field("preset.teams"),
        ),
        (
            "a suit that does not exist",
            get(v1::PresetRules { imperial_suit: Some(unknown), ..victorian }, 2),
            Expected::field("preset.imperial_suit"),
        ),
    ];
    // What is wrong with rules is the answer of CheckRules, not its failure; without rules there is none.
    let nothing =
        Case::new(CHECK, "no rules", &v1::CheckRulesRequest { rules: None }, Expected::field("rules"));
    rows.map(|(name, request, expected)| Case::new(GET, name, &request, expected))
        .into_iter()
        .chain([nothing])
        .collect()
}
