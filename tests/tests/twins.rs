//! I3 over the whole service: games that differ only in what a seat can't see give it the same bytes, and a leak is
//! found. `cargo run --release -p zetema-tests --bin twins -- --games N` plays more of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashSet;

use zetema_proto::v1;
use zetema_proto::v1::event::Kind as Event;
use zetema_proto::{Wire, v1::Observation};
use zetema_rules::{Preset, Rank, Seat, Viewer};
use zetema_tests::twins::{Difference, Lab, Leak, Setting, Truth, forms, play_pair};

/// Pairs of each number of players and each form of teams.
const PAIRS_OF_A_FORM: usize = 20;
/// Pairs in which a planted leak must have shown.
const PAIRS_OF_A_LEAK: u64 = 200;

fn check(preset: Preset) {
    let lab = Lab::new();
    let pairs = forms(preset).len() * PAIRS_OF_A_FORM;
    let (mut steps, mut moved, mut met) = (0, 0, HashSet::new());
    for seed in 0..pairs as u64 {
        let setting = Setting::new(preset, seed);
        let mut pair = play_pair(&lab, setting, None);
        if pair.difference.as_ref().is_some_and(Difference::is_of_metrics_alone) {
            // A measured time may be lost where the page is made in another thread at that very moment, which shows in how many
            // were measured. What tells the twins apart does so each time.
            pair = play_pair(&lab, setting, None);
        }
        if let Some(difference) = pair.difference {
            panic!("{setting:?}: {difference}");
        }
        steps += pair.steps;
        moved += pair.moved;
        met.insert((setting.players, setting.teams, setting.observer));
    }
    // Else it would be no wonder that they are equal.
    assert!(steps > 20 * pairs, "{steps} steps were played in {pairs} pairs");
    assert!(moved > 30 * pairs, "{moved} cards lay elsewhere in {pairs} pairs");
    for (players, teams) in forms(preset) {
        let seats = (0..players).map(|seat| Viewer::Seat(Seat::new(seat).unwrap()));
        for observer in seats.chain([Viewer::Spectator]) {
            assert!(met.contains(&(players, teams, observer)), "{players} players, {teams:?}: {observer:?}");
        }
    }
}

#[test]
fn nobody_tells_twins_apart_that_play_by_victorian() {
    check(Preset::Victorian);
}

#[test]
fn nobody_tells_twins_apart_that_play_by_sackson() {
    check(Preset::Sackson);
}

#[test]
fn nobody_tells_twins_apart_that_play_by_fosdick() {
    check(Preset::Fosdick);
}

#[test]
fn nobody_tells_twins_apart_that_play_by_quick() {
    check(Preset::Quick);
}

#[test]
fn nobody_tells_twins_apart_that_play_by_akagiri() {
    check(Preset::Akagiri);
}

#[test]
fn nobody_tells_twins_apart_that_play_by_parlett() {
    check(Preset::Parlett);
}

