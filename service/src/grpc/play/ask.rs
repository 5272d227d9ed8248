//! What a client asks on a Play stream, and what it is answered.

use std::sync::Arc;

use futures::{
    FutureExt, StreamExt,
    stream::{AbortHandle, Abortable},
};
use zetema_proto::{
    FieldError, PROTOCOL_REVISION, Views, Wire,
    v1::{self, ErrorReason, acknowledgement, join, play_request, play_response::Kind},
};
use zetema_rules::fair::{Nonce, NonceHash};

use super::{
    handles::{Held, SeatKey},
    session::Session,
};
use crate::{
    grpc::{
        backend::Backend,
        caller,
        fault::Fault,
        heard::{self, Followed},
        wire,
    },
    journal::MatchId,
    limits,
    matches::{self, Audience},
    table::{Command, Done, SeatAccess},
};

/// What became of something that was asked.
pub(super) struct Answer {
    tag: u64,
    /// The handle that it was asked by, 0 for a join.
    handle: u32,
    /// The seat that a join is for.
    joined: Option<SeatKey>,
    result: Result<Told, Fault>,
}

enum Told {
    /// A seat is joined, and from here on followed.
    Joined { match_id: MatchId, access: SeatAccess, followed: Box<Followed> },
    /// A table has done it. The stream had shown `shown` when it was asked.
    Done { done: Done, shown: u64 },
}

impl Session {
    /// Takes in one message of the client.
    pub(super) fn read(&mut self, request: v1::PlayRequest) {
        let v1::PlayRequest { tag, handle, kind } = request;
        if let Err(fault) = self.take(tag, handle, kind) {
            self.said.push_back(rejection(tag, handle, fault));
        }
    }

    fn take(&mut self, tag: u64, handle: u32, kind: Option<play_request::Kind>) -> Result<(), Fault> {
        use play_request::Kind as Asked;
        let kind = kind.ok_or_else(|| FieldError::missing("kind"))?;
        let is_hello = matches!(kind, Asked::Hello(_));
        if is_hello == self.capacity.is_some() {
            let message = "the first message must be hello, and no other may be: send hello once, first";
            return Err(Fault::new(ErrorReason::HelloExpected, message));
        }
        let about_none = matches!(kind, Asked::Hello(_) | Asked::Join(_) | Asked::Pong(_));
        if about_none && handle != 0 {
            return Err(Fault::field("handle", "hello, join and pong are about no handle: leave it 0"));
        }
        match kind {
            Asked::Hello(hello) => self.hello(tag, &hello),
            Asked::Join(join) => self.join(tag, &join),
            Asked::Nonce(v1::GiveNonce { nonce }) => {
                let nonce = Nonce::from_wire(&nonce).map_err(|error| error.within("nonce.nonce"))?;
                self.ask(tag, handle, |access| Command::GiveNonce { access, nonce })
            }
            Asked::Act(act) => {
                let (decision, choice) = wire::act(&act).map_err(|error| error.within("act"))?;
                self.ask(tag, handle, |access| Command::Act { access, decision, choice })
            }
            Asked::Resign(v1::Resign {}) => self.ask(tag, handle, |access| Command::Resign { access }),
            Asked::Leave(v1::Leave {}) => {
                self.held(handle)?;
                self.handles.remove(handle);
                self.said.push_back(v1::PlayResponse { tag, handle, kind: Some(Kind::Left(v1::Left {})) });
                Ok(())
            }
            // Any message is a sign of life.
            Asked::Pong(v1::Pong { number: _ }) => Ok(()),
        }
    }

