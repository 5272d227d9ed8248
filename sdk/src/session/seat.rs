//! One seat of a session: what it knows, what it owes the server, and what its bot is to do.

use std::collections::VecDeque;
use std::sync::Arc;

use zetema_proto::{FieldError, Wire, seat_event_from_wire, v1, view_from_wire};
use zetema_rules::fair::{Nonce, NonceHash, ServerSeed};
use zetema_rules::{
    DealingKind, LegalActions, Outcome as MatchOutcome, Record, Rules, Seat, SeatEvent, View,
};

use super::tag::Asked;
use super::work::{Answer, Call, Worked};
use crate::bot::{Decision, MatchInfo};
use crate::deal_check::{DealCheck, From, Transcript, Unchecked};
use crate::end::End;
use crate::fault::Fault;
use crate::outcome::Outcome;
use crate::token::SeatToken;

/// How many faults an outcome holds at most.
const MOST_FAULTS: usize = 64;

/// One seat of a session.
pub(crate) struct SeatCore {
    pub(crate) token: SeatToken,
    nonce: Nonce,
    /// Whether the joins commit to the nonce.
    commit: Commit,
    pub(crate) link: SeatLink,
    /// The last observation that came; `None` before the first join.
    pub(crate) cursor: Option<u64>,
    known: Option<Known>,
    /// The last decision that the bot was asked.
    asked: u32,
    debts: Debts,
    bot: BotState,
    calls: VecDeque<Call>,
    faults: Vec<Fault>,
    /// How the match ended, while its record is waited for.
    closing: Option<End>,
    end: Option<End>,
    deal: DealCheck,
}

/// Whether a seat commits to a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commit {
    ToOurs,
    /// The seat had joined before, with the nonce of another program.
    ToNothing,
}

/// Where a seat stands on the current stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeatLink {
    Apart,
    Joining,
    Joined { handle: u32 },
}

/// What was learnt with the first join.
struct Known {
    info: Arc<MatchInfo>,
    transcript: Transcript,
}

/// What the server has not confirmed yet, and gets again after each join.
#[derive(Default)]
struct Debts {
    nonce: bool,
    answer: Option<Answer>,
    resign: Resign,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Resign {
    #[default]
    No,
    Due,
    Confirmed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BotState {
    Idle,
    Busy,
    /// At work on what the server has lost since: its answer counts for nothing.
    BusyInVain,
    /// It fell, or there is none any more.
    Gone,
}

/// What to do about what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Nothing more.
    Fine,
    /// Send everything that is owed.
    SendAll,
    /// Send this.
    Send(Asked),
    /// Join again: something is missing.
    Rejoin,
}

/// What a seat owes the server, in the order in which to send it.
pub(crate) struct Owed {
    pub(crate) nonce: Option<v1::GiveNonce>,
    pub(crate) act: Option<v1::Act>,
    pub(crate) resign: Option<v1::Resign>,
}

impl SeatCore {
    pub(crate) fn new(token: SeatToken, nonce: Nonce) -> Self {
        Self {
            token,
            nonce,
            commit: Commit::ToOurs,
            link: SeatLink::Apart,
            cursor: None,
            known: None,
            asked: 0,
            debts: Debts::default(),
            bot: BotState::Idle,
            calls: VecDeque::new(),
            faults: Vec::new(),
            closing: None,
            end: None,
            deal: DealCheck::Unchecked(Unchecked::NotRevealed),
        }
    }

    pub(crate) fn info(&self) -> Option<&Arc<MatchInfo>> {
        self.known.as_ref().map(|known| &known.info)
    }

    pub(crate) fn join(&self) -> v1::Join {
        let nonce_hash = match self.commit {
            Commit::ToOurs => self.nonce.hash().to_wire(),
            Commit::ToNothing => Vec::new(),
        };
        v1::Join {
            seat_token: self.token.reveal().to_owned(),
            nonce_hash,
            after_seq: self.cursor,
            views: Some(v1::Views::EveryDecision.into()),
        }
    }

    /// Joins without a nonce from now on; `false` if it did so before.
    pub(crate) fn give_up_nonce(&mut self) -> bool {
        let gave_up = self.commit == Commit::ToOurs;
        self.commit = Commit::ToNothing;
        gave_up
    }

    /// Forgets what was seen: the server has lost it too.
    pub(crate) fn forget(&mut self) {
        self.fault(Fault::LostObservations { after_seq: self.cursor.unwrap_or_default() });
        self.cursor = None;
        self.asked = 0;
        self.debts.answer = None;
        self.calls.clear();
        if self.bot == BotState::Busy {
            self.bot = BotState::BusyInVain;
        }
    }

