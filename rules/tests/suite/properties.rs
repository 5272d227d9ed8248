//! What holds in every state of every match: I3, I6, I7, the conservation law, what is known to be
//! held, and the numbers of decisions.

use proptest::prelude::*;
use zetema_rules::{Card, Cards, Declaration, Game, Rules, Seat, SeatEvent, Viewer};

use crate::legality::check_legality;
use crate::support::{free_rules, hands, preset_rules, stock};
use crate::unseen::check_hidden;
use crate::walk::{Step, Trouble, Walk, public_events};

/// Plays at most two deals and holds `check` against every state.
fn walk(rules: Rules, seed: u64, mut check: impl FnMut(&Walk, Option<&Step>)) {
    let mut walk = Walk::new(rules, seed, Trouble::SOME);
    check(&walk, None);
    while let Some(step) = walk.step(2) {
        check(&walk, Some(&step));
    }
}

/// Names one property, and tests it for every preset, player count and team form and for options at
/// random.
macro_rules! holds_for_all_rules {
    ($($name:ident: $check:expr;)*) => {$(
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(6))]
                #[test]
                fn in_every_preset(seed: u64) {
                    for rules in preset_rules() {
                        $check(rules, seed);
                    }
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(200))]
                #[test]
                fn with_options_at_random(rules in free_rules(), seed: u64) {
                    $check(rules, seed);
                }
            }
        }
    )*};
}

holds_for_all_rules! {
    cards_are_conserved: |rules, seed| walk(rules, seed, |walk, _| check_conservation(walk));
    known_held_follows_from_what_was_shown: check_known_held;
    decisions_are_counted_by_actions_alone: check_decision_numbers;
    listed_actions_are_those_that_play_accepts: |rules, seed| walk(rules, seed, |walk, _| check_legality(walk));
    faults_listed_are_those_accepted: |rules, seed| walk(rules, seed, |walk, _| check_faults(&walk.game));
    totals_are_the_sums_of_the_points_shown: check_points;
    the_same_steps_give_the_same_match: check_replay;
    a_view_completed_with_the_hidden_cards_is_the_match: |rules, seed| walk(rules, seed, |walk, _| check_completion(walk));
    what_a_seat_cannot_see_changes_nothing_that_it_sees: check_hidden;
}

fn check_conservation(walk: &Walk) {
    let (public, rules) = (walk.game.public(), walk.game.rules());
    let hands = hands(&walk.game);
    let in_hands: usize = hands.iter().map(|hand| hand.len()).sum();
    let counted = 5 * public.zetemas.len()
        + public.marriages.len()
        + 5 * public.removed.len()
        + public.tableau.len()
        + in_hands
        + usize::from(public.stock_count);
    assert_eq!(counted, 65);
    assert_eq!(public.marriages.len() % 2, 0);

    let piles = public.zetemas.iter().chain(public.removed.iter());
    let mut all: Vec<Card> =
        piles.flat_map(|rank| Cards::pack(rules.imperial_suit).of_rank(rank).iter()).collect();
    all.extend(public.tableau.iter().chain(public.marriages.iter()));
    all.extend(hands.iter().flat_map(|hand| hand.iter()));
    all.extend(stock(&walk.game, &walk.deck));
    assert_eq!(Cards::collect(all), Some(Cards::pack(rules.imperial_suit)));

    for seat in rules.seats() {
        assert_eq!(usize::from(public.hand_counts[seat.index()]), hands[seat.index()].len());
        assert_eq!(
            walk.game.view(Viewer::Seat(seat)).unseen(),
            Cards::pack(rules.imperial_suit).minus(public.played(rules)).minus(hands[seat.index()])
        );
    }
}