    fn hello(&mut self, tag: u64, hello: &v1::Hello) -> Result<(), Fault> {
        let v1::Hello { client_name, protocol_revision, capacity, live_seats_token } = hello;
        if *protocol_revision != PROTOCOL_REVISION {
            let message = format!(
                "this server speaks revision {PROTOCOL_REVISION} of the protocol, not {protocol_revision}: use a \
                 client of that revision"
            );
            return Err(Fault::new(ErrorReason::ProtocolRevision, message));
        }
        let fits = client_name.len() <= limits::MAX_CLIENT_NAME_CHARS
            && client_name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if !fits {
            let problem =
                format!("give at most {} printable ASCII characters", limits::MAX_CLIENT_NAME_CHARS);
            return Err(Fault::field("hello.client_name", problem));
        }
        let wanted = capacity.map_or(usize::MAX, |seats| usize::try_from(seats).unwrap_or(usize::MAX));
        if wanted == 0 {
            return Err(Fault::field("hello.capacity", "give 1 or more, or leave it out"));
        }
        if !live_seats_token.is_empty() {
            let problem = "is of no welcome of this token: leave it empty";
            return Err(Fault::field("hello.live_seats_token", problem));
        }
        let capacity = wanted.min(limits::MAX_SEATS_PER_STREAM);
        self.capacity = Some(capacity);
        tracing::debug!(client_name, capacity, "a Play stream is open");
        let number = |limit: usize| u32::try_from(limit).unwrap_or(u32::MAX);
        let welcome = v1::Welcome {
            protocol_revision: PROTOCOL_REVISION,
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            ping_interval_ms: u32::try_from(self.backend.ping_interval.as_millis()).unwrap_or(u32::MAX),
            limits: Some(v1::PlayLimits {
                max_seats: number(limits::MAX_SEATS_PER_STREAM),
                max_message_bytes: number(limits::MAX_PLAY_REQUEST_BYTES),
                max_queued_messages: number(self.backend.queued_observations),
            }),
            live_seats: Vec::new(),
            previous_cut: None,
            live_seat_count: 0,
            next_live_seats_token: String::new(),
        };
        self.said.push_back(v1::PlayResponse { tag, handle: 0, kind: Some(Kind::Welcome(welcome)) });
        Ok(())
    }

    fn join(&mut self, tag: u64, join: &v1::Join) -> Result<(), Fault> {
        let v1::Join { by, nonce_hash, after_seq, views } = join;
        let within = |error: FieldError| error.within("join");
        let (match_id, access) = match by {
            None => return Err(FieldError::missing("join.by").into()),
            Some(join::By::SeatToken(token)) => caller::seat(&self.backend.access, token, "join.seat_token")?,
            Some(join::By::Assigned(_)) => {
                return Err(Fault::new(
                    ErrorReason::NotSupported,
                    "no seats of bots in this version: give a seat_token",
                ));
            }
        };
        let nonce_hash = wire::nonce_hash(nonce_hash).map_err(within)?;
        let views = wire::views(*views).map_err(within)?;
        let after_seq = *after_seq;
        let (seat, taken) = ((match_id, access.seat), self.handles.taken());
        if !self.handles.has(&seat) && taken >= self.capacity.unwrap_or(0) {
            return Err(Fault::new(
                ErrorReason::LimitExceeded,
                format!("this stream has {taken} seats, its capacity: leave one, or open another stream"),
            ));
        }
        let turn = self.handles.begin_join(seat);
        let backend = Arc::clone(&self.backend);
        let joined = async move {
            let _turn = turn.lock().await;
            let followed = take_seat(&backend, match_id, access, nonce_hash, after_seq, views).await;
            let result =
                followed.map(|followed| Told::Joined { match_id, access, followed: Box::new(followed) });
            Answer { tag, handle: 0, joined: Some(seat), result }
        };
        self.asked.push(joined.boxed());
        Ok(())
    }

    fn held(&self, handle: u32) -> Result<&Held, Fault> {
        self.handles.get(handle).ok_or_else(|| {
            let message =
                format!("handle {handle} stands for nothing on this stream, or no longer: join the seat");
            Fault::new(ErrorReason::UnknownHandle, message)
        })
    }

