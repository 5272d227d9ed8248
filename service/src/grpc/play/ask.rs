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
    handles::{Held, SeatKey},
    opener::{BotOpener, Opener},
    queues,
    seat::{self, By},
    seats::{Seats, acknowledgement, acted},
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
    matches::{self, Audience, Hold, JoinSeat, NotTaken},
    table::{Command, Done, Rejection, SeatAccess},
};

/// Something that a table is asked.
pub(super) struct Asked {
    tag: u64,
    handle: u32,
    /// What the stream had shown of the seat.
    shown: u64,
    commanded: Commanded,
}

impl Asked {
    /// By which handle.
    pub(super) const fn handle(&self) -> u32 {
        self.handle
    }

    /// The table that was asked has answered.
    pub(super) fn answered(self, backend: &Backend, answered: Result<Done, Rejection>) -> Answer {
        let Self { tag, handle, shown, commanded } = self;
        Answer { tag, handle, shown, result: commanded.answered(&backend.matches, answered) }
    }
}

/// What a table has answered.
pub(super) struct Answer {
    pub(super) tag: u64,
    pub(super) handle: u32,
    /// What the stream had shown of the seat when it was asked.
    pub(super) shown: u64,
    pub(super) result: Result<Done, Fault>,
}

/// What became of something that was asked by a call that waits.
pub(super) enum Came {
    /// A table has answered.
    OfTable(Answer),
    /// A seat is joined and followed, or not.
    Joined { tag: u64, seat: SeatKey, room: Option<Room>, result: Result<Seated, Fault> },
    /// The bot waits where it wanted to, or not.
    Queued { tag: u64, result: Result<Vec<Queued>, Fault> },
    /// The bot has left what it waited for, as it has another token.
    Rotated(Rotation),
}

/// A seat that is joined, and from here on followed.
pub(super) struct Seated {
    access: SeatAccess,
    hold: Hold,
    followed: Box<Followed>,
}

impl Session {
    /// Takes in one message of the client.
    pub(super) fn read(&mut self, seats: &mut Seats, request: v1::PlayRequest) {
        let v1::PlayRequest { tag, handle, kind } = request;
        if let Err(fault) = self.take(seats, tag, handle, kind) {
            let about = seats.handles.get(handle).map(Held::key);
            seats.reject(tag, handle, about, fault);
        }
    }

