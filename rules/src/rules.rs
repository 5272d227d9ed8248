//! Options that were checked (`Rules`).

use std::ops::Deref;

use thiserror::Error;

use crate::card::{Rank, Suit};
use crate::options::{Draw, MeldSize, Options};
use crate::preset::Preset;
use crate::seat::{Players, Seat, Side, Teams};

/// The revision of the rules in this crate, as records carry it. A mended rule is a new revision.
pub const RULES_REVISION: u32 = 1;

/// Options that were checked: what a match is played by.
///
/// ```
/// use zetema_rules::{Options, Preset, Rules};
/// let mut options: Options = *Preset::Sackson.rules(2, None)?;
/// options.target = Some(500);
/// assert_eq!(Rules::new(options)?.target, Some(500));
/// options.hand_size = 11;
/// assert_eq!(Rules::new(options).unwrap_err().field(), "hand_size");
/// # Ok::<(), zetema_rules::RulesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    options: Options,
    players: Players,
}

impl Deref for Rules {
    type Target = Options;

    fn deref(&self) -> &Options {
        &self.options
    }
}

impl Rules {
    /// Checks the options.
    ///
    /// # Errors
    /// The first option out of its range, by name.
    pub fn new(options: Options) -> Result<Self, RulesError> {
        let players = Players::new(usize::from(options.players))?;
        let teams = options.teams;
        if !teams.allowed(players) {
            return Err(RulesError::Teams { teams, players });
        }
        if !(3..=10).contains(&options.hand_size) {
            return Err(RulesError::HandSize { given: options.hand_size });
        }
        if options.draw_at_start == Draw::None && options.draw_at_end == Draw::None {
            return Err(RulesError::NoDraw);
        }
        let assembly = options.assembly_scores;
        for (field, given) in [
            ("sequence_score", options.sequence_score),
            ("flush_score", options.flush_score),
            ("flush_sequence_score", options.flush_sequence_score),
            ("assembly_scores.royal", assembly.royal),
            ("assembly_scores.jack", assembly.jack),
            ("assembly_scores.ace_and_five", assembly.ace_and_five),
            ("assembly_scores.other", assembly.other),
        ] {
            if given > 150 {
                return Err(RulesError::Score { field, given });
            }
        }
        if let Some(given) = options.max_reused.filter(|&given| given > 9) {
            return Err(RulesError::MaxReused { given });
        }
        if let Some(given) = options.target.filter(|given| !(1..=10_000).contains(given)) {
            return Err(RulesError::Target { given });
        }
        Ok(Self { options, players })
    }

    /// How many players.
    pub const fn player_count(&self) -> Players {
        self.players
    }

    /// How many sides.
    pub const fn sides(&self) -> usize {
        self.options.teams.sides(self.players)
    }

    /// The side of a seat (R4).
    pub const fn side(&self, seat: Seat) -> Side {
        self.options.teams.side(seat, self.players)
    }

    /// The seats of this match.
    pub fn seats(&self) -> impl DoubleEndedIterator<Item = Seat> + ExactSizeIterator + Clone + use<> {
        self.players.seats()
    }

    /// M, the number of cards in a sequence or flush (R11).
    pub const fn meld_cards(&self) -> usize {
        match self.options.meld_size {
            MeldSize::Hand => self.options.hand_size as usize,
            MeldSize::Six => 6,
        }
    }

    /// How many cards are in the stock after the deal.
    pub const fn stock_after_deal(&self) -> usize {
        65 - self.players.count() * self.options.hand_size as usize
    }

    /// The points of a zetema (R18).
    pub const fn zetema_points(rank: Rank) -> u16 {
        match rank {
            Rank::King | Rank::Queen => 50,
            Rank::Jack => 20,
            Rank::Ace | Rank::Five => 15,
            _ => 5,
        }
    }

    /// Whether this suit is the doubled one (R1).
    pub fn is_imperial(&self, suit: Suit) -> bool {
        self.options.imperial_suit == suit
    }
}

/// Options that are no rules. [`RulesError::field`] names the option.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RulesError {
    /// Players outside 2–6 (R4).
    #[error("players is {given}: give 2 to 6 (R4)")]
    Players {
        /// What was given.
        given: usize,
    },
    /// A number of players that the preset's column does not list.
    #[error("the preset {preset} is not played by {players}: give {allowed}", allowed = list(.preset.players()))]
    PresetPlayers {
        /// The preset.
        preset: Preset,
        /// What was given.
        players: Players,
    },
    /// A team form that R4 does not give for this number of players.
    #[error("teams is {teams} with {players} players: pairs need 4 or 6 players, trios 6 (R4)")]
    Teams {
        /// What was given.
        teams: Teams,
        /// The number of players.
        players: Players,
    },
    /// A team form that the preset's column does not list.
    #[error("the preset {preset} with {players} players is not played as {teams}: give {allowed}",
        allowed = .preset.teams(*.players).iter().map(|teams| teams.word()).collect::<Vec<_>>().join(" or "))]
    PresetTeams {
        /// The preset.
        preset: Preset,
        /// The number of players.
        players: Players,
        /// What was given.
        teams: Teams,
    },
    /// H outside 3–10 (R5).
    #[error("hand_size is {given}: give 3 to 10 (R5)")]
    HandSize {
        /// What was given.
        given: u8,
    },
    /// No draw at either end of a turn (R9).
    #[error("draw_at_start and draw_at_end are both none: give at least one of them (R9)")]
    NoDraw,
    /// A declaration score outside 0–150 (R18).
    #[error("{field} is {given}: give 0 to 150 (R18)")]
    Score {
        /// The option's name.
        field: &'static str,
        /// What was given.
        given: u16,
    },
    /// `max_reused` outside 0–9 (R13).
    #[error("max_reused is {given}: give 0 to 9, or none (R13)")]
    MaxReused {
        /// What was given.
        given: u8,
    },
    /// A target outside 1–10,000 (R24).
    #[error("target is {given}: give 1 to 10000, or none for a match of one deal (R24)")]
    Target {
        /// What was given.
        given: u16,
    },
}

impl RulesError {
    /// The name of the option in [`Options`].
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Players { .. } | Self::PresetPlayers { .. } => "players",
            Self::Teams { .. } | Self::PresetTeams { .. } => "teams",
            Self::HandSize { .. } => "hand_size",
            Self::NoDraw => "draw_at_start",
            Self::Score { field, .. } => field,
            Self::MaxReused { .. } => "max_reused",
            Self::Target { .. } => "target",
        }
    }
}

fn list(players: &[u8]) -> String {
    let words: Vec<String> = players.iter().map(u8::to_string).collect();
    words.join(", ")
}
