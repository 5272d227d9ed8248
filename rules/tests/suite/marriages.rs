//! All ways to declare five marriages over a deal ("Facts for tests").

use std::collections::BTreeSet;

use zetema_rules::{
    Action, Cards, Declaration, Draw, ExtraTurn, Game, ImperialBonus, MatchEnd, Options, Phase, Preset, Rank,
    Rules, Stage, Viewer,
};

use crate::support::seat;
use crate::walk::{Trouble, Walk};

/// Seat 0 is to act and holds all kings and queens; seat 1 holds five cards to pass the time.
fn all_royals_in_one_hand(imperial_bonus: ImperialBonus) -> Game {
    let sackson: Options = *Preset::Sackson.rules(2, None).unwrap();
    let rules = Rules::new(Options {
        imperial_bonus,
        hand_size: 10,
        draw_at_start: Draw::None,
        draw_at_end: Draw::ToHandSize,
        extra_turn: ExtraTurn::None,
        target: None,
        match_end: MatchEnd::AfterDeal,
        ..sackson
    })
    .unwrap();
    let pack = Cards::pack(rules.imperial_suit);
    let royals = pack.of_rank(Rank::King).sum(pack.of_rank(Rank::Queen));
    let waiting =
        Cards::collect(Rank::ALL[1..6].iter().map(|&rank| pack.of_rank(rank).iter().next().unwrap()))
            .unwrap();
    let mut view = Walk::new(rules, 0, Trouble::NONE).game.view(Viewer::Seat(seat(0)));
    view.hand = royals;
    view.public.phase = Phase::Turn { seat: seat(0), stage: Stage::DeclareOrDiscard };
    view.public.hand_counts[..2].copy_from_slice(&[10, 5]);
    view.public.stock_count = 0;
    // The other cards are away: whole ranks as zetemas, and four each of those that seat 1 holds.
    view.public.tableau = Cards::EMPTY;
    for rank in Rank::ALL.into_iter().filter(|&rank| pack.of_rank(rank).minus(royals).len() == 5) {
        if pack.of_rank(rank).intersection(waiting).is_empty() {
            view.public.zetemas = view.public.zetemas.with(rank);
        } else {
            view.public.tableau = view.public.tableau.sum(pack.of_rank(rank).minus(waiting));
        }
    }
    view.complete(&[royals, waiting], &[]).unwrap()
}

/// The sums of all orders in which seat 0 can declare the five marriages.
fn sums(game: &Game, so_far: u16, all: &mut BTreeSet<u16>) {
    if game.public().marriages.len() == 10 {
        all.insert(so_far);
        return;
    }
    for declaration in marriages(game) {
        let (mut next, mut events) = (game.clone(), Vec::new());
        next.play(seat(0), &Action::Declare(declaration), &mut events).unwrap();
        let sum = next.public().totals[0];
        if next.to_act() == Some(seat(1)) {
            let card = next.legal_actions().get(0).unwrap();
            next.play(seat(1), &card, &mut events).unwrap();
        }
        sums(&next, sum, all);
    }
}

fn marriages(game: &Game) -> Vec<Declaration> {
    let mut declarations = game.legal_actions().declarations;
    declarations.retain(|declaration| matches!(declaration, Declaration::Marriages { .. }));
    declarations
}

#[test]
fn a_hand_of_all_kings_and_queens_has_23_marriage_declarations() {
    assert_eq!(marriages(&all_royals_in_one_hand(ImperialBonus::Second)).len(), 23);
}

#[test]
fn five_marriages_sum_to_no_less_and_no_more() {
    for (bonus, least, most) in
        [(ImperialBonus::Second, 60, 150), (ImperialBonus::Every, 70, 150), (ImperialBonus::None, 50, 150)]
    {
        let mut all = BTreeSet::new();
        sums(&all_royals_in_one_hand(bonus), 0, &mut all);
        assert_eq!((all.first(), all.last()), (Some(&least), Some(&most)), "{bonus:?}");
    }
}
