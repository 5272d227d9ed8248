//! The seats of a Play stream, and what its client is told.
//!
//! The session takes in what the client says. What the client is told is taken out by the body of the response, which its reader pulls:
//! so what a table shows and answers goes straight there, and of a stream that only hears the session rests.

use std::{
    collections::VecDeque,
    mem,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::time::Instant;
use zetema_proto::v1::{self, acknowledgement, play_response::Kind};

use super::{
    ask::{Answer, Asked},
    faults,
    handles::{Acted, Handles, Held, SeatKey},
    hearing::Hearing,
    post::{Answers, Post},
    round_trips::RoundTrips,
};
#[cfg(test)]
use crate::planted::{self, Bug};
use crate::{
    grpc::{backend::Backend, fault::Fault, heard::Heard, told, wire},
    limits,
    matches::{Answered, NotTaken, Promise},
    table::{Arrival, Command, Done, Receipt},
};

/// What a client is told.
pub(super) type Told = told::Told<v1::PlayResponse>;

/// The seats of one stream.
pub(super) struct Seats {
    pub(super) backend: Arc<Backend>,
    pub(super) handles: Handles,
    /// What is to be told, before what the seats hear.
    said: VecDeque<v1::PlayResponse>,
    /// What the seats hear.
    pub(super) hearing: Hearing,
    post: Arc<Post>,
    /// How many answers of tables that run are still to come, or to be taken in.
    awaited: usize,
    /// What tables did not take, which the session asks again.
    not_taken: VecDeque<(Asked, Box<NotTaken>)>,
    /// Why the stream can't go on.
    cut: Option<Box<Fault>>,
    /// Whether it has panicked: nothing more is told.
    is_broken: bool,
    pub(super) round_trips: RoundTrips,
}

impl Seats {
    /// None yet.
    pub(super) fn new(backend: Arc<Backend>, post: Arc<Post>) -> Self {
        Self {
            backend,
            handles: Handles::default(),
            said: VecDeque::new(),
            hearing: Hearing::new(Arc::clone(&post)),
            post,
            awaited: 0,
            not_taken: VecDeque::new(),
            cut: None,
            is_broken: false,
            round_trips: RoundTrips::default(),
        }
    }

    /// Says this to the client, behind what is said already.
    pub(super) fn say(&mut self, response: v1::PlayResponse) {
        self.said.push_back(response);
    }

    /// How much is said and not taken out.
    pub(super) fn said(&self) -> usize {
        self.said.len()
    }

    /// What is asked of tables that run and not answered, or may wait to be told.
    pub(super) fn unanswered(&self) -> usize {
        self.awaited + self.said.len() + self.handles.owed()
    }

    /// Whether nothing that was asked waits for its reader.
    pub(super) fn has_told_answers(&self) -> bool {
        self.said.is_empty() && self.handles.owed() == 0
    }

    /// Whether there is room for more that is said, beside answers, before its reader takes some.
    pub(super) fn has_room(&self) -> bool {
        self.said.len() < limits::BUFFERED_ANSWERS
    }

    /// Whether it is known that nothing is to be told now.
    pub(super) fn is_dry(&self) -> bool {
        self.said.is_empty() && self.hearing.is_dry()
    }

    /// What the session has to see to: the next that a table did not take.
    pub(super) fn not_taken(&mut self) -> Option<(Asked, Box<NotTaken>)> {
        self.not_taken.pop_front()
    }

    /// Why the stream can't go on, if it can't.
    pub(super) fn cut(&mut self) -> Option<Fault> {
        self.cut.take().map(|fault| *fault)
    }

    /// It can't go on, for this reason.
    pub(super) fn ends_by(&mut self, fault: Fault) {
        self.cut.get_or_insert(Box::new(fault));
    }

    /// It has panicked, and can't go on.
    pub(super) fn breaks(&mut self, fault: Fault) {
        self.is_broken = true;
        self.said.clear();
        self.ends_by(fault);
    }

    /// Whether it can't go on, which is for the session to see to.
    pub(super) const fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// What answers something that a table that runs is asked.
    pub(super) fn awaits(&mut self, asked: Asked, command: Command, arrival: Arrival) -> Promise {
        self.awaited += 1;
        let post = Arc::clone(&self.post);
        Promise::new(command, arrival, move |answered| post.answer(asked, answered))
    }

    /// Gives up all seats and what they hear, which are returned, and says no more than there is room for, whatever tables still answer.
    pub(super) fn close(&mut self) -> (Handles, Hearing) {
        self.said.truncate(if self.is_broken { 0 } else { limits::BUFFERED_ANSWERS });
        self.post = Arc::default();
        let none = Hearing::new(Arc::clone(&self.post));
        (mem::take(&mut self.handles), mem::replace(&mut self.hearing, none))
    }

    /// What the client is told next.
    pub(super) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Told> {
        if self.is_broken {
            return Poll::Pending;
        }
        #[cfg(test)]
        assert!(!planted::is(Bug::TellingPanics), "planted");
        // All that was told before was taken by its reader.
        self.hearing.forget_left();
        loop {
            if let Some(response) = self.said.pop_front() {
                return Poll::Ready(self.say_now(response));
            }
            while let Some((handle, heard)) = self.hearing.next() {
                if let Some(told) = self.tell(handle, heard) {
                    return Poll::Ready(told);
                }
            }
            self.said.shrink_to(limits::OWN_REQUESTS_IN_FLIGHT);
            let answers = ready!(self.hearing.look(context, |handle| self.handles.fetch(handle)));
            self.take_in(answers);
        }
    }

    fn say_now(&mut self, response: v1::PlayResponse) -> Told {
        if let Some(Kind::Ping(v1::Ping { number })) = response.kind {
            self.round_trips.ping(number, Instant::now());
        }
        Told::Message(Box::new(response))
    }

    /// Takes in all that tables have answered.
    pub(super) fn take_answers(&mut self) {
        while self.awaited > 0 {
            let answers = self.post.answers();
            if answers.is_empty() {
                return;
            }
            self.take_in(answers);
        }
    }

    /// Takes in some answers of tables. Of several what they need is fetched before the first is taken in.
    fn take_in(&mut self, mut answers: Answers) {
        if answers.len() > 1 {
            answers.iter().for_each(|(asked, _)| self.handles.fetch(asked.handle()));
        }
        while let Some((asked, answered)) = answers.pop_front() {
            self.answered_at_once(asked, answered);
        }
    }

    /// Takes in what a table that runs has answered. What it did not take is the session's.
    fn answered_at_once(&mut self, asked: Asked, answered: Answered) {
        self.awaited -= 1;
        match answered {
            Ok(answered) => {
                let answer = asked.answered(&self.backend, answered);
                self.answered(answer);
            }
            Err(not_taken) => self.not_taken.push_back((asked, not_taken)),
        }
    }

    /// Takes in what a table has answered.
    pub(super) fn answered(&mut self, Answer { tag, handle, shown, result }: Answer) {
        let action = match &result {
            &Ok(Done::Acted(receipt)) => Some(Acted { tag, receipt, shown }),
            _ => None,
        };
        let is_told = self.handles.answered(handle, action);
        let kind = match result {
            Ok(Done::Acted(_)) if is_told => return,
            Ok(Done::Acted(receipt)) => return self.say(acted(tag, handle, receipt)),
            Ok(Done::NonceAccepted) => acknowledgement::Kind::Nonce(v1::NonceAccepted {}),
            Ok(Done::Resigned { seq }) => acknowledgement::Kind::Resignation(v1::ResignationAccepted { seq }),
            Ok(done) => {
                let fault = Fault::internal(&format_args!("a seat was answered {done:?}"));
                return self.reject(tag, handle, None, fault);
            }
            Err(fault) => {
                let about = self.handles.get(handle).map(Held::key);
                return self.reject(tag, handle, about, fault);
            }
        };
        self.say(acknowledgement(tag, handle, kind));
    }

    /// Refuses something, which is noted if it is known whose it is.
    pub(super) fn reject(&mut self, tag: u64, handle: u32, about: Option<SeatKey>, fault: Fault) {
        if let Some(seat) = about {
            faults::refused(&self.backend, seat, &fault);
        }
        self.say(v1::PlayResponse { tag, handle, kind: Some(Kind::Rejection(fault.into_rejection())) });
    }

    /// Voids a handle. Actions that an observation would have answered are answered now.
    pub(super) fn give_up(&mut self, handle: u32) -> Option<Held> {
        let held = self.handles.remove(handle)?;
        self.hearing.leave(handle);
        self.said.extend(held.owed.iter().map(|&(tag, receipt)| acted(tag, handle, receipt)));
        Some(held)
    }

    /// Voids a handle whose seat another stream has taken, or whose token was replaced.
    pub(super) fn supersede(&mut self, handle: u32, reason: v1::SupersededReason) -> v1::PlayResponse {
        if let Some(held) = self.give_up(handle) {
            let fault = match reason {
                v1::SupersededReason::TokenRotated => Fault::seat_token_replaced(),
                _ => Fault::superseded(),
            };
            faults::cut(&self.backend, held.key(), faults::stream_cut(&self.backend, &fault));
        }
        let kind = Some(Kind::Superseded(v1::Superseded { reason: reason.into() }));
        v1::PlayResponse { tag: 0, handle, kind }
    }

    /// What is told of what a seat has heard, by its handle.
    fn tell(&mut self, handle: u32, heard: Heard) -> Option<Told> {
        let response = match heard {
            Heard::Observation { seq, observation } => {
                self.handles.shown(handle, seq);
                return Some(Told::Observation { handle, observation });
            }
            Heard::End(end) => {
                self.give_up(handle);
                v1::PlayResponse { tag: 0, handle, kind: Some(Kind::End(end)) }
            }
            // The stream has joined the seat anew itself, and the handle goes on.
            Heard::Superseded(v1::SupersededReason::JoinedElsewhere) if self.handles.lose(handle) => {
                return None;
            }
            Heard::Superseded(reason) => self.supersede(handle, reason),
            Heard::Cut(fault) => {
                self.ends_by(fault);
                return None;
            }
        };
        Some(Told::Message(Box::new(response)))
    }
}

/// The answer to an action that no observation of the stream answers.
pub(super) fn acted(tag: u64, handle: u32, receipt: Receipt) -> v1::PlayResponse {
    acknowledgement(tag, handle, acknowledgement::Kind::Action(wire::receipt(receipt)))
}

pub(super) fn acknowledgement(tag: u64, handle: u32, kind: acknowledgement::Kind) -> v1::PlayResponse {
    let acknowledgement = v1::Acknowledgement { kind: Some(kind) };
    v1::PlayResponse { tag, handle, kind: Some(Kind::Acknowledgement(acknowledgement)) }
}
