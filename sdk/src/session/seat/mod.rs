//! One seat of a session: what it knows, what it owes the server, and what its bot is to do.

mod known;
mod observed;

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zetema_proto::{Wire, v1};
use zetema_rules::fair::Nonce;

use super::tag::Asked;
use crate::bot::MatchInfo;
use crate::claim::Claim;
use crate::deal_check::{DealCheck, DealError, Replayed, Unchecked};
use crate::end::End;
use crate::fault::Fault;
use crate::outcome::Outcome;
use crate::seat_bot::SeatBot;
use crate::work::{Answer, Call, Worked};
use known::{Joined, Known};
pub(crate) use observed::end_from_wire;

/// How many faults an outcome holds at most.
const MOST_FAULTS: usize = 64;

/// One seat of a session.
///
/// A session may have thousands, and whenever something comes for one of them its memory was not touched for a while. So what
/// every observation needs lies together here, and the rest apart.
pub(crate) struct SeatCore {
    pub(crate) link: SeatLink,
    /// How often the server has refused what should not be, since the last observation.
    pub(crate) refusals: u32,
    /// The last observation that came; `None` before the first join.
    pub(crate) cursor: Option<u64>,
    known: Option<Known>,
    /// The last decision that the bot was asked.
    asked: u32,
    /// The last decision that it answered.
    answered: u32,
    /// The decision that is open, whoever is to take it.
    current: Option<u32>,
    /// The decision whose clock ran when the stream was resumed.
    running: Option<Box<Running>>,
    /// The decision for which the seat's time was out, until something was played for it.
    timed_out: Option<u32>,
    debts: Debts,
    bot: BotState,
    calls: Vec<Call>,
    /// How the match ended, while its record is waited for.
    closing: Option<Box<End>>,
    end: Option<Box<End>>,
    aside: Box<Aside>,
}

/// What a seat needs when it joins, when something goes wrong, and at its end.
struct Aside {
    claim: Claim,
    nonce: Nonce,
    /// Whether the joins commit to the nonce.
    commit: Commit,
    faults: Vec<Fault>,
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
    /// With the handle that it had on the stream before.
    Joining {
        before: Option<u32>,
    },
    Joined {
        handle: u32,
    },
}

impl SeatLink {
    /// Where a seat stands that joins.
    pub(crate) const fn joining(self) -> Self {
        match self {
            Self::Apart => Self::Joining { before: None },
            Self::Joining { before } => Self::Joining { before },
            Self::Joined { handle } => Self::Joining { before: Some(handle) },
        }
    }
}

/// A decision whose clock runs, whoever is to take it.
#[derive(Clone, Copy, Debug)]
struct Running {
    decision: u32,
    elapsed: Duration,
    /// When so much was over.
    at: Instant,
}

/// What the server has not confirmed yet, and gets again after each join.
#[derive(Default)]
struct Debts {
    nonce: bool,
    answer: Option<Answer>,
    resign: Resign,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Resign {
    #[default]
    No,
    /// With what the bot panicked with, if it did, for its author.
    Due {
        panic: Option<String>,
    },
    Confirmed,
}

enum BotState {
    /// With the seat.
    Idle(SeatBot),
    /// At work.
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

impl SeatCore {
    pub(crate) fn new(claim: Claim, nonce: Nonce) -> Self {
        let deal = DealCheck::Unchecked(Unchecked::NotRevealed);
        let aside = Aside { claim, nonce, commit: Commit::ToOurs, faults: Vec::new(), deal };
        Self {
            link: SeatLink::Apart,
            refusals: 0,
            cursor: None,
            known: None,
            asked: 0,
            answered: 0,
            current: None,
            running: None,
            timed_out: None,
            debts: Debts::default(),
            bot: BotState::Idle(SeatBot::default()),
            calls: Vec::new(),
            closing: None,
            end: None,
            aside: Box::new(aside),
        }
    }

    /// Has the processor fetch what an observation needs beside the seat itself.
    pub(crate) fn prefetch_behind(&self) {
        if let Some(known) = &self.known {
            known.prefetch_behind();
        }
    }

    pub(crate) const fn claim(&self) -> &Claim {
        &self.aside.claim
    }

    pub(crate) fn info(&self) -> Option<&Arc<MatchInfo>> {
        self.known.as_ref().map(|known| &known.info)
    }

    pub(crate) fn join(&self) -> v1::Join {
        let nonce_hash = match self.aside.commit {
            Commit::ToOurs => self.aside.nonce.hash().to_wire(),
            Commit::ToNothing => Vec::new(),
        };
        v1::Join {
            by: Some(self.aside.claim.to_wire()),
            nonce_hash,
            after_seq: self.cursor,
            views: Some(v1::Views::EveryDecision.into()),
        }
    }

    /// Joins without a nonce from now on; `false` if it did so before.
    pub(crate) fn give_up_nonce(&mut self) -> bool {
        let gave_up = self.aside.commit == Commit::ToOurs;
        self.aside.commit = Commit::ToNothing;
        gave_up
    }

    /// Forgets what was seen: the server has lost it too.
    pub(crate) fn forget(&mut self) {
        self.fault(Fault::LostObservations { after_seq: self.cursor.unwrap_or_default() });
        self.cursor = None;
        self.asked = 0;
        self.current = None;
        self.debts.answer = None;
        self.calls.clear();
        if matches!(self.bot, BotState::Busy) {
            self.bot = BotState::BusyInVain;
        }
    }