    fn take(
        &mut self,
        seats: &mut Seats,
        tag: u64,
        handle: u32,
        kind: Option<play_request::Kind>,
    ) -> Result<(), Fault> {
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
            Ask::Hello(hello) => self.hello(seats, tag, &hello),
            Ask::Join(join) => self.join(seats, tag, &join),
            Ask::Nonce(v1::GiveNonce { nonce }) => {
                let nonce = Nonce::from_wire(&nonce).map_err(|error| error.within("nonce.nonce"))?;
                self.ask(seats, tag, handle, |access| Command::GiveNonce { access, nonce })
            }
            Ask::Act(act) => {
                let (decision, choice) = wire::act(&act).map_err(|error| error.within("act"))?;
                self.ask(seats, tag, handle, |access| Command::Act { access, decision, choice })
            }
            Ask::Resign(v1::Resign { panic }) => {
                let panic = wire::panic(panic).map_err(|error| error.within("resign"))?;
                if let Some(panic) = panic {
                    faults::panicked(&self.backend, held(seats, handle)?.key(), panic);
                }
                self.ask(seats, tag, handle, |access| Command::Resign { access })
            }
            Ask::Leave(v1::Leave {}) => {
                held(seats, handle)?;
                seats.give_up(handle);
                seats.say(v1::PlayResponse { tag, handle, kind: Some(Kind::Left(v1::Left {})) });
                Ok(())
            }
            Ask::Queues(queues) => self.wait_on(seats, tag, "queues", &queues),
            Ask::Pong(v1::Pong { number }) => {
                seats.round_trips.pong(number, Instant::now());
                Ok(())
            }
        }
    }

    /// Waits for these matches, from now on and as long as the stream is open. `path` is that of the message.
    pub(super) fn wait_on(
        &mut self,
        seats: &mut Seats,
        tag: u64,
        path: &'static str,
        queues: &v1::Queues,
    ) -> Result<(), Fault> {
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
                self.came(seats, Came::Queued { tag, result: Ok(Vec::new()) });
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
            Came::Queued { tag, result: states.map_err(|(at, refused)| queues::refused(path, at, &refused)) }
        };
        self.asked.push(None, answer);
        Ok(())
    }

    fn join(&mut self, seats: &mut Seats, tag: u64, join: &v1::Join) -> Result<(), Fault> {
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
        let taken = seats.handles.taken();
        if !seats.handles.has(&seat) && taken >= self.capacity.unwrap_or(0) {
            return Err(Fault::new(
                ErrorReason::LimitExceeded,
                format!("this stream has {taken} seats, its capacity: leave one, or open another stream"),
            ));
        }
        // Before the seat is taken from another stream.
        let room = self.share.as_ref().map(Share::seat).transpose().map_err(Fault::seats)?;
        let turn = seats.handles.begin_join(seat);
        let (backend, share) = (Arc::clone(&self.backend), self.share.clone());
        let joining = Joining { seat, by, nonce_hash, after_seq, views };
        let joined = async move {
            let mut last = turn.lock().await;
            let result = take_seat(&backend, share.as_ref(), joining, &mut last).await;
            Came::Joined { tag, seat, room, result }
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

    fn ask(
        &mut self,
        seats: &mut Seats,
        tag: u64,
        handle: u32,
        command: impl FnOnce(SeatAccess) -> Command,
    ) -> Result<(), Fault> {
        let &Held { match_id, access, shown, .. } = held(seats, handle)?;
        let command = command(access);
        // It came in with the message that is taken in now.
        let arrival = self.backend.matches.arrival_at(self.heard_at, seats.round_trips.smallest_ms());
        let commanded = Commanded::new("Play", None, match_id, &command, self.heard_at);
        let of = (commanded.trace.clone(), self.heard_at);
        let asked = Asked { tag, handle, shown, commanded };
        seats.handles.ask(handle);
        if self.asked.is_of(match_id) {
            // That may wait for room at the table: this goes behind it.
            self.wait_for(asked, NotTaken { command, arrival });
            return Ok(());
        }
        let promise = seats.awaits(asked, command, arrival);
        held(seats, handle)?.way.command_at_once(promise, of);
        Ok(())
    }

    /// Asks a table by a call that waits for room, or the record of a match that is over.
    pub(super) fn wait_for(&mut self, asked: Asked, NotTaken { command, arrival }: NotTaken) {
        let Asked { tag, handle, shown, commanded } = asked;
        let match_id = commanded.match_id;
        let (backend, share) = (Arc::clone(&self.backend), self.share.clone());
        let answer = async move {
            let result = backend.commanded(share.as_ref(), commanded, command, arrival).await;
            Came::OfTable(Answer { tag, handle, shown, result })
        };
        self.asked.push(Some(match_id), answer);
    }

    /// Takes in what became of a request. Tables are asked whether there is room to tell their answers or not: what came in time must not
    /// be late because its sender reads slowly.
    pub(super) fn came(&mut self, seats: &mut Seats, came: Came) {
        match came {
            Came::OfTable(answer) => seats.answered(answer),
            Came::Rotated(rotation) => {
                self.say_assigned(seats);
                seats.say(self.settled(rotation));
            }
            Came::Queued { tag, result: Err(fault) } => seats.reject(tag, 0, None, fault),
            Came::Queued { tag, result: Ok(states) } => {
                // A bot that leaves its ladders knows by this that no seat follows that they made before.
                self.say_assigned(seats);
                let accepted = v1::QueuesAccepted { queues: queues::accepted(&states) };
                seats.say(acknowledgement(tag, 0, acknowledgement::Kind::Queues(accepted)));
            }
            Came::Joined { tag, seat, room, result } => {
                let lost = seats.handles.end_join(&seat);
                match result {
                    Ok(seated) => self.joined(seats, tag, seat.0, seated, room),
                    Err(fault) => {
                        if let Some(lost) = lost {
                            // It was another stream that joined after all.
                            let superseded = seats.supersede(lost, v1::SupersededReason::JoinedElsewhere);
                            seats.say(superseded);
                        }
                        seats.reject(tag, 0, Some(seat), fault);
                    }
                }
            }
        }
    }

    fn joined(&mut self, seats: &mut Seats, tag: u64, match_id: MatchId, seated: Seated, room: Option<Room>) {
        let Seated { access, hold, followed } = seated;
        let Followed { start, seq, following } = *followed;
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
        let (handle, untold) = seats.handles.put(seat);
        for (tag, receipt) in untold {
            seats.say(acted(tag, handle, receipt));
        }
        seats.say(v1::PlayResponse { tag, handle, kind: Some(Kind::Joined(Box::new(start))) });
        seats.hearing.listen(handle, following, room);
    }
}

fn held(seats: &Seats, handle: u32) -> Result<&Held, Fault> {
    seats.handles.get(handle).ok_or_else(|| {
        let message =
            format!("handle {handle} stands for nothing on this stream, or no longer: join the seat");
        Fault::new(ErrorReason::UnknownHandle, message)
    })
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
) -> Result<Seated, Fault> {
    let Joining { seat: key, by, nonce_hash, after_seq, views } = joining;
    let (match_id, seat) = key;
    let bot_token = by.bot_token();
    let access = by.access(backend, key).await?;
    let look = |audience| Look { match_id, audience, after_seq, views };
    let turn = match after_seq {
        // What is refused must take the seat from nobody: a cursor that is ahead, or one for which there is no turn. Observations
        // only grow in number, so what is not ahead now will not be. A match that is over has no seat to take.
        Some(after_seq) if backend.matches.runs(match_id) => {
            heard::turn_to_read(backend, share, (match_id, access, after_seq)).await?
        }
        _ => None,
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
    Ok(Seated { access, hold, followed: Box::new(followed) })
}
