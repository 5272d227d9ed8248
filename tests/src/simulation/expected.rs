//! One match as it is stored: a table of its own that replays it, and all that each viewer must be shown of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use zetema_rules::{Action, Cards, PlayedBy, Seat, Suit, View, Viewer};
use zetema_service::table::{
    Change, ClockReading, Entry, FairShuffler, Moment, Observation, SeatState, Snapshot, Table, TableEvent,
};

use super::tally::Tally;
use super::time_line::{Spans, TimeLine};

/// It does not matter to a clock that stands.
const STANDS: Moment = Moment::since_start(Duration::ZERO);

/// One match as it is stored.
pub(super) struct Expected {
    table: Table,
    viewers: Vec<Viewer>,
    /// What each viewer must be shown, in order.
    shown: Vec<Vec<Observation>>,
    /// What each seat answered, by decision, and its own observation that shows it.
    answers: BTreeMap<(u32, Seat), (Action, u64)>,
    nonces: Vec<Seat>,
    /// Since when it waits for what it waits for.
    opened: Instant,
    /// When its owner did not know what was stored.
    pub(super) away: Spans,
}

impl Expected {
    /// A match of which the creation is stored.
    pub(super) fn new(first: Entry) -> Result<Self, String> {
        let table = Table::new(first, Arc::new(FairShuffler)).map_err(|error| error.to_string())?;
        let seats = table.created().rules.seats().map(Viewer::Seat);
        let viewers: Vec<Viewer> = seats.chain([Viewer::Spectator]).collect();
        Ok(Self {
            shown: vec![Vec::new(); viewers.len()],
            viewers,
            table,
            answers: BTreeMap::new(),
            nonces: Vec::new(),
            opened: Instant::now(),
            away: Spans::default(),
        })
    }

    pub(super) fn imperial_suit(&self) -> Suit {
        self.table.created().rules.imperial_suit
    }

    /// The match as it is stored.
    pub(super) const fn table(&self) -> &Table {
        &self.table
    }

    pub(super) fn seat_state(&self, seat: Seat) -> SeatState {
        self.table.info().seats[seat.index()].state
    }

    /// The cards that a seat holds, once there was a deal.
    pub(super) fn hand(&self, seat: Seat) -> Option<Cards> {
        self.table.snapshot(Viewer::Seat(seat), STANDS).view.map(|view| view.hand)
    }

    /// What a seat answered, faults included, and its own observation that shows it.
    pub(super) fn answer(&self, seat: Seat, decision: u32) -> Option<(Action, u64)> {
        self.answers.get(&(decision, seat)).copied()
    }

    /// How many observations a viewer must have been shown by now.
    pub(super) fn shown_to(&self, viewer: Viewer) -> usize {
        self.shown[self.index(viewer)].len()
    }

    /// The observation of a viewer with this number, if it is stored.
    pub(super) fn shown(&self, viewer: Viewer, seq: u64) -> Option<Observation> {
        let place = usize::try_from(seq).ok()?.checked_sub(1)?;
        self.shown[self.index(viewer)].get(place).cloned()
    }

    fn index(&self, viewer: Viewer) -> usize {
        match viewer {
            Viewer::Seat(seat) => seat.index(),
            Viewer::Spectator => self.viewers.len() - 1,
        }
    }

