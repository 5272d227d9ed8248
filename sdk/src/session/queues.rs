//! What a bot's session waits for: matches of ladders, and challenges.
//!
//! A session has one stream at a time, and queues are a stream's own: those that the server has accepted are in the hello
//! of each new stream, and what is to change is asked for once the stream has its welcome.

use std::collections::BTreeMap;
use std::mem;
use std::time::{Duration, Instant};

use zetema_proto::v1;

use super::assigned::Taking;
use super::tag::{Change, tag_queues};
use super::{Core, Output};
use crate::challenges::Challenges;
use crate::error::{Error, ErrorReason, Refusal};
use crate::ladder::{LadderNotice, LadderQueue, QueueState, SessionEvent};
use crate::wire::Outgoing;

/// For what a bot waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Waits {
    ladders: Vec<LadderQueue>,
    challenges: Challenges,
}

impl Waits {
    fn is_nothing(&self) -> bool {
        self.ladders.is_empty() && self.challenges == Challenges::FromNobody
    }

    /// This, but for the ladders if the other has none, and for the challenges if it takes none.
    fn without_left(&self, other: &Self) -> Self {
        let ladders = if other.ladders.is_empty() { Vec::new() } else { self.ladders.clone() };
        let challenges = match other.challenges {
            Challenges::FromNobody => Challenges::FromNobody,
            Challenges::FromEveryone { .. } => self.challenges,
        };
        Self { ladders, challenges }
    }

    fn to_wire(&self) -> v1::Queues {
        let Self { ladders, challenges } = self;
        v1::Queues {
            queues: ladders.iter().map(LadderQueue::to_wire).collect(),
            challenges: challenges.to_wire(),
        }
    }
}

/// What a session's user wants to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Wait on these ladders, and on no others.
    Ladders(Vec<LadderQueue>),
    /// Accept these challenges.
    Challenges(Challenges),
}

/// What a bot's session waits for.
pub(super) struct Queues {
    accepted: Waits,
    held: Held,
    asked: Option<Asked>,
    /// Changes on this stream that the one that is asked for has replaced, and that the server has not answered.
    replaced: BTreeMap<Change, Waits>,
    last: Change,
}

/// Whether the server has what it once accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// The bot waits for it.
    Yes,
    /// The hello did not have all of it, or could not for now, and a change was to take its place.
    No,
}

/// A change that the server has not answered.
struct Asked {
    change: Change,
    waits: Waits,
    purpose: Purpose,
    /// When to ask again, if it was refused for now.
    again: Option<Instant>,
}

/// Why a change is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The session's user waits for the answer.
    User,
    /// The hello could not have the queues for now.
    Restore,
    /// No more seats are to be taken.
    Finish,
}

impl Queues {
    pub(super) fn new() -> Self {
        Self {
            accepted: Waits::default(),
            held: Held::Yes,
            asked: None,
            replaced: BTreeMap::new(),
            last: Change(0),
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.asked.as_ref().and_then(|asked| asked.again)
    }

    fn is_leaving(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.purpose == Purpose::Finish)
    }

    /// The queues for the hello of a new stream: those that stand until the server says otherwise. A bot that leaves its ladders, or
    /// takes no more challenges, names none of them, as it would be given a match on the way.
    pub(super) fn in_hello(&mut self) -> Option<v1::Queues> {
        if let Some(asked) = &mut self.asked {
            asked.again = None;
        }
        self.replaced.clear();
        let waits = match &self.asked {
            None => self.accepted.clone(),
            Some(asked) if asked.purpose == Purpose::User => self.accepted.without_left(&asked.waits),
            Some(_) => Waits::default(),
        };
        // If the change is refused after all, what was left out is asked for again.
        let is_half = !waits.is_nothing() && waits != self.accepted;
        self.held = if is_half { Held::No } else { Held::Yes };
        (!waits.is_nothing()).then(|| waits.to_wire())
    }

    /// What the bot will wait for when this wish is granted.
    fn with(&self, wish: Wish) -> Waits {
        let before = self.asked.as_ref().map_or(&self.accepted, |asked| &asked.waits).clone();
        match wish {
            Wish::Ladders(ladders) => Waits { ladders, ..before },
            Wish::Challenges(challenges) => Waits { challenges, ..before },
        }
    }
}