    pub(crate) fn fault(&mut self, fault: Fault) {
        let match_id = self.info().map(|info| info.match_id.as_str());
        let seat = self.info().map(|info| info.seat.index());
        match &fault {
            // The server's words to a seat may name its cards, which are not for a log.
            Fault::Refused { asked, refusal } => {
                tracing::warn!(
                    match_id,
                    seat,
                    asked,
                    reason = refusal.reason.name(),
                    "refused by the server"
                );
            }
            fault => tracing::warn!(match_id, seat, %fault, "a fault at a seat"),
        }
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(fault);
        }
    }

    pub(crate) fn owed(&self) -> Owed {
        let Debts { nonce, answer, resign } = &self.debts;
        let owes = !self.is_over();
        let act = |answer: Answer| v1::Act {
            decision_number: answer.decision,
            choice: Some(v1::act::Choice::Action(answer.action.to_wire())),
        };
        Owed {
            nonce: (owes && *nonce).then(|| v1::GiveNonce { nonce: self.nonce.to_wire() }),
            act: answer.filter(|_| owes).map(act),
            resign: (owes && *resign == Resign::Due).then_some(v1::Resign {}),
        }
    }

    pub(crate) fn nonce_is_settled(&mut self) {
        self.debts.nonce = false;
    }

    pub(crate) fn resignation_is_settled(&mut self) {
        self.debts.resign = Resign::Confirmed;
    }

    /// The server has, or will never take, the answer to this decision, or to any.
    pub(crate) fn answer_is_settled(&mut self, decision: Option<u32>) {
        if decision.is_none_or(|decision| self.debts.answer.is_some_and(|answer| answer.decision <= decision))
        {
            self.debts.answer = None;
        }
    }

    pub(crate) fn open_answer(&self) -> Option<u32> {
        self.debts.answer.map(|answer| answer.decision)
    }

    // Messages.