    /// Takes in an entry that is stored next.
    pub(super) fn apply(
        &mut self,
        entry: &Entry,
        time_line: &TimeLine,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let before = self.table.decision();
        if let Some(ledger) = entry.change.ledger() {
            let cost_ms = ledger.charge.charged_ms + u64::from(ledger.charge.credit_ms);
            let chargeable_ms = time_line.chargeable_ms(self.opened, &self.away);
            if cost_ms > chargeable_ms {
                return Err(format!(
                    "decision {} of seat {} cost {cost_ms} ms, and {chargeable_ms} ms at most can be charged",
                    ledger.decision, ledger.seat
                ));
            }
        }
        if let Change::NonceGiven { seat, .. } = &entry.change {
            if self.nonces.contains(seat) {
                return Err(format!("two nonces of seat {seat} are stored"));
            }
            self.nonces.push(*seat);
        }
        let effect = self.table.apply(entry.clone(), STANDS).map_err(|error| error.to_string())?;
        for (viewer, shown) in self.viewers.iter().zip(&mut self.shown) {
            let Some(observation) = self.table.observe(&effect, *viewer) else { continue };
            if observation.seq != shown.len() as u64 + 1 {
                return Err(format!("{viewer:?} sees {} after {} (I4)", observation.seq, shown.len()));
            }
            let timed_out = |event: &&TableEvent| matches!(event, TableEvent::TimedOut { .. });
            if *viewer == Viewer::Spectator {
                tally.timeouts += observation.events.iter().filter(timed_out).count() as u64;
            }
            shown.push(observation);
        }
        match &entry.change {
            Change::Acted { seat, decision, action, by: PlayedBy::Player, .. } => {
                let seq = self.table.seq(Viewer::Seat(*seat));
                if self
                    .answers
                    .insert((*decision, *seat), (*action, seq))
                    .is_some_and(|(first, _)| first != *action)
                    && !self.table.created().rules.exposed_card_penalty
                {
                    return Err(format!("decision {decision} is answered twice (I2)"));
                }
                tally.actions += 1;
            }
            Change::Faulted { seat, decision, card } => {
                let seq = self.table.seq(Viewer::Seat(*seat));
                self.answers.insert((*decision, *seat), (Action::Discard(*card), seq));
            }
            _ => {}
        }
        if self.table.decision() != before || before.is_none() {
            self.opened = Instant::now();
        }
        self.check_cards(tally)
    }

    /// Every card of the pack is in one place, by the views that come with each new decision. What is no new decision
    /// shows none: the tally says how often they were counted.
    fn check_cards(&self, tally: &mut Tally) -> Result<(), String> {
        let views =
            self.shown.iter().map(|shown| shown.last().and_then(|last| last.view.as_deref().copied()));
        let views: Option<Vec<View>> = views.collect();
        let Some((spectator, seats)) = views.as_ref().and_then(|views| views.split_last()) else {
            return Ok(());
        };
        tally.packs_counted += 1;
        let rules = spectator.rules;
        let hands = seats.iter().fold(Cards::EMPTY, |all, view| all.sum(view.hand));
        let known = spectator.public.played(&rules).sum(hands);
        let counted: usize = seats.iter().map(|view| view.hand.len()).sum::<usize>()
            + spectator.public.played(&rules).len()
            + usize::from(spectator.public.stock_count);
        let pack = Cards::pack(rules.imperial_suit);
        if counted != pack.len() || !pack.contains_all(known) {
            return Err(format!("of {} cards there are {counted}", pack.len()));
        }
        if !spectator.hand.is_empty() {
            return Err("a spectator sees a hand (I3)".to_owned());
        }
        match seats.iter().find(|view| view.public != spectator.public) {
            Some(view) => Err(format!("{:?} and the spectator see other things", view.viewer)),
            None => Ok(()),
        }
    }

    /// Whether a viewer may be shown this.
    pub(super) fn check_observation(&self, viewer: Viewer, observation: &Observation) -> Result<(), String> {
        let shown = &self.shown[self.index(viewer)];
        let place = usize::try_from(observation.seq).unwrap_or(usize::MAX).checked_sub(1);
        match place.and_then(|place| shown.get(place)) {
            None => Err(format!("{} are stored (I1)", shown.len())),
            Some(right) if right == observation => Ok(()),
            Some(_) => Err("it is another than what is stored (I3, I4)".to_owned()),
        }
    }

    /// Whether a viewer may be given this snapshot: it is of now, or of a moment ago.
    pub(super) fn check_snapshot(&self, viewer: Viewer, snapshot: &Snapshot) -> Result<(), String> {
        if snapshot.seq > self.table.seq(viewer) {
            return Err(format!("{} are stored (I1)", self.table.seq(viewer)));
        }
        let given = standing(snapshot.clone());
        if standing(self.table.snapshot(viewer, STANDS)) == given {
            return Ok(());
        }
        let mut table = self.table.restart().map_err(|error| error.to_string())?;
        for entry in self.table.entries_from(1) {
            if table.seq(viewer) == snapshot.seq && standing(table.snapshot(viewer, STANDS)) == given {
                return Ok(());
            }
            table.apply(entry.clone(), STANDS).map_err(|error| error.to_string())?;
        }
        Err("it is another than what is stored (I3, I4)".to_owned())
    }
}

/// A snapshot without what only the moment tells.
fn standing(mut snapshot: Snapshot) -> Snapshot {
    snapshot.clock = snapshot.clock.map(|clock| ClockReading { elapsed_ms: 0, ..clock });
    snapshot
}
