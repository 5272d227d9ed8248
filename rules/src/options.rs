//! What descriptions of the game disagree about, as one record (`Options`).

use crate::card::{Rank, Suit};
use crate::seat::Teams;

/// How far an automatic draw fills the hand (R9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// No draw.
    None,
    /// Until the hand holds at least H cards.
    ToHandSize,
    /// Until the hand holds at least H + 1 cards.
    ToHandSizePlusOne,
}

/// Where an ace stands in a sequence (R11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ace {
    /// Below the two only.
    Low,
    /// Below the two or above the king.
    Either,
}

/// Which suits make a flush (R12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlushSuits {
    /// Every suit.
    Any,
    /// Every suit but the imperial one.
    Plain,
}

/// M, the number of cards in a sequence or flush (R11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeldSize {
    /// As many as a hand is dealt.
    Hand,
    /// Six.
    Six,
}

/// What becomes of an assembly (R14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Assembly {
    /// It stays in hand but for the discard that follows (R13).
    Keep,
    /// All five leave for the removed pile and the turn ends.
    Remove,
}

/// What imperial marriages add (R19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImperialBonus {
    /// Nothing.
    None,
    /// 10 for the second one of a deal, 20 for both at once.
    Second,
    /// 10 for each.
    Every,
}

/// How many cards of a marriage must come from hand (R15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarriageHandMin {
    /// In every suit at least as many as it makes marriages.
    Each,
    /// One of the whole declaration.
    Any,
}

/// Whether five kings or queens always score (R16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoyalZetema {
    /// They do.
    Normal,
    /// Kings only after an assembly of queens in this deal, queens only after one of kings.
    AfterAssembly,
}

/// What a zetema made with the stock empty gives, two players only (R22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtraTurn {
    /// Nothing.
    None,
    /// Another discard.
    Discard,
    /// A whole turn.
    Full,
}

/// When a reached target ends the match (R24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchEnd {
    /// With that very score.
    AtOnce,
    /// With the deal.
    AfterDeal,
}

/// The score of an assembly by its rank (R18), in points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AssemblyScores {
    /// Kings and queens.
    pub royal: u16,
    /// Jacks.
    pub jack: u16,
    /// Aces and fives.
    pub ace_and_five: u16,
    /// All other ranks.
    pub other: u16,
}

impl AssemblyScores {
    /// The points for five cards of this rank.
    pub const fn of(self, rank: Rank) -> u16 {
        match rank {
            Rank::King | Rank::Queen => self.royal,
            Rank::Jack => self.jack,
            Rank::Ace | Rank::Five => self.ace_and_five,
            _ => self.other,
        }
    }
}

/// The options of one match, for one number of players, as plain data.
///
/// [`Rules::new`](crate::Rules::new) checks them; a [`Preset`](crate::Preset) supplies a tested set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// Number of players, 2–6 (R4).
    pub players: u8,
    /// How seats form sides (R4).
    pub teams: Teams,
    /// H, the number of cards dealt to each player, 3–10 (R5).
    pub hand_size: u8,
    /// The doubled suit (R1).
    pub imperial_suit: Suit,
    /// The draw at the start of a turn (R9).
    pub draw_at_start: Draw,
    /// The draw at the end of a turn (R9).
    pub draw_at_end: Draw,
    /// Points of a sequence, 0–150 (R18).
    pub sequence_score: u16,
    /// Points of a flush, 0–150 (R18).
    pub flush_score: u16,
    /// Points of a flush sequence, 0–150 (R18).
    pub flush_sequence_score: u16,
    /// Points of an assembly, each 0–150 (R18).
    pub assembly_scores: AssemblyScores,
    /// Where an ace stands in a sequence (R11).
    pub ace: Ace,
    /// Which suits make a flush (R12).
    pub flush_suits: FlushSuits,
    /// How many cards a sequence or flush has (R11).
    pub meld_size: MeldSize,
    /// How many cards a sequence or flush may share with the last one of the same player in this
    /// deal, 0–9; `None` for any number (R13).
    pub max_reused: Option<u8>,
    /// What becomes of an assembly (R14).
    pub assembly: Assembly,
    /// What imperial marriages add (R19).
    pub imperial_bonus: ImperialBonus,
    /// How many cards of a marriage must come from hand (R15).
    pub marriage_hand_min: MarriageHandMin,
    /// Whether a discard follows marriages (R15).
    pub marriage_then_discard: bool,
    /// Whether five kings or queens always score (R16).
    pub royal_zetema: RoyalZetema,
    /// Whether combinations may be declared in a turn that began with an empty stock (R20).
    pub melds_after_stock: bool,
    /// What a zetema made with the stock empty gives (R22).
    pub extra_turn: ExtraTurn,
    /// The total that ends the match, 1–10,000; `None` for a match of one deal (R24).
    pub target: Option<u16>,
    /// When a reached target ends the match (R24).
    pub match_end: MatchEnd,
    /// Whether a discard offered out of turn is a fault that stands (R28).
    pub exposed_card_penalty: bool,
}
