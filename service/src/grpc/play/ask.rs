//! What a client asks on a Play stream, and what it is answered.

use std::sync::Arc;

use tokio::time::Instant;
use zetema_proto::{
    FieldError, Views, Wire,
    v1::{self, ErrorReason, acknowledgement, join, play_request, play_response::Kind},
};
use zetema_rules::fair::{Nonce, NonceHash};

use super::{
    faults,
    handles::{Acted, Held, SeatKey},
    opener::{BotOpener, Opener},
    queues,
    seat::{self, By},
    session::Session,
};
use crate::{
    admission::{Room, Share},
    grpc::{
        backend::{Backend, Commanded},
        fault::Fault,
        heard::{self, Followed, Look},
        wire,
    },
    journal::{MatchId, Rotation},
    ladders::{Queued, SeatOf},
    matches::{self, Answered, Audience, Hold, JoinSeat, Promise},
    table::{Arrival, Command, Done, Receipt, SeatAccess},
};

/// Something that a table is asked.
pub(super) struct Asked {
    tag: u64,
    handle: u32,
    /// What the stream had shown of the seat.
    shown: u64,
    command: Command,
    arrival: Arrival,
    commanded: Commanded,
}

/// What became of something that was asked.
pub(super) struct Answer {
    tag: u64,
    /// The handle that it was asked by, 0 for a join.
    handle: u32,
    /// The seat that a join is for.
    joined: Option<SeatKey>,
    /// The room that the seat of a join takes, as long as it is followed.
    room: Option<Room>,
    result: Result<Told, Fault>,
}

impl Asked {
    /// By which handle.
    pub(super) const fn handle(&self) -> u32 {
        self.handle
    }
}

impl Answer {
    /// What a table has answered.
    fn of_table(tag: u64, handle: u32, shown: u64, result: Result<Done, Fault>) -> Self {
        let result = result.map(|done| Told::Done { done, shown });
        Self { tag, handle, joined: None, room: None, result }
    }

    /// What became of what the bot wants to wait for.
    pub(super) fn queued(tag: u64, result: Result<Vec<Queued>, Fault>) -> Self {
        Self { tag, handle: 0, joined: None, room: None, result: result.map(Told::Queued) }
    }

    /// The bot has left what it waited for, as it has another token.
    pub(super) fn rotated(rotation: Rotation) -> Self {
        Self { tag: 0, handle: 0, joined: None, room: None, result: Ok(Told::Rotated(rotation)) }
    }
}

enum Told {
    /// A seat is joined, and from here on followed.
    Joined { match_id: MatchId, access: SeatAccess, hold: Hold, followed: Box<Followed> },
    /// The bot waits where it wanted to.
    Queued(Vec<Queued>),
    /// The bot has another token, and waits for nothing.
    Rotated(Rotation),
    /// A table has done it. The stream had shown `shown` when it was asked.
    Done { done: Done, shown: u64 },
}

impl Session {
    /// Takes in one message of the client.
    pub(super) fn read(&mut self, request: v1::PlayRequest) {
        let v1::PlayRequest { tag, handle, kind } = request;
        if let Err(fault) = self.take(tag, handle, kind) {
            let about = self.handles.get(handle).map(Held::key);
            let rejection = self.rejection(tag, handle, about, fault);
            self.said.push_back(rejection);
        }
    }

    fn take(&mut self, tag: u64, handle: u32, kind: Option<play_request::Kind>) -> Result<(), Fault> {
        use play_request::Kind as Ask;
        let kind = kind.ok_or_else(|| FieldError::missing("kind"))?;
        let is_hello = matches!(kind, Ask::Hello(_));
        if is_hello == self.capacity.is_some() {
            let message = "the first message must be hello, and no other may be: send hello once, first";
            return Err(Fault::new(ErrorReason::HelloExpected, message));
        }
        let about_none = matches!(kind, Ask::Hello(_) | Ask::Join(_) | Ask::Pong(_) | Ask::Queues(_));
        if about_none && handle != 0 {
            return Err(Fault::field(
                "handle",
                "hello, join, pong and queues are about no handle: leave it 0",
            ));
        }
        match kind {
            Ask::Hello(hello) => self.hello(tag, &hello),
            Ask::Join(join) => self.join(tag, &join),
            Ask::Nonce(v1::GiveNonce { nonce }) => {
                let nonce = Nonce::from_wire(&nonce).map_err(|error| error.within("nonce.nonce"))?;
                self.ask(tag, handle, |access| Command::GiveNonce { access, nonce })
            }
            Ask::Act(act) => {
                let (decision, choice) = wire::act(&act).map_err(|error| error.within("act"))?;
                self.ask(tag, handle, |access| Command::Act { access, decision, choice })
            }
            Ask::Resign(v1::Resign { panic }) => {
                let panic = wire::panic(panic).map_err(|error| error.within("resign"))?;
                if let Some(panic) = panic {
                    faults::panicked(&self.backend, self.held(handle)?.key(), panic);
                }
                self.ask(tag, handle, |access| Command::Resign { access })
            }
            Ask::Leave(v1::Leave {}) => {
                self.held(handle)?;
                self.give_up(handle);
                self.said.push_back(v1::PlayResponse { tag, handle, kind: Some(Kind::Left(v1::Left {})) });
                Ok(())
            }
            Ask::Queues(queues) => self.wait_on(tag, "queues", &queues),
            Ask::Pong(v1::Pong { number }) => {
                self.round_trips.pong(number, Instant::now());
                Ok(())
            }
        }
    }

