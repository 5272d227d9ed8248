//! A session, a server and the bots in one thread, with a clock of their own.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use prost::Message;
use zetema_proto::v1;
use zetema_rules::{Record, Rules, Seat, SeatEvent};

use super::server::Server;
use crate::claim::Claim;
use crate::clock::Clock;
use crate::error::{Disconnect, Error, ErrorReason, Refusal};
use crate::ladder::{QueueState, SessionEvent};
use crate::nonce_secret::NonceSecret;
use crate::outcome::Outcome;
use crate::seat_bot::SeatBot;
use crate::session::{Change, Core, CoreSettings, Key, Output, Records, Seats};
use crate::token::SeatToken;
use crate::wire::Incoming;
use crate::work::{Answer, Call, Worked};

/// Everything, step by step.
pub(super) struct World {
    pub(super) core: Core,
    pub(super) settings: CoreSettings,
    /// How often the session said that it takes no more seats, and why.
    pub(super) closed: Vec<Option<Error>>,
    /// What the session answered to changes of its queues.
    pub(super) queued: Vec<(Change, Result<Vec<QueueState>, Error>)>,
    /// What else it told.
    pub(super) events: Vec<SessionEvent>,
    pub(super) server: Server,
    pub(super) now: Instant,
    uplink: VecDeque<v1::PlayRequest>,
    connected: bool,
    /// None of the bots is there: what they do is done here.
    work: VecDeque<(Key, Vec<Call>)>,
    /// The records that are being fetched, and as whom.
    fetches: VecDeque<(String, Claim)>,
    /// As whom each record was asked for.
    pub(super) fetched_as: Vec<Claim>,
    /// The reasons with which the next records are refused.
    pub(super) refuse_records: VecDeque<ErrorReason>,
    pub(super) outcomes: BTreeMap<Key, Outcome>,
    /// The clock of each seat's last decision, as far as it has one.
    pub(super) clocks: BTreeMap<Key, Clock>,
    /// What each seat's bot was told.
    pub(super) told: BTreeMap<Key, Told>,
    /// How many messages have gone either way.
    pub(super) messages: usize,
    pub(super) connections: usize,
    /// The bot that falls over its decision of this index.
    pub(super) falls: Option<(Key, usize)>,
    steps: usize,
}

#[derive(Default)]
pub(super) struct Told {
    pub(super) starts: usize,
    pub(super) events: Vec<SeatEvent>,
    pub(super) decisions: Vec<u32>,
    pub(super) ends: usize,
}

impl World {
    pub(super) fn new(rules: Rules, records: Records) -> Self {
        Self::with(rules, records, Seats::Given)
    }

    /// A session with a bot's token; the bot has the seats of one match.
    pub(super) fn of_bot(rules: Rules, records: Records) -> Self {
        Self::with(rules, records, Seats::OfBot)
    }

    fn with(rules: Rules, records: Records, seats: Seats) -> Self {
        let now = Instant::now();
        let settings = CoreSettings {
            server: "http://test".to_owned(),
            client_name: "test".to_owned(),
            first_connection_within: Duration::from_secs(15),
            give_up_after: Duration::from_mins(10),
            records,
            jitter_seed: 1,
            nonce_secret: NonceSecret::new([3; 32]),
            seats,
        };
        Self {
            core: Core::new(settings.clone(), now),
            settings,
            server: Server::new(rules, seats),
            closed: Vec::new(),
            queued: Vec::new(),
            events: Vec::new(),
            now,
            uplink: VecDeque::new(),
            connected: false,
            work: VecDeque::new(),
            fetches: VecDeque::new(),
            fetched_as: Vec::new(),
            refuse_records: VecDeque::new(),
            outcomes: BTreeMap::new(),
            clocks: BTreeMap::new(),
            told: BTreeMap::new(),
            messages: 0,
            connections: 0,
            falls: None,
            steps: 0,
        }
    }

    /// Plays all seats of the match.
    pub(super) fn play_all(&mut self, rules: Rules) {
        for seat in rules.seats() {
            self.play(seat);
        }
    }

    pub(super) fn play(&mut self, seat: Seat) -> Key {
        self.core.play(self.now, SeatToken::from(Server::token(seat)).into())
    }

    /// The program dies and is started again, with nothing but its settings.
    pub(super) fn die(&mut self) {
        self.drop_stream();
        self.core = Core::new(self.settings.clone(), self.now);
        self.work.clear();
        self.fetches.clear();
        self.told.clear();
        self.outcomes.clear();
    }

    pub(super) fn perform(&mut self) {
        while let Some(output) = self.core.next_output() {
            match output {
                Output::Connect => {
                    self.connected = true;
                    self.connections += 1;
                }
                Output::Disconnect => self.drop_stream(),
                Output::Send(message) if self.connected => {
                    let mut bytes = Vec::new();
                    message.encode(&mut bytes);
                    self.uplink.push_back(v1::PlayRequest::decode(&bytes[..]).unwrap());
                }
                Output::Send(_) => {}
                Output::Work { key, bot: _, calls } => self.work.push_back((key, calls)),
                Output::FetchRecord { match_id, claim } => self.fetches.push_back((match_id, claim)),
                Output::Queued { change, answer } => self.queued.push((change, answer)),
                Output::Event(event) => self.events.push(event),
                Output::Closed { because } => self.closed.push(because),
                Output::Finished { key, outcome } => {
                    assert!(self.outcomes.insert(key, *outcome).is_none(), "one outcome for each seat");
                }
            }
        }
    }

