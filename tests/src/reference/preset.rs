//! The six presets, column by column (the table in the section "Presets" of `rules.md`).

use super::card::Suit;
use super::rules::{
    Ace, Assembly, AssemblyScores, Draw, ExtraTurn, FlushSuits, ImperialBonus, MarriageHandMin, MatchEnd,
    MeldSize, RoyalZetema, Rules, Teams,
};

/// A named preset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Preset {
    /// Cassell's Book of In-door Amusements, 1881.
    Victorian,
    /// A Gamut of Games, 1969, reconstructed; the default.
    Sackson,
    /// The page kept at pagat.com.
    Fosdick,
    /// A modern quick guide.
    Quick,
    /// The Japanese page of 2004.
    Akagiri,
    /// The Penguin Book of Card Games.
    Parlett,
}

/// All presets, in the order of the table.
pub const PRESETS: [Preset; 6] =
    [Preset::Victorian, Preset::Sackson, Preset::Fosdick, Preset::Quick, Preset::Akagiri, Preset::Parlett];

/// The assembly row of `sackson`, which all but `victorian` repeat.
const SACKSON_ASSEMBLY: AssemblyScores =
    AssemblyScores { king_queen: 130, jack: 120, ace_five: 110, other: 100 };

impl Preset {
    /// The name in the table's head.
    pub fn name(self) -> &'static str {
        match self {
            Self::Victorian => "victorian",
            Self::Sackson => "sackson",
            Self::Fosdick => "fosdick",
            Self::Quick => "quick",
            Self::Akagiri => "akagiri",
            Self::Parlett => "parlett",
        }
    }

    /// The numbers of players in the row `players`.
    pub fn players(self) -> &'static [usize] {
        match self {
            Self::Victorian | Self::Akagiri => &[2, 3, 4, 6],
            Self::Sackson | Self::Fosdick | Self::Quick | Self::Parlett => &[2, 3, 4, 5, 6],
        }
    }

    /// The team forms for a number of players, the default first: the row `teams` and the
    /// sentence below the table. Empty if the preset has no such number of players.
    pub fn teams(self, players: usize) -> &'static [Teams] {
        use Teams::{Individual, Pairs, Trios};
        if !self.players().contains(&players) {
            return &[];
        }
        match players {
            4 => match self {
                Self::Victorian | Self::Akagiri => &[Pairs],
                Self::Sackson | Self::Fosdick | Self::Parlett => &[Pairs, Individual],
                Self::Quick => &[Individual],
            },
            6 => match self {
                Self::Victorian => &[Pairs],
                Self::Sackson => &[Trios, Individual],
                Self::Fosdick => &[Trios, Pairs, Individual],
                Self::Quick => &[Individual],
                Self::Akagiri => &[Trios],
                Self::Parlett => &[Pairs, Individual],
            },
            _ => &[Individual],
        }
    }

    /// The preset's rules; `None` if its column does not list the players or the team form.
    pub fn rules(self, players: usize, teams: Teams) -> Option<Rules> {
        if !self.teams(players).contains(&teams) {
            return None;
        }
        let sackson = Rules {
            players,
            teams,
            imperial: Suit::Spades,
            hand: if players == 6 { 5 } else { 6 },
            draw_at_start: Draw::Never,
            draw_at_end: Draw::ToHand,
            sequence: 20,
            flush: 30,
            flush_sequence: 50,
            ace: Ace::Either,
            flush_suits: FlushSuits::Plain,
            meld_size: MeldSize::Hand,
            max_reused: None,
            assembly_scores: SACKSON_ASSEMBLY,
            assembly: Assembly::Remove,
            imperial_bonus: ImperialBonus::Second,
            marriage_hand_min: MarriageHandMin::Each,
            marriage_then_discard: false,
            royal_zetema: RoyalZetema::Normal,
            melds_after_stock: true,
            extra_turn: ExtraTurn::Full,
            target: Some(if players >= 4 { 200 } else { 300 }),
            match_end: MatchEnd::AtOnce,
            exposed_card_penalty: false,
        };
        Some(match self {
            // The two columns agree in every row but players and teams.
            Self::Sackson | Self::Akagiri => sackson,
            Self::Victorian => Rules {
                hand: if players > 4 { 5 } else { 6 },
                sequence: 30,
                flush: 30,
                flush_sequence: 60,
                max_reused: Some(4),
                assembly_scores: AssemblyScores { king_queen: 100, jack: 90, ace_five: 80, other: 60 },
                royal_zetema: RoyalZetema::AfterAssembly,
                extra_turn: ExtraTurn::None,
                target: None,
                match_end: MatchEnd::AfterDeal,
                exposed_card_penalty: true,
                ..sackson
            },
            Self::Fosdick => Rules {
                draw_at_start: Draw::ToHand,
                draw_at_end: Draw::Never,
                sequence: 10,
                flush_suits: FlushSuits::Any,
                assembly: Assembly::Keep,
                marriage_hand_min: MarriageHandMin::Any,
                marriage_then_discard: true,
                melds_after_stock: false,
                extra_turn: ExtraTurn::Discard,
                ..sackson
            },
            Self::Quick => Rules {
                draw_at_start: Draw::ToHandAndOne,
                draw_at_end: Draw::Never,
                sequence: 10,
                flush_suits: FlushSuits::Any,
                meld_size: MeldSize::Six,
                assembly: Assembly::Keep,
                imperial_bonus: ImperialBonus::None,
                melds_after_stock: false,
                ..sackson
            },
            Self::Parlett => Rules {
                draw_at_start: Draw::ToHandAndOne,
                draw_at_end: Draw::ToHand,
                ace: Ace::Low,
                flush_suits: FlushSuits::Any,
                meld_size: MeldSize::Six,
                assembly: Assembly::Keep,
                imperial_bonus: ImperialBonus::Every,
                extra_turn: ExtraTurn::None,
                ..sackson
            },
        })
    }
}