impl Core {
    /// Waits for this from now on. What the server says to it comes as [`Output::Queued`].
    pub(crate) fn wish(&mut self, now: Instant, wish: Wish) -> Change {
        self.now = now;
        if self.assigned.is_none() {
            return self.refuse_change(Error::NoBot);
        }
        let taking = self.assigned.as_ref().is_some_and(|assigned| assigned.taking == Taking::All);
        if !taking || self.queues.is_leaving() {
            return self.refuse_change(Error::Finished);
        }
        let waits = self.queues.with(wish);
        self.ask(waits, Purpose::User)
    }

    fn refuse_change(&mut self, error: Error) -> Change {
        self.queues.last.0 += 1;
        let change = self.queues.last;
        self.out.push_back(Output::Queued { change, answer: Err(error) });
        change
    }

    fn ask(&mut self, waits: Waits, purpose: Purpose) -> Change {
        self.queues.last.0 += 1;
        let change = self.queues.last;
        if let Some(before) = self.queues.asked.replace(Asked { change, waits, purpose, again: None }) {
            self.queues.replaced.insert(before.change, before.waits);
        }
        self.send_queues();
        change
    }

    /// Leaves the ladders, accepts no challenge, and takes no more seats when that is done: those that came before are played. Whether
    /// the bot waits for anything.
    pub(super) fn leave_ladders(&mut self) -> bool {
        let taking = self.assigned.as_ref().is_some_and(|assigned| assigned.taking == Taking::All);
        let waits = taking && (!self.queues.accepted.is_nothing() || self.queues.asked.is_some());
        if waits && !self.queues.is_leaving() {
            self.drop_change(&Error::Finished);
            self.ask(Waits::default(), Purpose::Finish);
        }
        waits
    }

    /// A change that was not answered comes to nothing.
    pub(super) fn drop_change(&mut self, error: &Error) {
        if let Some(Asked { change, purpose: Purpose::User, .. }) = self.queues.asked.take() {
            self.out.push_back(Output::Queued { change, answer: Err(error.clone()) });
        }
    }

    /// Asks for what is to change, if the stream is open.
    pub(super) fn send_queues(&mut self) {
        if let Some(Asked { change, waits, again, .. }) = &mut self.queues.asked {
            *again = None;
            let (tag, queues) = (tag_queues(*change), waits.to_wire());
            self.send(Outgoing::new(tag, 0, v1::play_request::Kind::Queues(queues)));
        }
    }

    /// Asks again for what was refused for now, when it is time.
    pub(super) fn queues_tick(&mut self) {
        if self.queues.deadline().is_some_and(|at| at <= self.now) {
            self.send_queues();
        }
    }

    /// A stream is open: what is to change is asked for on it. One without queues waits for nothing as it is.
    pub(super) fn queues_welcomed(&mut self) {
        match &self.queues.asked {
            Some(asked) if asked.waits.is_nothing() => {
                let change = asked.change;
                self.queues_accepted(change, Ok(Vec::new()));
            }
            _ => self.send_queues(),
        }
    }

    /// The server's word that the bot waits.
    pub(super) fn queues_acknowledged(&mut self, change: Change, message: &v1::QueuesAccepted) {
        let v1::QueuesAccepted { queues } = message;
        let states = QueueState::all_from_wire(queues);
        let states = states.map_err(|error| Error::Protocol { problem: error.to_string() });
        match (change, states) {
            (Change::HELLO, Ok(states)) => self.tell(SessionEvent::Queued(states)),
            (Change::HELLO, Err(error)) => warn_of_queues(&error),
            (change, states) => self.queues_accepted(change, states),
        }
    }

    fn queues_accepted(&mut self, change: Change, states: Result<Vec<QueueState>, Error>) {
        if let Some(waits) = self.queues.replaced.remove(&change) {
            self.queues.accepted = waits;
            self.queues.held = Held::Yes;
        }
        let Some(Asked { change, waits, purpose, .. }) =
            self.queues.asked.take_if(|asked| asked.change == change)
        else {
            return;
        };
        let ladders = waits.ladders.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let challenges = waits.challenges;
        tracing::info!(server = self.settings.server, ladders, %challenges, "what the bot waits for");
        self.queues.accepted = waits;
        self.queues.held = Held::Yes;
        match (purpose, states) {
            (Purpose::User, answer) => self.out.push_back(Output::Queued { change, answer }),
            (Purpose::Restore, Ok(states)) => self.tell(SessionEvent::Queued(states)),
            (Purpose::Restore, Err(error)) => warn_of_queues(&error),
            (Purpose::Finish, _) => self.take_no_more(None),
        }
    }

