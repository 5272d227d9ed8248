//! The legal actions of a decision, listed (R10–R16).

use crate::action::{Action, Declaration};
use crate::card::{Rank, Suit};
use crate::cards::{Cards, LANE, Ranks};
use crate::error::PlayError;
use crate::options::{Ace, FlushSuits, MarriageHandMin};
use crate::public::{PublicState, Stage};
use crate::rules::Rules;
use crate::seat::Seat;

/// The legal actions of one decision: discards as a set of faces, declarations as a list without
/// repeats. A decision always has a legal discard.
///
/// An action's index counts the discards first, in the order of their card numbers, then the
/// declarations as listed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LegalActions {
    /// The faces that may be discarded.
    pub discards: Cards,
    /// The combinations that may be declared.
    pub declarations: Vec<Declaration>,
}

impl LegalActions {
    /// How many actions.
    pub fn len(&self) -> usize {
        self.discards.face_count() + self.declarations.len()
    }

    /// Whether there is none: nobody is to act.
    pub fn is_empty(&self) -> bool {
        self.discards.is_empty() && self.declarations.is_empty()
    }

    /// The action with this index.
    pub fn get(&self, index: usize) -> Option<Action> {
        match index.checked_sub(self.discards.face_count()) {
            None => self.discards.face(index).map(Action::Discard),
            Some(index) => self.declarations.get(index).copied().map(Action::Declare),
        }
    }

    /// Whether this action is legal.
    pub fn contains(&self, action: &Action) -> bool {
        match action {
            Action::Discard(card) => self.discards.contains(*card),
            Action::Declare(declaration) => self.declarations.contains(declaration),
        }
    }

    /// All actions in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = Action> {
        let discards = self.discards.faces_in_order().map(Action::Discard);
        discards.chain(self.declarations.iter().copied().map(Action::Declare))
    }

    pub(crate) fn clear(&mut self) {
        self.discards = Cards::EMPTY;
        self.declarations.clear();
    }
}

/// It lists what one seat may do, and so its cards: it shows only how many actions there are.
impl std::fmt::Debug for LegalActions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LegalActions({} discards, {} declarations)", self.discards.len(), self.declarations.len())
    }
}

/// The faces that this stage lets a hand discard.
pub(crate) fn discards(stage: Stage, hand: Cards) -> Cards {
    let allowed = match stage {
        Stage::DeclareOrDiscard | Stage::Discard => hand,
        Stage::DiscardDeclared(declared) => hand.intersection(declared),
        Stage::DiscardExposed(card) => hand.intersection(card.into()),
    };
    allowed.distinct()
}

/// Lists every declaration that a hand can make, none twice.
pub(crate) fn declarations(
    rules: &Rules,
    public: &PublicState,
    seat: Seat,
    hand: Cards,
    out: &mut Vec<Declaration>,
) {
    let mut melds = Melds { rules, public, seat, out };
    melds.sequences(hand);
    melds.flushes(hand);
    let assemblies = all_five(hand);
    if !assemblies.is_empty() {
        out.extend(assemblies.iter().map(Declaration::Assembly));
    }
    marriages(rules, hand, public.tableau, out);
}

/// Why `max_reused` bars a meld of these cards for this seat, if it does (R13).
pub(crate) fn reuse(rules: &Rules, public: &PublicState, seat: Seat, cards: Cards) -> Option<PlayError> {
    let most = rules.max_reused?;
    let shared = public.last_melds[seat.index()]?.intersection(cards).len();
    (shared > usize::from(most)).then_some(PlayError::ReusesTooMany { shared, most })
}

/// The ranks of which all five cards are here: assemblies in a hand (R14), zetemas in the tableau (R16).
pub(crate) fn all_five(cards: Cards) -> Ranks {
    let (faces, doubles) = (cards.faces(), cards.doubles());
    let every_suit = faces & faces >> 16 & faces >> 32 & faces >> 48;
    let second_copy = doubles | doubles >> 16 | doubles >> 32 | doubles >> 48;
    #[allow(clippy::cast_possible_truncation)]
    Ranks::from_bits((every_suit & second_copy & LANE) as u16)
}

