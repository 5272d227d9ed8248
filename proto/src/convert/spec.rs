//! What a request for a match says: its rules and views.

use zetema_rules::{Players, Preset, Rules, Suit, Teams};

use super::{FieldError, optional, value};
use crate::v1;
use crate::v1::match_spec;

/// When an observation holds the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Views {
    /// With every decision.
    #[default]
    EveryDecision,
    /// Never: in snapshots only.
    SnapshotsOnly,
}

/// Who may watch a match and read its record, beside the admin, whoever created it, and its seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Nobody else.
    #[default]
    Private,
    /// Everyone.
    Public,
}

super::wire_enum! {
    Views = Views { EveryDecision, SnapshotsOnly }
    Visibility = Visibility { Private, Public }
}

impl v1::PresetRules {
    /// The preset's rules for so many players.
    ///
    /// # Errors
    /// [`FieldError`] for an unknown value, and for players or teams that the preset does not list.
    pub fn rules(&self, players: usize) -> Result<Rules, FieldError> {
        let Self { preset, teams, imperial_suit } = self;
        let preset: Preset = value("preset", preset)?;
        let teams: Option<Teams> = optional("teams", teams.as_ref())?;
        let imperial: Option<Suit> = optional("imperial_suit", imperial_suit.as_ref())?;
        let mut options = *preset.rules(players, teams).map_err(FieldError::rules)?;
        options.imperial_suit = imperial.unwrap_or(options.imperial_suit);
        Rules::new(options).map_err(FieldError::rules)
    }
}

impl v1::MatchSpec {
    /// The rules of the match: the preset's for its number of seats, or its own.
    ///
    /// # Errors
    /// [`FieldError`] for rules that are missing, can't be played, or don't fit the number of seats.
    pub fn checked_rules(&self) -> Result<Rules, FieldError> {
        let players = self.seats.len();
        if let Err(error) = Players::new(players) {
            return Err(FieldError { path: "seats".to_owned(), problem: error.into() });
        }
        match &self.rules {
            None => Err(FieldError::missing("rules")),
            Some(match_spec::Rules::Preset(preset)) => preset.rules(players).map_err(|error| {
                // The number of players is that of the seats, which is no field of the preset.
                if error.path == "players" {
                    FieldError { path: "seats".to_owned(), ..error }
                } else {
                    error.within("preset")
                }
            }),
            Some(match_spec::Rules::Own(own)) => {
                let rules: Rules = value("own", own)?;
                if rules.player_count().count() == players {
                    return Ok(rules);
                }
                let problem = format!("own.players is {}, and there are {players} seats", rules.players);
                Err(FieldError::invalid("seats", problem))
            }
        }
    }
}
