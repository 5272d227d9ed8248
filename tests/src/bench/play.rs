//! Plays matches on Play streams, however many there are.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Streaming};
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::{PROTOCOL_REVISION, v1};

use super::codec::Counted;
use super::creation::{Created, Creation};
use super::gate::Gate;
use super::load::Views;
use super::message::{PlayResponse, Played};
use super::meter::Meter;
use super::player::{Heard, Player};

const PLAY: &str = "/zetema.v1.PlayService/Play";
const SEATS: usize = 2;

/// What all streams share.
struct Shared {
    meter: Arc<Meter>,
    creation: Creation,
    gate: Gate<Action>,
    streams: Vec<Stream>,
    course: Course,
    views: Views,
}

/// How matches are played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// On so many streams.
    pub(super) streams: usize,
    /// With so many actions in flight.
    pub(super) in_flight: usize,
    /// How far.
    pub(super) course: Course,
    /// What is shown with a decision.
    pub(super) views: Views,
}

/// How far matches are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// To the end, and then the next one.
    OnAndOn,
    /// Until every seat has had a decision.
    FirstDecisions,
    /// Until so many actions were acknowledged. Another one has the place of a match that ends before.
    Actions(usize),
}

/// An action that is to be sent, and by whom.
type Action = (usize, v1::PlayRequest);

/// A Play stream, as others see it.
struct Stream {
    requests: UnboundedSender<v1::PlayRequest>,
    /// Seats that are being taken, by the tags of the joins.
    joining: Mutex<HashMap<u64, Seat>>,
    tags: AtomicU64,
}

/// A seat of a match that is played.
struct Seat {
    player: Player,
    playing: Arc<Playing>,
    /// Whether it has had a decision.
    decides: bool,
}

/// A match that is played.
struct Playing {
    /// Its place among those that are played at once: the next one has it too.
    place: usize,
    /// Seats that have not heard of its end.
    seats: AtomicUsize,
    /// Seats that have had no decision.
    idle: AtomicUsize,
    /// Actions that were chosen.
    chosen: AtomicUsize,
    /// Actions that were acknowledged.
    acknowledged: AtomicUsize,
}

/// Play streams, on which matches are played.
pub(super) struct Players {
    shared: Arc<Shared>,
    #[expect(dead_code, reason = "they are there to be dropped")]
    tasks: JoinSet<()>,
}

impl Players {
    /// Opens their streams on these channels.
    pub(super) fn open(
        channels: &[Channel],
        Manner { streams, in_flight, course, views }: Manner,
        creation: Creation,
        meter: &Arc<Meter>,
    ) -> Self {
        let (streams, sent): (Vec<Stream>, Vec<_>) = (0..streams).map(|_| Stream::new()).unzip();
        let (gate, meter) = (Gate::new(in_flight), Arc::clone(meter));
        let shared = Arc::new(Shared { meter, creation, gate, streams, course, views });
        let mut tasks = JoinSet::new();
        for ((number, sent), channel) in sent.into_iter().enumerate().zip(channels.iter().cycle()) {
            let (shared, channel) = (Arc::clone(&shared), channel.clone());
            tasks.spawn(async move {
                if let Err(error) = shared.run(number, sent, channel).await {
                    shared.meter.fail(&format!("{error:#}"));
                }
            });
        }
        Self { shared, tasks }
    }

    /// Has so many matches created and played. They have their first places.
    pub(super) async fn begin(&self, live: usize) -> anyhow::Result<()> {
        for (place, created) in self.shared.creation.many(live).await?.iter().enumerate() {
            self.shared.begin(place, created)?;
        }
        Ok(())
    }
}

impl Shared {
    /// Has a match played in this place.
    fn begin(&self, place: usize, created: &Created) -> anyhow::Result<()> {
        let playing = Arc::new(Playing::new(place));
        for seat in 0..SEATS {
            let stream = &self.streams[(place * SEATS + seat) % self.streams.len()];
            let player = Player::new(created.seed(seat));
            let seat_token = created.token(seat)?;
            let joining = Seat { player, playing: Arc::clone(&playing), decides: false };
            stream.join(seat_token, self.views, joining);
        }
        Ok(())
    }

    /// The first messages, and then whatever comes, until the server ends the stream, which it should not.
    async fn run(
        self: &Arc<Self>,
        number: usize,
        sent: UnboundedReceiver<v1::PlayRequest>,
        channel: Channel,
    ) -> anyhow::Result<()> {
        let mut grpc = Grpc::new(channel);
        grpc.ready().await?;
        let codec = Counted::<v1::PlayRequest, PlayResponse>::new(Arc::clone(&self.meter));
        let sent = Request::new(UnboundedReceiverStream::new(sent));
        let answers = grpc.streaming(sent, PathAndQuery::from_static(PLAY), codec).await?;
        let mut answers: Streaming<PlayResponse> = answers.into_inner();
        let mut seats: HashMap<u32, Seat> = HashMap::new();
        while let Some(answer) = answers.message().await? {
            self.heard(number, &mut seats, answer)?;
        }
        bail!("the server has ended a stream")
    }