/// The ranks at which `cards` consecutive ranks begin, as bits. Bit 13 of the ranks is the ace above
/// the king. Ranks wrap nowhere (R3).
fn sequence_starts(rules: &Rules, ranks: u64, cards: usize) -> u64 {
    let ranks = match rules.ace {
        Ace::Low => ranks,
        Ace::Either => ranks | (ranks & 1) << 13,
    };
    (1..cards).fold(ranks, |starts, i| starts & ranks >> i)
}

fn all_ranks(faces: u64) -> u64 {
    (faces | faces >> 16 | faces >> 32 | faces >> 48) & LANE
}

/// The suit of all these cards, if it is one.
fn only_suit(cards: Cards) -> Option<Suit> {
    Suit::ALL.into_iter().find(|&suit| cards.of_suit(suit) == cards)
}

fn is_sequence(rules: &Rules, cards: Cards) -> bool {
    let ranks = all_ranks(cards.faces());
    ranks.count_ones() as usize == cards.len() && sequence_starts(rules, ranks, cards.len()) != 0
}

fn may_flush(rules: &Rules, suit: Suit) -> bool {
    rules.flush_suits == FlushSuits::Any || !rules.is_imperial(suit)
}

/// What M cards are as a sequence, a flush or both (R11, R12); `None` if nothing.
pub(crate) fn meld(rules: &Rules, cards: Cards) -> Option<Declaration> {
    if cards.len() != rules.meld_cards() {
        return None;
    }
    let flush = only_suit(cards).is_some_and(|suit| may_flush(rules, suit));
    match (is_sequence(rules, cards), flush) {
        (true, true) => Some(Declaration::FlushSequence(cards)),
        (true, false) => Some(Declaration::Sequence(cards)),
        (false, true) => Some(Declaration::Flush(cards)),
        (false, false) => None,
    }
}

struct Melds<'a> {
    rules: &'a Rules,
    public: &'a PublicState,
    seat: Seat,
    out: &'a mut Vec<Declaration>,
}

impl Melds<'_> {
    fn push(&mut self, declaration: Declaration, cards: Cards) {
        if reuse(self.rules, self.public, self.seat, cards).is_none() {
            self.out.push(declaration);
        }
    }

    fn sequences(&mut self, hand: Cards) {
        let size = self.rules.meld_cards();
        let mut starts = sequence_starts(self.rules, all_ranks(hand.faces()), size);
        while starts != 0 {
            let start = starts.trailing_zeros() as usize;
            starts &= starts - 1;
            self.suits_of(hand.faces(), start, start + size, 0);
        }
    }

    /// Chooses a suit for each rank from `rank` up to `end`, `chosen` holding those below.
    fn suits_of(&mut self, faces: u64, rank: usize, end: usize, chosen: u64) {
        if rank == end {
            let cards = Cards::from_faces(chosen);
            let flush = only_suit(cards).is_some_and(|suit| may_flush(self.rules, suit));
            let declaration =
                if flush { Declaration::FlushSequence(cards) } else { Declaration::Sequence(cards) };
            self.push(declaration, cards);
            return;
        }
        let mut left = Cards::from_faces(faces).of_rank(Rank::ALL[rank % 13]).faces();
        while left != 0 {
            let bit = left & left.wrapping_neg();
            left ^= bit;
            self.suits_of(faces, rank + 1, end, chosen | bit);
        }
    }

    fn flushes(&mut self, hand: Cards) {
        let size = self.rules.meld_cards();
        let counts = hand.suit_counts();
        for suit in Suit::ALL {
            if counts[suit.index()] >= size && may_flush(self.rules, suit) {
                self.flushes_of(hand.of_suit(suit), size, Cards::EMPTY);
            }
        }
    }

    /// Chooses `left` of the cards held, `chosen` holding those before.
    fn flushes_of(&mut self, held: Cards, left: usize, chosen: Cards) {
        if held.len() < left {
            return;
        }
        if left == 0 {
            // Both at once is scored as a flush sequence (R12), which `sequences` has listed.
            if !is_sequence(self.rules, chosen) {
                self.push(Declaration::Flush(chosen), chosen);
            }
            return;
        }
        let bit = held.faces() & held.faces().wrapping_neg();
        let copies = Cards::from_masks(bit, held.doubles() & bit);
        let rest = held.minus(copies);
        if copies.len() == 2 && left >= 2 {
            self.flushes_of(rest, left - 2, chosen.sum(copies));
        }
        self.flushes_of(rest, left - 1, chosen.sum(Cards::from_faces(bit)));
        self.flushes_of(rest, left, chosen);
    }
}

