//! I3: what a viewer can't see changes nothing that it sees.

use zetema_rules::{Action, Card, Cards, Declaration, Event, Game, Rules, Seat, SeatEvent, Stage, Viewer};

use crate::support::{Random, hands, stock};
use crate::walk::{Trouble, Walk};

/// I3: of two matches that differ only in what a viewer can't see, the viewer sees the same, as long
/// as the others act the same and the viewer draws the same cards.
pub(crate) fn check_hidden(rules: Rules, seed: u64) {
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