    pub(crate) fn fault(&mut self, fault: Fault) {
        let (match_id, seat) = match (self.info(), &self.aside.claim) {
            (Some(info), _) => (Some(&info.match_id), Some(info.seat.index())),
            (None, Claim::Assigned { match_id, seat }) => (Some(match_id), Some(seat.index())),
            (None, Claim::Token(_)) => (None, None),
        };
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
            // The session has told of it once for all its seats.
            Fault::Disconnected(why) => {
                tracing::debug!(match_id, seat, reason = why.to_string(), "a seat was cut off");
            }
            fault => tracing::warn!(match_id, seat, fault = fault.to_string(), "a fault at a seat"),
        }
        if self.aside.faults.len() < MOST_FAULTS {
            self.aside.faults.push(fault);
        }
    }

    pub(crate) fn owed_nonce(&self) -> Option<v1::GiveNonce> {
        let owes = self.debts.nonce && !self.is_over();
        owes.then(|| v1::GiveNonce { nonce: self.aside.nonce.to_wire() })
    }

    pub(crate) fn owed_answer(&self) -> Option<Answer> {
        self.debts.answer.filter(|_| !self.is_over())
    }

    pub(crate) fn owed_resignation(&self) -> Option<v1::Resign> {
        match &self.debts.resign {
            Resign::Due { panic } if !self.is_over() => {
                let panic = panic.clone().map(|message| v1::BotPanic { message });
                Some(v1::Resign { panic })
            }
            Resign::Due { .. } | Resign::No | Resign::Confirmed => None,
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

    pub(crate) const fn last_answered(&self) -> u32 {
        self.answered
    }

    // The bot.

    fn call(&mut self, call: Call) {
        if !matches!(self.bot, BotState::Gone) {
            self.calls.push(call);
        }
    }

    /// The decision that is the bot's to take, if one is.
    fn to_take(&self) -> Option<u32> {
        let may_act = self.debts.resign == Resign::No && !self.is_over();
        self.current.filter(|&current| current == self.asked && may_act)
    }

    /// The bot and its next calls, up to the first decision, if it is free. What is decided by now it is not asked.
    pub(crate) fn next_calls(&mut self) -> Option<(SeatBot, Vec<Call>)> {
        let to_take = self.to_take();
        let BotState::Idle(bot) = &mut self.bot else { return None };
        self.calls.retain(|call| match call {
            Call::Choose(decision) => Some(decision.number()) == to_take,
            Call::Start { .. } | Call::Observe(_) | Call::End(_) => true,
        });
        if self.calls.is_empty() {
            return None;
        }
        let bot = mem::take(bot);
        self.bot = BotState::Busy;
        let decision = self.calls.iter().position(|call| matches!(call, Call::Choose(_)));
        let later = decision.map_or_else(Vec::new, |last| self.calls.split_off(last + 1));
        Some((bot, mem::replace(&mut self.calls, later)))
    }

    pub(crate) fn worked(&mut self, bot: SeatBot, worked: Worked) -> Reaction {
        let in_vain = matches!(self.bot, BotState::BusyInVain);
        if !matches!(self.bot, BotState::Gone) {
            self.bot = BotState::Idle(bot);
        }
        match worked {
            Worked::Done => Reaction::Fine,
            // Without any decision the match is over, and its end is on its way.
            Worked::Chose(_) if in_vain || self.is_over() || self.current.is_none() => Reaction::Fine,
            // An answer to a decision that is over would only be refused.
            Worked::Chose(answer) if self.to_take() == Some(answer.decision) => {
                self.answered = answer.decision;
                self.debts.answer = Some(answer);
                Reaction::Send(Asked::Act)
            }
            Worked::Chose(answer) => {
                self.fault(Fault::TooLate { decision: answer.decision });
                Reaction::Fine
            }
            Worked::Fell(fault) => {
                if self.debts.resign == Resign::No {
                    self.debts.resign = Resign::Due { panic: fault.reported_panic() };
                }
                self.fault(fault);
                self.bot = BotState::Gone;
                self.calls.clear();
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
                self.call(Call::End(Box::new(end.clone())));
            }
            self.end = Some(Box::new(end));
        }
    }

    /// The match is over, and its record is to be checked before the end.
    pub(crate) fn wait_for_record(&mut self, end: End) {
        self.closing = Some(Box::new(end));
    }

    /// Checks the deals, with the record if there is one, and ends a seat that waited for it.
    pub(crate) fn close(&mut self, record: Option<&Replayed>) {
        if let Some(end) = self.closing.take() {
            self.check_deal(&end, record);
            self.ended(*end);
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
                BotState::Idle(_) => self.calls.is_empty(),
                BotState::Busy | BotState::BusyInVain => false,
                BotState::Gone => true,
            }
    }

    fn check_deal(&mut self, end: &End, record: Option<&Replayed>) {
        let (Some(known), Some(told)) = (&mut self.known, end.outcome()) else { return };
        let info = Arc::clone(&known.info);
        match known.whole_transcript().check(&info.rules, info.seat, &told, record) {
            DealCheck::Failed(error) => self.unfair(error),
            deal if !matches!(self.aside.deal, DealCheck::Failed(_)) => self.aside.deal = deal,
            _ => {}
        }
    }

    /// The deals have failed a check. What is found first stands, also where the seat does not see the end.
    fn unfair(&mut self, error: DealError) {
        if !matches!(self.aside.deal, DealCheck::Failed(_)) {
            let (match_id, seat) = self.info().map(|info| (&info.match_id, info.seat.index())).unzip();
            tracing::error!(match_id, seat, %error, "unfair deal");
            self.aside.deal = DealCheck::Failed(error);
        }
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        let Aside { claim, deal, faults, .. } = *self.aside;
        Outcome {
            claim,
            info: self.known.map(|known| known.info),
            end: self.end.map_or(End::Stopped, |end| *end),
            deal,
            faults,
        }
    }
}