/// Chooses marriages suit by suit.
struct Marriages<'a> {
    hand_min: MarriageHandMin,
    hand: Cards,
    tableau: Cards,
    out: &'a mut Vec<Declaration>,
}

fn marriages(rules: &Rules, hand: Cards, tableau: Cards, out: &mut Vec<Declaration>) {
    let royals = |cards: Cards| cards.of_rank(Rank::King).union(cards.of_rank(Rank::Queen));
    let (hand, tableau) = (royals(hand), royals(tableau));
    let both = hand.faces() | tableau.faces();
    // A queen's bit is next to its king's.
    let couples = both & both << 1;
    let held = couples & (hand.faces() | hand.faces() << 1);
    if held == 0 {
        return;
    }
    let couples = match rules.marriage_hand_min {
        // Those of which the hand has nothing can't be chosen (R15).
        MarriageHandMin::Each => held,
        MarriageHandMin::Any => couples,
    };
    let mut marriages = Marriages { hand_min: rules.marriage_hand_min, hand, tableau, out };
    marriages.choose(Cards::from_faces(couples), Cards::EMPTY, Cards::EMPTY);
}

impl Marriages<'_> {
    /// Chooses none, one or two marriages of each suit in which there is one, by its king, beside those chosen.
    fn choose(&mut self, couples: Cards, hand: Cards, tableau: Cards) {
        let Some(king) = couples.last_face() else {
            if !hand.is_empty() {
                self.out.push(Declaration::Marriages { hand, tableau });
            }
            return;
        };
        let (suit, rest) = (king.suit(), couples.minus(king.into()));
        self.choose(rest, hand, tableau);
        let (own, open) = (self.hand.of_suit(suit), self.tableau.of_suit(suit));
        for king in sources(own.of_rank(Rank::King), open.of_rank(Rank::King)) {
            for queen in sources(own.of_rank(Rank::Queen), open.of_rank(Rank::Queen)) {
                let (Some(king), Some(queen)) = (king, queen) else { continue };
                let (from_hand, from_tableau) = (king.0.union(queen.0), king.1.union(queen.1));
                if !from_hand.is_empty() || self.hand_min == MarriageHandMin::Any {
                    self.choose(rest, hand.union(from_hand), tableau.union(from_tableau));
                }
            }
        }
        let all = own.sum(open).doubles();
        let enough = self.hand_min == MarriageHandMin::Any || own.len() >= 2;
        if all & all << 1 != 0 && enough {
            self.choose(rest, hand.union(own), tableau.union(open));
        }
    }
}

/// One card of a face, from hand or from the tableau.
fn sources(hand: Cards, tableau: Cards) -> [Option<(Cards, Cards)>; 2] {
    [
        (!hand.is_empty()).then_some((hand.distinct(), Cards::EMPTY)),
        (!tableau.is_empty()).then_some((Cards::EMPTY, tableau.distinct())),
    ]
}

/// How many marriages these cards make, by suit, if they are marriages and nothing else (R15).
pub(crate) fn marriage_counts(from_hand: Cards, from_tableau: Cards) -> Option<[usize; 4]> {
    let all = from_hand.sum(from_tableau);
    // A third copy of a face would be lost in the sum.
    if all.len() != from_hand.len() + from_tableau.len() {
        return None;
    }
    if all.is_empty() {
        return None;
    }
    let mut counts = [0; 4];
    for suit in Suit::ALL {
        let held = all.of_suit(suit);
        let kings = held.of_rank(Rank::King).len();
        if held.of_rank(Rank::Queen).len() != kings || held.len() != 2 * kings {
            return None;
        }
        counts[suit.index()] = kings;
    }
    Some(counts)
}

/// Whether enough of the cards come from hand (R15).
pub(crate) fn marriages_have_enough_from_hand(rules: &Rules, counts: [usize; 4], from_hand: Cards) -> bool {
    match rules.marriage_hand_min {
        MarriageHandMin::Each => {
            Suit::ALL.into_iter().all(|suit| from_hand.of_suit(suit).len() >= counts[suit.index()])
        }
        MarriageHandMin::Any => !from_hand.is_empty(),
    }
}
