//! Random play with all legal actions listed. The benchmark of the whole service compiles this too, so that there is one loop.

use std::hint::black_box;

use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{Action, Deck, Event, Game, LegalActions, Phase, Preset, Rules, Seat};

/// Plays matches of `sackson`, one after the other.
pub(super) struct RandomPlay {
    rules: Rules,
    first_seat: Seat,
    decks: Vec<Deck>,
    legal: LegalActions,
    events: Vec<Event>,
}

impl RandomPlay {
    /// Matches of so many players. `None`: `sackson` has none of so many.
    pub(super) fn new(players: usize) -> Option<Self> {
        let rules = Preset::Sackson.rules(players, None).ok()?;
        let seed = MatchSeed::derive(&ServerSeed::new([1; 32]), &[Nonce::EMPTY, Nonce::EMPTY]);
        // Shuffling a deck is SHA-256, which is no part of play.
        let decks = (0..1024).map(|deal| seed.deck(deal, rules.imperial_suit)).collect();
        let first_seat = rules.seats().next()?;
        Some(Self { rules, first_seat, decks, legal: LegalActions::default(), events: Vec::new() })
    }

    /// Lists the legal actions and plays one of them, each as likely as the others, until the match is
    /// over. Returns how many actions that took.
    pub(super) fn play_match(&mut self, random: &mut Random) -> u64 {
        let Self { rules, first_seat, decks, legal, events } = self;
        let Ok(mut game) = Game::new(*rules, *first_seat, &decks[random.below(decks.len())], events) else {
            unreachable!("every match has a seat 0")
        };
        loop {
            match game.public().phase {
                Phase::Turn { seat, .. } => {
                    game.legal_actions_into(legal);
                    let action = pick(legal, random);
                    if game.play(seat, &action, events).is_err() {
                        unreachable!("a legal action is accepted")
                    }
                }
                Phase::DealOver => {
                    if game.deal(&decks[random.below(decks.len())], events).is_err() {
                        unreachable!("a deal is due")
                    }
                }
                Phase::MatchOver => return u64::from(game.public().decision) - 1,
            }
            black_box(&events);
            events.clear();
        }
    }
}

fn pick(legal: &LegalActions, random: &mut Random) -> Action {
    legal.get(random.below(legal.len())).unwrap_or_else(|| unreachable!("a decision has a legal action"))
}

/// A generator that costs next to nothing beside what is measured (xorshift with a multiplication).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        // The high half of a product, which is below n.
        #[allow(clippy::cast_possible_truncation)]
        let below = ((high * n as u64) >> 32) as usize;
        below
    }
}