    /// The first message of a subscription.
    pub(crate) fn joined(
        &mut self,
        handle: u32,
        start: &v1::SubscriptionStart,
    ) -> Result<Reaction, FieldError> {
        let v1::SubscriptionStart { r#match: described, seat, kind } = start;
        self.link = SeatLink::Joined { handle };
        match kind {
            None => return Err(FieldError::missing("kind")),
            Some(v1::subscription_start::Kind::Resumed(v1::Resumed { after_seq })) => {
                if Some(*after_seq) != self.cursor {
                    return Err(FieldError::invalid("resumed.after_seq", "is not the one asked for"));
                }
            }
            Some(v1::subscription_start::Kind::Snapshot(snapshot)) => {
                let described = described.as_ref().ok_or_else(|| FieldError::missing("match"))?;
                let seat = seat.as_ref().ok_or_else(|| FieldError::missing("seat"))?;
                let seat = Seat::from_wire(seat).map_err(|error| error.within("seat"))?;
                self.snapshot(described, seat, snapshot)?;
            }
        }
        Ok(Reaction::SendAll)
    }

    fn snapshot(
        &mut self,
        described: &v1::Match,
        seat: Seat,
        snapshot: &v1::Snapshot,
    ) -> Result<(), FieldError> {
        let v1::Snapshot { seq, decision_number: _, setup, view, decision, outcome: _, revealed } = snapshot;
        let rules = described.rules.as_ref().ok_or_else(|| FieldError::missing("match.rules"))?;
        let rules = Rules::from_wire(rules).map_err(|error| error.within("match.rules"))?;
        let setup = setup.as_ref().ok_or_else(|| FieldError::missing("setup"))?;
        let view = view.as_ref().map(|view| view_from_wire(view, &rules)).transpose();
        let view = view.map_err(|error| error.within("view"))?;
        let info = Arc::new(MatchInfo::new(described.match_id.clone(), seat, rules));
        let kind = deals_kind(described.deals)?;
        let v1::Setup { stage: _, commitment, hashes, nonces } = setup;
        let mut transcript = Transcript {
            kind,
            commitment: Wire::from_wire(commitment).map_err(|error| error.within("setup.commitment"))?,
            hashes: hashes_from_wire(hashes)?,
            nonces: nonces_from_wire(nonces)?,
            seed: None,
            events: Vec::new(),
            from: if view.is_none() { From::Start } else { From::Middle },
        };
        if let Some(v1::Revealed { server_seed }) = revealed {
            transcript.seed = Some(seed_from_wire(server_seed)?);
        }
        self.cursor = Some(*seq);
        if transcript.nonces.is_empty() {
            self.nonces_wanted(seat, kind, &transcript.hashes);
        }
        self.known = Some(Known { info: Arc::clone(&info), transcript });
        self.call(Call::Start { info, view: view.map(Box::new) });
        if let Some(v1::Decision { legal_actions }) = decision {
            let view = view.ok_or_else(|| FieldError::missing("view"))?;
            self.decide(&view, legal_actions.as_ref())?;
        }
        Ok(())
    }

    /// Every seat has joined: ours is to send its nonce, if that is what it committed to.
    fn nonces_wanted(&mut self, seat: Seat, kind: DealingKind, hashes: &[Option<NonceHash>]) {
        if kind == DealingKind::Fixed {
            return;
        }
        match hashes.get(seat.index()).copied().flatten() {
            Some(hash) if hash == self.nonce.hash() => self.debts.nonce = true,
            Some(_) => self.fault(Fault::NonceOfAnother),
            None => {}
        }
    }

    pub(crate) fn observed(&mut self, observation: &v1::Observation) -> Result<Reaction, FieldError> {
        let v1::Observation { seq, decision_number, events, view, decision, receipt } = observation;
        let Some(cursor) = self.cursor else { return Err(FieldError::invalid("", "came before the start")) };
        if *seq != cursor + 1 {
            // What came before stands; one that comes again is passed over.
            if *seq > cursor {
                self.fault(Fault::Gap { after_seq: cursor, came: *seq });
                return Ok(Reaction::Rejoin);
            }
            return Ok(Reaction::Fine);
        }
        let mut reaction = Reaction::Fine;
        for (i, event) in events.iter().enumerate() {
            let next = self.happened(event).map_err(|error| error.at(i).within("events"))?;
            if next != Reaction::Fine {
                reaction = next;
            }
        }
        self.cursor = Some(*seq);
        if let Some(v1::Receipt { match_id: _, decision_number, seq: _ }) = receipt {
            self.answer_is_settled(Some(*decision_number));
        }
        // An answer to a decision that is over can't be taken any more, unless it was: then its receipt
        // came above.
        if let (Some(answered), Some(current)) = (self.open_answer(), decision_number)
            && answered < *current
        {
            self.fault(Fault::TooLate { decision: answered });
            self.answer_is_settled(Some(answered));
        }
        if let (Some(v1::Decision { legal_actions }), Some(view)) = (decision, view) {
            let rules = self.known.as_ref().map(|known| known.info.rules);
            let rules = rules.ok_or_else(|| FieldError::invalid("", "came before the start"))?;
            let view = view_from_wire(view, &rules).map_err(|error| error.within("view"))?;
            self.decide(&view, legal_actions.as_ref())?;
        }
        Ok(reaction)
    }

    fn happened(&mut self, event: &v1::Event) -> Result<Reaction, FieldError> {
        use v1::event::Kind;
        let Some(Known { info, transcript }) = &mut self.known else {
            return Err(FieldError::invalid("", "came before the start"));
        };
        if let Some(event) = seat_event_from_wire(event)? {
            transcript.events.push(event);
            let own = matches!(event, SeatEvent::Forfeited { seat } if seat == info.seat);
            self.call(Call::Observe(event));
            if own {
                self.debts.resign = Resign::Confirmed;
                self.debts.answer = None;
            }
            // Before the first deal a resignation is refused.
            let dealt = matches!(event, SeatEvent::DealStarted { .. });
            let due = dealt && self.debts.resign == Resign::Due;
            return Ok(if due { Reaction::Send(Asked::Resign) } else { Reaction::Fine });
        }
        match &event.kind {
            Some(Kind::NoncesWanted(v1::NoncesWanted { hashes })) => {
                let hashes = hashes_from_wire(hashes)?;
                transcript.hashes.clone_from(&hashes);
                let (seat, kind) = (info.seat, transcript.kind);
                self.nonces_wanted(seat, kind, &hashes);
                if self.debts.nonce {
                    return Ok(Reaction::Send(Asked::Nonce));
                }
            }
            Some(Kind::NoncesPublished(v1::NoncesPublished { nonces })) => {
                transcript.nonces = nonces_from_wire(nonces)?;
                self.debts.nonce = false;
            }
            Some(Kind::Revealed(v1::Revealed { server_seed })) => {
                transcript.seed = Some(seed_from_wire(server_seed)?);
            }
            // What it brings comes as an event of the game, or with the end of the subscription; and
            // one that this version does not know is passed over, since the view is complete.
            _ => {}
        }
        Ok(Reaction::Fine)
    }

    fn decide(&mut self, view: &View, legal: Option<&v1::LegalActions>) -> Result<(), FieldError> {
        let legal = legal.ok_or_else(|| FieldError::missing("decision.legal_actions"))?;
        let legal = LegalActions::from_wire(legal).map_err(|error| error.within("decision.legal_actions"))?;
        let Some(known) = &self.known else { return Err(FieldError::invalid("", "came before the start")) };
        let number = view.public.decision;
        if number <= self.asked || self.debts.resign != Resign::No {
            return Ok(());
        }
        let decision = Decision::with_legal(Arc::clone(&known.info), view, legal)
            .ok_or_else(|| FieldError::invalid("decision.legal_actions", "has no action"))?;
        self.asked = number;
        self.call(Call::Choose(Box::new(decision)));
        Ok(())
    }

    // The bot.

    fn call(&mut self, call: Call) {
        if self.bot != BotState::Gone {
            self.calls.push_back(call);
        }
    }

    /// The next calls for the bot, up to the first decision, if it is free.
    pub(crate) fn next_calls(&mut self) -> Option<Vec<Call>> {
        if self.bot != BotState::Idle || self.calls.is_empty() {
            return None;
        }
        let decision = self.calls.iter().position(|call| matches!(call, Call::Choose(_)));
        let calls = self.calls.drain(..decision.map_or(self.calls.len(), |last| last + 1)).collect();
        self.bot = BotState::Busy;
        Some(calls)
    }

    pub(crate) fn worked(&mut self, worked: Worked) -> Reaction {
        let before = self.bot;
        if before != BotState::Gone {
            self.bot = BotState::Idle;
        }
        match worked {
            Worked::Done => Reaction::Fine,
            Worked::Chose(_) if before == BotState::BusyInVain || self.is_over() => Reaction::Fine,
            Worked::Chose(answer) if answer.decision == self.asked && self.debts.resign == Resign::No => {
                self.debts.answer = Some(answer);
                Reaction::Send(Asked::Act)
            }
            Worked::Chose(answer) => {
                self.fault(Fault::TooLate { decision: answer.decision });
                Reaction::Fine
            }
            Worked::Fell(fault) => {
                self.fault(fault);
                self.bot = BotState::Gone;
                self.calls.clear();
                if self.debts.resign == Resign::No {
                    self.debts.resign = Resign::Due;
                }
                self.debts.answer = None;
                Reaction::Send(Asked::Resign)
            }
        }
    }

    // The end.

    /// The seat is over. Its bot is told, if it is there.
    pub(crate) fn ended(&mut self, end: End) {
        if self.end.is_none() {
            if self.known.is_some() {
                self.call(Call::End(end.clone()));
            }
            self.end = Some(end);
        }
    }

    /// The match is over, and its record is to be checked before the end.
    pub(crate) fn wait_for_record(&mut self, end: End) {
        self.closing = Some(end);
    }

    /// Checks the deals, with the record if there is one, and ends a seat that waited for it.
    pub(crate) fn close(&mut self, record: Option<&Record>) {
        if let Some(end) = self.closing.take() {
            self.check_deal(record);
            self.ended(end);
        }
    }

    /// Leaves a bot that is at work to itself.
    pub(crate) fn abandon_bot_at_work(&mut self) {
        if matches!(self.bot, BotState::Busy | BotState::BusyInVain) {
            self.bot = BotState::Gone;
            self.calls.clear();
        }
    }

    /// Whether the server has nothing more to say to this seat, or it to the server.
    pub(crate) const fn is_over(&self) -> bool {
        self.end.is_some() || self.closing.is_some()
    }

    /// Whether nothing is left to do but to hand out the outcome.
    pub(crate) fn is_done(&self) -> bool {
        self.end.is_some()
            && match self.bot {
                BotState::Idle => self.calls.is_empty(),
                BotState::Busy | BotState::BusyInVain => false,
                BotState::Gone => true,
            }
    }

    fn check_deal(&mut self, record: Option<&Record>) {
        if let Some(Known { info, transcript }) = &self.known {
            self.deal = transcript.check(&info.rules, info.seat, record);
            if let DealCheck::Failed(error) = &self.deal {
                tracing::error!(match_id = info.match_id, seat = info.seat.index(), %error, "unfair deal");
            }
        }
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        Outcome {
            token: self.token,
            info: self.known.map(|known| known.info),
            end: self.end.unwrap_or(End::Stopped),
            deal: self.deal,
            faults: self.faults,
        }
    }
}

/// The end of a match as the last message of a subscription tells it.
pub(crate) fn end_from_wire(message: &v1::SubscriptionEnd) -> Result<End, FieldError> {
    let v1::SubscriptionEnd { outcome } = message;
    let outcome = outcome.as_ref().ok_or_else(|| FieldError::missing("outcome"))?;
    Ok(match MatchOutcome::from_wire(outcome).map_err(|error| error.within("outcome"))? {
        MatchOutcome::Result(result) => End::Result(result),
        MatchOutcome::Aborted { reason, seats } => End::Aborted { reason, seats },
    })
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
