//! `WatchStandings`: who follows the standings of a ladder, and what is told of what has changed.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry as MapEntry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::watch::{self, error::RecvError},
    time::{Instant, sleep_until},
};
use tonic::Status;
use zetema_proto::v1::{self, watch_standings_response::Kind};

use super::{drain::Drain, fault::Fault, ladder_service::standing_to_wire};
use crate::{
    admission::Address,
    journal::BotName,
    ladders::{Luck, LuckChange, Picture, Row},
    limits,
};

/// The streams of standings that are open, counted by the addresses that follow them. `None`: no connection is behind it.
#[derive(Debug, Clone, Default)]
pub(super) struct StandingsStreams(Arc<Mutex<HashMap<Option<Address>, usize>>>);

/// The room of one of them.
#[derive(Debug)]
pub(super) struct Room {
    streams: StandingsStreams,
    address: Option<Address>,
}

impl StandingsStreams {
    /// Takes the room of one more.
    pub(super) fn room(&self, address: Option<Address>) -> Result<Room, Fault> {
        let mut open = self.open();
        let (all, own) = (open.values().sum::<usize>(), open.get(&address).copied().unwrap_or(0));
        if own >= limits::MAX_STANDINGS_STREAMS_PER_ADDRESS {
            return Err(Fault::limit(format!(
                "you have {own} streams of standings open, the limit: close some"
            )));
        }
        if all >= limits::MAX_STANDINGS_STREAMS {
            return Err(Fault::limit(format!(
                "{all} streams of standings are open, the limit: try again later"
            )));
        }
        open.insert(address, own + 1);
        Ok(Room { streams: self.clone(), address })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Option<Address>, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        if let MapEntry::Occupied(mut own) = open.entry(self.address) {
            *own.get_mut() -= 1;
            if *own.get() == 0 {
                own.remove();
            }
        }
    }
}

/// One who follows the standings of a ladder.
pub(super) struct Watching {
    picture: watch::Receiver<Arc<Picture>>,
    luck: Arc<Luck>,
    luck_changes: watch::Receiver<LuckChange>,
    drain: Drain,
    drain_told: bool,
    /// What it was shown last.
    shown: Option<Shown>,
    _room: Room,
}

/// What somebody was shown.
struct Shown {
    picture: Arc<Picture>,
    /// The last change of luck that is in it.
    luck: LuckChange,
    at: Instant,
}

impl Watching {
    /// One who was told nothing yet.
    pub(super) fn new(
        picture: watch::Receiver<Arc<Picture>>,
        luck: Arc<Luck>,
        drain: Drain,
        room: Room,
    ) -> Self {
        let luck_changes = luck.changes();
        Self { picture, luck, luck_changes, drain, drain_told: false, shown: None, _room: room }
    }

    /// What is there now.
    fn look(&mut self) -> Shown {
        let picture = Arc::clone(&self.picture.borrow_and_update());
        Shown { picture, luck: *self.luck_changes.borrow_and_update(), at: Instant::now() }
    }
}

/// What is told next, and who follows while that goes on.
pub(super) async fn next(
    watching: Option<Watching>,
) -> Option<(Result<v1::WatchStandingsResponse, Status>, Option<Watching>)> {
    let mut watching = watching?;
    loop {
        let Watching { picture, luck_changes, drain, drain_told, shown, .. } = &mut watching;
        if let Some(shown) = shown {
            tokio::select! {
                biased;
                () = drain.draining().cancelled(), if !*drain_told => {
                    *drain_told = true;
                    let v1::Draining { reconnect_after_ms, stops_in_ms } = drain.message();
                    let kind = Kind::Draining(v1::StandingsDraining { reconnect_after_ms, stops_in_ms });
                    let result_number = shown.picture.result_number.get();
                    let message = v1::WatchStandingsResponse { result_number, kind: Some(kind) };
                    return Some((Ok(message), Some(watching)));
                }
                () = drain.closing().cancelled() => {
                    return Some((Err(Fault::draining(Duration::ZERO).into()), None));
                }
                changed = picture.changed() => if changed.is_err() {
                    return Some((Err(Fault::draining(Duration::ZERO).into()), None));
                },
                changed = luck_changed(luck_changes, shown.at) => if changed.is_err() {
                    return Some((Err(Fault::draining(Duration::ZERO).into()), None));
                },
            }
        }
        let now = watching.look();
        if let Some(kind) = difference(watching.shown.as_ref(), &now, &watching.luck) {
            let result_number = now.picture.result_number.get();
            let message = v1::WatchStandingsResponse { result_number, kind: Some(kind) };
            watching.shown = Some(now);
            return Some((Ok(message), Some(watching)));
        }
        watching.shown = Some(now);
    }
}

/// Waits until luck has changed, and as much of it as comes within a while is there.
async fn luck_changed(changes: &mut watch::Receiver<LuckChange>, shown_at: Instant) -> Result<(), RecvError> {
    sleep_until(shown_at + limits::LUCK_TOLD_EVERY).await;
    changes.changed().await
}

/// What somebody is told who was shown this before; `None` if no standing has changed, nor what a bot scores a match.
fn difference(before: Option<&Shown>, now: &Shown, luck: &Luck) -> Option<Kind> {
    let rows = &now.picture.rows;
    let all = || {
        let shown = rows.iter().take(limits::MAX_STANDINGS_IN_MESSAGE);
        Kind::All(v1::AllStandings { standings: shown.map(|row| standing_to_wire(row, luck)).collect() })
    };
    let Some(before) = before else { return Some(all()) };
    let changed = changed(before, now, luck);
    match changed.len() {
        0 => None,
        1..=limits::MAX_STANDINGS_IN_MESSAGE => {
            let standings = changed.into_iter().map(|row| standing_to_wire(row, luck)).collect();
            Some(Kind::Changed(v1::ChangedStandings { standings }))
        }
        _ => Some(all()),
    }
}

/// The rows that are others, or whose bots score otherwise, by their rank.
fn changed<'a>(before: &Shown, now: &'a Shown, luck: &Luck) -> Vec<&'a Row> {
    let rows = &now.picture.rows;
    let by_luck = if before.luck == now.luck {
        Vec::new()
    } else {
        luck.changed_since(before.luck, rows.iter(), |row| &row.bot)
    };
    if Arc::ptr_eq(&before.picture.rows, rows) {
        return by_luck;
    }
    let known: HashMap<&BotName, &Row> = before.picture.rows.iter().map(|row| (&row.bot, row)).collect();
    let by_luck: HashSet<&BotName> = by_luck.into_iter().map(|row| &row.bot).collect();
    let is_other = |row: &&Row| known.get(&row.bot) != Some(row) || by_luck.contains(&row.bot);
    rows.iter().filter(is_other).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests;
