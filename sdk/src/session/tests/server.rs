//! A server in a few lines: its matches, and the stream to its one client.

use std::collections::VecDeque;

use zetema_proto::v1;
use zetema_rules::{Rules, Seat};

use v1::play_request::Kind as Request;
use v1::play_response::Kind as Response;

use super::table::Table;
use crate::session::Seats;

/// The matches, and the stream to the one client.
pub(super) struct Server {
    pub(super) tables: Vec<Table>,
    rules: Rules,
    seats: Seats,
    /// What the client is still to receive, on the stream that is open.
    pub(super) outbox: VecDeque<v1::PlayResponse>,
    pub(super) max_seats: u32,
    pub(super) max_queued_messages: u32,
    pub(super) previous_cut: Option<v1::StreamCut>,
    /// What a stream is told behind its welcome, if the bot's token was rotated.
    pub(super) rotated: Option<v1::TokenRotated>,
    /// Reasons with which the next messages of a kind are refused.
    pub(super) refuse: Vec<(crate::session::tag::Asked, v1::ErrorReason)>,
    /// The ladders that there are.
    pub(super) ladders: Vec<&'static str>,
    /// The errors with which the next queues are refused.
    pub(super) refuse_queues: Vec<v1::Error>,
    /// Whether the client may leave its ladders.
    pub(super) leaving: Leaving,
    /// The ladders that the client waits on, as texts.
    pub(super) waiting: Vec<String>,
    /// Those of each hello.
    pub(super) hellos: Vec<Vec<String>>,
    /// How many challenges each hello accepted.
    pub(super) challenges_of_hellos: Vec<u32>,
    /// How many challenges the client accepts; 0: none.
    pub(super) challenges: u32,
    /// What bots said that they panicked with, each time that it was sent.
    pub(super) panics: Vec<String>,
}

/// Whether a client may leave its ladders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    Allowed,
    Refused,
}

impl Server {
    /// A server with one match, whose seats have tokens, or are a bot's.
    pub(super) fn new(rules: Rules, seats: Seats) -> Self {
        let mut server = Self {
            tables: Vec::new(),
            rules,
            seats,
            outbox: VecDeque::new(),
            max_seats: 100,
            max_queued_messages: 0,
            previous_cut: None,
            rotated: None,
            refuse: Vec::new(),
            ladders: Vec::new(),
            refuse_queues: Vec::new(),
            leaving: Leaving::Allowed,
            waiting: Vec::new(),
            hellos: Vec::new(),
            challenges_of_hellos: Vec::new(),
            challenges: 0,
            panics: Vec::new(),
        };
        server.create(|table| table);
        server
    }

    /// The match that is there from the beginning.
    pub(super) fn first(&self) -> &Table {
        &self.tables[0]
    }

    pub(super) fn first_mut(&mut self) -> &mut Table {
        &mut self.tables[0]
    }

    /// Creates a match, and tells a bot whose stream is open of its seats.
    pub(super) fn create(&mut self, with: impl FnOnce(Table) -> Table) {
        let id = format!("m{}", self.tables.len());
        let seats = u32::try_from(self.rules.player_count().count()).unwrap();
        let first_handle = 1 + seats * u32::try_from(self.tables.len()).unwrap();
        self.tables.push(with(Table::new(id, first_handle, self.rules)));
    }

    /// Tells the bot of a match that was created.
    pub(super) fn announce(&mut self, table: usize) {
        for seat in self.tables[table].players() {
            let assigned = live_seat(&self.tables[table], seat);
            self.say(0, Response::SeatAssigned(assigned));
        }
    }

    pub(super) fn token(seat: Seat) -> String {
        format!("token-of-{seat}")
    }

    pub(super) fn cut(&mut self) {
        self.outbox.clear();
        self.waiting.clear();
        self.challenges = 0;
        for table in &mut self.tables {
            table.outbox.clear();
            table.cut();
        }
    }

    fn say(&mut self, tag: u64, kind: Response) {
        self.outbox.push_back(v1::PlayResponse { tag, handle: 0, kind: Some(kind) });
    }

    pub(super) fn receive(&mut self, request: v1::PlayRequest) {
        let v1::PlayRequest { tag, handle, kind } = request;
        let asked = crate::session::tag::untag(tag).map(|(_, asked)| asked);
        if let Some(at) = self.refuse.iter().position(|&(refused, _)| Some(refused) == asked) {
            let (_, reason) = self.refuse.remove(at);
            // The only one of these that says when.
            let retry_after_ms = (reason == v1::ErrorReason::NonceFixed).then_some(100);
            let error = v1::Error { retry_after_ms, ..v1::Error::new(reason, "no") };
            self.outbox.push_back(v1::PlayResponse { tag, handle, kind: Some(Response::Rejection(error)) });
            return;
        }
        match kind.unwrap() {
            Request::Hello(hello) => {
                assert_eq!(hello.protocol_revision, 1);
                let queues = hello.queues.unwrap_or_default();
                self.hellos.push(texts(&queues));
                self.challenges_of_hellos.push(challenges(&queues));
                let welcome = self.welcome();
                self.say(tag, Response::Welcome(Box::new(welcome)));
                if let Some(rotated) = self.rotated.clone() {
                    self.say(0, Response::TokenRotated(rotated));
                }
                if queues != v1::Queues::default() {
                    self.answer_queues(tag, &queues);
                }
            }
            Request::Join(join) => {
                self.join(tag, &join);
                let answers =
                    self.outbox.iter().filter(|message| matches!(message.kind, Some(Response::Joined(_))));
                let queued = self.max_queued_messages as usize;
                assert!(queued == 0 || answers.count() <= queued, "more answers to joins than can be queued");
            }
            Request::Pong(_) => {}
            Request::Queues(queues)
                if queues == v1::Queues::default() && self.leaving == Leaving::Refused =>
            {
                self.say(tag, Response::Rejection(v1::Error::new(v1::ErrorReason::Internal, "no")));
            }
            Request::Queues(queues) => self.answer_queues(tag, &queues),
            kind => self.about_seat(tag, handle, kind),
        }
    }

