//! What one viewer sees of a match (R8).

use std::fmt;

use thiserror::Error;

use crate::card::Card;
use crate::cards::Cards;
use crate::deck::PACK;
use crate::event::Viewer;
use crate::game::{Game, Stock, list};
use crate::legal::{LegalActions, discards};
use crate::public::{Phase, PublicState};
use crate::rules::Rules;
use crate::seat::Seat;

/// What one viewer sees of a match: the rules, everything public and its own hand (R8).
///
/// `Debug` does not show the hand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// The rules of the match.
    pub rules: Rules,
    /// What every seat sees.
    pub public: PublicState,
    /// Whose view it is.
    pub viewer: Viewer,
    /// The viewer's own hand; empty for a spectator.
    pub hand: Cards,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("viewer", &self.viewer)
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

impl View {
    /// The legal actions if the viewer is to act, else none.
    pub fn legal_actions(&self) -> LegalActions {
        let mut actions = LegalActions::default();
        if let Phase::Turn { seat, stage } = self.public.phase
            && self.viewer == Viewer::Seat(seat)
        {
            list(&self.rules, &self.public, seat, stage, self.hand, &mut actions);
        }
        actions
    }

    /// The cards that this viewer has not seen: those in other hands or in the stock. Cards known to
    /// be held by others are among them.
    pub fn unseen(&self) -> Cards {
        Cards::pack(self.rules.imperial_suit).minus(self.public.played(&self.rules)).minus(self.hand)
    }

    /// A match that this viewer could be seeing, with the given hands by seat and the given stock,
    /// next card first. A search bot deals the unseen cards at random and plays on from here.
    ///
    /// # Errors
    /// [`CompleteError`] if the cards don't fit what the viewer sees.
    pub fn complete(&self, hands: &[Cards], stock: &[Card]) -> Result<Game, CompleteError> {
        let players = self.rules.player_count();
        if hands.len() != players.count() {
            return Err(CompleteError::Hands { given: hands.len(), players: players.count() });
        }
        for seat in players.seats() {
            let hand = hands[seat.index()];
            let counted = usize::from(self.public.hand_counts[seat.index()]);
            if hand.len() != counted {
                return Err(CompleteError::HandCount { seat, given: hand.len(), seen: counted });
            }
            let exposed = self.public.exposed[seat.index()].map_or(Cards::EMPTY, Cards::from);
            let known = self.public.known_held[seat.index()].union(exposed);
            if !hand.contains_all(known) || (self.viewer == Viewer::Seat(seat) && hand != self.hand) {
                return Err(CompleteError::Hand { seat });
            }
        }
        if stock.len() != usize::from(self.public.stock_count) {
            return Err(CompleteError::StockCount { given: stock.len(), seen: self.public.stock_count });
        }
        let played = self.public.played(&self.rules);
        let all = played.iter().chain(hands.iter().flat_map(|hand| hand.iter())).chain(stock.iter().copied());
        if Cards::collect(all) != Some(Cards::pack(self.rules.imperial_suit)) {
            return Err(CompleteError::NotThePack);
        }
        if let Phase::Turn { seat, stage } = self.public.phase
            && hands.get(seat.index()).is_none_or(|&hand| discards(stage, hand).is_empty())
        {
            return Err(CompleteError::Hand { seat });
        }
        let mut every = [Cards::EMPTY; Seat::MAX];
        every[..hands.len()].copy_from_slice(hands);
        let mut order = [Card::new(crate::Rank::Ace, crate::Suit::Clubs); PACK];
        let next = PACK - stock.len();
        order[next..].copy_from_slice(stock);
        #[allow(clippy::cast_possible_truncation)]
        let stock = Stock { order, next: next as u8 };
        Ok(Game { rules: self.rules, public: self.public, hands: every, stock })
    }
}

impl PublicState {
    /// The seat that is to act, if one is.
    pub const fn to_act(&self) -> Option<Seat> {
        match self.phase {
            Phase::Turn { seat, .. } => Some(seat),
            Phase::DealOver | Phase::MatchOver => None,
        }
    }

    /// The cards of this deal that lie open: the tableau and the three piles beside it (R6).
    pub fn played(&self, rules: &Rules) -> Cards {
        let pack = Cards::pack(rules.imperial_suit);
        let piles = self.zetemas.iter().chain(self.removed.iter());
        piles.fold(self.tableau.sum(self.marriages), |played, rank| played.sum(pack.of_rank(rank)))
    }
}

/// Cards that don't fit a view. It shows no card.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompleteError {
    /// Not one hand for each seat.
    #[error("{given} hands were given: give one for each of the {players} seats")]
    Hands {
        /// How many were given.
        given: usize,
        /// How many seats there are.
        players: usize,
    },
    /// A hand of the wrong size.
    #[error("the hand of seat {seat} has {given} cards: the view shows {seen}")]
    HandCount {
        /// Whose hand.
        seat: Seat,
        /// How many cards were given.
        given: usize,
        /// How many the view shows.
        seen: usize,
    },
    /// A hand without the cards that the viewer knows to be in it.
    #[error("the hand of seat {seat} lacks cards that are known to be held (R8)")]
    Hand {
        /// Whose hand.
        seat: Seat,
    },
    /// A stock of the wrong size.
    #[error("the stock has {given} cards: the view shows {seen}")]
    StockCount {
        /// How many cards were given.
        given: usize,
        /// How many the view shows.
        seen: u8,
    },
    /// Hands, stock and open cards together are not the pack of 65.
    #[error("hands, stock and the cards in the open are not the pack of 65 (R1)")]
    NotThePack,
}
