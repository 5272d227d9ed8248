//! What a seat makes of its subscription: the start, the observations, the end.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zetema_proto::{FieldError, Wire, v1, view_from_wire};
use zetema_rules::fair::{Nonce, NonceHash, ServerSeed};
use zetema_rules::{DealingKind, Outcome as MatchOutcome, Rules, Seat, SeatEvent};

use super::{Commit, Joined, Known, Reaction, Resign, Running, SeatCore, SeatLink};
use crate::bot::{Decision, MatchInfo};
use crate::clock::Clock;
use crate::deal_check::{From, Seen, Transcript};
use crate::end::End;
use crate::fault::Fault;
use crate::session::tag::Asked;
use crate::wire::{Asked as AskedOfSeat, Happened, Observed};
use crate::work::Call;

impl SeatCore {
    /// The first message of a subscription.
    pub(crate) fn joined(
        &mut self,
        now: Instant,
        handle: u32,
        start: &v1::SubscriptionStart,
    ) -> Result<Reaction, FieldError> {
        let v1::SubscriptionStart { r#match: described, seat, kind } = start;
        match self.link {
            // The answer to a join comes a second time.
            SeatLink::Joined { handle: before } if before == handle => return Ok(Reaction::Fine),
            // Each handle is kept while the stream lasts: a seat has one.
            SeatLink::Joined { handle: before } | SeatLink::Joining { before: Some(before) }
                if before != handle =>
            {
                return Err(FieldError::invalid("handle", "is not the one of before"));
            }
            _ => {}
        }
        self.link = SeatLink::Joined { handle };
        match kind {
            None => return Err(FieldError::missing("kind")),
            Some(v1::subscription_start::Kind::Resumed(v1::Resumed {
                after_seq,
                decision_elapsed_ms,
                decision_number,
            })) => {
                if Some(*after_seq) != self.cursor {
                    return Err(FieldError::invalid("resumed.after_seq", "is not the one asked for"));
                }
                let elapsed = decision_elapsed_ms.map(Duration::from_millis);
                self.running = decision_number
                    .zip(elapsed)
                    .map(|(decision, elapsed)| Box::new(Running { decision, elapsed, at: now }));
            }
            // It would take the place of what the seat saw, and of that nothing were compared with the record.
            Some(v1::subscription_start::Kind::Snapshot(_)) if self.cursor.is_some() => {
                return Err(FieldError::invalid(
                    "snapshot",
                    "came where the seat asked for what is after its cursor",
                ));
            }
            Some(v1::subscription_start::Kind::Snapshot(snapshot)) => {
                let described = described.as_ref().ok_or_else(|| FieldError::missing("match"))?;
                let seat = seat.as_ref().ok_or_else(|| FieldError::missing("seat"))?;
                let seat = Seat::from_wire(seat).map_err(|error| error.within("seat"))?;
                self.snapshot(now, described, seat, snapshot)?;
            }
        }
        Ok(Reaction::SendAll)
    }

    fn snapshot(
        &mut self,
        now: Instant,
        described: &v1::Match,
        seat: Seat,
        snapshot: &v1::Snapshot,
    ) -> Result<(), FieldError> {
        let v1::Snapshot { seq, decision_number, setup, view, decision, outcome, revealed } = snapshot;
        let rules = described.rules.as_ref().ok_or_else(|| FieldError::missing("match.rules"))?;
        let rules = Rules::from_wire(rules).map_err(|error| error.within("match.rules"))?;
        let setup = setup.as_ref().ok_or_else(|| FieldError::missing("setup"))?;
        let view = view.as_ref().map(|view| view_from_wire(view, &rules)).transpose();
        let view = view.map_err(|error| error.within("view"))?;
        let kind = deals_kind(described.deals)?;
        let info = Arc::new(MatchInfo::new(described.match_id.clone(), seat, rules).with_deals(kind));
        let v1::Setup { stage: _, commitment, hashes, nonces } = setup;
        // When the match is over, the server takes any hash and compares it with none.
        let (joined, own_hash) = match outcome {
            None => {
                (Joined::WhileItRan, (self.aside.commit == Commit::ToOurs).then(|| self.aside.nonce.hash()))
            }
            Some(_) => (Joined::AfterItsEnd, None),
        };
        let hashes = hashes_from_wire(hashes)?;
        let mut transcript = Box::new(Transcript {
            kind,
            commitment: Wire::from_wire(commitment).map_err(|error| error.within("setup.commitment"))?,
            own_hash,
            hashes: Vec::new(),
            nonces: nonces_from_wire(nonces)?,
            seed: None,
            events: Seen::default(),
            from: if view.is_none() { From::Start } else { From::Middle },
            end: outcome.as_ref().map(outcome_from_wire).transpose()?,
            lost: Vec::new(),
        });
        if let Some(v1::Revealed { server_seed }) = revealed {
            transcript.seed = Some(seed_from_wire(server_seed)?);
        }
        self.cursor = Some(*seq);
        self.current = *decision_number;
        self.running = None;
        let nonces_are_in = !transcript.nonces.is_empty();
        let mut checked = match self.known.take() {
            Some(earlier) => transcript.go_on_from(earlier.into_transcript()),
            None => Ok(()),
        };
        // Before a deal all of them are shown.
        if !hashes.is_empty() || view.is_some() {
            checked = checked.and(transcript.show_hashes(seat, hashes));
            if !nonces_are_in {
                self.nonce_wanted(transcript.own_hash, transcript.hash_of(seat));
            }
        }
        self.known = Some(Known::new(Arc::clone(&info), transcript, joined));
        if let Err(error) = checked {
            self.unfair(error);
        }
        self.call(Call::Start { info, view: view.map(Box::new) });
        if let Some(decision) = decision {
            if joined == Joined::AfterItsEnd {
                return Err(FieldError::invalid("decision", "came after the end of the match"));
            }
            let view = snapshot.view.clone().ok_or_else(|| FieldError::missing("view"))?;
            self.decide(now, Box::new(AskedOfSeat::from_message(Box::new(view), decision)?))?;
        }
        Ok(())
    }

    /// Every seat has joined: ours is to send its nonce, if that is what it committed to.
    fn nonce_wanted(&mut self, sent: Option<NonceHash>, shown: Option<NonceHash>) {
        match shown {
            Some(hash) if hash == self.aside.nonce.hash() => self.debts.nonce = true,
            // Where the server had taken ours, the deals have failed their check.
            Some(_) if sent.is_none() => self.fault(Fault::NonceOfAnother),
            Some(_) | None => {}
        }
    }

    pub(crate) fn observed(&mut self, now: Instant, observed: Observed) -> Result<Reaction, FieldError> {
        let Observed { seq, decision, happened, asked, answered } = observed;
        let Some(cursor) = self.cursor else { return Err(FieldError::invalid("", "came before the start")) };
        if Some(seq) != cursor.checked_add(1) {
            // What came before stands; one that comes again is passed over.
            if seq > cursor {
                self.fault(Fault::Gap { after_seq: cursor, came: seq });
                return Ok(Reaction::Rejoin);
            }
            return Ok(Reaction::Fine);
        }
        let mut reaction = Reaction::Fine;
        for (i, happened) in happened.iter().enumerate() {
            let next = self.happened(happened).map_err(|error| error.at(i).within("events"))?;
            if next != Reaction::Fine {
                reaction = next;
            }
        }
        if let Some(known) = &mut self.known {
            happened.iter().filter_map(Happened::in_game).for_each(|event| known.saw(event));
        }
        self.cursor = Some(seq);
        self.current = decision;
        if answered.is_some() {
            self.answer_is_settled(answered);
        }
        // An answer to a decision that is over can't be taken any more, unless it was: then its receipt
        // came above.
        if let (Some(answered), Some(current)) = (self.open_answer(), decision)
            && answered < current
        {
            self.fault(Fault::TooLate { decision: answered });
            self.answer_is_settled(Some(answered));
        }
        if let Some(asked) = asked {
            self.decide(now, asked)?;
        }
        Ok(reaction)
    }

    fn happened(&mut self, happened: &Happened) -> Result<Reaction, FieldError> {
        let Some(Known { joined, .. }) = &self.known else {
            return Err(FieldError::invalid("", "came before the start"));
        };
        if *joined == Joined::AfterItsEnd
            && !matches!(happened, Happened::About(v1::event::Kind::Revealed(_)) | Happened::Unknown)
        {
            return Err(FieldError::invalid("", "came after the end of the match"));
        }
        match happened {
            Happened::InGame(event) => Ok(self.happened_in_game(*event)),
            Happened::About(kind) => self.happened_about(kind),
            // It is passed over, since the view is complete.
            Happened::Unknown => Ok(Reaction::Fine),
        }
    }

    fn happened_in_game(&mut self, event: SeatEvent) -> Reaction {
        self.call(Call::Observe(event));
        match event {
            SeatEvent::Forfeited { seat } if self.is_own(seat) => {
                if let Some(decision) = self.timed_out.take() {
                    self.fault(Fault::ForfeitedOnTime { decision });
                }
                self.debts.resign = Resign::Confirmed;
                self.debts.answer = None;
            }
            // The server has played for it.
            SeatEvent::Discarded { seat, .. } if self.timed_out.is_some() && self.is_own(seat) => {
                self.timed_out = None;
            }
            SeatEvent::MatchOver { result } => self.saw_end(MatchOutcome::Result(result)),
            _ => {}
        }
        // Before the first deal a resignation is refused.
        let dealt = matches!(event, SeatEvent::DealStarted { .. });
        let due = dealt && matches!(self.debts.resign, Resign::Due { .. });
        if due { Reaction::Send(Asked::Resign) } else { Reaction::Fine }
    }

    fn saw_end(&mut self, end: MatchOutcome) {
        if let Some(known) = &mut self.known {
            known.transcript.end = Some(end);
        }
    }

    /// Whether it is this seat itself.
    fn is_own(&self, seat: Seat) -> bool {
        self.known.as_ref().is_some_and(|known| known.info.seat == seat)
    }

    fn happened_about(&mut self, kind: &v1::event::Kind) -> Result<Reaction, FieldError> {
        use v1::event::Kind;
        let Some(Known { info, transcript, .. }) = &mut self.known else { return Ok(Reaction::Fine) };
        match kind {
            Kind::NoncesWanted(v1::NoncesWanted { hashes }) => {
                let shown = transcript.show_hashes(info.seat, hashes_from_wire(hashes)?);
                let (sent, ours) = (transcript.own_hash, transcript.hash_of(info.seat));
                if let Err(error) = shown {
                    self.unfair(error);
                }
                self.nonce_wanted(sent, ours);
                if self.debts.nonce {
                    return Ok(Reaction::Send(Asked::Nonce));
                }
            }
            Kind::NoncesPublished(v1::NoncesPublished { nonces }) => {
                let shown = transcript.show_nonces(nonces_from_wire(nonces)?);
                self.debts.nonce = false;
                if let Err(error) = shown {
                    self.unfair(error);
                }
            }
            Kind::TimedOut(v1::TimedOut { seat, decision_number, strikes }) => {
                let seat = Seat::from_wire(seat).map_err(|error| error.within("timed_out.seat"))?;
                if seat == info.seat {
                    self.timed_out = Some(*decision_number);
                    self.fault(Fault::TimedOut { decision: *decision_number, strikes: *strikes });
                }
            }
            Kind::Revealed(v1::Revealed { server_seed }) => {
                transcript.seed = Some(seed_from_wire(server_seed)?);
            }
            Kind::Aborted(abort) => {
                let kind = Some(v1::outcome::Kind::Aborted(abort.clone()));
                transcript.end = Some(MatchOutcome::from_wire(&v1::Outcome { kind })?);
            }
            // What it brings comes as an event of the game, or with the end of the subscription.
            _ => {}
        }
        Ok(Reaction::Fine)
    }

    fn decide(&mut self, now: Instant, mut asked: Box<AskedOfSeat>) -> Result<(), FieldError> {
        let Some(known) = &self.known else { return Err(FieldError::invalid("", "came before the start")) };
        let rules = &known.rules;
        let view = asked.view.of_match(rules).map_err(|error| error.within("view"))?;
        let number = view.decision();
        // What was decided while the stream was cut is not asked any more.
        let is_over = self.running.as_ref().is_some_and(|running| running.decision > number);
        if number <= self.asked || is_over || self.debts.resign != Resign::No {
            return Ok(());
        }
        let mut clock = asked.clock.map(|clock| clock_from_wire(now, clock));
        // One that had begun when the stream was resumed comes as if it began with its observation.
        if let (Some(clock), Some(running)) = (&mut clock, &self.running)
            && running.decision == number
        {
            *clock = clock.with_elapsed(running.elapsed + now.saturating_duration_since(running.at));
        }
        let (info, legal) = (Arc::clone(&known.info), mem::take(&mut asked.legal));
        let first =
            legal.get(0).ok_or_else(|| FieldError::invalid("decision.legal_actions", "has no action"))?;
        let decision = Box::new(Decision { info, view: view.under(rules), legal, clock, first });
        self.asked = number;
        self.current = Some(number);
        self.call(Call::Choose(decision));
        Ok(())
    }
}

/// The clock of a decision that came now.
fn clock_from_wire(now: Instant, message: v1::Clock) -> Clock {
    let v1::Clock { budget_ms, bank_ms, elapsed_ms, strikes_left } = message;
    let budget = Duration::from_millis(budget_ms.into());
    Clock::new(budget, Duration::from_millis(bank_ms), strikes_left, now)
        .with_elapsed(Duration::from_millis(elapsed_ms))
}

/// The end of a match as the last message of a subscription tells it.
pub(crate) fn end_from_wire(message: &v1::SubscriptionEnd) -> Result<End, FieldError> {
    let v1::SubscriptionEnd { outcome } = message;
    let outcome = outcome.as_ref().ok_or_else(|| FieldError::missing("outcome"))?;
    Ok(match outcome_from_wire(outcome)? {
        MatchOutcome::Result(result) => End::Result(result),
        MatchOutcome::Aborted { reason, seats } => End::Aborted { reason, seats },
    })
}

fn outcome_from_wire(outcome: &v1::Outcome) -> Result<MatchOutcome, FieldError> {
    MatchOutcome::from_wire(outcome).map_err(|error| error.within("outcome"))
}

fn deals_kind(kind: i32) -> Result<DealingKind, FieldError> {
    match v1::DealsKind::try_from(kind) {
        Ok(v1::DealsKind::Joint) => Ok(DealingKind::Joint),
        Ok(v1::DealsKind::Shared) => Ok(DealingKind::Shared),
        Ok(v1::DealsKind::Fixed) => Ok(DealingKind::Fixed),
        Ok(v1::DealsKind::Unspecified) | Err(_) => {
            Err(FieldError::invalid("match.deals", format!("{kind} is no kind of deals")))
        }
    }
}

fn seed_from_wire(seed: &Vec<u8>) -> Result<ServerSeed, FieldError> {
    ServerSeed::from_wire(seed).map_err(|error| error.within("revealed.server_seed"))
}

fn hashes_from_wire(hashes: &[v1::SeatNonceHash]) -> Result<Vec<Option<NonceHash>>, FieldError> {
    let hash = |(i, message): (usize, &v1::SeatNonceHash)| {
        in_order(i, message.seat, "hashes")?;
        Wire::from_wire(&message.nonce_hash)
            .map_err(|error: FieldError| error.within("nonce_hash").at(i).within("hashes"))
    };
    hashes.iter().enumerate().map(hash).collect()
}

fn nonces_from_wire(nonces: &[v1::SeatNonce]) -> Result<Vec<Nonce>, FieldError> {
    let nonce = |(i, message): (usize, &v1::SeatNonce)| {
        in_order(i, message.seat, "nonces")?;
        Nonce::from_wire(&message.nonce).map_err(|error| error.within("nonce").at(i).within("nonces"))
    };
    nonces.iter().enumerate().map(nonce).collect()
}

fn in_order(i: usize, seat: u32, list: &str) -> Result<(), FieldError> {
    if usize::try_from(seat) == Ok(i) {
        return Ok(());
    }
    Err(FieldError::invalid("seat", format!("is {seat}: seat {i} comes here")).at(i).within(list))
}