    /// Waits for these matches, from now on and as long as the stream is open. `path` is that of the message.
    pub(super) fn wait_on(&mut self, tag: u64, path: &'static str, queues: &v1::Queues) -> Result<(), Fault> {
        let Opener::Bot(BotOpener { bot, token }) = &self.opener else {
            let problem = "are for streams that a bot's token opened: send one in the metadata";
            return Err(Fault::field(path, problem));
        };
        let capacity = self.capacity.unwrap_or(0);
        let checked =
            queues::waits(queues).and_then(|waits| queues::check_capacity(&waits, capacity).map(|()| waits));
        let waits = checked.map_err(|error| error.within(path))?;
        match token.rotation {
            Some(rotation) if !waits.is_nothing() => return Err(Fault::token_rotated(rotation)),
            // It waits for nothing as it is.
            Some(_) if self.presence.is_none() => {
                self.keep(Answer::queued(tag, Ok(Vec::new())));
                return Ok(());
            }
            // It is leaving, and is answered once it has left.
            Some(_) | None => {}
        }
        let presence = self.presence.get_or_insert_with(|| {
            self.backend.ladders.enter_with(bot.clone(), queues::capacity_of_stream(capacity))
        });
        let said = presence.wait_on(waits);
        let answer = async move {
            let states = said.await;
            Answer::queued(tag, states.map_err(|(at, refused)| queues::refused(path, at, &refused)))
        };
        self.asked.push(None, answer);
        Ok(())
    }

    fn join(&mut self, tag: u64, join: &v1::Join) -> Result<(), Fault> {
        let v1::Join { by, nonce_hash, after_seq, views } = join;
        let within = |error: FieldError| error.within("join");
        let (seat, by) = match by {
            None => return Err(FieldError::missing("join.by").into()),
            Some(join::By::SeatToken(token)) => {
                seat::by_token(&self.backend.access, token, || "join.seat_token".to_owned())?
            }
            Some(join::By::Assigned(assigned)) => self.assigned_seat(assigned)?,
        };
        let nonce_hash = wire::nonce_hash(nonce_hash).map_err(within)?;
        let views = wire::views(*views).map_err(within)?;
        let after_seq = *after_seq;
        let taken = self.handles.taken();
        if !self.handles.has(&seat) && taken >= self.capacity.unwrap_or(0) {
            return Err(Fault::new(
                ErrorReason::LimitExceeded,
                format!("this stream has {taken} seats, its capacity: leave one, or open another stream"),
            ));
        }
        // Before the seat is taken from another stream.
        let room = self.share.as_ref().map(Share::seat).transpose().map_err(Fault::seats)?;
        let turn = self.handles.begin_join(seat);
        let (backend, share) = (Arc::clone(&self.backend), self.share.clone());
        let joining = Joining { seat, by, nonce_hash, after_seq, views };
        let joined = async move {
            let mut last = turn.lock().await;
            let result = take_seat(&backend, share.as_ref(), joining, &mut last).await;
            Answer { tag, handle: 0, joined: Some(seat), room, result }
        };
        self.asked.push(Some(seat.0), joined);
        Ok(())
    }

