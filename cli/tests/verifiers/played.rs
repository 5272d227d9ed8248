//! Matches that are played at random.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{
    AbortReason, Dealing, DealingKind, Entrant, ForfeitReason, Game, Outcome, Phase, PlayedBy, Preset,
    Record, Rules, Step, autoplay,
};

use crate::verifier::exported;

pub(crate) fn dealing(kind: DealingKind, players: usize, rng: &mut SmallRng) -> Dealing {
    let server_seed = ServerSeed::new(rng.random());
    let entrants = match kind {
        DealingKind::Joint => players,
        DealingKind::Shared => players * rng.random_range(1..=3),
        DealingKind::Fixed => 0,
    };
    let entrants = (0..entrants).map(|_| {
        let nonce = Nonce::new(&rng.random::<[u8; 32]>()[..rng.random_range(0..=32)]).unwrap();
        let without = nonce.reveal().is_empty() && rng.random_ratio(1, 2);
        match rng.random_range(0..4) {
            0 => Entrant { hash: None, nonce: Some(Nonce::EMPTY) },
            _ => Entrant { hash: (!without).then(|| nonce.hash()), nonce: Some(nonce) },
        }
    });
    Dealing { kind, commitment: server_seed.commitment(), entrants: entrants.collect(), server_seed }
}

/// A match that is played at random to its end, with a fault where the rules know them and a resignation now and then; or aborted after
/// so many steps.
pub(crate) fn played(
    rules: Rules,
    dealing: Dealing,
    abort_after: Option<usize>,
    rng: &mut SmallRng,
) -> Record {
    let match_seed = dealing.match_seed(&rules).unwrap();
    let dealer = match_seed.dealer(rules.player_count());
    let mut events = Vec::new();
    let mut game = Game::new(rules, dealer, &match_seed.deck(0, rules.imperial_suit), &mut events).unwrap();
    let mut steps = Vec::new();
    let aborted = Outcome::Aborted { reason: AbortReason::Idle, seats: Vec::new() };
    loop {
        events.clear();
        match game.public().phase {
            Phase::MatchOver => return Record::complete(rules, dealing, steps, None).unwrap(),
            Phase::DealOver => {
                let deck = match_seed.deck(game.public().deal + 1, rules.imperial_suit);
                game.deal(&deck, &mut events).unwrap();
            }
            Phase::Turn { .. } if abort_after.is_some_and(|most| steps.len() >= most) => {
                return Record::complete(rules, dealing, steps, Some(aborted)).unwrap();
            }
            Phase::Turn { seat, .. } => {
                let other = seat.clockwise(1, rules.player_count());
                if let Some(card) = game.faults(other).iter().next().filter(|_| rng.random_ratio(1, 20)) {
                    game.fault(other, card, &mut events).unwrap();
                    steps.push(Step::Fault { seat: other, card });
                }
                if !game.public().forfeited.contains(seat) && rng.random_ratio(1, 1_000) {
                    game.forfeit(seat, &mut events).unwrap();
                    steps.push(Step::Forfeit { seat, reason: ForfeitReason::Resigned });
                    continue;
                }
                let legal = game.legal_actions();
                let (action, by) = if game.public().forfeited.contains(seat) {
                    (autoplay(&legal).unwrap(), PlayedBy::Autoplay)
                } else {
                    (legal.get(rng.random_range(0..legal.len())).unwrap(), PlayedBy::Player)
                };
                game.play(seat, &action, &mut events).unwrap();
                steps.push(Step::Play { seat, action, points: 0, by });
            }
        }
    }
}

/// A match of three by the Victorian rules, which know faults.
pub(crate) fn victorian() -> Value {
    let mut rng = SmallRng::seed_from_u64(7);
    let rules = Preset::Victorian.rules(3, None).unwrap();
    let server_seed = ServerSeed::new([7; 32]);
    let nonces = ["alice", "", "carol"].map(|text| Nonce::new(text.as_bytes()).unwrap());
    let dealing = Dealing {
        kind: DealingKind::Joint,
        commitment: server_seed.commitment(),
        server_seed,
        entrants: nonces.map(|nonce| Entrant { hash: Some(nonce.hash()), nonce: Some(nonce) }).into(),
    };
    serde_json::from_str(&exported(&[played(rules, dealing, None, &mut rng)])).unwrap()
}
