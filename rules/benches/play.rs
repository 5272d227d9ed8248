//! Random play with all legal actions listed, on one core: how many actions a second.
//!
//! `cargo bench -p zetema-rules` prints the figure as throughput in elements, one element an action.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{Action, Deck, Event, Game, LegalActions, Phase, Preset, Rules};

/// A generator that costs next to nothing beside what is measured (xorshift with a multiplication).
struct Random(u64);

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

/// Lists the legal actions and plays one of them, each as likely as the others, until the match is
/// over. Returns how many actions that took.
fn play_match(
    rules: Rules,
    decks: &[Deck],
    random: &mut Random,
    legal: &mut LegalActions,
    events: &mut Vec<Event>,
) -> u64 {
    let Ok(mut game) = Game::new(rules, first_seat(&rules), &decks[random.below(decks.len())], events) else {
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

fn pick(legal: &LegalActions, random: &mut Random) -> Action {
    legal.get(random.below(legal.len())).unwrap_or_else(|| unreachable!("a decision has a legal action"))
}

fn first_seat(rules: &Rules) -> zetema_rules::Seat {
    rules.seats().next().unwrap_or_else(|| unreachable!("every match has a seat 0"))
}

fn random_play(c: &mut Criterion) {
    let seed = MatchSeed::derive(&ServerSeed::new([1; 32]), &[Nonce::EMPTY, Nonce::EMPTY]);
    let mut group = c.benchmark_group("random play, sackson");
    for players in [2, 4] {
        let Ok(rules) = Preset::Sackson.rules(players, None) else { unreachable!("sackson lists 2 and 4") };
        // Shuffling a deck is SHA-256, which is no part of play.
        let decks: Vec<Deck> = (0..1024).map(|deal| seed.deck(deal, rules.imperial_suit)).collect();
        let (mut legal, mut events) = (LegalActions::default(), Vec::new());
        let mut play = |random: &mut Random| play_match(rules, &decks, random, &mut legal, &mut events);

        // A sample is some thousands of matches, whose actions are counted once beforehand: the same
        // seed plays the same matches.
        let matches = 2_000;
        let actions = {
            let mut random = Random(7);
            (0..matches).map(|_| play(&mut random)).sum()
        };
        group.throughput(Throughput::Elements(actions));
        group.bench_function(format!("{players} players"), |b| {
            b.iter(|| {
                let mut random = Random(7);
                (0..matches).map(|_| play(&mut random)).sum::<u64>()
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = random_play
}
criterion_main!(benches);
