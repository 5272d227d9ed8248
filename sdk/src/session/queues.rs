//! The ladders that a bot's session waits on.
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
use crate::error::{Error, ErrorReason, Refusal};
use crate::ladder::{LadderNotice, LadderQueue, QueueState, SessionEvent};

/// The ladders that a bot's session waits on.
pub(super) struct Queues {
    accepted: Vec<LadderQueue>,
    held: Held,
    asked: Option<Asked>,
    /// Changes on this stream that the one that is asked for has replaced, and that the server has not answered.
    replaced: BTreeMap<Change, Vec<LadderQueue>>,
    last: Change,
}

/// Whether the server has what it once accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// The bot waits on these ladders.
    Yes,
    /// The hello could not have them for now, and a change was to take their place.
    No,
}

/// A change that the server has not answered.
struct Asked {
    change: Change,
    queues: Vec<LadderQueue>,
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
    pub(super) const fn new() -> Self {
        Self {
            accepted: Vec::new(),
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

    /// The queues for the hello of a new stream: those that stand until the server says otherwise. A bot that leaves names none, as it
    /// would be given a match on the way.
    pub(super) fn in_hello(&mut self) -> Option<v1::Queues> {
        if let Some(asked) = &mut self.asked {
            asked.again = None;
        }
        self.replaced.clear();
        self.held = Held::Yes;
        let waits = self
            .asked
            .as_ref()
            .is_none_or(|asked| asked.purpose == Purpose::User && !asked.queues.is_empty());
        (waits && !self.accepted.is_empty()).then(|| to_wire(&self.accepted))
    }
}

fn to_wire(queues: &[LadderQueue]) -> v1::Queues {
    v1::Queues { queues: queues.iter().map(LadderQueue::to_wire).collect() }
}

impl Core {
    /// Waits on these ladders from now on, and on no others. What the server says to it comes as [`Output::Queued`].
    pub(crate) fn queue(&mut self, now: Instant, queues: Vec<LadderQueue>) -> Change {
        self.now = now;
        if self.assigned.is_none() {
            return self.refuse_change(Error::NoBot);
        }
        let taking = self.assigned.as_ref().is_some_and(|assigned| assigned.taking == Taking::All);
        if !taking || self.queues.is_leaving() {
            return self.refuse_change(Error::Finished);
        }
        self.ask(queues, Purpose::User)
    }

    fn refuse_change(&mut self, error: Error) -> Change {
        self.queues.last.0 += 1;
        let change = self.queues.last;
        self.out.push_back(Output::Queued { change, answer: Err(error) });
        change
    }

    fn ask(&mut self, queues: Vec<LadderQueue>, purpose: Purpose) -> Change {
        self.queues.last.0 += 1;
        let change = self.queues.last;
        if let Some(before) = self.queues.asked.replace(Asked { change, queues, purpose, again: None }) {
            self.queues.replaced.insert(before.change, before.queues);
        }
        self.send_queues();
        change
    }

    /// Leaves the ladders, and takes no more seats when that is done: those that they gave before are played. Whether the bot
    /// waits on any.
    pub(super) fn leave_ladders(&mut self) -> bool {
        let taking = self.assigned.as_ref().is_some_and(|assigned| assigned.taking == Taking::All);
        let waits = taking && (!self.queues.accepted.is_empty() || self.queues.asked.is_some());
        if waits && !self.queues.is_leaving() {
            self.drop_change(&Error::Finished);
            self.ask(Vec::new(), Purpose::Finish);
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
        if let Some(Asked { change, queues, again, .. }) = &mut self.queues.asked {
            *again = None;
            let (tag, queues) = (tag_queues(*change), to_wire(queues));
            self.send(tag, 0, v1::play_request::Kind::Queues(queues));
        }
    }

    /// Asks again for what was refused for now, when it is time.
    pub(super) fn queues_tick(&mut self) {
        if self.queues.deadline().is_some_and(|at| at <= self.now) {
            self.send_queues();
        }
    }

    /// A stream is open: what is to change is asked for on it. One without queues waits on no ladder as it is.
    pub(super) fn queues_welcomed(&mut self) {
        match &self.queues.asked {
            Some(asked) if asked.queues.is_empty() => {
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
        if let Some(queues) = self.queues.replaced.remove(&change) {
            self.queues.accepted = queues;
            self.queues.held = Held::Yes;
        }
        let Some(Asked { change, queues, purpose, .. }) =
            self.queues.asked.take_if(|asked| asked.change == change)
        else {
            return;
        };
        let ladders = queues.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        tracing::info!(server = self.settings.server, ladders, "the ladders that the bot waits on");
        self.queues.accepted = queues;
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
                self.queues.accepted.clear();
                self.take_no_more(None);
                // With the end of the stream the bot waits no more.
                if self.link.room().is_some() {
                    self.reopen("opening another stream, which waits on no ladder");
                }
            }
        }
    }

    /// The server refused the queues of the hello. The stream is open all the same.
    fn hello_rejected(&mut self, wait: Option<Duration>, refusal: Refusal) {
        match patience(wait, refusal.reason) {
            None => {
                self.queues.accepted.clear();
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
        let queues = mem::take(&mut self.queues.accepted);
        self.queues.held = Held::Yes;
        self.queues.asked = Some(Asked { change, queues, purpose: Purpose::Restore, again: at });
        if at.is_none() {
            self.send_queues();
        }
    }

    fn tell_refused(&mut self, refusal: Refusal) {
        tracing::warn!(
            server = self.settings.server,
            reason = refusal.reason.name(),
            refusal.message,
            "the bot waits on no ladder any more: the server refused its queues"
        );
        self.tell(SessionEvent::QueuesRefused(refusal));
    }

    fn tell(&mut self, event: SessionEvent) {
        self.out.push_back(Output::Event(event));
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
