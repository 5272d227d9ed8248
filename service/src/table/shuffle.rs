//! Where decks come from.

use zetema_rules::fair::MatchSeed;
use zetema_rules::{Deck, Players, Seat, Suit};

/// Makes the dealer and the decks of a match from its seed. There is one in the program, [`FairShuffler`]:
/// tests put another behind the same commitment, to look at what a seat can't see.
pub trait Shuffler: Send + Sync + 'static {
    /// The first dealer (R7).
    fn dealer(&self, seed: &MatchSeed, players: Players) -> Seat;

    /// The deck of the deal with this number, 0 for the first.
    fn deck(&self, seed: &MatchSeed, deal: u32, imperial: Suit) -> Deck;
}

/// The formulas that anyone can check with SHA-256 alone: see [`zetema_rules::fair`].
#[derive(Clone, Copy, Debug, Default)]
pub struct FairShuffler;

impl Shuffler for FairShuffler {
    fn dealer(&self, seed: &MatchSeed, players: Players) -> Seat {
        seed.dealer(players)
    }

    fn deck(&self, seed: &MatchSeed, deal: u32, imperial: Suit) -> Deck {
        seed.deck(deal, imperial)
    }
}
