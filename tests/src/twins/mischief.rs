//! Answers that are refused, by a player that tries everything.

use rand::RngExt;
use rand::rngs::StdRng;
use zetema_proto::v1;
use zetema_proto::v1::act::Choice;
use zetema_proto::{Wire, v1::action};
use zetema_rules::{Action, Card, Game, Seat};

/// An answer that changes nothing, whatever is hidden from this seat: `None` if the one that came to mind would.
pub(super) fn wrong_act(game: &Game, seat: Seat, random: &mut StdRng) -> Option<v1::Act> {
    let current = game.public().decision;
    let decision_number = match random.random_range(0..6) {
        0 => current.saturating_sub(1),
        1 => current + random.random_range(1..4),
        2 => 0,
        3 => u32::MAX,
        _ => current,
    };
    let card = || Card::from_index(0).unwrap().to_wire();
    let mut cards = |count: usize| (0..count).map(|_| random.random_range(1..=52)).collect::<Vec<i32>>();
    let list = |cards| v1::CardList { cards };
    let drawn = cards(6);
    let choice = match random.random_range(0..9) {
        0 => Some(Choice::LegalIndex(u32::MAX)),
        1 => Some(Choice::LegalIndex(1_000)),
        2 => None,
        3 => Some(discard(99)),
        4 => Some(declare(v1::declaration::Kind::Sequence(list(drawn)))),
        5 => Some(declare(v1::declaration::Kind::Flush(list(vec![card(); 6])))),
        6 => Some(declare(v1::declaration::Kind::Assembly(random.random_range(1..=13)))),
        7 => Some(declare(v1::declaration::Kind::Marriages(v1::Marriages {
            hand: drawn[..1].to_vec(),
            tableau: drawn[1..2].to_vec(),
        }))),
        _ => Some(discard(drawn[0])),
    };
    let act = v1::Act { decision_number, choice };
    (!may_stand(game, seat, &act)).then_some(act)
}

/// An answer of another seat that is refused whatever it holds.
pub(super) fn wrong_number(random: &mut StdRng) -> v1::Act {
    v1::Act { decision_number: u32::MAX - random.random_range(0..2), choice: Some(Choice::LegalIndex(0)) }
}

fn discard(card: i32) -> Choice {
    Choice::Action(v1::Action { kind: Some(action::Kind::Discard(card)) })
}

fn declare(kind: v1::declaration::Kind) -> Choice {
    let declaration = v1::Declaration { kind: Some(kind) };
    Choice::Action(v1::Action { kind: Some(action::Kind::Declare(declaration)) })
}

/// Whether an answer is right, or is a fault that stands (R28).
fn may_stand(game: &Game, seat: Seat, act: &v1::Act) -> bool {
    let Some(Choice::Action(action)) = &act.choice else { return false };
    let Ok(action) = Action::from_wire(action) else { return false };
    let legal = game.to_act() == Some(seat) && game.legal_actions().contains(&action);
    let stands = matches!(action, Action::Discard(card) if game.faults(seat).contains(card));
    act.decision_number == game.public().decision && (legal || stands)
}
