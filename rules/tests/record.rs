//! Records: played, printed, read back, verified, and tampered with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{
    Dealing, DealingKind, Entrant, ForfeitReason, Game, Outcome, Phase, PlayedBy, Preset, Record, Rules,
    Step, Teams, autoplay,
};

fn joint(seed: u8, players: usize) -> Dealing {
    let server_seed = ServerSeed::new([seed; 32]);
    let entrants = (0..players).map(|i| match i % 3 {
        0 => Entrant { hash: None, nonce: Some(Nonce::EMPTY) },
        i => {
            let nonce = Nonce::new(&vec![seed; i * 7]).unwrap();
            Entrant { hash: Some(nonce.hash()), nonce: Some(nonce) }
        }
    });
    Dealing {
        kind: DealingKind::Joint,
        commitment: server_seed.commitment(),
        entrants: entrants.collect(),
        server_seed,
    }
}

/// A match played at random to its end, with a resignation now and then, and a fault where the rules know them.
fn played(rules: Rules, seed: u8) -> Record {
    let mut rng = SmallRng::seed_from_u64(seed.into());
    let dealing = joint(seed, rules.player_count().count());
    let match_seed = dealing.match_seed(&rules).unwrap();
    let dealer = match_seed.dealer(rules.player_count());
    let mut events = Vec::new();
    let mut game = Game::new(rules, dealer, &match_seed.deck(0, rules.imperial_suit), &mut events).unwrap();
    let mut steps = Vec::new();
    loop {
        match game.public().phase {
            Phase::Turn { seat, .. } => {
                let other = seat.clockwise(1, rules.player_count());
                if let Some(card) = game.faults(other).iter().next().filter(|_| rng.random_ratio(1, 20)) {
                    game.fault(other, card, &mut events).unwrap();
                    steps.push(Step::Fault { seat: other, card });
                }
                if !game.public().forfeited.contains(seat) && rng.random_ratio(1, 200) {
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
            Phase::DealOver => {
                let deck = match_seed.deck(game.public().deal + 1, rules.imperial_suit);
                game.deal(&deck, &mut events).unwrap();
            }
            Phase::MatchOver => return Record::complete(rules, dealing, steps, None).unwrap(),
        }
    }
}

#[test]
fn every_record_reads_back_from_its_text_and_verifies() {
    for preset in Preset::ALL {
        for &players in preset.players() {
            let players = usize::from(players);
            for teams in [None, Some(Teams::Individual)] {
                let Ok(rules) = preset.rules(players, teams) else { continue };
                let record = played(rules, u8::try_from(players).unwrap());
                record.verify().unwrap();
                let text = record.to_string();
                let back: Record = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(back, record, "{text}");
            }
        }
    }
}

#[test]
fn rules_read_back_from_their_text() {
    for text in [
        "sackson players=2 teams=individual",
        "victorian players=6 teams=pairs",
        "fosdick players=6 teams=trios imperial_suit=H target=none",
        "quick players=5 teams=individual hand_size=10 max_reused=3 exposed_card_penalty=yes",
    ] {
        let rules: Rules = text.parse().unwrap();
        assert_eq!(rules.to_string(), text);
    }
}

#[test]
fn a_record_that_was_changed_names_the_first_place_that_differs() {
    let rules = Preset::Victorian.rules(3, None).unwrap();
    let original = played(rules, 9);
    let check = |what: &str, place: &str, change: &dyn Fn(&mut Record)| {
        let mut record = original.clone();
        change(&mut record);
        let error = record.verify().expect_err(what).to_string();
        assert!(error.starts_with(place), "{what}: {error}");
    };
    check("revision", "the rules' revision", &|record| record.revision += 1);
    check("another seed", "the commitment", &|record| record.dealing.server_seed = ServerSeed::new([1; 32]));
    check("another nonce", "the nonce of entrant 2", &|record| {
        record.dealing.entrants[2].nonce = Some(Nonce::new(b"other").unwrap());
    });
    check("a nonce without its hash", "the nonce of entrant 1", &|record| {
        record.dealing.entrants[1].hash = None;
    });
    check("a missing entrant", "the entrants", &|record| {
        record.dealing.entrants.pop();
    });
    check("another dealer", "the dealer", &|record| {
        record.dealer = record.dealer.map(|dealer| dealer.clockwise(1, rules.player_count()));
    });
    check("another deck", "deal 0", &|record| {
        record.deals[0].deck = record.dealing.match_seed(&rules).unwrap().deck(7, rules.imperial_suit);
    });
    check("another score", "deal 0", &|record| record.deals[0].scores[1] += 5);
    check("a deal too many", "deal", &|record| record.deals.push(record.deals[0].clone()));
    check("a step twice", "step 1", &|record| {
        let first = record.steps[0];
        record.steps.insert(1, first);
    });
    check("a step left out", "step 3", &|record| {
        record.steps.remove(3);
    });
    check("other points", "step 0", &|record| {
        if let Step::Play { points, .. } = &mut record.steps[0] {
            *points += 10;
        }
    });
    check("the last step left out", "the outcome", &|record| {
        record.steps.pop();
        let deal = record.deals.len() - 1;
        let replayed = Record::complete(
            rules,
            record.dealing.clone(),
            record.steps.clone(),
            Some(Outcome::Aborted { reason: zetema_rules::AbortReason::Idle, seats: Vec::new() }),
        );
        record.deals[deal].scores.clone_from(&replayed.unwrap().deals[deal].scores);
    });
    check("a player's action after a forfeit", "step 1: the player's action is recorded", &|record| {
        let Step::Play { seat, .. } = record.steps[0] else { panic!("the first step is no action") };
        record.steps[0] = Step::Forfeit { seat, reason: ForfeitReason::Resigned };
        record.steps.insert(1, original.steps[0]);
    });
    check("another winner", "the outcome", &|record| {
        if let Outcome::Result(result) = &mut record.outcome {
            result.ranks.swap(0, 1);
            result.totals[0] += 1;
        }
    });
}

#[test]
fn a_resignation_ends_a_match_of_two() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let seat = rules.seats().next().unwrap();
    let steps = vec![Step::Forfeit { seat, reason: ForfeitReason::Resigned }];
    let record = Record::complete(rules, joint(3, 2), steps, None).unwrap();
    record.verify().unwrap();
    assert!(record.to_string().ends_with("0 forfeit resigned\nresult forfeit ranks 2 1 totals 0 0\n"));
}

#[test]
fn an_abort_before_the_deal_verifies_without_nonces() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let mut dealing = joint(3, 2);
    dealing.entrants[1].nonce = None;
    let seats = vec![rules.seats().nth(1).unwrap()];
    let aborted = Outcome::Aborted { reason: zetema_rules::AbortReason::NonceMissing, seats };
    let record = Record::complete(rules, dealing, Vec::new(), Some(aborted)).unwrap();
    record.verify().unwrap();
    let text = record.to_string();
    assert!(text.ends_with("aborted nonce-missing 1\n"), "{text}");
    assert_eq!(text.parse::<Record>().unwrap(), record);
    for seats in ["1 1", "1 0", "2"] {
        let other = text.replace("nonce-missing 1", &format!("nonce-missing {seats}"));
        let error = other.parse::<Record>().unwrap().verify().unwrap_err().to_string();
        assert!(error.starts_with("the outcome: "), "{seats}: {error}");
    }
}
