//! The end of a deal between two players, in which nothing is hidden.

use std::collections::HashMap;

use zetema_sdk::rules::{Cards, Event, Game, Phase, Ranks, Seat, Viewer};
use zetema_sdk::{Action, LegalActions, View};

use crate::budget::Spending;
use crate::outlook::worths;

/// Once the stock is empty each of two players knows the other's hand: what is unseen. So it looks at all that may
/// follow, and finds what is best against the best play of the other. It is for one decision: what it knows is some megabytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endgame {
    /// How much more each position that was looked at is worth to side 0 than to side 1.
    known: HashMap<Position, f64>,
    events: Vec<Event>,
}

/// How many positions are looked at for each playout of the budget.
const POSITIONS_PER_PLAYOUT: usize = 200;

/// What the rest of a deal depends on, once the stock is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Position {
    phase: Phase,
    hands: [Cards; 2],
    tableau: Cards,
    marriages: Cards,
    assemblies: Ranks,
    last_melds: [Option<Cards>; 2],
    totals: [u16; 2],
}

impl Endgame {
    /// Whether this is such an end.
    pub(crate) fn is_here(view: &View) -> bool {
        view.rules.players == 2 && view.public.stock_count == 0
    }

    /// The best of the legal actions, and of those that are equally good the one that is worth most at first sight.
    /// `None` if the budget does not suffice to tell.
    pub(crate) fn best(
        &mut self,
        game: &Game,
        legal: &LegalActions,
        at_first_sight: &[f64],
        spending: &Spending,
    ) -> Option<Action> {
        let seat = game.to_act()?;
        let mut best: Option<(f64, f64, Action)> = None;
        for (action, &first_sight) in legal.iter().zip(at_first_sight) {
            let worth = lead_of(seat, self.after(game, seat, &action, spending)?);
            if best.is_none_or(|(most, sight, _)| (worth, first_sight) > (most, sight)) {
                best = Some((worth, first_sight, action));
            }
        }
        best.map(|(_, _, action)| action)
    }

    /// The lead of side 0 after an action of the seat to act.
    fn after(&mut self, game: &Game, seat: Seat, action: &Action, spending: &Spending) -> Option<f64> {
        let mut game = game.clone();
        self.events.clear();
        game.play(seat, action, &mut self.events).ok()?;
        self.worth(&game, spending)
    }

    /// The lead of side 0, in worth, if both play their best.
    fn worth(&mut self, game: &Game, spending: &Spending) -> Option<f64> {
        let Some(seat) = game.to_act() else {
            let worths = worths(game);
            return Some(worths[0] - worths[1]);
        };
        let position = Position::of(game);
        if let Some(&worth) = self.known.get(&position) {
            return Some(worth);
        }
        let positions = u32::try_from(self.known.len() / POSITIONS_PER_PLAYOUT).unwrap_or(u32::MAX);
        if !spending.goes_on(positions) {
            return None;
        }
        let mut best = f64::NEG_INFINITY;
        for action in game.legal_actions().iter() {
            best = best.max(lead_of(seat, self.after(game, seat, &action, spending)?));
        }
        let worth = lead_of(seat, best);
        self.known.insert(position, worth);
        Some(worth)
    }
}

/// The lead of a seat, from that of side 0; and the other way round.
fn lead_of(seat: Seat, lead: f64) -> f64 {
    if seat.index() == 0 { lead } else { -lead }
}

impl Position {
    fn of(game: &Game) -> Self {
        let public = game.public();
        let hand =
            |seat: usize| Seat::new(seat).map_or(Cards::EMPTY, |seat| game.view(Viewer::Seat(seat)).hand);
        Self {
            phase: public.phase,
            hands: [hand(0), hand(1)],
            tableau: public.tableau,
            marriages: public.marriages,
            assemblies: public.assemblies,
            last_melds: [public.last_melds[0], public.last_melds[1]],
            totals: [public.totals[0], public.totals[1]],
        }
    }
}
