//! What holds in every state of every match: I3, I6, I7, the conservation law, what is known to be
//! held, and the numbers of decisions.

use proptest::prelude::*;
use zetema_rules::{
    Action, Card, Cards, Declaration, Event, Game, PlayError, Rank, Rules, Seat, SeatEvent, Stage, Suit,
    Viewer,
};

use crate::support::{Random, free_rules, hands, preset_rules, stock};
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

/// Every action that anyone could try with the cards held and in the tableau, and some with others:
/// `play` accepts those listed, and refuses all others without a change (I7, R27).
fn check_legality(walk: &Walk) {
    let game = &walk.game;
    let mut listed: Vec<Action> = game.legal_actions().iter().collect();
    assert_eq!(listed.len(), game.legal_actions().len());
    for (index, action) in listed.iter().enumerate() {
        assert_eq!(game.legal_actions().get(index), Some(*action));
        assert!(game.legal_actions().contains(action));
    }
    assert_eq!(game.legal_actions().get(listed.len()), None);

    let Some(seat) = game.to_act() else {
        assert!(game.legal_actions().is_empty());
        let refused = game.clone().play(walk.game.public().dealer, &discard_of(0), &mut Vec::new());
        assert!(matches!(refused, Err(PlayError::DealOver | PlayError::MatchOver)));
        return;
    };
    assert!(!game.legal_actions().discards.is_empty(), "a decision has a legal discard");
    let mut scratch = game.clone();
    let mut events = Vec::new();
    let mut accepted = Vec::new();
    let candidates = candidates(game, seat, &mut walk.random.clone());
    for action in &candidates {
        if scratch.play(seat, action, &mut events).is_ok() {
            accepted.push(*action);
            assert!(!events.is_empty());
            events.clear();
            scratch.clone_from(game);
        }
        assert!(events.is_empty() && scratch == *game, "a refusal changed something");
    }
    listed.sort_by_key(key);
    accepted.sort_by_key(key);
    assert_eq!(listed, accepted);

    for other in game.rules().seats().filter(|&other| other != seat) {
        let refused = scratch.play(other, &discard_of(walk.random.clone().below(52)), &mut events);
        assert_eq!(refused, Err(PlayError::NotYourTurn { to_act: seat }));
    }
    if let Some(beyond) = Seat::new(game.rules().player_count().count()) {
        let refused = scratch.play(beyond, &discard_of(0), &mut events);
        assert!(matches!(refused, Err(PlayError::NoSuchSeat { .. })));
    }
    assert!(events.is_empty() && scratch == *game);
}

fn discard_of(index: usize) -> Action {
    Action::Discard(Card::from_index(index).unwrap())
}

/// An order of actions, for comparison only.
fn key(action: &Action) -> (u8, Cards, Cards) {
    match *action {
        Action::Discard(card) => (0, card.into(), Cards::EMPTY),
        Action::Declare(Declaration::Sequence(cards)) => (1, cards, Cards::EMPTY),
        Action::Declare(Declaration::Flush(cards)) => (2, cards, Cards::EMPTY),
        Action::Declare(Declaration::FlushSequence(cards)) => (3, cards, Cards::EMPTY),
        Action::Declare(Declaration::Assembly(rank)) => {
            (4, Card::new(rank, Suit::Clubs).into(), Cards::EMPTY)
        }
        Action::Declare(Declaration::Marriages { hand, tableau }) => (5, hand, tableau),
    }
}

fn candidates(game: &Game, seat: Seat, random: &mut Random) -> Vec<Action> {
    let hand = game.view(Viewer::Seat(seat)).hand;
    let mut all: Vec<Action> = Card::all().map(Action::Discard).collect();
    all.extend(Rank::ALL.map(|rank| Action::Declare(Declaration::Assembly(rank))));
    let size = game.rules().meld_cards();
    let mut melds = Vec::new();
    parts(hand, &mut |part| {
        if part.len() == size || (part.len().abs_diff(size) == 1 && random.percent(5)) {
            melds.push(part);
        }
    });
    for i in 0..melds.len().min(20) {
        melds.push(with_another_card(melds[i], hand, random));
    }
    for cards in melds {
        let called = [Declaration::Sequence, Declaration::Flush, Declaration::FlushSequence];
        all.extend(called.map(|called| Action::Declare(called(cards))));
    }
    let tableau = game.public().tableau;
    let royal = |cards: Cards| cards.of_rank(Rank::King).sum(cards.of_rank(Rank::Queen));
    parts(royal(hand), &mut |from_hand| {
        parts(royal(tableau), &mut |from_tableau| {
            all.push(Action::Declare(Declaration::Marriages { hand: from_hand, tableau: from_tableau }));
        });
    });
    // Marriages with a card that is elsewhere, or no king or queen.
    for _ in 0..20 {
        let Action::Declare(Declaration::Marriages { hand: from_hand, tableau: from_tableau }) =
            all[all.len() - 1 - random.below(all.len() / 2)]
        else {
            continue;
        };
        let (hand, tableau) = match random.below(3) {
            0 => (with_another_card(from_hand, hand, random), from_tableau),
            1 => (from_hand, with_another_card(from_tableau, tableau, random)),
            _ => (from_tableau, from_hand),
        };
        if !hand.contains_all(from_hand) || from_tableau != tableau {
            all.push(Action::Declare(Declaration::Marriages { hand, tableau }));
        }
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|action| seen.insert(*action));
    all
}

/// One card exchanged for one that is not in `held`.
fn with_another_card(cards: Cards, held: Cards, random: &mut Random) -> Cards {
    let own: Vec<Card> = cards.iter().collect();
    let others: Vec<Card> = Card::all().filter(|&card| !held.contains(card)).collect();
    let mut changed = cards;
    if !own.is_empty() {
        changed.remove(random.pick(&own));
    }
    changed.insert(random.pick(&others));
    changed
}

