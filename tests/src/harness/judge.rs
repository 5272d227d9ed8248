//! Whether a record is right, by the slow reference.

use zetema_rules::{Outcome, Record, Step};

use crate::reference::{Game, Stage, translate};

/// Plays the record by the slow reference, which must come to the same points, totals and ranks.
///
/// # Panics
/// At the first thing that differs.
pub fn check_by_reference(record: &Record) {
    let rules = translate::rules(&record.rules);
    let imperial = rules.imperial;
    let dealer = record.dealer.expect("the match was dealt").index();
    let mut game = Game::new(rules, dealer).unwrap();
    let mut deals = record.deals.iter();
    let mut before = game.totals.clone();
    for (number, step) in record.steps.iter().enumerate() {
        if game.stage == Stage::ToDeal {
            let deal = deals.next().expect("a deck for every deal");
            let deck: Vec<_> = deal.deck.reveal().iter().copied().map(translate::card).collect();
            game.deal(&deck).unwrap();
        }
        match *step {
            Step::Play { seat, action, points, by: _ } => {
                let totals = game.totals.clone();
                game.play(seat.index(), &translate::action(action, imperial))
                    .unwrap_or_else(|refusal| panic!("step {number}, {action:?}: {refusal:?}"));
                let side = game.rules.side(seat.index());
                assert_eq!(game.totals[side] - totals[side], u32::from(points), "points of step {number}");
            }
            Step::Fault { seat, card } => game.fault(seat.index(), translate::card(card)).unwrap(),
            Step::Forfeit { seat, .. } => game.forfeit(seat.index()).unwrap(),
        }
        let next_is_dealt = record.steps.len() > number + 1 && game.stage == Stage::ToDeal;
        if next_is_dealt || number + 1 == record.steps.len() {
            let deal = record.deals.len() - deals.len() - 1;
            let scores: Vec<u32> =
                game.totals.iter().zip(&before).map(|(after, before)| after - before).collect();
            let recorded: Vec<u32> = record.deals[deal].scores.iter().copied().map(u32::from).collect();
            assert_eq!(scores, recorded, "scores of deal {deal}");
            before.clone_from(&game.totals);
        }
    }
    assert_eq!(deals.len(), 0, "every deck was dealt");
    let Outcome::Result(result) = &record.outcome else { panic!("{:?} is no result", record.outcome) };
    let sides = game.totals.len();
    let totals: Vec<u32> = result.totals[..sides].iter().copied().map(u32::from).collect();
    let ranks: Vec<usize> = result.ranks[..sides].iter().copied().map(usize::from).collect();
    assert_eq!((totals, ranks), (game.totals.clone(), game.ranks()));
    assert_eq!(game.stage, Stage::Over);
}