    /// A seat of the bot that opened the stream. Whether it is the bot's, the match knows.
    fn assigned_seat(&self, assigned: &v1::AssignedSeat) -> Result<(SeatKey, By), Fault> {
        let Opener::Bot(bot) = &self.opener else {
            let problem =
                "is for streams that a bot's token opened: send one in the metadata, or give a seat_token";
            return Err(Fault::field("join.assigned", problem));
        };
        seat::of_bot(bot, assigned, "join.assigned")
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
        // It came in with the message that is taken in now.
        let arrival = self.backend.matches.arrival_at(self.heard_at, self.round_trips.smallest_ms());
        let commanded = Commanded::new("Play", None, match_id, &command, self.heard_at);
        let (of, again) = ((commanded.span.clone(), self.heard_at), command.clone());
        let asked = Asked { tag, handle, shown, command: again, arrival, commanded };
        self.handles.ask(handle);
        if self.asked.is_of(match_id) {
            // That may wait for room at the table: this goes behind it.
            self.wait_for(asked);
            return Ok(());
        }
        let post = Arc::clone(&self.post);
        let told = Promise::new(move |answered| post.answers.put((asked, answered)));
        self.held(handle)?.way.command_at_once(command, arrival, of, told);
        self.awaited += 1;
        Ok(())
    }

    /// Takes in what a table has answered. One that did not take what was asked is asked again, by a call that waits for it, or finds
    /// how its match has ended.
    pub(super) fn told(&mut self, (asked, answered): (Asked, Answered)) {
        self.awaited -= 1;
        let Some(answered) = answered else { return self.wait_for(asked) };
        let Asked { tag, handle, shown, commanded, .. } = asked;
        let result = commanded.answered(&self.backend.matches, answered);
        self.keep(Answer::of_table(tag, handle, shown, result));
    }

    /// Asks a table by a call that waits for room, or the record of a match that is over.
    fn wait_for(&mut self, asked: Asked) {
        let Asked { tag, handle, shown, command, arrival, commanded } = asked;
        let match_id = commanded.match_id;
        let (backend, share) = (Arc::clone(&self.backend), self.share.clone());
        let answer = async move {
            let result = backend.commanded(share.as_ref(), commanded, command, arrival).await;
            Answer::of_table(tag, handle, shown, result)
        };
        self.asked.push(Some(match_id), answer);
    }

    /// What the client hears of an answer; `None` where an observation is the answer.
    pub(super) fn answered(&mut self, answer: Answer) -> Option<v1::PlayResponse> {
        let Answer { tag, handle, joined, room, result } = answer;
        let action = match &result {
            &Ok(Told::Done { done: Done::Acted(receipt), shown }) => Some(Acted { tag, receipt, shown }),
            _ => None,
        };
        let is_told = self.handles.answered(handle, action);
        let lost = joined.and_then(|seat| self.handles.end_join(&seat));
        if let (Some(lost), Err(_)) = (lost, &result) {
            // It was another stream that joined after all.
            if let Some(held) = self.give_up(lost) {
                faults::cut(
                    &self.backend,
                    held.key(),
                    faults::stream_cut(&self.backend, &Fault::superseded()),
                );
            }
            let superseded = v1::Superseded { reason: v1::SupersededReason::JoinedElsewhere.into() };
            let message = v1::PlayResponse { tag: 0, handle: lost, kind: Some(Kind::Superseded(superseded)) };
            self.said.push_back(message);
        }
        let told = match result {
            Ok(told) => told,
            Err(fault) => {
                let about = joined.or_else(|| self.handles.get(handle).map(Held::key));
                return Some(self.rejection(tag, handle, about, fault));
            }
        };
        let kind = match told {
            Told::Rotated(rotation) => {
                self.say_assigned();
                return Some(self.settled(rotation));
            }
            Told::Queued(states) => {
                // A bot that leaves its ladders knows by this that no seat follows that they made before.
                self.say_assigned();
                let accepted = v1::QueuesAccepted { queues: queues::accepted(&states) };
                let kind = acknowledgement::Kind::Queues(accepted);
                return Some(acknowledgement(tag, 0, kind));
            }
            Told::Joined { match_id, access, hold, followed } => {
                return Some(self.joined(tag, match_id, access, hold, *followed, room));
            }
            Told::Done { done: Done::Acted(_), .. } if is_told => return None,
            Told::Done { done: Done::Acted(receipt), .. } => return Some(acted(tag, handle, receipt)),
            Told::Done { done: Done::NonceAccepted, .. } => {
                acknowledgement::Kind::Nonce(v1::NonceAccepted {})
            }
            Told::Done { done: Done::Resigned { seq }, .. } => {
                acknowledgement::Kind::Resignation(v1::ResignationAccepted { seq })
            }
            Told::Done { done, .. } => {
                let fault = Fault::internal(&format_args!("a seat was answered {done:?}"));
                return Some(self.rejection(tag, handle, None, fault));
            }
        };
        Some(acknowledgement(tag, handle, kind))
    }