/// Every part of these cards, from none to all.
fn parts(cards: Cards, visit: &mut impl FnMut(Cards)) {
    fn go(faces: &[Card], cards: Cards, chosen: Cards, visit: &mut impl FnMut(Cards)) {
        let Some((&face, rest)) = faces.split_first() else { return visit(chosen) };
        let mut with = chosen;
        go(rest, cards, with, visit);
        for _ in 0..cards.count(face) {
            with.insert(face);
            go(rest, cards, with, visit);
        }
    }
    let faces: Vec<Card> = cards.faces_in_order().collect();
    go(&faces, cards, Cards::EMPTY, visit);
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

/// I3: of two matches that differ only in what a viewer can't see, the viewer sees the same, as long
/// as the others act the same and the viewer draws the same cards.
fn check_hidden(rules: Rules, seed: u64) {
    let mut start = Walk::new(rules, seed, Trouble::SOME);
    for _ in 0..start.random.below(60) {
        start.step(1);
    }
    let viewer = match start.random.below(rules.player_count().count() + 1) {
        0 => Viewer::Spectator,
        seat => Viewer::Seat(Seat::new(seat - 1).unwrap()),
    };
    let Some(mut other) = with_other_hidden_cards(&mut start, viewer) else { return };
    let random = &mut start.random;
    let mut game = start.game;
    loop {
        assert!(game.view(viewer) == other.view(viewer));
        if let Viewer::Seat(seat) = viewer {
            check_same_refusals(&game, &other, seat, random);
            let (ours, theirs) = (game.view(viewer).legal_actions(), other.view(viewer).legal_actions());
            assert!(ours == theirs && game.faults(seat) == other.faults(seat));
        }
        let Some(seat) = game.to_act() else { return };
        let theirs = other.legal_actions();
        let both: Vec<Action> =
            game.legal_actions().iter().filter(|action| theirs.contains(action)).collect();
        if both.is_empty() {
            return;
        }
        let action = random.pick(&both);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        game.play(seat, &action, &mut ours).unwrap();
        other.play(seat, &action, &mut theirs).unwrap();
        let as_seen = |events: &[Event]| events.iter().map(|event| event.seen_by(viewer)).collect::<Vec<_>>();
        let drew_others = as_seen(&ours).iter().zip(as_seen(&theirs)).any(|pair| match pair {
            (SeatEvent::Drew { cards: Some(ours), .. }, SeatEvent::Drew { cards: Some(theirs), .. }) => {
                *ours != theirs
            }
            _ => false,
        });
        if drew_others {
            return;
        }
        assert_eq!(as_seen(&ours), as_seen(&theirs));
    }
}

/// Deals the cards that this viewer has not seen anew: all of them, or all but the stock.
fn with_other_hidden_cards(walk: &mut Walk, viewer: Viewer) -> Option<Game> {
    let view = walk.game.view(viewer);
    let mut hands = hands(&walk.game);
    let mut stock = stock(&walk.game, &walk.deck).to_vec();
    let with_stock = walk.random.percent(50);
    let public = walk.game.public();
    let stage = match public.phase {
        zetema_rules::Phase::Turn { seat, stage } => Some((seat, stage)),
        _ => None,
    };
    // What a viewer knows to be in a hand stays there.
    let fixed: Vec<Cards> = walk
        .game
        .rules()
        .seats()
        .map(|seat| {
            if viewer == Viewer::Seat(seat) {
                return hands[seat.index()];
            }
            let exposed = public.exposed[seat.index()].map_or(Cards::EMPTY, Cards::from);
            let declared = match stage {
                Some((to_act, Stage::DiscardDeclared(cards))) if to_act == seat => cards,
                _ => Cards::EMPTY,
            };
            public.known_held[seat.index()].union(exposed).union(declared)
        })
        .collect();
    let mut loose: Vec<Card> =
        hands.iter().zip(&fixed).flat_map(|(hand, fixed)| hand.minus(*fixed).iter()).collect();
    if with_stock {
        loose.append(&mut stock);
    }
    walk.random.shuffle(&mut loose);
    for (hand, fixed) in hands.iter_mut().zip(fixed) {
        let size = hand.len();
        *hand = fixed;
        while hand.len() < size {
            hand.insert(loose.pop()?);
        }
    }
    stock.append(&mut loose);
    Some(view.complete(&hands, &stock).unwrap())
}

/// What a seat tries gets the same answer, word by word.
fn check_same_refusals(game: &Game, other: &Game, seat: Seat, random: &mut Random) {
    let any = |random: &mut Random| Card::from_index(random.below(52)).unwrap();
    for _ in 0..10 {
        let few: Cards = Cards::collect([any(random), any(random)]).unwrap();
        let action = match random.below(6) {
            0 | 1 => Action::Discard(any(random)),
            2 => Action::Declare(Declaration::Assembly(any(random).rank())),
            3 => Action::Declare(Declaration::Marriages { hand: few, tableau: any(random).into() }),
            4 => Action::Declare(Declaration::Flush(few)),
            _ => Action::Declare(Declaration::Sequence(game.view(Viewer::Seat(seat)).hand)),
        };
        let answer =
            |game: &Game| game.clone().play(seat, &action, &mut Vec::new()).map_err(|e| e.to_string());
        assert_eq!(answer(game), answer(other));
        let card = any(random);
        let answer = |game: &Game| game.clone().fault(seat, card, &mut Vec::new()).map_err(|e| e.to_string());
        assert_eq!(answer(game), answer(other));
    }
}