    /// The server refused a change: what was before it stands.
    pub(super) fn queues_rejected(&mut self, change: Change, wait: Option<Duration>, refusal: Refusal) {
        if change == Change::HELLO {
            self.hello_rejected(wait, refusal);
            return;
        }
        self.queues.replaced.remove(&change);
        let Some(asked) = self.queues.asked.as_mut().filter(|asked| asked.change == change) else { return };
        if let Some(wait) = patience(wait, refusal.reason) {
            asked.again = Some(self.now + self.backoff.spread(wait));
            return;
        }
        match asked.purpose {
            Purpose::User => {
                self.drop_change(&Error::Refused { asked: "wait on the ladders", refusal });
                if self.queues.held == Held::No {
                    self.restore(None);
                }
            }
            Purpose::Restore => {
                self.queues.asked = None;
                self.tell_refused(refusal);
            }
            Purpose::Finish => {
                self.queues.asked = None;
                self.queues.accepted = Waits::default();
                self.take_no_more(None);
                // With the end of the stream the bot waits no more.
                if self.link.room().is_some() {
                    self.reopen("opening another stream, which waits for nothing");
                }
            }
        }
    }

    /// The server refused the queues of the hello. The stream is open all the same.
    fn hello_rejected(&mut self, wait: Option<Duration>, refusal: Refusal) {
        match patience(wait, refusal.reason) {
            None => {
                self.queues.accepted = Waits::default();
                self.queues.held = Held::Yes;
                self.tell_refused(refusal);
            }
            // What is to change takes their place, or they are asked for when it is refused.
            Some(_) if self.queues.asked.is_some() => self.queues.held = Held::No,
            Some(wait) => {
                let at = self.now + self.backoff.spread(wait);
                self.restore(Some(at));
            }
        }
    }

    /// Asks for what was accepted before, at this time or at once.
    fn restore(&mut self, at: Option<Instant>) {
        self.queues.last.0 += 1;
        let change = self.queues.last;
        let waits = mem::take(&mut self.queues.accepted);
        self.queues.held = Held::Yes;
        self.queues.asked = Some(Asked { change, waits, purpose: Purpose::Restore, again: at });
        if at.is_none() {
            self.send_queues();
        }
    }

    fn tell_refused(&mut self, refusal: Refusal) {
        tracing::warn!(
            server = self.settings.server,
            reason = refusal.reason.name(),
            refusal.message,
            "the bot waits on no ladder and accepts no challenge any more: the server refused its queues"
        );
        self.tell(SessionEvent::QueuesRefused(refusal));
    }

    fn tell(&mut self, event: SessionEvent) {
        self.out.push_back(Output::Event(event));
    }

    /// The bot has a newer token: this session plays what the bot had to the end, and gets nothing new.
    pub(super) fn token_rotated(&mut self, message: String) {
        tracing::warn!(server = self.settings.server, message, "the bot's token was rotated");
        let refusal = Refusal { reason: ErrorReason::TokenRotated, message, decision: None };
        let error = Error::Refused { asked: "take new seats", refusal: refusal.clone() };
        self.drop_change(&error);
        self.queues = Queues { last: self.queues.last, ..Queues::new() };
        if self.assigned.as_ref().is_some_and(|assigned| assigned.taking == Taking::All) {
            self.tell(SessionEvent::TokenRotated(refusal));
        }
        if let Some(assigned) = &mut self.assigned {
            assigned.take_listed(error);
        }
        self.close_if_done();
    }

    pub(super) fn ladder_notice(&mut self, message: &v1::LadderNotice) {
        match LadderNotice::from_wire(message) {
            Ok(notice) => {
                tracing::warn!(server = self.settings.server, "{notice}");
                self.tell(SessionEvent::LadderNotice(notice));
            }
            Err(error) => tracing::warn!(%error, "the server sent what is no notice of a ladder"),
        }
    }
}

fn warn_of_queues(error: &Error) {
    tracing::warn!(%error, "the server accepted what are no queues");
}

/// How long to wait before the same is asked for again, if it may be answered otherwise then.
fn patience(wait: Option<Duration>, reason: ErrorReason) -> Option<Duration> {
    /// A server that stops may say that there is nothing to wait for.
    const LEAST: Duration = Duration::from_secs(1);
    let passing =
        matches!(reason, ErrorReason::OutcomeUnknown | ErrorReason::Draining | ErrorReason::Overloaded);
    (wait.is_some() || passing).then(|| wait.unwrap_or_default().max(LEAST))
}
