//! Rules and presets.

use serde::{Deserialize, Serialize};
use zetema_rules::{AssemblyScores, Options, Players, Preset, Rules, RulesError, Suit};

/// Every option of a match's rules. Read and written; an unknown key is an error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesJson {
    players: u8,
    teams: String,
    hand_size: u8,
    imperial_suit: String,
    draw_at_start: String,
    draw_at_end: String,
    sequence_score: u16,
    flush_score: u16,
    flush_sequence_score: u16,
    assembly_scores: AssemblyScoresJson,
    ace: String,
    flush_suits: String,
    meld_size: String,
    max_reused: Option<u8>,
    assembly: String,
    imperial_bonus: String,
    marriage_hand_min: String,
    marriage_then_discard: bool,
    royal_zetema: String,
    melds_after_stock: bool,
    extra_turn: String,
    target: Option<u16>,
    match_end: String,
    exposed_card_penalty: bool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AssemblyScoresJson {
    royal: u16,
    jack: u16,
    ace_and_five: u16,
    other: u16,
}

impl RulesJson {
    /// The JSON form of these rules.
    pub(crate) fn new(rules: &Rules) -> Self {
        let Options {
            players,
            teams,
            hand_size,
            imperial_suit,
            draw_at_start,
            draw_at_end,
            sequence_score,
            flush_score,
            flush_sequence_score,
            assembly_scores: AssemblyScores { royal, jack, ace_and_five, other },
            ace,
            flush_suits,
            meld_size,
            max_reused,
            assembly,
            imperial_bonus,
            marriage_hand_min,
            marriage_then_discard,
            royal_zetema,
            melds_after_stock,
            extra_turn,
            target,
            match_end,
            exposed_card_penalty,
        } = **rules;
        Self {
            players,
            teams: teams.to_string(),
            hand_size,
            imperial_suit: imperial_suit.letter().to_string(),
            draw_at_start: draw_at_start.to_string(),
            draw_at_end: draw_at_end.to_string(),
            sequence_score,
            flush_score,
            flush_sequence_score,
            assembly_scores: AssemblyScoresJson { royal, jack, ace_and_five, other },
            ace: ace.to_string(),
            flush_suits: flush_suits.to_string(),
            meld_size: meld_size.to_string(),
            max_reused,
            assembly: assembly.to_string(),
            imperial_bonus: imperial_bonus.to_string(),
            marriage_hand_min: marriage_hand_min.to_string(),
            marriage_then_discard,
            royal_zetema: royal_zetema.to_string(),
            melds_after_stock,
            extra_turn: extra_turn.to_string(),
            target,
            match_end: match_end.to_string(),
            exposed_card_penalty,
        }
    }

    /// The rules, checked.
    pub(crate) fn rules(&self) -> Result<Rules, String> {
        let AssemblyScoresJson { royal, jack, ace_and_five, other } = self.assembly_scores;
        let imperial_suit: Suit = word("imperial_suit", &self.imperial_suit)?;
        let options = Options {
            players: self.players,
            teams: word("teams", &self.teams)?,
            hand_size: self.hand_size,
            imperial_suit,
            draw_at_start: word("draw_at_start", &self.draw_at_start)?,
            draw_at_end: word("draw_at_end", &self.draw_at_end)?,
            sequence_score: self.sequence_score,
            flush_score: self.flush_score,
            flush_sequence_score: self.flush_sequence_score,
            assembly_scores: AssemblyScores { royal, jack, ace_and_five, other },
            ace: word("ace", &self.ace)?,
            flush_suits: word("flush_suits", &self.flush_suits)?,
            meld_size: word("meld_size", &self.meld_size)?,
            max_reused: self.max_reused,
            assembly: word("assembly", &self.assembly)?,
            imperial_bonus: word("imperial_bonus", &self.imperial_bonus)?,
            marriage_hand_min: word("marriage_hand_min", &self.marriage_hand_min)?,
            marriage_then_discard: self.marriage_then_discard,
            royal_zetema: word("royal_zetema", &self.royal_zetema)?,
            melds_after_stock: self.melds_after_stock,
            extra_turn: word("extra_turn", &self.extra_turn)?,
            target: self.target,
            match_end: word("match_end", &self.match_end)?,
            exposed_card_penalty: self.exposed_card_penalty,
        };
        Rules::new(options).map_err(|error| error.to_string())
    }
}

fn word<T: std::str::FromStr<Err: std::fmt::Display>>(field: &str, word: &str) -> Result<T, String> {
    word.parse().map_err(|error| format!("{field}: {error}"))
}

/// A preset and the matches that it allows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PresetJson {
    preset: &'static str,
    default: bool,
    source: &'static str,
    players: Vec<PresetPlayersJson>,
}

#[derive(Clone, Debug, Serialize)]
struct PresetPlayersJson {
    players: usize,
    /// The preset's first choice first.
    teams: Vec<&'static str>,
}

impl PresetJson {
    /// The JSON form of this preset.
    pub(crate) fn new(preset: Preset) -> Result<Self, RulesError> {
        let players = preset.players().iter().map(|&count| {
            let players = Players::new(usize::from(count))?;
            let teams = preset.teams(players).iter().map(|teams| teams.word()).collect();
            Ok(PresetPlayersJson { players: players.count(), teams })
        });
        Ok(Self {
            preset: preset.name(),
            default: preset == Preset::default(),
            source: preset.source(),
            players: players.collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use zetema_rules::Preset;

    use super::RulesJson;

    #[test]
    fn every_preset_reads_back_from_its_json() {
        for preset in Preset::ALL {
            for &players in preset.players() {
                let rules = preset.rules(usize::from(players), None).unwrap();
                let text = serde_json::to_string(&RulesJson::new(&rules)).unwrap();
                let back: RulesJson = serde_json::from_str(&text).unwrap();
                assert_eq!(back.rules().unwrap(), rules);
            }
        }
    }

    #[test]
    fn json_that_is_no_rules_is_refused_by_name() {
        let json = RulesJson::new(&Preset::Sackson.rules(2, None).unwrap());
        let text = serde_json::to_string(&json).unwrap();
        let check = |from: &str, to: &str, names: &str| {
            let changed = text.replace(from, to);
            assert_ne!(changed, text, "{from}");
            let error = match serde_json::from_str::<RulesJson>(&changed) {
                Ok(json) => json.rules().unwrap_err(),
                Err(error) => error.to_string(),
            };
            assert!(error.contains(names), "{error}");
        };
        check(r#""teams":"individual""#, r#""teams":"solo""#, "teams: \"solo\"");
        check(r#""hand_size":6"#, r#""hand_size":11"#, "hand_size is 11");
        check(r#""target":300"#, r#""goal":300"#, "`goal`");
    }
}
