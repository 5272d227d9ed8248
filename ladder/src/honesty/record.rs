//! What each seat did, as the record of its match tells it.

use thiserror::Error;
use zetema_rules::{
    Attendance, ForfeitReason, Game, LedgerEntry, Phase, PlayError, PlayedBy, Record, Seat, Step, Viewer,
};

use super::finished::{Cause, Departure, Ending, FinishedSeat, Lead, SeatDecision, Taken};
use super::preference::Preference;

/// A record that does not tell what its seats did.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SeatsError {
    /// There are not as many owners as seats.
    #[error("{given} owners are given for {players} seats: give the owner of each seat's bot")]
    Owners {
        /// How many were given.
        given: usize,
        /// How many seats there are.
        players: usize,
    },
    /// It has no deal, or ends before its last one is dealt: it was aborted, and is not looked at.
    #[error("deal {deal} is not in the record: give records of matches that have a result")]
    Undealt {
        /// The deal, 0 for the first.
        deal: u32,
    },
    /// The rules don't allow what it says.
    #[error("step {step} can't be played: verify the record")]
    Step {
        /// The step, 0 for the first.
        step: usize,
        /// Why.
        source: PlayError,
    },
}

/// What each seat did, seat 0 first, by the record of its match. Who owned the bots then (seat 0 first) is not in a record.
///
/// A seat whose time was out for good was disconnected if its ledger says that nobody was there, and not that the server had just been
/// down.
///
/// ```
/// # use zetema_ladder::{FinishedSeat, SeatsError, finished_seats};
/// # use zetema_rules::Record;
/// # fn show(record: &Record) -> Result<Vec<FinishedSeat<&'static str>>, SeatsError> {
/// finished_seats(record, vec!["lovelace", "kahn"])
/// # }
/// ```
///
/// # Errors
/// [`SeatsError`] if the record is of a match without a result, or is none.
pub fn finished_seats<O>(record: &Record, owners: Vec<O>) -> Result<Vec<FinishedSeat<O>>, SeatsError> {
    let players = record.rules.player_count().count();
    if owners.len() != players {
        return Err(SeatsError::Owners { given: owners.len(), players });
    }
    let mut seats: Vec<FinishedSeat<O>> = owners.into_iter().map(FinishedSeat::played_on).collect();
    let ledger = record.clocks.as_ref().map_or(&[][..], |clocks| clocks.ledger.as_slice());
    let mut events = Vec::new();
    let deck = |deal: u32| match record.deals.get(deal as usize) {
        Some(deal) => Ok(&deal.deck),
        None => Err(SeatsError::Undealt { deal }),
    };
    let dealer = record.dealer.ok_or(SeatsError::Undealt { deal: 0 })?;
    let at = |step| move |source| SeatsError::Step { step, source };
    let mut game = Game::new(record.rules, dealer, deck(0)?, &mut events).map_err(at(0))?;
    for (number, step) in record.steps.iter().enumerate() {
        if game.public().phase == Phase::DealOver {
            game.deal(deck(game.public().deal + 1)?, &mut events).map_err(at(number))?;
        }
        events.clear();
        let finished = &mut seats[step.seat().index()];
        if finished.ending == Ending::PlayedOn {
            finished.add(&game, step, ledger);
        }
        match *step {
            Step::Play { seat, ref action, .. } => game.play(seat, action, &mut events),
            Step::Fault { seat, card } => game.fault(seat, card, &mut events),
            Step::Forfeit { seat, .. } => game.forfeit(seat, &mut events),
        }
        .map_err(at(number))?;
    }
    Ok(seats)
}

impl<O> FinishedSeat<O> {
    /// Takes a step of its own that is about to be played.
    fn add(&mut self, game: &Game, step: &Step, ledger: &[LedgerEntry]) {
        let lead = lead(game, step.seat());
        let mut decided = |taken| self.decisions.push(SeatDecision { standing: Lead::of(lead), taken });
        match *step {
            Step::Play { by: PlayedBy::Autoplay, .. } => decided(Taken::OutOfTime),
            Step::Play { seat, ref action, by: PlayedBy::Player, .. } => {
                decided(Taken::Answered);
                self.preferences.extend(Preference::of(&game.view(Viewer::Seat(seat)), action));
            }
            Step::Fault { .. } => {}
            Step::Forfeit { seat, reason } => {
                let cause = match reason {
                    ForfeitReason::Resigned => Cause::Resigned,
                    ForfeitReason::OutOfTime | ForfeitReason::OutOfStrikes => {
                        decided(Taken::OutOfTime);
                        let number = game.public().decision;
                        if was_cut_off(ledger, number) { Cause::Disconnected } else { Cause::OutOfTime }
                    }
                };
                let decisions_left = Some(decisions_left(game, seat));
                self.ending = Ending::Forfeited(Departure { cause, lead, decisions_left });
            }
        }
    }
}

/// Whether nobody was there when the time of a decision was out. After an outage of the server, its seat may not have found back.
fn was_cut_off(ledger: &[LedgerEntry], decision: u32) -> bool {
    let entry = ledger.binary_search_by_key(&decision, |entry| entry.decision);
    let entry = entry.ok().and_then(|found| ledger.get(found));
    entry.is_some_and(|entry| entry.attendance == Some(Attendance::Absent) && !entry.interrupted)
}

/// The points of a seat's side less those of the best other side.
fn lead(game: &Game, seat: Seat) -> i32 {
    let (rules, public) = (game.rules(), game.public());
    let own = rules.side(seat).index();
    let others = (0..rules.sides()).filter(|&side| side != own).map(|side| public.totals[side]);
    i32::from(public.totals[own]) - others.max().map_or(0, i32::from)
}

/// A discard for each card in hand, and for its part of the stock.
fn decisions_left(game: &Game, seat: Seat) -> u32 {
    let (rules, public) = (game.rules(), game.public());
    let of_the_stock = usize::from(public.stock_count).div_ceil(rules.player_count().count());
    // A pack has 65 cards.
    u32::from(public.hand_counts[seat.index()]) + u32::try_from(of_the_stock).unwrap_or(0)
}
