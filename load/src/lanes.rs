//! The connections that matches are played on.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedSender, channel, unbounded_channel};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::arrivals::Schedule;
use crate::finished::Finished;
use crate::lean::{self, Created};
use crate::order::Order;
use crate::outcome::{Client, Recorder, Via};
use crate::pacer::Pooled;
use crate::plan::{Kind, Rate};
use crate::sdk;
use crate::target::Target;

/// Seats that one Play stream gets: half of what a server allows unless it says otherwise, so that work is spread.
const SEATS_PER_PLAY: usize = 500;
/// Matches that one connection of unary clients gets: each takes a stream to observe it and one to act, and a server allows 256.
const MATCHES_PER_UNARY: usize = 100;

/// Nothing of the schedule.
const NO_SHARE: (usize, usize) = (0, 1);

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
    /// The schedule of actions, if there is one.
    pace: Option<Pace>,
    pooled: Pooled,
}

/// A schedule of actions, of all lanes together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) began: Instant,
    pub(crate) rate: Rate,
    pub(crate) ramp: Duration,
    pub(crate) seed: u64,
}

impl Pace {
    /// That of one lane, to which nothing falls as yet.
    fn of_lane(self, number: usize) -> Box<Schedule> {
        let seed = self.seed.wrapping_add(number as u64);
        Box::new(Schedule::new(self.began, self.rate, self.ramp, seed).without_share())
    }
}

struct Lane {
    driver: Driver,
    orders: UnboundedSender<Order>,
    matches: usize,
    seats: usize,
    /// How many of the matches of all lanes were its own when the schedule was last divided.
    share: (usize, usize),
    /// It ends with this.
    #[expect(dead_code, reason = "it is there to be dropped")]
    task: AbortOnDropHandle<()>,
}

impl Lane {
    fn order(&self, order: Order) {
        // Its task goes on as long as this is there.
        let _ = self.orders.send(order);
    }
}

impl Lanes {
    pub(crate) fn new(target: Target, recorder: Recorder, finished: UnboundedSender<Finished>) -> Self {
        let (open, pooled) = (Vec::new(), Pooled::default());
        Self { target, recorder, finished, open, pace: None, pooled }
    }

    /// Has so many lanes for matches of this kind, and as many as so many of them need, but no more than there are matches.
    pub(crate) fn prepare(&mut self, kind: &Kind, connections: usize, live: Option<usize>) {
        let driver = Driver::of(kind);
        let wanted = live
            .map_or(connections, |live| driver.lanes_for(live, kind.players()).max(connections.min(live)));
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
        lane.order(Order::Begin(created));
        number
    }

    /// A match on this connection is over.
    pub(crate) fn over(&mut self, lane: usize, players: usize) {
        let lane = &mut self.open[lane];
        lane.matches -= 1;
        lane.seats -= players;
    }

    /// Another load begins: all matches are left, and there is no schedule. What is returned ends when all have measured what the load has
    /// left.
    pub(crate) fn end_load(&mut self) -> Receiver<()> {
        self.pace = None;
        let (noted, all_noted) = channel(1);
        for lane in &mut self.open {
            (lane.matches, lane.seats, lane.share) = (0, 0, NO_SHARE);
            lane.order(Order::EndLoad(noted.clone()));
        }
        all_noted
    }

    /// From here on actions come on this schedule on all connections together.
    pub(crate) fn follow(&mut self, pace: Pace) {
        self.pace = Some(pace);
        for (number, lane) in self.open.iter().enumerate() {
            lane.order(Order::Follow(pace.of_lane(number)));
        }
        self.divide();
    }

    /// Divides the schedule over the connections as their matches are now. Before the first match it falls to the first connection, and
    /// from there to whoever has one.
    pub(crate) fn divide(&mut self) {
        if self.pace.is_none() {
            return;
        }
        let is_lean = |lane: &Lane| lane.driver.client == Client::Lean;
        let all: usize = self.open.iter().filter(|lane| is_lean(lane)).map(|lane| lane.matches).sum();
        let has_share = self.open.iter().any(|lane| lane.share.0 > 0);
        // Between two matches all stays as it is.
        let is_first = all == 0 && !has_share;
        if all == 0 && has_share {
            return;
        }
        let has_pooled = !self.pooled.is_empty();
        for (place, lane) in self.open.iter_mut().filter(|lane| is_lean(lane)).enumerate() {
            let share = if is_first { (usize::from(place == 0), 1) } else { (lane.matches, all) };
            // Whoever has matches looks for what was pooled.
            if lane.share != share || has_pooled && lane.matches > 0 {
                lane.share = share;
                #[expect(clippy::cast_precision_loss, reason = "there are few matches")]
                lane.order(Order::Share(share.0 as f64 / share.1 as f64));
            }
        }
    }

    /// The load is over: nothing is answered any more. Of what is returned the first ends when all have measured what has no answer, the
    /// second when all that was sent has one.
    pub(crate) fn rest(&mut self) -> (Receiver<()>, Receiver<()>) {
        self.pace = None;
        let ((noted, all_noted), (answered, all_answered)) = (channel(1), channel(1));
        self.tell_all(|| Order::Rest { noted: noted.clone(), answered: answered.clone() });
        (all_noted, all_answered)
    }

    /// All say what has not come. These matches are over by their results. What is returned ends when it is said.
    pub(crate) fn give_up(&self, ended: &Arc<HashSet<String>>) -> Receiver<()> {
        let (noted, all_noted): (Sender<()>, _) = channel(1);
        self.tell_all(|| Order::GiveUp { ended: Arc::clone(ended), noted: noted.clone() });
        all_noted
    }

    fn tell_all(&self, order: impl Fn() -> Order) {
        for lane in &self.open {
            lane.order(order());
        }
    }

    /// Cuts one of the connections.
    pub(crate) fn drop_one(&self, random: &mut StdRng) {
        let lean: Vec<&Lane> = self.lean().collect();
        if let Some(lane) = lean.get(random.random_range(0..lean.len().max(1))) {
            lane.order(Order::Drop);
        }
    }

    /// Has the players of one of the matches join it again.
    pub(crate) fn rejoin_one(&self, random: &mut StdRng) {
        let lean: Vec<&Lane> = self.lean().filter(|lane| lane.matches > 0).collect();
        if let Some(lane) = lean.get(random.random_range(0..lean.len().max(1))) {
            lane.order(Order::Rejoin(random.random()));
        }
    }

    fn lean(&self) -> impl Iterator<Item = &Lane> {
        self.open.iter().filter(|lane| lane.driver.client == Client::Lean)
    }

    fn open(&mut self, driver: Driver) -> usize {
        let (orders, given) = unbounded_channel();
        let (recorder, finished) = (self.recorder.clone(), self.finished.clone());
        let target = self.target.clone();
        let pooled = self.pooled.clone();
        let lane = |recorder, finished| lean::Lane::pooling(recorder, finished, pooled);
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
        let lane = Lane { driver, orders, matches: 0, seats: 0, share: NO_SHARE, task };
        let number = self.open.len();
        if let Some(pace) = self.pace {
            lane.order(Order::Follow(pace.of_lane(number)));
        }
        self.open.push(lane);
        number
    }
}