    fn drop_stream(&mut self) {
        self.connected = false;
        self.uplink.clear();
        self.server.cut();
    }

    /// Cuts the stream: what was under way either way is lost.
    pub(super) fn cut(&mut self) {
        self.cut_because(Disconnect::Ended);
    }

    pub(super) fn cut_because(&mut self, why: Disconnect) {
        if self.connected {
            self.drop_stream();
            self.core.lost(self.now, why);
        }
    }

    /// Whether an answer has been sent, and not received.
    pub(super) fn has_act_under_way(&self) -> bool {
        self.uplink.iter().any(|request| matches!(request.kind, Some(v1::play_request::Kind::Act(_))))
    }

    /// The server refuses an answer to an earlier decision, as its time was out, while another is under way.
    pub(super) fn refuse_the_answer_before(&mut self) {
        let under_way = self.uplink.iter().find_map(|request| match &request.kind {
            Some(v1::play_request::Kind::Act(act)) => {
                Some((request.tag, request.handle, act.decision_number))
            }
            _ => None,
        });
        let (tag, handle, current) = under_way.unwrap();
        let error = v1::Error {
            decision_number: Some(current),
            closed_by: v1::DecisionClosedBy::Clock.into(),
            ..v1::Error::new(ErrorReason::DecisionOver, "it is over")
        };
        let kind = Some(v1::play_response::Kind::Rejection(error));
        let refused = Box::new(v1::PlayResponse { tag, handle, kind });
        self.core.received(self.now, Incoming::Message(refused));
    }

    /// Delivers what the server has said, while the bots think.
    pub(super) fn hear(&mut self) {
        self.server.collect();
        while !self.server.outbox.is_empty() {
            self.step();
        }
    }

    /// Whether nothing goes on but that a bot chooses.
    pub(super) fn is_choosing(&self) -> bool {
        let choosing = |(_, calls): &(Key, Vec<Call>)| matches!(calls.last(), Some(Call::Choose(_)));
        self.uplink.is_empty()
            && self.server.outbox.is_empty()
            && self.work.iter().all(choosing)
            && !self.work.is_empty()
    }

    /// Does the next thing; `false` when nothing is left but to wait for ever.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        assert!(self.steps < 100_000 * self.server.tables.len().max(1), "it goes on for ever");
        self.perform();
        if self.server.outbox.is_empty() {
            self.server.collect();
        }
        if let Some(request) = self.uplink.pop_front() {
            self.messages += 1;
            self.server.receive(request);
        } else if let Some(response) = self.server.outbox.pop_front().filter(|_| self.connected) {
            self.messages += 1;
            // Through its bytes, as a stream has them.
            let read = Incoming::read(&response.encode_to_vec());
            self.core.received(self.now, read.unwrap_or_else(|| Incoming::Message(Box::new(response))));
        } else if let Some((key, calls)) = self.work.pop_front() {
            let worked = self.think(key, calls);
            self.core.worked(key, SeatBot::default(), worked);
        } else if let Some((match_id, claim)) = self.fetches.pop_front() {
            self.fetched_as.push(claim);
            let record = self.record(&match_id);
            self.core.record(&match_id, record);
        } else if let Some(deadline) = self.core.deadline()
            && (!self.connected || self.core.has_retries())
        {
            self.now = self.now.max(deadline);
            self.core.tick(self.now);
        } else {
            return false;
        }
        self.perform();
        true
    }

    fn record(&mut self, match_id: &str) -> Result<Box<Record>, Refusal> {
        if let Some(reason) = self.refuse_records.pop_front() {
            return Err(Refusal { reason, message: "no".to_owned(), decision: None });
        }
        let table = self.server.tables.iter().find(|table| table.id == match_id).unwrap();
        Ok(Box::new(table.record()))
    }

    pub(super) fn run(&mut self) {
        while self.step() {}
    }

    /// Does so many things.
    pub(super) fn run_some(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step();
        }
    }

    /// A bot whose choice depends on the decision's number alone.
    fn think(&mut self, key: Key, calls: Vec<Call>) -> Worked {
        let told = self.told.entry(key).or_default();
        for call in calls {
            match call {
                Call::Start { .. } => told.starts += 1,
                Call::Observe(event) => told.events.push(event),
                Call::End(_) => told.ends += 1,
                Call::Choose(decision) => {
                    let number = decision.number();
                    told.decisions.push(number);
                    if let Some(clock) = decision.clock() {
                        self.clocks.insert(key, clock);
                    }
                    if self.falls == Some((key, told.decisions.len() - 1)) {
                        return Worked::Fell(crate::fault::Fault::Panicked { message: "fell".to_owned() });
                    }
                    let index = number as usize * 7 % decision.legal.len();
                    let action = decision.legal.get(index).unwrap();
                    return Worked::Chose(Answer { decision: number, action });
                }
            }
        }
        Worked::Done
    }
}
