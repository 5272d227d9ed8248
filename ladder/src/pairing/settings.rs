//! How a ladder pairs (`PairingSettings`).

use std::ops::Deref;

use thiserror::Error;
use zetema_rules::{Players, Rules, RulesError, Teams};

/// Where two bots of one owner may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SameOwner {
    /// Never in one match.
    Apart,
    /// In one match, but never on one side.
    Opponents,
    /// Anywhere: for ladders that are not rated.
    Anywhere,
}

/// The numbers of [`PairingSettings`], not checked yet. Distances are in rating points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairingOptions {
    /// How many play in a match.
    pub players: Players,
    /// How they form sides.
    pub teams: Teams,
    /// Where two bots of one owner may meet.
    pub same_owner: SameOwner,
    /// How far apart two bots may be that have just begun to wait, 0 to 1,000,000.
    pub reach_at_start: f64,
    /// How much further apart with each second of waiting, 0 to 1,000,000.
    pub reach_per_second: f64,
    /// Who has waited as long as this, in milliseconds, plays whoever is there, and first: 1 to a day.
    pub patience_ms: u64,
    /// How much nearer two bots are taken to be for each point of their uncertainties, 0 to 1.
    pub nearer_by_uncertainty: f64,
    /// How much further apart for each match beyond twice their share that they lately played together, 0 to 1,000,000.
    pub further_by_repeat: f64,
    /// How many of its last matches are remembered of each bot, 1 to 1,000.
    pub remembered_matches: u16,
}

impl PairingOptions {
    /// The usual numbers, for ratings that begin at 25 with an uncertainty of 8⅓: see `docs/pairing.md`.
    pub const fn usual(players: Players, teams: Teams) -> Self {
        Self {
            players,
            teams,
            same_owner: SameOwner::Apart,
            reach_at_start: 4.0,
            reach_per_second: 0.25,
            patience_ms: 30_000,
            nearer_by_uncertainty: 0.5,
            further_by_repeat: 6.0,
            remembered_matches: 20,
        }
    }
}

/// How a ladder pairs: [`PairingOptions`] that were checked.
///
/// ```
/// use zetema_ladder::pairing::{PairingOptions, PairingSettings};
/// use zetema_rules::{Players, Teams};
/// let mut options = PairingOptions::usual(Players::TWO, Teams::Individual);
/// assert!(PairingSettings::new(options).is_ok());
/// options.patience_ms = 100_000_000;
/// assert_eq!(PairingSettings::new(options).unwrap_err().field(), "patience_ms");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairingSettings(PairingOptions);

impl Deref for PairingSettings {
    type Target = PairingOptions;

    fn deref(&self) -> &PairingOptions {
        &self.0
    }
}

impl PairingSettings {
    const DAY_MS: u64 = 86_400_000;

    /// Checks the numbers.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn new(options: PairingOptions) -> Result<Self, PairingSettingsError> {
        let PairingOptions { players, teams, .. } = options;
        if !teams.allowed(players) {
            return Err(RulesError::Teams { teams, players }.into());
        }
        points("reach_at_start", options.reach_at_start, 1e6)?;
        points("reach_per_second", options.reach_per_second, 1e6)?;
        whole("patience_ms", options.patience_ms, 1, Self::DAY_MS)?;
        points("nearer_by_uncertainty", options.nearer_by_uncertainty, 1.0)?;
        points("further_by_repeat", options.further_by_repeat, 1e6)?;
        whole("remembered_matches", options.remembered_matches.into(), 1, 1_000)?;
        Ok(Self(options))
    }

    /// The usual ones for matches by these rules.
    pub fn usual(rules: &Rules) -> Self {
        Self(PairingOptions::usual(rules.player_count(), rules.teams))
    }

    /// How many sides a match has.
    pub const fn sides(&self) -> usize {
        self.0.teams.sides(self.0.players)
    }

    /// How many bots of one owner a match may have.
    pub(super) const fn most_of_an_owner(&self) -> usize {
        match self.0.same_owner {
            SameOwner::Apart => 1,
            SameOwner::Opponents => self.sides(),
            SameOwner::Anywhere => self.0.players.count(),
        }
    }
}

fn points(field: &'static str, given: f64, most: f64) -> Result<(), PairingSettingsError> {
    if (0.0..=most).contains(&given) {
        Ok(())
    } else {
        Err(PairingSettingsError::Points { field, given, most })
    }
}

fn whole(field: &'static str, given: u64, least: u64, most: u64) -> Result<(), PairingSettingsError> {
    if (least..=most).contains(&given) {
        Ok(())
    } else {
        Err(PairingSettingsError::Whole { field, given, least, most })
    }
}

/// Numbers by which no ladder pairs. [`PairingSettingsError::field`] names the field.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PairingSettingsError {
    /// A team form that the rules do not give for this number of players.
    #[error(transparent)]
    Teams(#[from] RulesError),
    /// A distance, or what goes into one.
    #[error("{field} is {given}: give 0 to {most}")]
    Points {
        /// The field.
        field: &'static str,
        /// What was given.
        given: f64,
        /// The most.
        most: f64,
    },
    /// A whole number.
    #[error("{field} is {given}: give {least} to {most}")]
    Whole {
        /// The field.
        field: &'static str,
        /// What was given.
        given: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
}

impl PairingSettingsError {
    /// The name of the field in [`PairingOptions`].
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Teams(error) => error.field(),
            Self::Points { field, .. } | Self::Whole { field, .. } => field,
        }
    }
}
