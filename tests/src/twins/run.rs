//! One game of a pair, played through the whole service.

mod seen;

use std::time::Duration;

use prost::Message;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use tokio::time::{Instant, sleep, sleep_until};
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::time_control::Decisions;
use zetema_proto::{PROTOCOL_REVISION, Wire, v1};
use zetema_rules::fair::Nonce;
use zetema_rules::{Seat, Viewer};

use super::http::{Asks, Reply, ask, talk};
use super::mischief::{wrong_act, wrong_number};
use super::model::{Model, Move, Step};
use super::plan::{Clock, Plan};
use super::tape::{Kind, Leak, Tape, Truth};
use super::world::World;
use seen::Followed;

/// What a decision may take, where there is a clock.
const BUDGET_MS: u32 = 30_000;

/// Longer than any game here takes, in milliseconds.
const A_DAY_MS: u32 = 86_400_000;

/// When such a decision is closed for certain: what may be credited to the network, and the server's own slack, are less
/// than the rest.
const OUT_OF_TIME: Duration = Duration::from_millis(BUDGET_MS as u64 + 150);

/// Which game of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twin {
    /// The one that was played at random.
    First,
    /// The other one. What the observer can't see of the other players is different too: which way they say what
    /// they play, in which order their nonces come, and whether they have had another token or seats of another match have.
    Second,
}

/// The observer's Play stream.
struct PlayStream {
    asks: Asks,
    tag: u64,
    handle: u32,
}

/// A game that is being played.
struct Run<'a> {
    world: World,
    plan: &'a Plan,
    twin: Twin,
    leak: Option<&'a mut (dyn Leak + 'a)>,
    /// The same numbers in both games.
    random: StdRng,
    model: Model,
    match_id: String,
    /// A match of others, of which the observer must see nothing. Nobody joins it.
    other_match: String,
    tokens: Vec<String>,
    followed: Vec<Followed>,
    play: Option<PlayStream>,
    tape: Tape,
    /// The decision that a spectator saw last.
    decision: Option<u32>,
    /// Not before the current decision's clock began, and hardly after it.
    begun: Instant,
    /// When the server began to bring its metrics up to date.
    started: Instant,
}

/// Plays a game of a pair. The answer is everything that the observer and everyone else may read.
///
/// # Panics
/// If the service does not do what the rules say.
pub(super) async fn run<'a>(
    world: World,
    plan: &'a Plan,
    twin: Twin,
    leak: Option<&'a mut (dyn Leak + 'a)>,
) -> Tape {
    let rules = plan.setting.rules();
    let decks = match twin {
        Twin::First => &plan.decks[0],
        Twin::Second => &plan.decks[1],
    };
    let model = Model::new(rules, plan.dealer, decks.clone(), &mut Vec::new());
    let mut run = Run {
        world,
        plan,
        twin,
        leak,
        random: StdRng::seed_from_u64(plan.setting.seed ^ 0x7715),
        model,
        match_id: String::new(),
        other_match: String::new(),
        tokens: Vec::new(),
        followed: Vec::new(),
        play: None,
        tape: Tape::default(),
        decision: None,
        begun: Instant::now(),
        started: Instant::now(),
    };
    run.create().await;
    run.join().await;
    let mut number = 0;
    while let Some(step) = plan.steps.get(number) {
        let before = run.model.game.public().decision;
        run.think().await;
        run.make(step).await;
        number += 1;
        // What is played for a seat at once comes with what was before.
        while let Some(step) = plan.steps.get(number)
            && matches!(step.made, Move::Autoplay(_))
        {
            run.model.make(step, &mut Vec::new()).unwrap();
            number += 1;
        }
        run.settle().await;
        run.plant();
        let decision = run.model.game.public().decision;
        assert_eq!(run.decision, Some(decision), "the match goes on as planned");
        if decision != before {
            run.begun = Instant::now();
        }
    }
    run.last_look().await;
    let Run { world, followed, play, tape, .. } = run;
    drop((followed, play));
    world.server.stop().await;
    tape
}