    fn heard(
        self: &Arc<Self>,
        number: usize,
        seats: &mut HashMap<u32, Seat>,
        PlayResponse { tag, handle, kind }: PlayResponse,
    ) -> anyhow::Result<()> {
        let stream = &self.streams[number];
        match kind.context("a message is of a kind that is not known")? {
            Played::Observation(observation) => {
                let seat = seats.get_mut(&handle).context("an observation is of no seat")?;
                let heard = seat.player.observed(observation)?;
                self.answer((number, handle), seat, heard);
            }
            Played::Joined(start) => {
                let mut seat = stream.joined(tag).context("a seat was taken that nobody asked for")?;
                let heard = seat.player.started(start)?;
                self.meter.seat_taken();
                self.answer((number, handle), &mut seat, heard);
                seats.insert(handle, seat);
            }
            Played::End(_) => {
                let Seat { player, playing, .. } = seats.remove(&handle).context("no seat has ended")?;
                player.ended()?;
                if playing.seats.fetch_sub(1, Relaxed) == 1 {
                    self.meter.match_ended();
                    self.next(playing.place);
                }
            }
            Played::Ping(v1::Ping { number }) => stream.ask(0, 0, Ask::Pong(v1::Pong { number })),
            Played::Welcome(_) => self.meter.stream_opened(),
            Played::Rejection(error) => bail!("the server refuses: {}", error.message),
            other => bail!("the server sends {other:?}"),
        }
        Ok(())
    }

    /// Sends what a player answers, when its turn comes.
    fn answer(&self, (number, handle): (usize, u32), seat: &mut Seat, heard: Heard) {
        let Heard { acknowledged, answer } = heard;
        if let Some(sent) = acknowledged {
            self.meter.done(sent.elapsed());
            if let Course::Actions(actions) = self.course
                && seat.playing.acknowledged.fetch_add(1, Relaxed) + 1 == actions
            {
                self.meter.match_halted();
            }
            if let Some(next) = self.gate.leave() {
                self.send(next);
            }
        }
        let Some(act) = answer else { return };
        let is_last =
            !std::mem::replace(&mut seat.decides, true) && seat.playing.idle.fetch_sub(1, Relaxed) == 1;
        match self.course {
            Course::FirstDecisions if is_last => return self.meter.match_halted(),
            Course::Actions(actions) if seat.playing.chosen.fetch_add(1, Relaxed) >= actions => return,
            _ => {}
        }
        let request = v1::PlayRequest { tag: 0, handle, kind: Some(Ask::Act(act)) };
        if let Some(action) = self.gate.enter((number, request)) {
            self.send(action);
        }
    }

    fn send(&self, (number, request): Action) {
        self.streams[number].send(request);
    }

    /// A match is over: another one has its place.
    fn next(self: &Arc<Self>, place: usize) {
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let began = match shared.creation.one().await {
                Ok(created) => shared.begin(place, &created),
                Err(error) => Err(error),
            };
            if let Err(error) = began {
                shared.meter.fail(&format!("a match can't be created: {error:#}"));
            }
        });
    }
}

impl Playing {
    fn new(place: usize) -> Self {
        let [seats, idle] = [SEATS; 2].map(AtomicUsize::new);
        Self { place, seats, idle, chosen: AtomicUsize::new(0), acknowledged: AtomicUsize::new(0) }
    }
}

impl Stream {
    fn new() -> (Self, UnboundedReceiver<v1::PlayRequest>) {
        let (requests, sent) = unbounded_channel();
        let stream = Self { requests, joining: Mutex::default(), tags: AtomicU64::new(1) };
        let hello = v1::Hello {
            client_name: "bench".to_owned(),
            protocol_revision: PROTOCOL_REVISION,
            ..v1::Hello::default()
        };
        stream.ask(0, 0, Ask::Hello(hello));
        (stream, sent)
    }

    fn join(&self, token: String, views: Views, seat: Seat) {
        let join = v1::Join {
            by: Some(v1::join::By::SeatToken(token)),
            views: Some(views.asked()),
            ..v1::Join::default()
        };
        let tag = self.tags.fetch_add(1, Relaxed);
        self.joining.lock().unwrap_or_else(PoisonError::into_inner).insert(tag, seat);
        self.ask(tag, 0, Ask::Join(join));
    }

    fn joined(&self, tag: u64) -> Option<Seat> {
        self.joining.lock().unwrap_or_else(PoisonError::into_inner).remove(&tag)
    }

    fn ask(&self, tag: u64, handle: u32, kind: Ask) {
        self.send(v1::PlayRequest { tag, handle, kind: Some(kind) });
    }

    fn send(&self, request: v1::PlayRequest) {
        // When the stream has ended, what reads it says so.
        let _ = self.requests.send(request);
    }
}
