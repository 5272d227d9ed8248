//! A record played again, step by step, and checked.

use crate::action::Action;
use crate::autoplay::autoplay;
use crate::clock::TimedOut;
use crate::event::{Event, SeatEvent, Viewer};
use crate::fair::MatchSeed;
use crate::game::Game;
use crate::ledger::LedgerCheck;
use crate::public::Phase;
use crate::record::{Dealing, DealingKind, ForfeitReason, Outcome, PlayedBy, Record, RecordDeal, Step};
use crate::replay_error::{Place, Problem, ReplayError};
use crate::rules::{RULES_REVISION, Rules};

/// A record that is being played again. Every step is checked as it comes.
///
/// ```
/// # use zetema_rules::{Record, Replay};
/// # fn show(record: &Record) -> Result<(), zetema_rules::ReplayError> {
/// let mut replay = Replay::new(record)?;
/// while let Some(step) = replay.step()? {
///     println!("{step}: {:?}", replay.game().map(|game| game.public().totals));
/// }
/// replay.finish()
/// # }
/// ```
#[derive(Debug)]
pub struct Replay<'a> {
    record: &'a Record,
    seed: Option<MatchSeed>,
    game: Option<Game>,
    ledger: Option<LedgerCheck<'a>>,
    next: usize,
    events: Vec<Event>,
}

impl<'a> Replay<'a> {
    /// Checks seed, commitment, nonces, dealer and decks, and deals the first deal.
    ///
    /// # Errors
    /// [`ReplayError`] names the first part that differs.
    pub fn new(record: &'a Record) -> Result<Self, ReplayError> {
        check_dealing(record)?;
        let seed = record.dealing.match_seed(&record.rules);
        let ledger = record.clocks.as_ref().map(|clocks| LedgerCheck::new(&record.rules, clocks));
        let mut replay = Self { record, seed, game: None, ledger, next: 0, events: Vec::new() };
        replay.first_deal()?;
        Ok(replay)
    }

    fn first_deal(&mut self) -> Result<(), ReplayError> {
        let record = self.record;
        let Some(dealer) = record.dealer else {
            return match record.deals.first() {
                Some(_) => Err(Place::Dealer.differs("a dealer, since there are deals", "none")),
                None => Ok(()),
            };
        };
        let Some(seed) = &self.seed else {
            return Err(Place::Dealer.differs("none, since nonces are missing", dealer));
        };
        let drawn = seed.dealer(record.rules.player_count());
        if dealer != drawn {
            return Err(Place::Dealer.differs(drawn, dealer));
        }
        for (k, deal) in (0..).zip(&record.deals) {
            if deal.deck != seed.deck(k, record.rules.imperial_suit) {
                return Err(Place::Deal(k).problem(Problem::Deck));
            }
        }
        let deck = seed.deck(0, record.rules.imperial_suit);
        let game = Game::new(record.rules, dealer, &deck, &mut self.events);
        self.game = Some(game.map_err(|error| Place::Dealer.problem(Problem::Play(error)))?);
        Ok(())
    }

    /// Plays the next step; `None` after the last. The answer is the step's number from 0.
    ///
    /// # Errors
    /// [`ReplayError`] if the rules don't allow the step, or it scored something else.
    pub fn step(&mut self) -> Result<Option<usize>, ReplayError> {
        let number = self.next;
        let Some(step) = self.record.steps.get(number) else { return Ok(None) };
        let place = Place::Step(number);
        self.events.clear();
        self.deal_if_due()?;
        let Some(game) = &mut self.game else {
            return Err(place.problem(Problem::Undealt));
        };
        let decided = Decided::new(game, step);
        let played = match *step {
            Step::Play { seat, action, .. } => game.play(seat, &action, &mut self.events),
            Step::Fault { seat, card } => game.fault(seat, card, &mut self.events),
            Step::Forfeit { seat, .. } => game.forfeit(seat, &mut self.events),
        };
        played.map_err(|error| place.problem(Problem::Play(error)))?;
        check_decided(place, step, decided, self.ledger.as_mut())?;
        if let Step::Play { points, .. } = *step {
            let scored = points_of(&self.events);
            if scored != points {
                return Err(place.differs(format!("{scored} points"), format!("{points} points")));
            }
        }
        self.next += 1;
        Ok(Some(number))
    }

    fn deal_if_due(&mut self) -> Result<(), ReplayError> {
        if let (Some(game), Some(seed)) = (&mut self.game, &self.seed)
            && game.public().phase == Phase::DealOver
        {
            check_scores(self.record, game)?;
            let next = game.public().deal + 1;
            let deck = seed.deck(next, game.rules().imperial_suit);
            game.deal(&deck, &mut self.events)
                .map_err(|error| Place::Deal(next).problem(Problem::Play(error)))?;
        }
        Ok(())
    }