impl Run<'_> {
    fn observer(&self) -> Option<Seat> {
        match self.plan.setting.observer {
            Viewer::Seat(seat) => Some(seat),
            Viewer::Spectator => None,
        }
    }

    fn token(&self, seat: Seat) -> &str {
        &self.tokens[seat.index()]
    }

    async fn ask(&self, path: &str, bearer: Option<&str>, message: &impl Message) -> Reply {
        ask(&self.world.server, path, bearer, &message.encode_to_vec()).await
    }

    async fn create(&mut self) {
        let setting = &self.plan.setting;
        let rules = v1::PresetRules {
            preset: setting.preset.to_wire(),
            teams: Some(setting.teams.to_wire()),
            imperial_suit: Some(setting.imperial.to_wire()),
        };
        let decisions = match setting.clock {
            Clock::None => Decisions::Named(v1::NamedTimeControl::None.into()),
            Clock::Autoplay => Decisions::Clock(v1::DecisionClock {
                budget_ms: BUDGET_MS,
                first_budget_ms: Some(BUDGET_MS),
                time_out: Some(v1::decision_clock::TimeOut::Autoplay(v1::AutoplayOnTimeOut {
                    strikes: 1_000,
                })),
                ..v1::DecisionClock::default()
            }),
        };
        let seat = v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) };
        let spec = v1::MatchSpec {
            rules: Some(v1::match_spec::Rules::Preset(rules)),
            seats: vec![seat; setting.players],
            time_control: Some(v1::TimeControl { decisions: Some(decisions), ..v1::TimeControl::default() }),
            visibility: Some(v1::Visibility::Public.into()),
            ..v1::MatchSpec::default()
        };
        let waits = v1::TimeControl { join_timeout_ms: Some(A_DAY_MS), ..v1::TimeControl::default() };
        let other = v1::MatchSpec {
            visibility: Some(v1::Visibility::Private.into()),
            time_control: Some(waits),
            ..spec.clone()
        };
        let created = self.create_match(spec).await;
        self.match_id = created.r#match.unwrap().match_id;
        self.tokens = created.seat_tokens.into_iter().map(|seat| seat.token).collect();
        self.other_match = self.create_match(other).await.r#match.unwrap().match_id;
    }

    async fn create_match(&self, spec: v1::MatchSpec) -> v1::CreateMatchResponse {
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
        let admin = self.admin_token();
        self.ask("MatchService/CreateMatch", Some(&admin), &request).await.decode()
    }

    fn admin_token(&self) -> String {
        self.world.server.admin_token().unwrap().expose().to_owned()
    }

    /// Everyone joins, and sends the nonce that it promised.
    async fn join(&mut self) {
        self.watch(None).await;
        let players = self.plan.setting.players;
        let mut seats: Vec<Seat> = self.plan.setting.rules().seats().collect();
        seats.shuffle(&mut self.random);
        let gives: Vec<bool> = (0..players).map(|_| self.random.random_bool(0.5)).collect();
        let nonce = |seat: Seat| Nonce::new(format!("nonce {seat}").as_bytes()).unwrap();
        let gives = |seat: Seat| gives[seat.index()].then(|| nonce(seat));
        for &seat in &seats {
            let hash = gives(seat).map(|nonce| nonce.hash()).to_wire();
            if Some(seat) == self.observer() {
                self.look_around().await;
                self.observe(seat, hash).await;
                self.send_nonce(seat, b"too early").await;
            } else {
                let join = v1::JoinSeatRequest {
                    seat_token: self.token(seat).to_owned(),
                    nonce_hash: hash,
                    assigned: None,
                };
                let reply = self.ask("PlayService/JoinSeat", None, &join).await;
                reply.decode::<v1::JoinSeatResponse>();
            }
            self.settle().await;
        }
        let mut promised: Vec<(Seat, Nonce)> =
            seats.iter().filter_map(|&seat| Some((seat, gives(seat)?))).collect();
        // The observer's own comes first or last, so that the others' may come in any order.
        let own = self.random.random_bool(0.5);
        promised.sort_by_key(|(seat, _)| (Some(*seat) == self.observer()) != own);
        if self.twin == Twin::Second {
            let observer = self.observer();
            if let Some(others) = promised
                .chunk_by_mut(|one, other| (Some(one.0) == observer) == (Some(other.0) == observer))
                .find(|chunk| Some(chunk[0].0) != observer)
            {
                others.reverse();
            }
        }
        for (seat, nonce) in promised {
            if Some(seat) == self.observer() {
                self.send_nonce(seat, b"another").await;
                self.send_nonce(seat, nonce.reveal()).await;
                self.send_nonce(seat, nonce.reveal()).await;
                self.send_nonce(seat, b"late").await;
            } else {
                let request = v1::SendNonceRequest {
                    seat_token: self.token(seat).to_owned(),
                    nonce: nonce.to_wire(),
                    assigned: None,
                };
                self.ask("PlayService/SendNonce", None, &request).await.decode::<v1::SendNonceResponse>();
            }
        }
        self.settle().await;
        assert_eq!(self.decision, Some(1), "the match has begun");
        self.begun = Instant::now();
    }

    /// The observer takes its seat, by a Play stream or by single calls.
    async fn observe(&mut self, seat: Seat, nonce_hash: Vec<u8>) {
        let token = self.token(seat).to_owned();
        let viewer = Viewer::Seat(seat);
        let views = self.random.random_bool(0.25).then(|| v1::Views::SnapshotsOnly.into());
        if self.random.random_bool(0.5) {
            let bearer = self.random.random_bool(0.5).then_some(token.as_str());
            let (asks, answers) = talk(&self.world.server, "PlayService/Play", bearer).await;
            self.followed.push(Followed { what: "PlayService/Play", kind: Kind::Play, viewer, answers });
            self.play = Some(PlayStream { asks, tag: 0, handle: 0 });
            self.say(Ask::Hello(v1::Hello {
                client_name: "twins".to_owned(),
                protocol_revision: PROTOCOL_REVISION,
                ..v1::Hello::default()
            }))
            .await;
            let by = v1::join::By::SeatToken(token);
            self.say(Ask::Join(v1::Join { by: Some(by), nonce_hash, after_seq: None, views })).await;
            if let Some(play) = &mut self.play {
                play.handle = 1;
            }
        } else {
            let join = v1::JoinSeatRequest { seat_token: token.clone(), nonce_hash, assigned: None };
            self.look("PlayService/JoinSeat", None, &join).await;
            let fixed = v1::JoinSeatRequest { seat_token: token, nonce_hash: vec![7; 32], assigned: None };
            self.look("PlayService/JoinSeat", None, &fixed).await;
            self.follow_seat(seat, None, views).await;
        }
    }

    /// Says something on the observer's Play stream, and hears what comes of it.
    async fn say(&mut self, kind: Ask) {
        let play = self.play.as_mut().unwrap();
        play.tag += 1;
        let handle =
            if matches!(kind, Ask::Hello(_) | Ask::Join(_) | Ask::Pong(_)) { 0 } else { play.handle };
        play.asks.say(&v1::PlayRequest { tag: play.tag, handle, kind: Some(kind) });
        self.settle().await;
    }

    async fn send_nonce(&mut self, seat: Seat, nonce: &[u8]) {
        if self.play.is_some() {
            self.say(Ask::Nonce(v1::GiveNonce { nonce: nonce.to_vec() })).await;
        } else {
            let seat_token = self.token(seat).to_owned();
            let request = v1::SendNonceRequest { seat_token, nonce: nonce.to_vec(), assigned: None };
            self.look("PlayService/SendNonce", None, &request).await;
        }
    }

    /// What comes before a step: time, and answers that are refused.
    async fn think(&mut self) {
        let think_ms = self.random.random_range(0..2_000);
        sleep(Duration::from_millis(think_ms)).await;
        if self.random.random_bool(0.3) {
            self.look_around().await;
        }
        let Some(seat) = self.observer() else { return };
        if self.random.random_bool(0.6)
            && let Some(act) = wrong_act(&self.model.game, seat, &mut self.random)
        {
            self.act(seat, act).await;
        }
        if self.random.random_bool(0.1) {
            self.send_nonce(seat, b"much too late").await;
        }
        let other = Seat::new(self.random.random_range(0..self.plan.setting.players)).unwrap();
        if other == seat {
            return;
        }
        if self.random.random_bool(0.1) {
            let act = wrong_number(&mut self.random);
            let request =
                v1::ActRequest { seat_token: self.token(other).to_owned(), act: Some(act), assigned: None };
            self.ask("PlayService/Act", None, &request).await;
        }
        if self.random.random_bool(0.05) {
            self.rotate(other).await;
        }
    }

    /// Another seat gets another token, or that seat of the other match: the server does as much in both games, and
    /// its metrics may say so.
    async fn rotate(&mut self, seat: Seat) {
        let match_id = match self.twin {
            Twin::First => self.other_match.clone(),
            Twin::Second => self.match_id.clone(),
        };
        let request =
            v1::RotateSeatTokenRequest { match_id, seat: seat.to_wire(), request_id: String::new() };
        let admin = self.admin_token();
        let reply = self.ask("MatchService/RotateSeatToken", Some(&admin), &request).await;
        let rotated: v1::RotateSeatTokenResponse = reply.decode();
        if self.twin == Twin::Second {
            self.tokens[seat.index()] = rotated.seat_token.unwrap().token;
        }
    }

    /// The observer acts.
    async fn act(&mut self, seat: Seat, act: v1::Act) {
        if self.play.is_some() {
            self.say(Ask::Act(act)).await;
        } else {
            let request =
                v1::ActRequest { seat_token: self.token(seat).to_owned(), act: Some(act), assigned: None };
            self.look("PlayService/Act", None, &request).await;
        }
    }

    async fn make(&mut self, step: &Step) {
        let Step { seat, made } = *step;
        let decision_number = self.model.game.public().decision;
        let legal = self.model.game.legal_actions();
        self.model.make(step, &mut Vec::new()).unwrap();
        let observed = Some(seat) == self.observer();
        match made {
            Move::Act(action) => {
                let by_index = self.random.random_bool(0.5);
                // What another seat plays is the same however it says so, and its index is its own affair.
                let by_index = if observed { by_index } else { self.twin == Twin::Second };
                let index = legal.iter().position(|other| other == action).unwrap();
                let choice = if by_index {
                    Choice::LegalIndex(u32::try_from(index).unwrap())
                } else {
                    Choice::Action(action.to_wire())
                };
                self.play_act(seat, v1::Act { decision_number, choice: Some(choice) }).await;
            }
            Move::Expose(card) => {
                let action = zetema_rules::Action::Discard(card).to_wire();
                let choice = Some(Choice::Action(action));
                self.play_act(seat, v1::Act { decision_number, choice }).await;
            }
            Move::Resign => {
                if observed && self.play.is_some() {
                    self.say(Ask::Resign(v1::Resign::default())).await;
                } else {
                    let request = v1::ResignRequest {
                        seat_token: self.token(seat).to_owned(),
                        panic: None,
                        assigned: None,
                    };
                    let reply = self.ask("PlayService/Resign", None, &request).await;
                    reply.decode::<v1::ResignResponse>();
                    if observed {
                        self.tape.note("PlayService/Resign", reply.bytes);
                    }
                }
            }
            Move::TimeOut(_) => {
                sleep_until(self.begun + OUT_OF_TIME).await;
            }
            Move::Autoplay(_) => {}
        }
    }

    async fn play_act(&mut self, seat: Seat, act: v1::Act) {
        if Some(seat) == self.observer() {
            self.act(seat, act).await;
        } else {
            let request =
                v1::ActRequest { seat_token: self.token(seat).to_owned(), act: Some(act), assigned: None };
            self.ask("PlayService/Act", None, &request).await.decode::<v1::ActResponse>();
        }
    }

    /// Plants what a leak counts.
    fn plant(&mut self) {
        if let Some(leak) = &mut self.leak {
            let records = self.world.journal.records(self.match_id.parse().unwrap());
            leak.count(&Truth { game: &self.model.game, stock: self.model.stock(), records });
        }
    }
}