/// R8, face by face, from the public events alone.
fn check_known_held(rules: Rules, seed: u64) {
    let mut known = [[0_usize; Card::FACES]; Seat::MAX];
    walk(rules, seed, |walk, _| {
        for event in public_events(&walk.events) {
            match event {
                SeatEvent::DealStarted { .. } => known = [[0; Card::FACES]; Seat::MAX],
                SeatEvent::Declared { seat, declaration, .. } => {
                    let leaves = match declaration {
                        Declaration::Assembly(_) => rules.assembly == zetema_rules::Assembly::Remove,
                        Declaration::Marriages { .. } => true,
                        _ => false,
                    };
                    let shown = declaration.from_hand(rules.imperial_suit);
                    for face in shown.faces_in_order() {
                        let known = &mut known[seat.index()][face.index()];
                        *known = (*known).max(shown.count(face));
                        if leaves {
                            *known -= shown.count(face);
                        }
                    }
                }
                SeatEvent::Exposed { seat, card } => {
                    let known = &mut known[seat.index()][card.index()];
                    *known = (*known).max(1);
                }
                SeatEvent::Discarded { seat, card } => {
                    let known = &mut known[seat.index()][card.index()];
                    *known = known.saturating_sub(1);
                }
                _ => {}
            }
        }
        let hands = hands(&walk.game);
        for seat in rules.seats() {
            let held = walk.game.public().known_held[seat.index()];
            assert!(hands[seat.index()].contains_all(held), "known to be held, but not held");
            for card in Card::all() {
                assert_eq!(held.count(card), known[seat.index()][card.index()], "{card} of seat {seat}");
            }
        }
    });
}

fn check_decision_numbers(rules: Rules, seed: u64) {
    let mut expected = 1;
    walk(rules, seed, |walk, step| {
        if matches!(step, Some(Step::Play(..))) {
            expected += 1;
        }
        assert_eq!(walk.game.public().decision, expected);
    });
}

fn check_faults(game: &Game) {
    for seat in game.rules().seats() {
        for card in Card::all() {
            let (mut after, mut events) = (game.clone(), Vec::new());
            let accepted = after.fault(seat, card, &mut events).is_ok();
            assert_eq!(accepted, game.faults(seat).contains(card), "seat {seat}, {card}");
            if accepted {
                assert_eq!(after.public().phase, game.public().phase);
                assert_eq!(after.view(Viewer::Seat(seat)).hand, game.view(Viewer::Seat(seat)).hand);
                assert_eq!(after.faults(seat), Cards::EMPTY, "a seat can't expose another card");
            } else {
                assert!(after == *game && events.is_empty());
            }
        }
    }
}

fn check_points(rules: Rules, seed: u64) {
    let mut totals = [0; Seat::MAX];
    walk(rules, seed, |walk, _| {
        for event in public_events(&walk.events) {
            if let SeatEvent::Declared { seat, points, .. } | SeatEvent::Zetema { seat, points, .. } = event {
                totals[rules.side(seat).index()] += points;
            }
        }
        assert_eq!(walk.game.public().totals, totals);
        assert!(walk.game.public().result.is_none_or(|result| result.totals == totals));
    });
}

/// I6, for what this crate holds: the decks and the steps give the match again.
fn check_replay(rules: Rules, seed: u64) {
    let (mut steps, mut events) = (Vec::new(), Vec::new());
    let first = Walk::new(rules, seed, Trouble::SOME);
    let mut last = None;
    walk(rules, seed, |walk, step| {
        steps.extend(step.copied());
        events.extend(walk.events.iter().copied());
        last = Some(walk.game.clone());
    });
    let mut replayed_events = Vec::new();
    let dealer = first.game.public().dealer;
    let mut replayed = Game::new(rules, dealer, &first.deck, &mut replayed_events).unwrap();
    for step in steps {
        step.apply(&mut replayed, &mut replayed_events);
    }
    assert!(Some(replayed) == last && replayed_events == events);
}

fn check_completion(walk: &Walk) {
    let viewers = walk.game.rules().seats().map(Viewer::Seat).chain([Viewer::Spectator]);
    for viewer in viewers {
        let view = walk.game.view(viewer);
        let completed = view.complete(&hands(&walk.game), stock(&walk.game, &walk.deck));
        assert!(completed.unwrap() == walk.game);
    }
}