    /// The match as it stands; `None` if it was never dealt.
    pub const fn game(&self) -> Option<&Game> {
        self.game.as_ref()
    }

    /// What happened in the last step, the deal before it included.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Checks the deals and the outcome after the last step.
    ///
    /// # Errors
    /// [`ReplayError`] if steps are left, or the outcome is another.
    pub fn finish(mut self) -> Result<(), ReplayError> {
        let record = self.record;
        if self.next < record.steps.len() {
            return Err(Place::Step(self.next).problem(Problem::Unplayed));
        }
        // An aborted match may have ended with its next deal just dealt.
        if let Outcome::Aborted { seats, .. } = &record.outcome {
            if !seats.is_sorted_by(|a, b| a < b)
                || seats.iter().any(|seat| !record.rules.seats().any(|own| own == *seat))
            {
                return Err(Place::Outcome.differs("seats of the match, ascending", &record.outcome));
            }
            self.deal_if_due()?;
        }
        if let Some(ledger) = &self.ledger {
            ledger.finish()?;
        }
        let Some(game) = &self.game else {
            return match record.outcome {
                Outcome::Aborted { .. } => Ok(()),
                Outcome::Result(_) => Err(Place::Outcome.differs("an abort: nothing was dealt", "a result")),
            };
        };
        let deals = game.public().deal as usize + 1;
        if record.deals.len() != deals {
            let given = format!("{} deals", record.deals.len());
            return Err(Place::Deal(game.public().deal).differs(format!("{deals} deals"), given));
        }
        check_scores(record, game)?;
        match (&record.outcome, game.public().result) {
            (Outcome::Result(given), Some(played)) if *given == played => Ok(()),
            (Outcome::Aborted { .. }, None) => Ok(()),
            (given, Some(played)) => Err(Place::Outcome.differs(Outcome::Result(played), given)),
            (given, None) => Err(Place::Outcome.differs("an abort: the match is not over", given)),
        }
    }
}

/// What a step found, which says who had to choose it and whose time it took.
#[derive(Clone, Copy, Debug)]
struct Decided {
    decision: u32,
    /// Whether the seat of the step had to act.
    to_act: bool,
    had_forfeited: bool,
    /// What is played for the seat that had to act.
    autoplay: Option<Action>,
}

impl Decided {
    fn new(game: &Game, step: &Step) -> Self {
        let autoplayed = matches!(step, Step::Play { by: PlayedBy::Autoplay, .. });
        Self {
            decision: game.public().decision,
            to_act: game.to_act() == Some(step.seat()),
            had_forfeited: game.public().forfeited.contains(step.seat()),
            autoplay: if autoplayed { autoplay(&game.legal_actions()) } else { None },
        }
    }
}

/// Checks that whoever chose a step had to, and how the time of the decision was charged.
fn check_decided(
    place: Place,
    step: &Step,
    decided: Decided,
    ledger: Option<&mut LedgerCheck<'_>>,
) -> Result<(), ReplayError> {
    let seat = step.seat();
    let time_out = |ledger: Option<&mut LedgerCheck<'_>>| match ledger {
        Some(ledger) => ledger.timed_out(decided.decision, seat),
        None => Ok(None),
    };
    match *step {
        Step::Play { by: PlayedBy::Player, .. } if decided.had_forfeited => {
            Err(place.differs("autoplay, since the seat has forfeited", "the player's action"))
        }
        Step::Play { by: PlayedBy::Player, .. } => {
            ledger.map_or(Ok(()), |ledger| ledger.answered(decided.decision, seat))
        }
        Step::Play { action, by: PlayedBy::Autoplay, .. } => {
            if !decided.had_forfeited {
                match time_out(ledger)? {
                    Some(TimedOut::PlayedFor) => {}
                    Some(TimedOut::Forfeits(reason)) => {
                        return Err(place.differs(format!("{seat} forfeit {reason}"), step));
                    }
                    None => {
                        return Err(place.differs("the player's action, since no clock runs,", "autoplay"));
                    }
                }
            }
            match decided.autoplay {
                Some(right) if right == action => Ok(()),
                right => {
                    let right = right.map_or_else(|| "none".to_owned(), |right| right.to_string());
                    Err(place.differs(format!("autoplay {right}"), format!("autoplay {action}")))
                }
            }
        }
        Step::Forfeit {
            reason: given @ (ForfeitReason::OutOfTime | ForfeitReason::OutOfStrikes), ..
        } => {
            if !decided.to_act {
                return Err(place.differs("no time-out, since the seat does not have to act,", given));
            }
            match time_out(ledger)? {
                Some(TimedOut::Forfeits(reason)) if reason == given => Ok(()),
                Some(TimedOut::Forfeits(reason)) => Err(place.differs(reason, given)),
                Some(TimedOut::PlayedFor) => Err(place.differs("autoplay, since strikes are left,", given)),
                None => Err(place.differs("no time-out, since no clock runs,", given)),
            }
        }
        Step::Forfeit { reason: ForfeitReason::Resigned, .. } | Step::Fault { .. } => Ok(()),
    }
}

