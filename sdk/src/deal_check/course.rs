//! The course of a match: what the seats did, and what came of it.

use zetema_rules::fair::MatchSeed;
use zetema_rules::{Action, Card, Event, Game, Phase, Rules, Seat, SeatEvent, Step, Viewer};

use super::seen::Rest;
use super::{DealError, EventPlace};

/// What a seat did, as a record and as an event tell it.
#[derive(PartialEq)]
pub(super) enum Deed {
    Play(Action),
    Expose(Card),
    Forfeit,
}

impl Deed {
    pub(super) fn seen(event: &SeatEvent) -> Option<(Seat, Self)> {
        match *event {
            SeatEvent::Declared { seat, declaration, .. } => {
                Some((seat, Self::Play(Action::Declare(declaration))))
            }
            SeatEvent::Discarded { seat, card } => Some((seat, Self::Play(Action::Discard(card)))),
            SeatEvent::Exposed { seat, card } => Some((seat, Self::Expose(card))),
            SeatEvent::Forfeited { seat } => Some((seat, Self::Forfeit)),
            SeatEvent::DealStarted { .. }
            | SeatEvent::Drew { .. }
            | SeatEvent::Zetema { .. }
            | SeatEvent::ExtraTurn { .. }
            | SeatEvent::DealOver { .. }
            | SeatEvent::MatchOver { .. } => None,
        }
    }

    pub(super) fn recorded(step: &Step) -> (Seat, Self) {
        match *step {
            Step::Play { seat, action, .. } => (seat, Self::Play(action)),
            Step::Fault { seat, card } => (seat, Self::Expose(card)),
            Step::Forfeit { seat, .. } => (seat, Self::Forfeit),
        }
    }
}

/// Plays what was seen again with the decks of this seed, from the first deal on, and compares every event.
pub(super) fn replay(
    rules: &Rules,
    seat: Seat,
    decks: &MatchSeed,
    mut seen: Rest<'_>,
) -> Result<(), DealError> {
    let mut events = Vec::new();
    let place = EventPlace(0);
    let dealer = decks.dealer(rules.player_count());
    let deck = decks.deck(0, rules.imperial_suit);
    let mut game =
        Game::new(*rules, dealer, &deck, &mut events).map_err(|error| DealError::Play { place, error })?;
    compare(&events, seat, &mut seen)?;
    while let Some(event) = seen.clone().next() {
        events.clear();
        let place = EventPlace(seen.place());
        let played = match (event, Deed::seen(&event)) {
            (SeatEvent::DealStarted { .. }, _) if game.public().phase == Phase::DealOver => {
                let deck = decks.deck(game.public().deal + 1, rules.imperial_suit);
                game.deal(&deck, &mut events)
            }
            (_, Some((actor, Deed::Play(action)))) => game.play(actor, &action, &mut events),
            (_, Some((actor, Deed::Expose(card)))) => game.fault(actor, card, &mut events),
            (_, Some((actor, Deed::Forfeit))) => game.forfeit(actor, &mut events),
            (_, None) => return Err(DealError::Event { place }),
        };
        played.map_err(|error| DealError::Play { place, error })?;
        compare(&events, seat, &mut seen)?;
    }
    Ok(())
}

/// Compares events with what was seen, of which nothing else may be left.
pub(super) fn compare_all(events: &[Event], seat: Seat, mut seen: Rest<'_>) -> Result<(), DealError> {
    compare(events, seat, &mut seen)?;
    let place = EventPlace(seen.place());
    seen.next().map_or(Ok(()), |_| Err(DealError::Event { place }))
}

/// Compares events with what was seen next, which goes on behind them.
fn compare(events: &[Event], seat: Seat, seen: &mut Rest<'_>) -> Result<(), DealError> {
    for event in events {
        let place = EventPlace(seen.place());
        if seen.next() != Some(event.seen_by(Viewer::Seat(seat))) {
            return Err(DealError::Event { place });
        }
    }
    Ok(())
}
