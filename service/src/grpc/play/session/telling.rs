//! What a session tells its client: answers, what its seats have heard, and what it has to say itself.

use std::task::{Context, Poll, Waker};

use tokio::time::Instant;
use zetema_proto::v1::{self, play_response::Kind};

use super::{End, Outgoing, Session, Told, message};
use crate::{
    grpc::{
        fault::Fault,
        heard::Heard,
        play::{faults, hello::assigned_to_wire, next::Next, outbox::Outbox, queues},
    },
    prefetch,
};

impl Session {
    pub(super) fn send(&mut self, out: &Outbox<Outgoing>, next: Next) -> Result<(), End> {
        let told = match next {
            Next::Said(response) => {
                if let Some(Kind::Ping(v1::Ping { number })) = response.kind {
                    self.round_trips.ping(number, Instant::now());
                }
                Some(message(response))
            }
            Next::Heard(handle, heard) => self.tell(handle, heard)?,
            Next::Word(word) => {
                let kind = Some(Kind::LadderNotice(queues::notice(&word)));
                Some(message(v1::PlayResponse { tag: 0, handle: 0, kind }))
            }
            Next::Assigned(seat) => Some(message(assigned_to_wire(&seat))),
        };
        if let Some(told) = told {
            out.put(Ok(told));
        }
        Ok(())
    }

    /// Sends what else there is, as far as there is room: what a session waits for is looked at anew after all of it, not after each.
    pub(super) fn send_more(&mut self, out: &Outbox<Outgoing>) -> Result<(), End> {
        // All is waited for anew after this.
        let context = Context::from_waker(Waker::noop());
        self.take_answers();
        for _ in 0..out.room(self.hearing.seats()) {
            let next = if let Some(response) = self.said.pop_front() {
                Next::Said(response)
            } else if let Poll::Ready((handle, heard)) =
                self.hearing.poll_next(&context, |handle| self.handles.fetch(handle))
            {
                Next::Heard(handle, heard)
            } else {
                break;
            };
            self.send(out, next)?;
        }
        Ok(())
    }

    /// Takes in what tables have answered. Of several answers what they need is fetched before the first is taken in.
    fn take_answers(&mut self) {
        let mut handles = [0; prefetch::AT_ONCE];
        loop {
            let some = self.post.answers.look(&mut handles, |(asked, _)| asked.handle());
            if some > 1 {
                handles[..some].iter().for_each(|handle| self.handles.fetch(*handle));
            }
            for _ in 0..some {
                let Some(answered) = self.post.answers.take() else { break };
                self.told(answered);
            }
            if some < handles.len() {
                break;
            }
        }
    }

    /// What a seat has heard, by its handle.
    fn tell(&mut self, handle: u32, heard: Heard) -> Result<Option<Told>, End> {
        let kind = match heard {
            Heard::Observation { seq, observation } => {
                self.handles.shown(handle, seq);
                return Ok(Some(Told::Observation { handle, observation }));
            }
            Heard::End(end) => {
                self.give_up(handle);
                Kind::End(end)
            }
            // The stream has joined the seat anew itself, and the handle goes on.
            Heard::Superseded(v1::SupersededReason::JoinedElsewhere) if self.handles.lose(handle) => {
                return Ok(None);
            }
            Heard::Superseded(reason) => {
                if let Some(held) = self.give_up(handle) {
                    let fault = match reason {
                        v1::SupersededReason::TokenRotated => Fault::seat_token_replaced(),
                        _ => Fault::superseded(),
                    };
                    faults::cut(&self.backend, held.key(), faults::stream_cut(&self.backend, &fault));
                }
                Kind::Superseded(v1::Superseded { reason: reason.into() })
            }
            Heard::Cut(fault) => return Err(End::Fault(fault)),
        };
        Ok(Some(message(v1::PlayResponse { tag: 0, handle, kind: Some(kind) })))
    }
}
