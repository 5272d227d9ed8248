//! A table with a log in place of a journal.

use std::sync::Arc;
use std::time::Duration;

use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{NamedTimeControl, TimeControl};
use zetema_rules::{Players, Preset, Rules, Seat, Teams, Viewer};

use crate::journal::{MatchId, UnixMillis, Visibility};
use crate::table::{
    Arrival, Change, Choice, Command, Created, Deals, Decided, Done, Entry, FairShuffler, LadderRates,
    Moment, Observation, Receipt, Rejection, SeatAccess, SeatSpec, Shuffler, Table,
};

pub(super) fn at_ms(ms: u64) -> Moment {
    Moment::since_start(Duration::from_millis(ms))
}

pub(super) fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

pub(super) fn access(index: usize) -> SeatAccess {
    SeatAccess { seat: seat(index), generation: 1 }
}

pub(super) fn nonce(index: usize) -> Nonce {
    Nonce::new(format!("nonce {index}").as_bytes()).unwrap()
}

pub(super) fn created(rules: Rules, deals: Deals, seed: u8, time_control: TimeControl) -> Entry {
    let at = UnixMillis::new(1_700_000_000_000);
    let created = Created {
        match_id: MatchId::from_bytes([seed ^ 0xFF; 16]),
        at,
        rules_revision: zetema_rules::RULES_REVISION,
        rules,
        seats: rules.seats().map(|_| SeatSpec::Token).collect(),
        deals,
        server_seed: ServerSeed::new([seed; 32]),
        time_control,
        visibility: Visibility::Private,
        client_reference: None,
        owner: None,
        ladder: None,
        ladder_rates: LadderRates::default(),
    };
    Entry { at, change: Change::Created(Arc::new(created)) }
}

/// A table, and what each viewer has observed of it.
pub(super) struct Harness {
    pub(super) table: Table,
    pub(super) now: Moment,
    /// Whether the seats have players.
    pub(super) attended: bool,
    pub(super) observed: Vec<(Viewer, Vec<Observation>)>,
}

impl Harness {
    pub(super) fn new(rules: Rules, deals: Deals, seed: u8, shuffler: Arc<dyn Shuffler>) -> Self {
        Self::of(created(rules, deals, seed, TimeControl::named(NamedTimeControl::None)), shuffler)
    }

    pub(super) fn of(created: Entry, shuffler: Arc<dyn Shuffler>) -> Self {
        let now = at_ms(0);
        let Change::Created(change) = &created.change else { panic!("not a creation") };
        let rules = change.rules;
        let mut table = Table::new(created, shuffler).unwrap();
        table.run_clock(now);
        let viewers = rules.seats().map(Viewer::Seat).chain([Viewer::Spectator]);
        let observed = viewers.map(|viewer| (viewer, Vec::new())).collect();
        Self { table, now, attended: true, observed }
    }

    /// A joint match in which everyone has joined, with nonces, and the cards are dealt.
    pub(super) fn dealt(rules: Rules, seed: u8) -> Self {
        let mut harness = Self::new(rules, Deals::Joint, seed, Arc::new(FairShuffler));
        harness.join_all();
        harness
    }

    pub(super) fn join_all(&mut self) {
        let seats = self.table.info().seats.len();
        for index in 0..seats {
            let nonce_hash = Some(nonce(index).hash());
            self.send(&Command::Join { access: access(index), nonce_hash }).unwrap();
        }
        for index in 0..seats {
            self.send(&Command::GiveNonce { access: access(index), nonce: nonce(index) }).unwrap();
        }
    }

    /// Does what the owner of a table does, with a journal that never fails.
    pub(super) fn send(&mut self, command: &Command) -> Result<Done, Rejection> {
        let arrival = Arrival { at: self.now, round_trip_ms: None };
        self.send_at(command, arrival)
    }

    pub(super) fn send_at(&mut self, command: &Command, arrival: Arrival) -> Result<Done, Rejection> {
        let done = loop {
            match self.table.decide(command, arrival) {
                Err(rejection) => break Err(rejection),
                Ok(Decided::Already(done)) => break Ok(done),
                Ok(Decided::Write(changes)) => {
                    self.apply(changes);
                    break Ok(self.table.done(command, arrival).expect("what is applied is done"));
                }
                Ok(Decided::TimedOut(changes)) => self.apply(changes),
            }
        };
        self.follow();
        done
    }

    /// Does what is due by itself.
    pub(super) fn follow(&mut self) {
        while let Some(changes) = self.table.next_change() {
            self.apply(changes);
        }
    }

    pub(super) fn act(&mut self, index: usize, decision: u32, choice: Choice) -> Result<Receipt, Rejection> {
        match self.send(&Command::Act { access: access(index), decision, choice })? {
            Done::Acted(receipt) => Ok(receipt),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn apply(&mut self, changes: Vec<Change>) {
        for change in changes {
            let entry = Entry { at: UnixMillis::new(1_700_000_001_000), change };
            let effect = self.table.apply(entry, self.now).unwrap();
            for (viewer, observed) in &mut self.observed {
                observed.extend(self.table.observe(&effect, *viewer));
            }
        }
    }

    /// The seat to act, as an index.
    pub(super) fn to_act(&self) -> usize {
        self.table.to_act().unwrap().index()
    }

    /// Plays legal actions, one by one number after the other, until the match is over.
    pub(super) fn play_out(&mut self, mut random: u32) {
        while let (Some(seat), Some(decision)) = (self.table.to_act(), self.table.decision()) {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let count = self.table.snapshot(Viewer::Seat(seat), at_ms(0)).to_decide.unwrap().len();
            let choice = Choice::LegalIndex((random >> 8) % u32::try_from(count).unwrap());
            self.act(seat.index(), decision, choice).unwrap();
        }
        assert!(self.table.outcome().is_some());
    }
}

/// Every preset with every number of players and team form that it allows.
pub(super) fn all_rules() -> impl Iterator<Item = Rules> {
    let teams = |preset: Preset, count: u8| {
        let players = Players::new(count.into()).unwrap();
        preset
            .teams(players)
            .iter()
            .map(move |&teams: &Teams| preset.rules(count.into(), Some(teams)).unwrap())
    };
    Preset::ALL
        .into_iter()
        .flat_map(move |preset| preset.players().iter().flat_map(move |&count| teams(preset, count)))
}

/// What a viewer observes of these entries, and the table after them.
pub(super) fn replayed(entries: &[Entry], viewer: Viewer) -> (Vec<Observation>, Table) {
    let mut table = Table::new(entries[0].clone(), Arc::new(FairShuffler)).unwrap();
    let mut observed = Vec::new();
    for entry in &entries[1..] {
        let effect = table.apply(entry.clone(), at_ms(0)).unwrap();
        observed.extend(table.observe(&effect, viewer));
    }
    (observed, table)
}
