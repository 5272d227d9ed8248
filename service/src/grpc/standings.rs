//! `WatchStandings`: who follows the standings of a ladder, and what is told of what has changed.

use std::{
    collections::{HashMap, hash_map::Entry as MapEntry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use tonic::Status;
use zetema_proto::v1::{self, watch_standings_response::Kind};

use super::{drain::Drain, fault::Fault, ladder_service::standing_to_wire};
use crate::{
    admission::Address,
    journal::BotName,
    ladders::{Luck, Picture, Row},
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
    drain: Drain,
    drain_told: bool,
    /// What it was shown last.
    shown: Option<Arc<Picture>>,
    _room: Room,
}

impl Watching {
    /// One who was told nothing yet.
    pub(super) const fn new(
        picture: watch::Receiver<Arc<Picture>>,
        luck: Arc<Luck>,
        drain: Drain,
        room: Room,
    ) -> Self {
        Self { picture, luck, drain, drain_told: false, shown: None, _room: room }
    }
}

/// What is told next, and who follows while that goes on.
pub(super) async fn next(
    watching: Option<Watching>,
) -> Option<(Result<v1::WatchStandingsResponse, Status>, Option<Watching>)> {
    let mut watching = watching?;
    loop {
        if watching.shown.is_some() {
            let Watching { picture, drain, drain_told, .. } = &mut watching;
            tokio::select! {
                biased;
                () = drain.draining().cancelled(), if !*drain_told => {
                    *drain_told = true;
                    let v1::Draining { reconnect_after_ms, stops_in_ms } = drain.message();
                    let kind = Kind::Draining(v1::StandingsDraining { reconnect_after_ms, stops_in_ms });
                    let result_number = watching.shown.as_ref().map_or(0, |shown| shown.result_number.get());
                    let message = v1::WatchStandingsResponse { result_number, kind: Some(kind) };
                    return Some((Ok(message), Some(watching)));
                }
                () = drain.closing().cancelled() => {
                    return Some((Err(Fault::draining(Duration::ZERO).into()), None));
                }
                changed = picture.changed() => if changed.is_err() {
                    return Some((Err(Fault::draining(Duration::ZERO).into()), None));
                },
            }
        }
        let now = Arc::clone(&watching.picture.borrow_and_update());
        if let Some(kind) = difference(watching.shown.as_deref(), &now, &watching.luck) {
            let message =
                v1::WatchStandingsResponse { result_number: now.result_number.get(), kind: Some(kind) };
            watching.shown = Some(now);
            return Some((Ok(message), Some(watching)));
        }
        watching.shown = Some(now);
    }
}

/// What somebody is told who was shown this before; `None` if no standing has changed.
fn difference(before: Option<&Picture>, now: &Picture, luck: &Luck) -> Option<Kind> {
    let all = || {
        let shown = now.rows.iter().take(limits::MAX_STANDINGS_IN_MESSAGE);
        Kind::All(v1::AllStandings { standings: shown.map(|row| standing_to_wire(row, luck)).collect() })
    };
    let Some(before) = before else { return Some(all()) };
    if Arc::ptr_eq(&before.rows, &now.rows) {
        return None;
    }
    let known: HashMap<&BotName, &Row> = before.rows.iter().map(|row| (&row.bot, row)).collect();
    let changed: Vec<&Row> = now.rows.iter().filter(|row| known.get(&row.bot) != Some(row)).collect();
    match changed.len() {
        0 => None,
        1..=limits::MAX_STANDINGS_IN_MESSAGE => {
            let standings = changed.into_iter().map(|row| standing_to_wire(row, luck)).collect();
            Some(Kind::Changed(v1::ChangedStandings { standings }))
        }
        _ => Some(all()),
    }
}
