//! The record of options, and which records are refused (the section "Presets" of `rules.md`).

use super::card::Suit;

/// Who plays with whom (R4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Teams {
    /// Each for themselves.
    Individual,
    /// Seat i with seat i + n/2; four or six players.
    Pairs,
    /// Even seats against odd; six players.
    Trios,
}

/// A draw at one end of the turn (R9).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Draw {
    /// No draw.
    Never,
    /// Until the hand holds at least H cards.
    ToHand,
    /// Until the hand holds at least H + 1 cards.
    ToHandAndOne,
}

/// Where an ace stands in a sequence (R11).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ace {
    /// Only below the two.
    Low,
    /// Below the two or above the king.
    Either,
}

/// The suits a flush may have (R12).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FlushSuits {
    /// All four.
    Any,
    /// Not the imperial one.
    Plain,
}

/// How many cards a sequence or a flush has (R11).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MeldSize {
    /// H.
    Hand,
    /// 6.
    Six,
}

/// What becomes of a declared assembly (R14).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Assembly {
    /// It stays in hand and binds the discard.
    Keep,
    /// It leaves, and the turn ends.
    Remove,
}

/// The bonus for marriages of the imperial suit (R19).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ImperialBonus {
    /// For the second of the deal, or for both at once.
    Second,
    /// For each.
    Every,
    /// No bonus.
    None,
}

/// How much of a marriage must come from hand (R15).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MarriageHandMin {
    /// In every suit as many cards as it makes marriages.
    Each,
    /// One card of the whole declaration.
    Any,
}

/// When five kings or five queens score (R16).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RoyalZetema {
    /// As any rank.
    Normal,
    /// After an assembly of the other rank.
    AfterAssembly,
}

/// What follows a zetema made with the stock empty, between two players (R22).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExtraTurn {
    /// Nothing.
    None,
    /// Another discard.
    Discard,
    /// A whole turn.
    Full,
}

/// When reaching the target ends the match (R24).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MatchEnd {
    /// With that very score.
    AtOnce,
    /// When the deal is over.
    AfterDeal,
}

/// The points of an assembly by its rank (R18).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AssemblyScores {
    /// Kings or queens.
    pub king_queen: u32,
    /// Jacks.
    pub jack: u32,
    /// Aces or fives.
    pub ace_five: u32,
    /// Any other rank.
    pub other: u32,
}

/// The rules of a match for one number of players.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rules {
    /// The number of players (R4).
    pub players: usize,
    /// The team form (R4).
    pub teams: Teams,
    /// The suit with two copies of each card (R1).
    pub imperial: Suit,
    /// H, the number of cards dealt to a hand (R5).
    pub hand: usize,
    /// The draw at the start of a turn (R9).
    pub draw_at_start: Draw,
    /// The draw at the end of a turn (R9).
    pub draw_at_end: Draw,
    /// The points of a sequence (R18).
    pub sequence: u32,
    /// The points of a flush (R18).
    pub flush: u32,
    /// The points of a flush sequence (R18).
    pub flush_sequence: u32,
    /// Where an ace stands in a sequence (R11).
    pub ace: Ace,
    /// The suits a flush may have (R12).
    pub flush_suits: FlushSuits,
    /// The size of a sequence or flush (R11).
    pub meld_size: MeldSize,
    /// How many cards a meld may share with the last (R13); `None` for any number.
    pub max_reused: Option<usize>,
    /// The points of an assembly (R18).
    pub assembly_scores: AssemblyScores,
    /// What becomes of an assembly (R14).
    pub assembly: Assembly,
    /// The bonus for imperial marriages (R19).
    pub imperial_bonus: ImperialBonus,
    /// How much of a marriage must come from hand (R15).
    pub marriage_hand_min: MarriageHandMin,
    /// Whether a discard follows a marriage (R15).
    pub marriage_then_discard: bool,
    /// When five kings or queens score (R16).
    pub royal_zetema: RoyalZetema,
    /// Whether a turn that began with an empty stock may declare (R20).
    pub melds_after_stock: bool,
    /// What follows a zetema made with the stock empty (R22).
    pub extra_turn: ExtraTurn,
    /// The total that ends the match (R24); `None` for a match of one deal.
    pub target: Option<u32>,
    /// When the target ends the match (R24).
    pub match_end: MatchEnd,
    /// Whether a discard out of turn is a fault (R28).
    pub exposed_card_penalty: bool,
}

/// The field for which a record is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Field {
    /// [`Rules::players`]
    Players,
    /// [`Rules::teams`]
    Teams,
    /// [`Rules::hand`]
    Hand,
    /// [`Rules::draw_at_start`] and [`Rules::draw_at_end`]
    Draw,
    /// [`Rules::sequence`]
    Sequence,
    /// [`Rules::flush`]
    Flush,
    /// [`Rules::flush_sequence`]
    FlushSequence,
    /// [`Rules::assembly_scores`]
    AssemblyScores,
    /// [`Rules::max_reused`]
    MaxReused,
    /// [`Rules::target`]
    Target,
}

impl Rules {
    /// Every field for which the record is refused ("Refused with the field's name").
    pub fn refused(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut check = |field, good: bool| {
            if !good {
                fields.push(field);
            }
        };
        let points = 0..=150;
        let assembly = self.assembly_scores;
        check(Field::Players, (2..=6).contains(&self.players));
        check(Field::Teams, self.teams_fit());
        check(Field::Hand, (3..=10).contains(&self.hand));
        check(Field::Draw, self.draw_at_start != Draw::Never || self.draw_at_end != Draw::Never);
        check(Field::Sequence, points.contains(&self.sequence));
        check(Field::Flush, points.contains(&self.flush));
        check(Field::FlushSequence, points.contains(&self.flush_sequence));
        check(
            Field::AssemblyScores,
            points.contains(&assembly.king_queen)
                && points.contains(&assembly.jack)
                && points.contains(&assembly.ace_five)
                && points.contains(&assembly.other),
        );
        check(Field::MaxReused, self.max_reused.is_none_or(|n| n <= 9));
        check(Field::Target, self.target.is_none_or(|n| (1..=10_000).contains(&n)));
        fields
    }

    /// Whether R4 gives the team form for the number of players.
    fn teams_fit(&self) -> bool {
        match self.teams {
            Teams::Individual => true,
            Teams::Pairs => self.players == 4 || self.players == 6,
            Teams::Trios => self.players == 6,
        }
    }

    /// The side of a seat (R4).
    pub fn side(&self, seat: usize) -> usize {
        match self.teams {
            Teams::Individual => seat,
            Teams::Pairs => seat % (self.players / 2),
            Teams::Trios => seat % 2,
        }
    }

    /// How many sides there are (R4).
    pub fn sides(&self) -> usize {
        match self.teams {
            Teams::Individual => self.players,
            Teams::Pairs => self.players / 2,
            Teams::Trios => 2,
        }
    }

    /// M, the size of a sequence, flush or flush sequence (R11).
    pub fn meld_cards(&self) -> usize {
        match self.meld_size {
            MeldSize::Hand => self.hand,
            MeldSize::Six => 6,
        }
    }
}
