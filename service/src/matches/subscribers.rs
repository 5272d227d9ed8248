//! The subscribers of one table.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use smallvec::SmallVec;
use zetema_proto::Views;
use zetema_rules::{Outcome, Seat, Viewer};

use super::backlog::Backlog;
use super::broadcast::{Broadcast, Most, Reader};
use super::observed::{Shown, observe};
use super::{Audience, Limits};
use crate::limits;
use crate::prefetch::Place;
use crate::short_queue::ShortQueue;
use crate::sleeper::Sleeper;
use crate::table::{Effect, Rejection, Table};

/// Why a subscription is over: nothing comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The match ended, and every observation was delivered.
    Over(Outcome),
    /// The seat was joined elsewhere. Only a player's subscription ends so.
    Superseded,
    /// The seat has a newer token.
    TokenReplaced,
    /// The reader fell behind. It may resume after what it has got.
    Lagging,
    /// As many look on with the same eyes as may. It may come back later.
    Crowded {
        /// How many that are.
        limit: usize,
    },
    /// The server is stopping, or can't read the match.
    Stopped,
}

/// The subscriber's side of what is live.
pub(super) enum Live {
    /// Of a player.
    Played(Queue),
    /// Of someone who looks on.
    LookedOn(Reader),
}

impl Live {
    /// The next observation, or why there will be no more.
    pub(super) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Result<Arc<Shown>, End>> {
        match self {
            Self::Played(queue) => queue.poll_next(context),
            Self::LookedOn(reader) => reader.poll_next(context),
        }
    }

    /// Where what comes next is, if that is a player's own queue.
    pub(super) fn queue(&self) -> Option<Place> {
        match self {
            Self::Played(Queue(line)) => Some(Place::of(&**line)),
            Self::LookedOn(_) => None,
        }
    }

    /// Says where that is by which its reader is called, so that it can be fetched before it is.
    pub(super) fn is_called_by(&self, places: [Place; CALLED_BY]) {
        match self {
            Self::Played(Queue(line)) => line.called_by.set(places),
            Self::LookedOn(_) => {}
        }
    }

    /// Has the task of this context woken for what comes next, if it is known that nothing is there now.
    pub(super) fn sleeps(&self, context: &Context<'_>) -> bool {
        match self {
            Self::Played(queue) => queue.sleeps(context),
            Self::LookedOn(reader) => reader.sleeps(context),
        }
    }
}

/// The reader's side of a player's own queue. What is in it comes before the end.
pub(super) struct Queue(Arc<Line>);

/// A player's own queue, which its table fills and one reader empties.
struct Line {
    waiting: Mutex<Waiting>,
    called_by: CalledBy,
    backlog: Arc<Backlog>,
}

/// Where that is by which a reader is called, in what order: hints, which may be of what is no more.
#[derive(Default)]
struct CalledBy([AtomicUsize; CALLED_BY]);

/// How many pieces of memory that is.
pub(crate) const CALLED_BY: usize = 3;

impl CalledBy {
    fn set(&self, places: [Place; CALLED_BY]) {
        self.0.iter().zip(places).for_each(|(kept, place)| kept.store(place.bits(), Ordering::Relaxed));
    }

    fn places(&self) -> [Place; CALLED_BY] {
        self.0.each_ref().map(|place| Place::from_bits(place.load(Ordering::Relaxed)))
    }
}

/// What waits for one reader.
#[derive(Default)]
struct Waiting {
    shown: ShortQueue<Arc<Shown>>,
    bytes: usize,
    end: Option<End>,
    reader: Sleeper,
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // It is whole, whatever panicked.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes it, and wakes the reader.
    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.lock();
        change(&mut waiting);
        let reader = waiting.reader.wake();
        drop(waiting);
        reader.into_iter().for_each(Waker::wake);
    }
}

impl Waiting {
    /// Its reader waits until there is something.
    fn sleep(&mut self, context: &Context<'_>) {
        self.shown.shrink_to(limits::QUEUE_KEPT);
        self.reader.sleep(context);
    }

    fn is_read(&self) -> bool {
        !self.reader.is_gone()
    }
}

impl Queue {
    /// The next observation, or why there will be no more.
    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Result<Arc<Shown>, End>> {
        let mut waiting = self.0.lock();
        if let Some(shown) = waiting.shown.pop_front() {
            waiting.bytes -= shown.bytes();
            self.0.backlog.remove(shown.bytes());
            return Poll::Ready(Ok(shown));
        }
        if let Some(end) = &waiting.end {
            return Poll::Ready(Err(end.clone()));
        }
        waiting.sleep(context);
        Poll::Pending
    }