    fn answer_queues(&mut self, tag: u64, queues: &v1::Queues) {
        let answer = match self.queue(queues) {
            Ok(accepted) => {
                let kind = Some(v1::acknowledgement::Kind::Queues(accepted));
                Response::Acknowledgement(v1::Acknowledgement { kind })
            }
            Err(error) => Response::Rejection(error),
        };
        self.say(tag, answer);
    }

    /// The client waits on these ladders, if there are such.
    fn queue(&mut self, queues: &v1::Queues) -> Result<v1::QueuesAccepted, v1::Error> {
        if !self.refuse_queues.is_empty() && !queues.queues.is_empty() {
            return Err(self.refuse_queues.remove(0));
        }
        let conduct = v1::bot_conduct::Kind::Free(v1::FreeToPlay {});
        let mut accepted = Vec::new();
        for v1::LadderQueue { ladder, matches_at_once } in &queues.queues {
            if !self.ladders.contains(&ladder.as_str()) {
                return Err(v1::Error::new(v1::ErrorReason::NotFound, "no such ladder"));
            }
            accepted.push(v1::QueueState {
                ladder: ladder.clone(),
                matches_at_once: *matches_at_once,
                conduct: Some(v1::BotConduct { kind: Some(conduct) }),
            });
        }
        self.waiting = texts(queues);
        self.challenges = challenges(queues);
        Ok(v1::QueuesAccepted { queues: accepted })
    }

    /// Takes what the matches have to say.
    pub(super) fn collect(&mut self) {
        for table in &mut self.tables {
            self.outbox.extend(table.outbox.drain(..));
        }
    }

    fn welcome(&self) -> v1::Welcome {
        let limits = v1::PlayLimits {
            max_seats: self.max_seats,
            max_queued_messages: self.max_queued_messages,
            max_message_bytes: 0,
        };
        let live = self.tables.iter().filter(|table| !table.is_over());
        let live = live.flat_map(|table| table.players().map(|seat| live_seat(table, seat)));
        let mut live: Vec<v1::LiveSeat> = live.filter(|_| self.seats == Seats::OfBot).collect();
        let count = live.len();
        live.truncate(self.max_seats as usize);
        v1::Welcome {
            live_seats: live,
            previous_cut: self.previous_cut.clone(),
            live_seat_count: count as u32,
            next_live_seats_token: String::new(),
            protocol_revision: 1,
            server_version: "test".to_owned(),
            ping_interval_ms: 1_000,
            limits: Some(limits),
        }
    }

    fn join(&mut self, tag: u64, join: &v1::Join) {
        let claimed = match join.by.as_ref().unwrap() {
            v1::join::By::SeatToken(token) => {
                let seat = self.rules.seats().find(|&seat| *token == Self::token(seat));
                seat.map(|seat| (0, seat))
            }
            v1::join::By::Assigned(v1::AssignedSeat { match_id, seat }) => {
                let table = self.tables.iter().position(|table| table.id == *match_id);
                table.zip(Seat::new(*seat as usize))
            }
        };
        if let Some((table, seat)) = claimed {
            let table = &mut self.tables[table];
            table.join(tag, seat, join);
            self.outbox.extend(table.outbox.drain(..));
        } else {
            let error = v1::Error::new(v1::ErrorReason::Unauthenticated, "no");
            self.say(tag, Response::Rejection(error));
        }
    }

    fn about_seat(&mut self, tag: u64, handle: u32, kind: Request) {
        let players = self.rules.player_count().count();
        let table = &mut self.tables[(handle as usize - 1) / players];
        let seat = table.seat_of(handle).unwrap();
        match kind {
            Request::Nonce(v1::GiveNonce { nonce }) => table.nonce(tag, seat, &nonce),
            Request::Act(act) => table.act(tag, seat, act),
            Request::Resign(v1::Resign { panic }) => {
                self.panics.extend(panic.map(|panic| panic.message));
                table.resign(tag, seat);
            }
            Request::Leave(_) => table.leave(seat),
            Request::Hello(_) | Request::Join(_) | Request::Pong(_) | Request::Queues(_) => {
                panic!("about no seat")
            }
        }
        self.outbox.extend(table.outbox.drain(..));
    }
}

/// Queues as texts.
fn texts(queues: &v1::Queues) -> Vec<String> {
    queues.queues.iter().map(|queue| format!("{}:{}", queue.ladder, queue.matches_at_once)).collect()
}

fn challenges(queues: &v1::Queues) -> u32 {
    queues.challenges.as_ref().map_or(0, |challenges| challenges.matches_at_once)
}

fn live_seat(table: &Table, seat: Seat) -> v1::LiveSeat {
    let joined = if table.has_joined(seat) { v1::SeatState::Joined } else { v1::SeatState::Open };
    v1::LiveSeat {
        match_id: table.id.clone(),
        seat: u32::try_from(seat.index()).unwrap(),
        match_state: v1::MatchState::Playing.into(),
        seat_state: joined.into(),
        ladder: String::new(),
    }
}
