//! What a Play stream begins with: a hello, and the welcome that tells what there is to play.

use futures::{StreamExt, stream};
use tokio::time::Instant;
use zetema_proto::{
    PROTOCOL_REVISION, Wire,
    v1::{self, ErrorReason, play_response::Kind},
};

use super::{
    opener::{BotOpener, Opener},
    queues,
    rotation::rotated_to_wire,
    seats::Seats,
    session::Session,
};
use crate::{
    encoding::{seat_state_to_wire, stage_to_wire},
    grpc::fault::Fault,
    journal::BotToken,
    limits,
    matches::{BotSeats, LiveSeat, SeatPlace},
};

impl Session {
    /// Takes the client in: a welcome, and the first ping behind it, so that there is a round trip to go by from the
    /// start.
    pub(super) fn hello(&mut self, seats: &mut Seats, tag: u64, hello: &v1::Hello) -> Result<(), Fault> {
        let v1::Hello { client_name, protocol_revision, capacity, live_seats_token, queues } = hello;
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
        let capacity = wanted.min(limits::MAX_SEATS_PER_STREAM);
        let live = self.live_seats(live_seats_token, capacity)?;
        self.capacity = Some(capacity);
        if let Opener::Bot(BotOpener { bot, token: BotToken { rotation: None, .. } }) = &self.opener {
            let capacity = queues::capacity_of_stream(capacity);
            self.presence = Some(self.backend.ladders.enter_with(bot.clone(), capacity));
        }
        tracing::debug!(client_name, capacity, live_seats = live.count, "a Play stream is open");
        let number = |limit: usize| u32::try_from(limit).unwrap_or(u32::MAX);
        let welcome = v1::Welcome {
            protocol_revision: PROTOCOL_REVISION,
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            ping_interval_ms: u32::try_from(self.backend.ping_interval.as_millis()).unwrap_or(u32::MAX),
            limits: Some(v1::PlayLimits {
                max_seats: number(limits::MAX_SEATS_PER_STREAM),
                max_message_bytes: number(limits::MAX_PLAY_MESSAGE_BYTES),
                max_queued_messages: number(self.backend.queued_observations),
            }),
            live_seats: live.seats.iter().map(live_seat_to_wire).collect(),
            previous_cut: self.token.and_then(|token| self.cuts.of(token)),
            live_seat_count: number(live.count),
            next_live_seats_token: live.next.map(|next| next.to_string()).unwrap_or_default(),
        };
        seats.say(v1::PlayResponse { tag, handle: 0, kind: Some(Kind::Welcome(Box::new(welcome))) });
        self.ping_at = Instant::now() + self.backend.ping_interval;
        self.say_ping(seats);
        if let Opener::Bot(BotOpener { token: BotToken { rotation: Some(rotation), .. }, .. }) = self.opener {
            seats.say(rotated_to_wire(rotation));
        }
        // It is in: what is wrong with its queues is a rejection of these alone.
        queues.as_ref().map_or(Ok(()), |queues| self.wait_on(seats, tag, "hello.queues", queues))
    }

    /// The live seats of whoever opened the stream. From here on a bot is told of new ones.
    fn live_seats(&mut self, page_token: &str, most: usize) -> Result<Listed, Fault> {
        let wrong_token = |problem: String| Fault::field("hello.live_seats_token", problem);
        match &self.opener {
            Opener::Bot(BotOpener { bot, token }) => {
                let after: Option<SeatPlace> = match page_token {
                    "" => None,
                    token => Some(token.parse().map_err(|error| wrong_token(format!("is {error}")))?),
                };
                let BotSeats { seats, next, count, assignments } =
                    self.backend.matches.bot_seats(bot, *token, after, most);
                self.assigned = stream::unfold(assignments, |mut assignments| async move {
                    Some((assignments.next().await, assignments))
                })
                .boxed();
                Ok(Listed { seats, next, count })
            }
            Opener::Nobody | Opener::Seat(..) if !page_token.is_empty() => {
                Err(wrong_token("is of no welcome of this token: leave it empty".to_owned()))
            }
            Opener::Nobody => Ok(Listed { seats: Vec::new(), next: None, count: 0 }),
            Opener::Seat(match_id, access) => {
                let seat = self.backend.matches.live_seat_of(*match_id, *access);
                let seats: Vec<LiveSeat> = seat.into_iter().collect();
                Ok(Listed { count: seats.len(), seats, next: None })
            }
        }
    }
}

/// The live seats that a welcome shows.
struct Listed {
    seats: Vec<LiveSeat>,
    next: Option<SeatPlace>,
    count: usize,
}

/// A live seat as the client is told of it.
pub(super) fn live_seat_to_wire(live: &LiveSeat) -> v1::LiveSeat {
    let LiveSeat { match_id, seat, created_at: _, made: _, stage, state, ladder } = live;
    v1::LiveSeat {
        match_id: match_id.to_string(),
        seat: seat.to_wire(),
        match_state: stage_to_wire(*stage).into(),
        seat_state: seat_state_to_wire(*state).into(),
        ladder: ladder.as_ref().map(ToString::to_string).unwrap_or_default(),
    }
}

/// What a bot is told of a seat that it has got.
pub(super) fn assigned_to_wire(live: &LiveSeat) -> v1::PlayResponse {
    v1::PlayResponse { tag: 0, handle: 0, kind: Some(Kind::SeatAssigned(live_seat_to_wire(live))) }
}
