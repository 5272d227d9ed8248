//! I7: `legal_actions` and `play` agree on every action.

use zetema_rules::{Action, Card, Cards, Declaration, Game, PlayError, Rank, Seat, Suit, Viewer};

use crate::support::Random;
use crate::walk::Walk;

/// Every action that anyone could try with the cards held and in the tableau, and some with others:
/// `play` accepts those listed, and refuses all others without a change (I7, R27).
pub(crate) fn check_legality(walk: &Walk) {
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
