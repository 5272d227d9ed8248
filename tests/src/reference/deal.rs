//! The cards of one deal: where each lies, and what the deal remembers (R5 to R8).

use super::card::{Card, count, take};
use super::rules::Rules;

/// One deal. Lists by seat are indexed by seat number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deal {
    /// The hands (R5).
    pub hands: Vec<Vec<Card>>,
    /// The stock, next card first.
    pub stock: Vec<Card>,
    /// The cards of all thirteen rank piles (R6).
    pub tableau: Vec<Card>,
    /// The cards of completed zetemas (R16).
    pub zetema_pile: Vec<Card>,
    /// The cards of marriages (R15).
    pub marriage_pile: Vec<Card>,
    /// The cards of removed assemblies (R14).
    pub removed_pile: Vec<Card>,
    /// The cards known to be held (R8).
    pub known: Vec<Vec<Card>>,
    /// The card that lies exposed (R28).
    pub exposed: Vec<Option<Card>>,
    /// By how many cards the seat's draws stop earlier (R28).
    pub penalty: Vec<usize>,
    /// The last sequence, flush or flush sequence that the seat scored (R13).
    pub last_meld: Vec<Option<Vec<Card>>>,
    /// The ranks of the assemblies declared (R16).
    pub assemblies: Vec<u8>,
    /// How many imperial marriages were declared (R19).
    pub imperial_marriages: u32,
    /// How many zetemas were completed, those without points too.
    pub zetemas: usize,
    /// How many turns were taken, R22's included.
    pub turns: usize,
}

impl Deal {
    /// Deals a deck of 65 cards: the first to the seat after the dealer, and on clockwise, one at
    /// a time, H to each; the rest is the stock, next card first (R5, and the design's "Fair
    /// deals").
    pub fn new(rules: &Rules, dealer: usize, deck: &[Card]) -> Self {
        let players = rules.players;
        let mut hands = vec![Vec::new(); players];
        let (dealt, stock) = deck.split_at(players * rules.hand);
        for (place, card) in dealt.iter().enumerate() {
            hands[(dealer + 1 + place) % players].push(*card);
        }
        Self {
            hands,
            stock: stock.to_vec(),
            tableau: Vec::new(),
            zetema_pile: Vec::new(),
            marriage_pile: Vec::new(),
            removed_pile: Vec::new(),
            known: vec![Vec::new(); players],
            exposed: vec![None; players],
            penalty: vec![0; players],
            last_meld: vec![None; players],
            assemblies: Vec::new(),
            imperial_marriages: 0,
            zetemas: 0,
            turns: 0,
        }
    }

    /// The cards of one rank pile of the tableau (R6).
    pub fn pile(&self, rank: u8) -> Vec<Card> {
        let of_rank = |card: &Card| card.rank == rank;
        self.tableau.iter().copied().filter(of_rank).collect()
    }

    /// How many cards of the face the seat is known to hold (R8).
    pub fn known_held(&self, seat: usize, face: Card) -> usize {
        count(&self.known[seat], face)
    }

    /// How many cards there are in all places together: always 65 (R1).
    pub fn cards(&self) -> usize {
        self.hands.iter().map(Vec::len).sum::<usize>()
            + self.stock.len()
            + self.tableau.len()
            + self.zetema_pile.len()
            + self.marriage_pile.len()
            + self.removed_pile.len()
    }

    /// Cards of the hand are shown: the number known rises to at least the number shown (R8).
    pub(super) fn show(&mut self, seat: usize, shown: &[Card]) {
        for face in shown {
            while count(&self.known[seat], *face) < count(shown, *face) {
                self.known[seat].push(*face);
            }
        }
    }

    /// A card leaves the hand: the number known drops by one, not below 0 (R8).
    pub(super) fn leave_hand(&mut self, seat: usize, face: Card) {
        take(&mut self.hands[seat], face);
        take(&mut self.known[seat], face);
    }

    /// A card leaves the tableau.
    pub(super) fn leave_tableau(&mut self, face: Card) {
        take(&mut self.tableau, face);
    }
}
