//! A record played again, step by step, and checked.

use std::fmt;

use thiserror::Error;

use crate::error::PlayError;
use crate::event::{Event, SeatEvent, Viewer};
use crate::fair::MatchSeed;
use crate::game::Game;
use crate::public::Phase;
use crate::record::{Dealing, DealingKind, Outcome, PlayedBy, Record, RecordDeal, Step};
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
        let mut replay = Self { record, seed, game: None, next: 0, events: Vec::new() };
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
        let played = match *step {
            Step::Play { seat, action, .. } => game.play(seat, &action, &mut self.events),
            Step::Fault { seat, card } => game.fault(seat, card, &mut self.events),
            Step::Forfeit { seat, .. } => game.forfeit(seat, &mut self.events),
        };
        played.map_err(|error| place.problem(Problem::Play(error)))?;
        if let Step::Play { seat, by: PlayedBy::Player, .. } = *step
            && game.public().forfeited.contains(seat)
        {
            return Err(place.differs("autoplay, since the seat has forfeited", "the player's action"));
        }
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

/// Where a record differs from what its seed, its steps and the rules give.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct ReplayError {
    /// Where.
    pub place: Place,
    /// What is wrong there.
    pub problem: Problem,
}

/// A place in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The revision of the rules.
    Revision,
    /// The commitment to the server's seed.
    Commitment,
    /// The list of entrants.
    Entrants,
    /// The nonce of an entrant, from 0.
    Nonce(usize),
    /// The first dealer.
    Dealer,
    /// A deal, from 0.
    Deal(u32),
    /// A step, from 0.
    Step(usize),
    /// The outcome.
    Outcome,
}

impl Place {
    const fn problem(self, problem: Problem) -> ReplayError {
        ReplayError { place: self, problem }
    }

    fn differs(self, expected: impl fmt::Display, given: impl fmt::Display) -> ReplayError {
        self.problem(Problem::Differs { expected: expected.to_string(), given: given.to_string() })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision => f.write_str("the rules' revision"),
            Self::Commitment => f.write_str("the commitment"),
            Self::Entrants => f.write_str("the entrants"),
            Self::Nonce(entrant) => write!(f, "the nonce of entrant {entrant}"),
            Self::Dealer => f.write_str("the dealer"),
            Self::Deal(deal) => write!(f, "deal {deal}"),
            Self::Step(step) => write!(f, "step {step}"),
            Self::Outcome => f.write_str("the outcome"),
        }
    }
}

/// What is wrong at a place of a record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// A value is not what it has to be.
    #[error("{given} is recorded, {expected} is right")]
    Differs {
        /// What is right.
        expected: String,
        /// What is recorded.
        given: String,
    },
    /// A value is not that of its hash.
    #[error("it is not what its hash says")]
    Hash,
    /// A deck is not that of the seed.
    #[error("the deck is not the one that the seed gives")]
    Deck,
    /// The rules don't allow a step.
    #[error("the rules don't allow it: {0}")]
    Play(PlayError),
    /// A step before the first deal.
    #[error("nothing was dealt before it")]
    Undealt,
    /// A step that was not replayed.
    #[error("it was not replayed: call `step` until it gives none")]
    Unplayed,
}