    /// Has the task of this context woken for what comes next, if nothing is there now.
    fn sleeps(&self, context: &Context<'_>) -> bool {
        let mut waiting = self.0.lock();
        let is_empty = waiting.shown.is_empty() && waiting.end.is_none();
        if is_empty {
            waiting.sleep(context);
        }
        is_empty
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.reader = Sleeper::Gone;
        waiting.shown = ShortQueue::new();
        self.0.backlog.remove(std::mem::take(&mut waiting.bytes));
    }
}

/// The table's side of a player's queue. Dropped without an end, it is that of a table whose task is gone.
struct Player {
    seat: Seat,
    views: Views,
    line: Arc<Line>,
}

impl Player {
    fn send(&self, shown: Arc<Shown>, most: Most) -> Result<(), Unsent> {
        let bytes = shown.bytes();
        let mut waiting = self.line.lock();
        if !waiting.is_read() {
            return Err(Unsent::Gone);
        }
        // One alone is always let through.
        if waiting.shown.len() >= most.observations
            || waiting.bytes > 0 && waiting.bytes.saturating_add(bytes) > most.bytes
        {
            return Err(Unsent::Full);
        }
        waiting.shown.push_back(shown);
        waiting.bytes += bytes;
        self.line.backlog.add(bytes);
        let reader = waiting.reader.wake();
        drop(waiting);
        reader.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn is_here(&self) -> bool {
        self.line.lock().is_read()
    }

    /// Ends it, behind what is in it.
    fn finish(&self, end: End) {
        self.line.change(|waiting| {
            waiting.end.get_or_insert(end);
        });
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.finish(End::Stopped);
    }
}

/// Why an observation can't be queued. Nothing more is sent to whom it was for.
enum Unsent {
    Full,
    Gone,
}

/// Those who look on with the same eyes and are shown the same of it.
struct Onlookers {
    viewer: Viewer,
    views: Views,
    broadcast: Broadcast,
}

/// Players that a table has in its own memory. Those of more are elsewhere.
const FEW_PLAYERS: usize = 2;

/// The subscribers of one table: players, each with a queue of its own, and those who look on, who share a log with all
/// that see the same.
pub(super) struct Subscribers {
    players: SmallVec<[Player; FEW_PLAYERS]>,
    onlookers: Vec<Onlookers>,
    most_onlookers: usize,
    most_observations: usize,
    backlog: Arc<Backlog>,
}

impl Subscribers {
    /// Has fetched what it takes to show the players something.
    pub(super) fn prefetch(&self) {
        self.players.iter().for_each(|player| Place::of(&*player.line).fetch());
    }

    /// Has fetched what players are called by, where they have said that. Their queues were fetched by now.
    pub(super) fn prefetch_readers(&self) {
        self.players
            .iter()
            .for_each(|player| player.line.called_by.places().into_iter().for_each(Place::fetch));
    }

    pub(super) fn new(limits: &Limits, backlog: Arc<Backlog>) -> Self {
        let &Limits { subscribers: most_onlookers, queued_observations: most_observations, .. } = limits;
        Self { players: SmallVec::new(), onlookers: Vec::new(), most_onlookers, most_observations, backlog }
    }

    /// Adds one, from the next observation on.
    ///
    /// The limit is for those who look on with the same eyes, so that spectators can't keep a seat from its own view,
    /// nor one seat another. The player of a seat is one, and always let in.
    pub(super) fn add(&mut self, audience: Audience, views: Views) -> Result<Live, Rejection> {
        match audience {
            Audience::Player(access, _) => Ok(Live::Played(self.add_player(access.seat, views))),
            Audience::Observer(_) | Audience::Spectator => self.add_onlooker(audience.viewer(), views),
        }
    }

    fn add_player(&mut self, seat: Seat, views: Views) -> Queue {
        self.players.retain(|player| player.is_here());
        let (waiting, called_by) = (Mutex::default(), CalledBy::default());
        let line = Arc::new(Line { waiting, called_by, backlog: Arc::clone(&self.backlog) });
        self.players.push(Player { seat, views, line: Arc::clone(&line) });
        Queue(line)
    }

    /// Whether there is room for one more.
    pub(super) fn check_room(&self, audience: Audience) -> Result<(), Rejection> {
        match audience {
            Audience::Player(..) => Ok(()),
            Audience::Observer(_) | Audience::Spectator => self.check_room_for(audience.viewer()),
        }
    }

    fn check_room_for(&self, viewer: Viewer) -> Result<(), Rejection> {
        let same_eyes = self.onlookers.iter().filter(|onlookers| onlookers.viewer == viewer);
        if same_eyes.map(|onlookers| onlookers.broadcast.readers()).sum::<usize>() >= self.most_onlookers {
            return Err(Rejection::TooManySubscribers { limit: self.most_onlookers });
        }
        Ok(())
    }

