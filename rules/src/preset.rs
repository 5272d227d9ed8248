//! The six published descriptions (`rules.md`, "Presets").

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::card::Suit;
use crate::options::{
    Ace, Assembly, AssemblyScores, Draw, ExtraTurn, FlushSuits, ImperialBonus, MarriageHandMin, MatchEnd,
    MeldSize, Options, RoyalZetema,
};
use crate::rules::{Rules, RulesError};
use crate::seat::{Players, Teams};

/// A published description of the game as a set of options.
///
/// ```
/// use zetema_rules::{Preset, Teams};
/// let preset: Preset = "fosdick".parse()?;
/// assert_eq!(preset.rules(6, None)?.teams, Teams::Trios);
/// assert_eq!(preset.rules(6, Some(Teams::Pairs))?.hand_size, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Preset {
    /// Cassell's Book of In-door Amusements, 1881.
    Victorian,
    /// A reconstruction of Sackson's A Gamut of Games, 1969: the default.
    #[default]
    Sackson,
    /// The cardsanddominoes.com page.
    Fosdick,
    /// A modern quick guide.
    Quick,
    /// The Japanese page of 2004, after Sackson.
    Akagiri,
    /// The Penguin Book of Card Games.
    Parlett,
}

impl Preset {
    /// All six.
    pub const ALL: [Self; 6] =
        [Self::Victorian, Self::Sackson, Self::Fosdick, Self::Quick, Self::Akagiri, Self::Parlett];

    /// The preset's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Victorian => "victorian",
            Self::Sackson => "sackson",
            Self::Fosdick => "fosdick",
            Self::Quick => "quick",
            Self::Akagiri => "akagiri",
            Self::Parlett => "parlett",
        }
    }

    /// The description that the preset follows.
    pub const fn source(self) -> &'static str {
        match self {
            Self::Victorian => "Cassell's Book of In-door Amusements (1881)",
            Self::Sackson => "a reconstruction of A Gamut of Games (1969)",
            Self::Fosdick => "the cardsanddominoes.com page kept at pagat.com",
            Self::Quick => "a modern quick guide",
            Self::Akagiri => "the Japanese page of 2004 after Sackson",
            Self::Parlett => "The Penguin Book of Card Games",
        }
    }

    /// The numbers of players that its column lists.
    pub const fn players(self) -> &'static [u8] {
        match self {
            Self::Victorian | Self::Akagiri => &[2, 3, 4, 6],
            _ => &[2, 3, 4, 5, 6],
        }
    }

    /// The team forms that it allows with so many players, its default first.
    pub const fn teams(self, players: Players) -> &'static [Teams] {
        use Teams::{Individual, Pairs, Trios};
        match (self, players.count()) {
            (Self::Victorian, 4 | 6) | (Self::Akagiri, 4) => &[Pairs],
            (Self::Akagiri, 6) => &[Trios],
            (Self::Sackson | Self::Fosdick | Self::Parlett, 4) | (Self::Parlett, 6) => &[Pairs, Individual],
            (Self::Sackson, 6) => &[Trios, Individual],
            (Self::Fosdick, 6) => &[Trios, Pairs, Individual],
            _ => &[Individual],
        }
    }

    /// The rules for so many players, with the preset's default team form unless one is given.
    ///
    /// # Errors
    /// [`RulesError`] naming `players` or `teams` where the preset's column does not list them.
    pub fn rules(self, players: usize, teams: Option<Teams>) -> Result<Rules, RulesError> {
        let players = Players::new(players)?;
        if !self.players().iter().any(|&count| usize::from(count) == players.count()) {
            return Err(RulesError::PresetPlayers { preset: self, players });
        }
        let allowed = self.teams(players);
        let teams = teams.unwrap_or(allowed[0]);
        if !allowed.contains(&teams) {
            return Err(RulesError::PresetTeams { preset: self, players, teams });
        }
        Rules::new(self.options(players, teams))
    }

    fn options(self, players: Players, teams: Teams) -> Options {
        let count = players.count();
        let sackson = Options {
            #[allow(clippy::cast_possible_truncation)]
            players: count as u8,
            teams,
            hand_size: if count == 6 { 5 } else { 6 },
            imperial_suit: Suit::Spades,
            draw_at_start: Draw::None,
            draw_at_end: Draw::ToHandSize,
            sequence_score: 20,
            flush_score: 30,
            flush_sequence_score: 50,
            assembly_scores: AssemblyScores { royal: 130, jack: 120, ace_and_five: 110, other: 100 },
            ace: Ace::Either,
            flush_suits: FlushSuits::Plain,
            meld_size: MeldSize::Hand,
            max_reused: None,
            assembly: Assembly::Remove,
            imperial_bonus: ImperialBonus::Second,
            marriage_hand_min: MarriageHandMin::Each,
            marriage_then_discard: false,
            royal_zetema: RoyalZetema::Normal,
            melds_after_stock: true,
            extra_turn: ExtraTurn::Full,
            target: Some(if count >= 4 { 200 } else { 300 }),
            match_end: MatchEnd::AtOnce,
            exposed_card_penalty: false,
        };
        match self {
            Self::Sackson | Self::Akagiri => sackson,
            Self::Victorian => Options {
                hand_size: if count > 4 { 5 } else { 6 },
                sequence_score: 30,
                flush_score: 30,
                flush_sequence_score: 60,
                assembly_scores: AssemblyScores { royal: 100, jack: 90, ace_and_five: 80, other: 60 },
                max_reused: Some(4),
                royal_zetema: RoyalZetema::AfterAssembly,
                extra_turn: ExtraTurn::None,
                target: None,
                match_end: MatchEnd::AfterDeal,
                exposed_card_penalty: true,
                ..sackson
            },
            Self::Fosdick => Options {
                draw_at_start: Draw::ToHandSize,
                draw_at_end: Draw::None,
                sequence_score: 10,
                flush_suits: FlushSuits::Any,
                assembly: Assembly::Keep,
                marriage_hand_min: MarriageHandMin::Any,
                marriage_then_discard: true,
                melds_after_stock: false,
                extra_turn: ExtraTurn::Discard,
                ..sackson
            },
            Self::Quick => Options {
                draw_at_start: Draw::ToHandSizePlusOne,
                draw_at_end: Draw::None,
                sequence_score: 10,
                flush_suits: FlushSuits::Any,
                meld_size: MeldSize::Six,
                assembly: Assembly::Keep,
                imperial_bonus: ImperialBonus::None,
                melds_after_stock: false,
                ..sackson
            },
            Self::Parlett => Options {
                draw_at_start: Draw::ToHandSizePlusOne,
                ace: Ace::Low,
                flush_suits: FlushSuits::Any,
                meld_size: MeldSize::Six,
                assembly: Assembly::Keep,
                imperial_bonus: ImperialBonus::Every,
                extra_turn: ExtraTurn::None,
                ..sackson
            },
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no preset's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name:?} is no preset: give one of victorian, sackson, fosdick, quick, akagiri, parlett")]
pub struct UnknownPreset {
    /// What was given.
    pub name: String,
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| UnknownPreset { name: name.to_owned() })
    }
}