    /// Voids a handle. Actions that an observation would have answered are answered now.
    pub(super) fn give_up(&mut self, handle: u32) -> Option<Held> {
        let held = self.handles.remove(handle)?;
        self.hearing.leave(handle);
        self.said.extend(held.owed.iter().map(|&(tag, receipt)| acted(tag, handle, receipt)));
        Some(held)
    }

    /// What is refused, noted if it is known whose it is.
    fn rejection(&self, tag: u64, handle: u32, about: Option<SeatKey>, fault: Fault) -> v1::PlayResponse {
        if let Some(seat) = about {
            faults::refused(&self.backend, seat, &fault);
        }
        v1::PlayResponse { tag, handle, kind: Some(Kind::Rejection(fault.into_rejection())) }
    }

    fn joined(
        &mut self,
        tag: u64,
        match_id: MatchId,
        access: SeatAccess,
        hold: Hold,
        followed: Followed,
        room: Option<Room>,
    ) -> v1::PlayResponse {
        let Followed { start, seq, following } = followed;
        let of = |info: &v1::Match| if info.ladder.is_empty() { SeatOf::NoLadder } else { SeatOf::Ladder };
        let of = start.r#match.as_ref().map(of);
        let occupied = self.presence.as_ref().zip(of).and_then(|(presence, of)| presence.occupy(of));
        let seat = Held {
            match_id,
            way: self.backend.matches.way(match_id),
            access,
            hold,
            start: seq,
            shown: seq,
            owed: Vec::new(),
            unanswered: 0,
            before: None,
            lost: false,
            _occupied: occupied,
        };
        let (handle, untold) = self.handles.put(seat);
        self.said.extend(untold.into_iter().map(|(tag, receipt)| acted(tag, handle, receipt)));
        self.hearing.listen(handle, following, room);
        v1::PlayResponse { tag, handle, kind: Some(Kind::Joined(Box::new(start))) }
    }
}

/// The answer to an action that no observation of the stream answers.
fn acted(tag: u64, handle: u32, receipt: Receipt) -> v1::PlayResponse {
    acknowledgement(tag, handle, acknowledgement::Kind::Action(wire::receipt(receipt)))
}

fn acknowledgement(tag: u64, handle: u32, kind: acknowledgement::Kind) -> v1::PlayResponse {
    let acknowledgement = v1::Acknowledgement { kind: Some(kind) };
    v1::PlayResponse { tag, handle, kind: Some(Kind::Acknowledgement(acknowledgement)) }
}

/// What a join asks for.
struct Joining {
    seat: SeatKey,
    by: By,
    nonce_hash: Option<NonceHash>,
    after_seq: Option<u64>,
    views: Views,
}

/// Joins a seat, which takes it from any other stream, and follows it. `last` is what the stream's last join of it was given.
async fn take_seat(
    backend: &Backend,
    share: Option<&Share>,
    joining: Joining,
    last: &mut Option<Hold>,
) -> Result<Told, Fault> {
    let Joining { seat: key, by, nonce_hash, after_seq, views } = joining;
    let (match_id, seat) = key;
    let bot_token = by.bot_token();
    let access = by.access(backend, key).await?;
    let look = |audience| Look { match_id, audience, after_seq, views };
    let turn = if after_seq.is_some() && backend.matches.runs(match_id) {
        // What is refused must take the seat from nobody: a cursor that is ahead, or one for which there is no turn. Observations
        // only grow in number, so what is not ahead now will not be. A match that is over has no seat to take.
        heard::turn_to_read(backend, share, look(Audience::Observer(access))).await?
    } else {
        None
    };
    if last.is_none() {
        backend.check_join(match_id, seat)?;
    }
    let join = JoinSeat { access, bot_token, nonce_hash, earlier: *last };
    let joined = backend.matches.take_seat(match_id, join).await?;
    let matches::Joined { hold, info: _, arriving: _arriving } = joined;
    *last = Some(hold);
    let look = look(Audience::Player(access, hold));
    let followed = heard::follow(backend, share, look, turn).await?;
    Ok(Told::Joined { match_id, access, hold, followed: Box::new(followed) })
}