/// See [`Record::complete`].
pub(crate) fn complete(
    rules: Rules,
    dealing: Dealing,
    mut steps: Vec<Step>,
    aborted: Option<Outcome>,
) -> Result<Record, ReplayError> {
    let unfinished = || Place::Outcome.differs("a result, or the reason of an abort", "neither");
    let mut deals = Vec::new();
    let mut dealer = None;
    let mut result = None;
    if let Some(seed) = dealing.match_seed(&rules) {
        let refused = |place: Place| move |error| place.problem(Problem::Play(error));
        let mut events = Vec::new();
        let deck = seed.deck(0, rules.imperial_suit);
        let first = seed.dealer(rules.player_count());
        let mut game = Game::new(rules, first, &deck, &mut events).map_err(refused(Place::Dealer))?;
        let deal_of = |game: &Game| RecordDeal {
            deck: seed.deck(game.public().deal, rules.imperial_suit),
            scores: game.public().deal_scores[..rules.sides()].to_vec(),
        };
        for (number, step) in steps.iter_mut().enumerate() {
            events.clear();
            let played = match step {
                Step::Play { seat, action, .. } => game.play(*seat, action, &mut events),
                Step::Fault { seat, card } => game.fault(*seat, *card, &mut events),
                Step::Forfeit { seat, .. } => game.forfeit(*seat, &mut events),
            };
            played.map_err(refused(Place::Step(number)))?;
            if let Step::Play { points, .. } = step {
                *points = points_of(&events);
            }
            if game.public().phase == Phase::DealOver {
                deals.push(deal_of(&game));
                let next = game.public().deal + 1;
                let deck = seed.deck(next, rules.imperial_suit);
                game.deal(&deck, &mut events).map_err(refused(Place::Deal(next)))?;
            }
        }
        deals.push(deal_of(&game));
        dealer = Some(first);
        result = game.public().result.map(Outcome::Result);
    }
    let outcome = result.or(aborted).ok_or_else(unfinished)?;
    Ok(Record { revision: RULES_REVISION, rules, dealing, dealer, deals, steps, outcome, clocks: None })
}

/// The points that these events brought to whoever acted.
fn points_of(events: &[Event]) -> u16 {
    events
        .iter()
        .map(|event| match event.seen_by(Viewer::Spectator) {
            SeatEvent::Declared { points, .. } | SeatEvent::Zetema { points, .. } => points,
            _ => 0,
        })
        .fold(0, u16::saturating_add)
}

fn check_scores(record: &Record, game: &Game) -> Result<(), ReplayError> {
    let deal = game.public().deal;
    let scored = &game.public().deal_scores[..record.rules.sides()];
    match record.deals.get(deal as usize) {
        Some(given) if given.scores == scored => Ok(()),
        Some(given) => {
            Err(Place::Deal(deal).differs(format!("scores {scored:?}"), format!("scores {:?}", given.scores)))
        }
        None => Err(Place::Deal(deal).differs("a deal", "none")),
    }
}

fn check_dealing(record: &Record) -> Result<(), ReplayError> {
    if record.revision != RULES_REVISION {
        return Err(Place::Revision.differs(RULES_REVISION, record.revision));
    }
    let dealing = &record.dealing;
    if dealing.server_seed.commitment() != dealing.commitment {
        return Err(Place::Commitment.problem(Problem::Hash));
    }
    let (players, entrants) = (record.rules.player_count().count(), dealing.entrants.len());
    let fits = match dealing.kind {
        DealingKind::Joint => entrants == players || (entrants == 0 && record.dealer.is_none()),
        DealingKind::Shared => entrants >= players || (entrants == 0 && record.dealer.is_none()),
        DealingKind::Fixed => entrants == 0,
    };
    if !fits {
        return Err(Place::Entrants.differs(format!("those of {players} seats"), entrants));
    }
    for (i, entrant) in dealing.entrants.iter().enumerate() {
        let fits = match (&entrant.nonce, entrant.hash) {
            (Some(nonce), Some(hash)) => nonce.hash() == hash,
            (Some(nonce), None) => nonce.reveal().is_empty(),
            (None, _) => record.dealer.is_none(),
        };
        if !fits {
            return Err(Place::Nonce(i).problem(Problem::Hash));
        }
    }
    Ok(())
}