/// A leak that is a function.
struct Planted(fn(&Truth<'_>, Viewer, &mut Observation));

impl Leak for Planted {
    fn observation(&mut self, truth: &Truth<'_>, viewer: Viewer, observation: &mut Observation) {
        self.0(truth, viewer, observation);
    }
}

/// A leak in what is counted.
struct Counted(fn(&Truth<'_>));

impl Leak for Counted {
    fn count(&mut self, truth: &Truth<'_>) {
        self.0(truth);
    }
}

/// A leak that is planted in observations shows in one.
fn check_found(leak: fn(&Truth<'_>, Viewer, &mut Observation)) {
    check_leak(&mut Planted(leak), |what| what != "metrics");
}

/// A leak that is planted in what is counted shows on the page of the metrics.
fn check_counted(leak: fn(&Truth<'_>)) {
    check_leak(&mut Counted(leak), |what| what == "metrics");
}

/// A leak that is planted shows in one of the first pairs, of which all are equal without it.
fn check_leak(leak: &mut dyn Leak, shows_in: fn(&str) -> bool) {
    let lab = Lab::new();
    let found = (0..PAIRS_OF_A_LEAK).find(|&seed| {
        let setting = Setting::new(Preset::ALL[usize::try_from(seed % 6).unwrap()], seed);
        let pair = play_pair(&lab, setting, Some(&mut *leak));
        let Some(difference) = pair.difference else { return false };
        assert!(play_pair(&lab, setting, None).difference.is_none(), "they are equal without the leak");
        let [Some((what, _)), Some(_)] = difference.answers else { return true };
        assert!(shows_in(what), "it is {what} that tells");
        true
    });
    assert!(found.is_some(), "{PAIRS_OF_A_LEAK} pairs are equal");
}

#[test]
fn a_card_in_an_event_is_found() {
    check_found(|truth, viewer, observation| {
        for event in &mut observation.events {
            if let Some(Event::Drew(v1::Drew { seat, cards, .. })) = &mut event.kind {
                let seat = Seat::from_wire(seat).unwrap();
                let held = truth.game.view(Viewer::Seat(seat)).hand.iter().next();
                if viewer != Viewer::Seat(seat) {
                    cards.extend(held.map(|card| card.to_wire()));
                }
            }
        }
    });
}

#[test]
fn a_length_that_depends_on_the_stock_is_found() {
    check_found(|truth, _viewer, observation| {
        let padding = truth.stock.first().map_or(0, |card| card.suit().index());
        observation.events.extend(vec![v1::Event { kind: None }; padding]);
    });
}

/// It counts what only another seat may know of, such as that it has another token.
#[test]
fn a_sequence_number_of_the_match_is_found() {
    check_found(|truth, _viewer, observation| observation.seq = truth.records as u64);
}

#[test]
fn an_order_of_the_legal_actions_that_depends_on_the_stock_is_found() {
    check_found(|truth, _viewer, observation| {
        let turned = truth.stock.first().map_or(0, |card| card.index() % 2);
        let decision = observation.decision.as_mut();
        if let Some(legal) = decision.and_then(|decision| decision.legal_actions.as_mut()) {
            let by = turned.min(legal.discards.len());
            legal.discards.rotate_left(by);
        }
    });
}

/// One copy of a doubled card was shown, and both are said to be held.
#[test]
fn a_double_that_was_not_shown_is_found() {
    check_found(|truth, _viewer, observation| {
        let Some(view) = &mut observation.view else { return };
        for (seat, shown) in truth.game.rules().seats().zip(&mut view.seats) {
            let known = truth.game.public().known_held[seat.index()];
            let hand = truth.game.view(Viewer::Seat(seat)).hand;
            for face in known.faces_in_order().filter(|&face| known.count(face) < hand.count(face)) {
                shown.known_held.push(face.to_wire());
            }
        }
    });
}

#[test]
fn a_counter_that_depends_on_the_stock_is_found() {
    check_counted(|truth| {
        let next = truth.stock.first().map_or(0, |card| card.index());
        metrics::counter!("zetema_actions_total").increment(next as u64);
    });
}

/// How long it took is not compared: how often it was measured is.
#[test]
fn a_time_that_is_measured_when_a_hand_holds_a_queen_is_found() {
    check_counted(|truth| {
        let mut hands = truth.game.rules().seats().map(|seat| truth.game.view(Viewer::Seat(seat)).hand);
        if hands.next().is_some_and(|hand| hand.iter().any(|card| card.rank() == Rank::Queen)) {
            metrics::histogram!("zetema_action_seconds").record(0.0);
        }
    });
}

/// It counts the records of one match, where the server's counter has those of all.
#[test]
fn a_counter_of_a_match_is_found() {
    check_counted(|truth| metrics::counter!("zetema_match_records_total").absolute(truth.records as u64));
}
