//! Matches of simulated bots, with the luck of their cards.

use rand::SeedableRng;
use rand::rngs::StdRng;
use zetema_ladder::{AdjustedScore, Baseline, DealValues, Reference};
use zetema_rules::fair::{MatchSeed, ServerSeed};
use zetema_rules::{Deck, Event, Game, LegalActions, MatchResult, Phase, Rules, Seat, Viewer};

use crate::player::Player;

/// A match that is over: what its record tells.
pub(crate) struct Played {
    pub(crate) dealer: Seat,
    pub(crate) decks: Vec<Deck>,
    pub(crate) result: MatchResult,
}

/// The seed of a match's deals.
pub(crate) fn seed(number: u64) -> MatchSeed {
    let mut bytes = *b"matches of simulated bots.......";
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    MatchSeed::derive(&ServerSeed::new(bytes), &[])
}

/// The match with this number of these bots, seat 0 first.
pub(crate) fn play(rules: Rules, number: u64, bots: &[Player]) -> Played {
    let seed = seed(number);
    let dealer = seed.dealer(rules.player_count());
    let mut random = StdRng::seed_from_u64(number);
    let mut decks = vec![seed.deck(0, rules.imperial_suit)];
    let (mut events, mut legal) = (Vec::<Event>::new(), LegalActions::default());
    let mut game = Game::new(rules, dealer, &decks[0], &mut events).expect("a match");
    loop {
        events.clear();
        match game.public().phase {
            Phase::Turn { seat, .. } => {
                game.legal_actions_into(&mut legal);
                let view = game.view(Viewer::Seat(seat));
                let action = bots[seat.index()].choose(&view, &legal, &mut random);
                game.play(seat, &action, &mut events).expect("a legal action");
            }
            Phase::DealOver => {
                let deck = seed.deck(game.public().deal + 1, rules.imperial_suit);
                game.deal(&deck, &mut events).expect("a deal");
                decks.push(deck);
            }
            Phase::MatchOver => {
                return Played { dealer, decks, result: game.public().result.expect("a result") };
            }
        }
    }
}

impl Played {
    pub(crate) fn values(&self, reference: Reference) -> Vec<DealValues> {
        self.decks.iter().map(|deck| reference.deal(deck).expect("the pack").finish()).collect()
    }

    pub(crate) fn scores(&self, baseline: &Baseline) -> Vec<AdjustedScore> {
        let values = self.values(baseline.reference());
        baseline.adjusted_scores(self.dealer, &values, &self.result).expect("the match's deals")
    }
}
