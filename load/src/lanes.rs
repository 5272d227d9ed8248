//! The connections that matches are played on.

use rand::RngExt;
use rand::rngs::StdRng;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::arrivals::Schedule;
use crate::finished::Finished;
use crate::lean::{self, Created};
use crate::order::Order;
use crate::outcome::{Client, Recorder, Via};
use crate::plan::{Kind, Rate};
use crate::sdk;
use crate::target::Target;

/// Seats that one Play stream gets: half of what a server allows unless it says otherwise, so that work is spread.
const SEATS_PER_PLAY: usize = 500;
/// Matches that one connection of unary clients gets: each takes a stream to observe it and one to act, and a server allows 256.
const MATCHES_PER_UNARY: usize = 100;

/// What drives a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Driver {
    client: Client,
    via: Via,
}

impl Driver {
    pub(crate) const fn of(kind: &Kind) -> Self {
        Self { client: kind.client, via: kind.via }
    }

    /// Whether a lane with these has room for this one.
    fn has_room(self, matches: usize, seats: usize, players: usize) -> bool {
        match self.via {
            Via::Play => seats + players <= SEATS_PER_PLAY,
            Via::Unary => matches < MATCHES_PER_UNARY,
        }
    }

    /// How many lanes carry so many matches.
    fn lanes_for(self, matches: usize, players: usize) -> usize {
        match self.via {
            Via::Play => matches.div_ceil(SEATS_PER_PLAY / players.max(1)),
            Via::Unary => matches.div_ceil(MATCHES_PER_UNARY),
        }
    }
}

/// The connections that matches are played on. Each is driven by a task of its own, which ends with this.
pub(crate) struct Lanes {
    target: Target,
    recorder: Recorder,
    finished: UnboundedSender<Finished>,
    open: Vec<Lane>,
}

struct Lane {
    driver: Driver,
    orders: UnboundedSender<Order>,
    matches: usize,
    seats: usize,
    /// It ends with this.
    #[expect(dead_code, reason = "it is there to be dropped")]
    task: AbortOnDropHandle<()>,
}

impl Lanes {
    pub(crate) const fn new(target: Target, recorder: Recorder, finished: UnboundedSender<Finished>) -> Self {
        Self { target, recorder, finished, open: Vec::new() }
    }

    /// Has so many lanes for matches of this kind, and as many as so many of them need.
    pub(crate) fn prepare(&mut self, kind: &Kind, connections: usize, live: usize) {
        let driver = Driver::of(kind);
        let wanted = driver.lanes_for(live, kind.players()).max(connections);
        let there = self.open.iter().filter(|lane| lane.driver == driver).count();
        for _ in there..wanted {
            self.open(driver);
        }
    }

    /// Has a match played, on the connection that has the fewest seats. Returns its number.
    pub(crate) fn begin(&mut self, kind: &Kind, created: Created) -> usize {
        let (driver, players) = (Driver::of(kind), created.tokens.len());
        let fitting =
            self.open.iter().enumerate().filter(|(_, lane)| {
                lane.driver == driver && driver.has_room(lane.matches, lane.seats, players)
            });
        let number = fitting.min_by_key(|(_, lane)| lane.seats).map(|(number, _)| number);
        let number = number.unwrap_or_else(|| self.open(driver));
        let lane = &mut self.open[number];
        lane.matches += 1;
        lane.seats += players;
        // Its task goes on as long as this is there.
        let _ = lane.orders.send(Order::Begin(created));
        number
    }

    /// A match on this connection is over.
    pub(crate) fn over(&mut self, lane: usize, players: usize) {
        let lane = &mut self.open[lane];
        lane.matches -= 1;
        lane.seats -= players;
    }

    /// From here on actions come at this rate on all connections together, or as players think.
    pub(crate) fn follow(&self, now: Instant, rate: Option<(Rate, std::time::Duration)>, seed: u64) {
        #[expect(clippy::cast_precision_loss, reason = "there are few connections")]
        let part = 1.0 / self.open.len().max(1) as f64;
        for (number, lane) in (0..).zip(&self.open) {
            let seed = seed.wrapping_add(number);
            let schedule =
                rate.map(|(rate, ramp)| Box::new(Schedule::new(now, rate.share(part), ramp, seed)));
            // As above.
            let _ = lane.orders.send(Order::Follow(schedule));
        }
    }

    /// Cuts one of the connections.
    pub(crate) fn drop_one(&self, random: &mut StdRng) {
        let lean: Vec<&Lane> = self.lean().collect();
        if let Some(lane) = lean.get(random.random_range(0..lean.len().max(1))) {
            // As above.
            let _ = lane.orders.send(Order::Drop);
        }
    }

    /// Has the players of one of the matches join it again.
    pub(crate) fn rejoin_one(&self, random: &mut StdRng) {
        let lean: Vec<&Lane> = self.lean().filter(|lane| lane.matches > 0).collect();
        if let Some(lane) = lean.get(random.random_range(0..lean.len().max(1))) {
            // As above.
            let _ = lane.orders.send(Order::Rejoin(random.random()));
        }
    }

    fn lean(&self) -> impl Iterator<Item = &Lane> {
        self.open.iter().filter(|lane| lane.driver.client == Client::Lean)
    }

    fn open(&mut self, driver: Driver) -> usize {
        let (orders, given) = unbounded_channel();
        let (recorder, finished) = (self.recorder.clone(), self.finished.clone());
        let target = self.target.clone();
        let lane = |recorder, finished| lean::Lane::new(recorder, finished);
        let task = match driver {
            Driver { client: Client::Sdk, .. } => tokio::spawn(sdk::drive(target, recorder, finished, given)),
            Driver { client: Client::Lean, via: Via::Play } => {
                tokio::spawn(lean::play(target.endpoint, lane(recorder, finished), given))
            }
            Driver { client: Client::Lean, via: Via::Unary } => {
                tokio::spawn(lean::unary(target.endpoint, lane(recorder, finished), given))
            }
        };
        let task = AbortOnDropHandle::new(task);
        self.open.push(Lane { driver, orders, matches: 0, seats: 0, task });
        self.open.len() - 1
    }
}