    fn add_onlooker(&mut self, viewer: Viewer, views: Views) -> Result<Live, Rejection> {
        self.check_room_for(viewer)?;
        let shown_the_same = |onlookers: &Onlookers| onlookers.viewer == viewer && onlookers.views == views;
        let onlookers = if let Some(index) = self.onlookers.iter().position(shown_the_same) {
            &mut self.onlookers[index]
        } else {
            let broadcast = Broadcast::new(Arc::clone(&self.backlog));
            self.onlookers.push_mut(Onlookers { viewer, views, broadcast })
        };
        Ok(Live::LookedOn(onlookers.broadcast.reader()))
    }

    /// Shows everyone what an entry came to, the players first. A reader without room is cut, never skipped.
    pub(super) fn publish(&mut self, table: &Table, effect: &Effect) {
        self.onlookers.retain(|onlookers| onlookers.broadcast.readers() > 0);
        let Self { players, onlookers, .. } = &*self;
        let mut made: Vec<(Viewer, Option<Arc<Shown>>)> = Vec::new();
        let mut shown = |viewer| {
            if let Some((_, shown)) = made.iter().find(|(of, _)| *of == viewer) {
                return shown.clone();
            }
            let views = if wants_view(players, onlookers, viewer) {
                Views::EveryDecision
            } else {
                Views::SnapshotsOnly
            };
            let shown = observe(table, effect, viewer, views).map(Shown::new).map(Arc::new);
            // A seat has one player, as a rule.
            if !onlookers.is_empty() {
                made.push((viewer, shown.clone()));
            }
            shown
        };
        let most = Most { observations: self.most_observations, bytes: self.backlog.most_of_queue() };
        let behind = |readers: usize| {
            tracing::info!(match_id = %table.match_id(), readers, "cut readers that fell behind");
        };
        let unsent = |(index, player): (usize, &Player)| {
            let sent = player.send(shown(Viewer::Seat(player.seat))?, most);
            sent.err().map(|unsent| (index, unsent))
        };
        let unsent: Vec<_> = players.iter().enumerate().filter_map(unsent).collect();
        for Onlookers { viewer, broadcast, .. } in onlookers {
            let Some(shown) = shown(*viewer) else { continue };
            match broadcast.show(shown, most) {
                0 => {}
                readers => behind(readers),
            }
        }
        for (index, unsent) in unsent.into_iter().rev() {
            let player = self.players.remove(index);
            if matches!(unsent, Unsent::Full) {
                behind(1);
                player.finish(End::Lagging);
            }
        }
    }

    /// Whether the player of a seat is here.
    pub(super) fn has_player(&self, seat: Seat) -> bool {
        self.players.iter().any(|player| player.seat == seat && player.is_here())
    }

    /// Whether anybody looks with the eyes of a seat, its player or another who has its token.
    pub(super) fn has_anyone(&self, seat: Seat) -> bool {
        let look_on = |onlookers: &Onlookers| {
            onlookers.viewer == Viewer::Seat(seat) && onlookers.broadcast.readers() > 0
        };
        self.has_player(seat) || self.onlookers.iter().any(look_on)
    }

    /// Ends the player of a seat, whom another join replaces.
    pub(super) fn supersede(&mut self, seat: Seat) {
        self.finish_players(&End::Superseded, |of| of == seat);
    }

    /// Ends all of a seat, whose token was replaced.
    pub(super) fn replace_token(&mut self, seat: Seat) {
        self.finish_players(&End::TokenReplaced, |of| of == seat);
        self.finish_onlookers(&End::TokenReplaced, |viewer| viewer == Viewer::Seat(seat));
    }

    /// Ends all.
    pub(super) fn finish_all(&mut self, end: &End) {
        self.finish_players(end, |_| true);
        self.finish_onlookers(end, |_| true);
    }

    fn finish_players(&mut self, end: &End, which: impl Fn(Seat) -> bool) {
        self.players.retain(|player| {
            let ends = which(player.seat);
            if ends {
                player.finish(end.clone());
            }
            !ends
        });
    }

    fn finish_onlookers(&mut self, end: &End, which: impl Fn(Viewer) -> bool) {
        for Onlookers { broadcast, .. } in self.onlookers.extract_if(.., |onlookers| which(onlookers.viewer))
        {
            broadcast.finish(end.clone());
        }
    }
}

/// Whether anybody who looks with these eyes is shown a view with every decision: it is made for nobody else.
fn wants_view(players: &[Player], onlookers: &[Onlookers], viewer: Viewer) -> bool {
    let of_player =
        |player: &Player| Viewer::Seat(player.seat) == viewer && player.views == Views::EveryDecision;
    let of_onlookers =
        |onlookers: &Onlookers| onlookers.viewer == viewer && onlookers.views == Views::EveryDecision;
    players.iter().any(of_player) || onlookers.iter().any(of_onlookers)
}