    fn ask(
        &mut self,
        tag: u64,
        handle: u32,
        command: impl FnOnce(SeatAccess) -> Command,
    ) -> Result<(), Fault> {
        let &Held { match_id, access, shown, .. } = self.held(handle)?;
        let command = command(access);
        let backend = Arc::clone(&self.backend);
        let arrival = backend.matches.arrival(None);
        let done = async move {
            let result = backend
                .command_at(match_id, command, arrival)
                .await
                .map(|(done, _)| Told::Done { done, shown });
            Answer { tag, handle, joined: None, result }
        };
        self.asked.push(done.boxed());
        Ok(())
    }

    /// What the client hears of an answer; `None` where an observation is the answer.
    pub(super) fn answered(&mut self, answer: Answer) -> Option<v1::PlayResponse> {
        let Answer { tag, handle, joined, result } = answer;
        let lost = joined.and_then(|seat| self.handles.end_join(&seat));
        if let (Some(lost), Err(_)) = (lost, &result) {
            // It was another stream that joined after all.
            self.handles.remove(lost);
            let superseded = v1::Superseded { reason: v1::SupersededReason::JoinedElsewhere.into() };
            let message = v1::PlayResponse { tag: 0, handle: lost, kind: Some(Kind::Superseded(superseded)) };
            self.said.push_back(message);
        }
        let told = match result {
            Ok(told) => told,
            Err(fault) => return Some(rejection(tag, handle, fault)),
        };
        let kind = match told {
            Told::Joined { match_id, access, followed } => {
                return Some(self.joined(tag, match_id, access, *followed));
            }
            Told::Done { done: Done::Acted(receipt), shown } => {
                // An observation that came since, or is still to come, is the receipt.
                if self.handles.get(handle).is_none_or(|held| receipt.seq > shown.max(held.start)) {
                    return None;
                }
                acknowledgement::Kind::Action(wire::receipt(receipt))
            }
            Told::Done { done: Done::NonceAccepted, .. } => {
                acknowledgement::Kind::Nonce(v1::NonceAccepted {})
            }
            Told::Done { done: Done::Resigned { seq }, .. } => {
                acknowledgement::Kind::Resignation(v1::ResignationAccepted { seq })
            }
            Told::Done { done, .. } => {
                return Some(rejection(
                    tag,
                    handle,
                    Fault::internal(&format_args!("a seat was answered {done:?}")),
                ));
            }
        };
        let acknowledgement = v1::Acknowledgement { kind: Some(kind) };
        Some(v1::PlayResponse { tag, handle, kind: Some(Kind::Acknowledgement(acknowledgement)) })
    }

    fn joined(
        &mut self,
        tag: u64,
        match_id: MatchId,
        access: SeatAccess,
        followed: Followed,
    ) -> v1::PlayResponse {
        let Followed { start, seq, heard } = followed;
        let (subscription, registration) = AbortHandle::new_pair();
        let handle =
            self.handles.put(Held { match_id, access, start: seq, shown: seq, subscription, lost: false });
        self.heard.push(Abortable::new(heard, registration).map(move |heard| (handle, heard)).boxed());
        v1::PlayResponse { tag, handle, kind: Some(Kind::Joined(start)) }
    }
}

/// Joins a seat, which takes it from any other stream, and follows it.
async fn take_seat(
    backend: &Backend,
    match_id: MatchId,
    access: SeatAccess,
    nonce_hash: Option<NonceHash>,
    after_seq: Option<u64>,
    views: Views,
) -> Result<Followed, Fault> {
    if after_seq.is_some() {
        // A cursor that is refused must take the seat from nobody. Observations only grow in number, so what is
        // not ahead now will not be.
        backend.matches.subscribe(match_id, Audience::Observer(access), after_seq, views).await?;
    }
    let matches::Joined { hold, info: _ } = backend.matches.join(match_id, access, nonce_hash).await?;
    heard::follow(backend, match_id, Audience::Player(access, hold), after_seq, views).await
}

fn rejection(tag: u64, handle: u32, fault: Fault) -> v1::PlayResponse {
    v1::PlayResponse { tag, handle, kind: Some(Kind::Rejection(fault.into_rejection())) }
}
