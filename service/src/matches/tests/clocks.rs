//! The table of time controls: control × event × what the ledger says and how the match ends.

use std::time::Duration;

use tokio::time::sleep;
use zetema_proto::Views;
use zetema_rules::{
    AbortReason, Attendance, ClockOptions, DecisionClock, DecisionTime, ForfeitReason, LedgerEntry,
    NamedTimeControl, Outcome, Preset, Record, Step, TimeControl, TimeOut,
};

use super::fake::{FakeJournal, Fate};
use super::harness::*;
use crate::encoding::decode_record;
use crate::journal::MatchId;
use crate::limits;
use crate::matches::{Audience, Matches};
use crate::table::{Arrival, Choice, ClosedBy, Command, DealSpec, Done, Rejection, SeatAccess};

/// What happens in a match of two, which before and after is played without a pause.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Nobody answers the first decision.
    OutInTheFirst,
    /// A seat uses half its bank, and gives no answer to its second decision.
    OutInTheBank,
    /// A seat is cut off in its second decision, and answers late.
    Disconnect,
    /// The server is down for an hour when next to nothing is left of a decision, which is then answered late.
    Restart,
    /// The answer comes when the time is out, to the millisecond.
    SameInstant,
    /// The answer comes a millisecond earlier.
    LastInstant,
    /// The answer comes at that last instant, and is read when the time is out.
    ReadLate,
    /// Nobody answers anything.
    SilentForEver,
    /// A seat resigns when its time is almost out.
    Resigns,
}

const EVENTS: [Event; 9] = [
    Event::OutInTheFirst,
    Event::OutInTheBank,
    Event::Disconnect,
    Event::Restart,
    Event::SameInstant,
    Event::LastInstant,
    Event::ReadLate,
    Event::SilentForEver,
    Event::Resigns,
];

/// The round trip of every answer.
const ROUND_TRIP_MS: u32 = 80;

fn controls() -> Vec<(&'static str, TimeControl)> {
    let plain = ClockOptions {
        budget_ms: 1_000,
        first_budget_ms: 1_000,
        bank_ms: 2_000,
        increment_ms: 0,
        network_credit_ms: 0,
        network_credit_total_ms: 0,
        time_out: TimeOut::Forfeit,
    };
    let own = |options| {
        let clock = DecisionClock::new(options).unwrap();
        TimeControl::new(600_000, DecisionTime::Clock(clock)).unwrap()
    };
    let named = NamedTimeControl::ALL.into_iter().map(|named| (named.name(), TimeControl::named(named)));
    let mut controls = vec![
        ("forfeit", own(plain)),
        ("3 strikes", own(ClockOptions { time_out: TimeOut::Autoplay { strikes: 3 }, ..plain })),
        ("increment", own(ClockOptions { increment_ms: 500, ..plain })),
        ("first budget", own(ClockOptions { first_budget_ms: 5_000, ..plain })),
        ("credit", own(ClockOptions { network_credit_ms: 60, network_credit_total_ms: 100, ..plain })),
    ];
    controls.extend(named);
    controls
}

/// A match of two, and its players.
struct Duel {
    journal: FakeJournal,
    matches: Matches,
    id: MatchId,
    generations: [u32; 2],
    decision: u32,
}

impl Duel {
    async fn new(time_control: TimeControl) -> Self {
        let journal = FakeJournal::new();
        let matches = open(&journal).await;
        let spec = crate::table::MatchSpec { time_control, ..spec(Preset::Sackson, 2, DealSpec::Joint) };
        let info = create_one(&matches, spec).await;
        join_all(&matches, &info).await;
        Self { journal, matches, id: info.match_id, generations: [1; 2], decision: 1 }
    }

    fn arrival(&self) -> Arrival {
        self.matches.arrival(Some(ROUND_TRIP_MS))
    }

    /// Asks the table as the seat that is to act.
    async fn ask(
        &self,
        arrival: Arrival,
        command: impl Fn(SeatAccess) -> Command,
    ) -> Result<Done, Rejection> {
        let mut to_act = 0;
        loop {
            let access = SeatAccess { seat: seat(to_act), generation: self.generations[to_act] };
            match self.matches.command(self.id, command(access), arrival).await {
                Err(Rejection::NotYourTurn { to_act: other, .. }) => to_act = other.index(),
                done => return done,
            }
        }
    }

    async fn to_act(&self) -> usize {
        let first = self.matches.command(self.id, self.act(self.decision, 1_000, 0), self.arrival()).await;
        match first {
            Err(Rejection::NotYourTurn { to_act, .. }) => to_act.index(),
            Err(Rejection::NoSuchIndex { .. }) => 0,
            other => panic!("{other:?}"),
        }
    }

    fn act(&self, decision: u32, index: u32, seat_index: usize) -> Command {
        let access = SeatAccess { seat: seat(seat_index), generation: self.generations[seat_index] };
        Command::Act { access, decision, choice: Choice::LegalIndex(index) }
    }

    /// Answers the current decision.
    async fn answer(&mut self) -> Result<Done, Rejection> {
        self.answer_by(self.arrival()).await
    }

    async fn answer_by(&mut self, arrival: Arrival) -> Result<Done, Rejection> {
        let decision = self.decision;
        let choice = Choice::LegalIndex(0);
        let done = self.ask(arrival, |access| Command::Act { access, decision, choice }).await;
        match &done {
            Ok(_) => self.decision += 1,
            Err(Rejection::DecisionOver { current, .. }) => self.decision = current.unwrap_or(self.decision),
            Err(_) => {}
        }
        done
    }

    /// Plays to the end without a pause.
    async fn play_on(&mut self) {
        loop {
            match self.answer().await {
                Ok(_) | Err(Rejection::DecisionOver { current: Some(_), .. }) => {}
                Err(Rejection::MatchOver | Rejection::DecisionOver { current: None, .. }) => return,
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    async fn record(&self) -> Record {
        drain(&mut observe(&self.matches, self.id, 0, Some(0)).await).await;
        let (record, _) = decode_record(&self.matches.record(self.id).await.unwrap().record).unwrap();
        record.verify().unwrap();
        record
    }
}

/// What a seat has before its first decision, in milliseconds.
struct Times {
    first: u64,
    budget: u64,
    bank: u64,
    credit: u64,
}

impl Times {
    fn of(control: &TimeControl) -> Self {
        control.clock().map_or(
            // Without a clock nothing is ever out.
            Self { first: 1_000, budget: 1_000, bank: 2_000, credit: 0 },
            |clock| Self {
                first: clock.first_budget_ms.into(),
                budget: clock.budget_ms.into(),
                bank: clock.bank_ms.into(),
                credit: clock.network_credit_ms.min(ROUND_TRIP_MS).into(),
            },
        )
    }

    /// When an answer to the first decision is too late.
    fn first_over_ms(&self) -> u64 {
        self.first + self.bank + self.credit
    }
}

async fn wait_ms(ms: u64) {
    sleep(Duration::from_millis(ms)).await;
}

async fn happen(duel: &mut Duel, times: &Times, event: Event) {
    let has_clock = duel.matches.get(duel.id).await.unwrap().time_control.clock().is_some();
    match event {
        Event::OutInTheFirst => wait_ms(times.first_over_ms() + 200).await,
        Event::OutInTheBank => {
            wait_ms(times.first + times.bank / 2).await;
            duel.answer().await.unwrap();
            duel.answer().await.unwrap();
            wait_ms(times.budget + times.bank + 1_000).await;
        }
        Event::Disconnect => {
            duel.answer().await.unwrap();
            duel.answer().await.unwrap();
            let cut = duel.to_act().await;
            drop(observe(&duel.matches, duel.id, cut, None).await);
            wait_ms(times.budget + 100).await;
            let resumed = observe(&duel.matches, duel.id, cut, None).await;
            let crate::matches::Start::Snapshot(snapshot) = resumed.start() else { panic!("no snapshot") };
            let elapsed_ms = snapshot.clock.map(|clock| clock.elapsed_ms);
            assert_eq!(elapsed_ms, has_clock.then_some(times.budget + 100));
            duel.answer().await.unwrap();
        }
        Event::Restart => {
            wait_ms(times.first_over_ms() - 1).await;
            duel.matches.stop().await;
            wait_ms(3_600_000).await;
            duel.matches = open(&duel.journal).await;
            wait_ms(u64::try_from(limits::RESTART_GRACE.as_millis()).unwrap() + times.first + 100).await;
            duel.answer().await.unwrap();
        }
        Event::SameInstant => {
            wait_ms(times.first_over_ms()).await;
            let answer = duel.answer().await;
            let late =
                matches!(answer, Err(Rejection::DecisionOver { closed_by: Some(ClosedBy::Clock), .. }));
            assert_eq!(late, has_clock, "{answer:?}");
        }
        Event::LastInstant => {
            wait_ms(times.first_over_ms() - 1).await;
            duel.answer().await.unwrap();
        }
        Event::ReadLate => {
            wait_ms(times.first_over_ms() - 1).await;
            let arrival = duel.arrival();
            // The table waits for the journal meanwhile.
            let other = 1 - duel.to_act().await;
            duel.journal.delay(Duration::from_secs(3));
            let rotated = tokio::spawn({
                let (matches, id) = (duel.matches.clone(), duel.id);
                async move { matches.rotate_token(id, seat(other)).await.unwrap() }
            });
            tokio::task::yield_now().await;
            duel.generations[other] = 2;
            let first = duel.act(1, 0, 1 - other);
            assert!(matches!(duel.matches.command(duel.id, first, arrival).await, Ok(Done::Acted(_))));
            duel.decision = 2;
            assert_eq!(rotated.await.unwrap(), 2);
        }
        Event::SilentForEver => {
            duel.record().await;
        }
        Event::Resigns => {
            wait_ms(times.first_over_ms() - 1).await;
            let resigned = duel.ask(duel.arrival(), |access| Command::Resign { access }).await;
            assert!(matches!(resigned, Ok(Done::Resigned { .. })), "{resigned:?}");
        }
    }
}

/// The entries of the ledger up to the first that nobody waited for, and how the match ended.
fn told(record: &Record) -> String {
    let ledger = &record.clocks.as_ref().unwrap().ledger;
    let waited = |entry: &&LedgerEntry| entry.charge.charged_ms > 0 || entry.received_ms.is_none();
    let entry = |entry: &LedgerEntry| {
        let received = entry.received_ms.map_or("out".to_owned(), |ms| ms.to_string());
        let interrupted = if entry.interrupted { " interrupted" } else { "" };
        format!(
            "{}: {} to {received}, credit {}, charged {}, bank {}{interrupted}",
            entry.decision,
            entry.published_ms,
            entry.charge.credit_ms,
            entry.charge.charged_ms,
            entry.charge.bank_ms,
        )
    };
    let waited: Vec<String> = ledger.iter().filter(waited).map(entry).collect();
    let forfeit = record.steps.iter().find_map(|step| match step {
        Step::Forfeit { seat, reason } => Some((*seat, *reason)),
        _ => None,
    });
    let end = match (&record.outcome, forfeit) {
        (Outcome::Result(result), Some((seat, reason))) => {
            assert_eq!(result.ranks[seat.index()], 2, "a forfeit is the last place (R25)");
            match reason {
                ForfeitReason::Resigned => "resigned",
                ForfeitReason::OutOfTime => "out of time",
                ForfeitReason::OutOfStrikes => "out of strikes",
            }
        }
        (Outcome::Result(_), None) => "played",
        (Outcome::Aborted { reason: AbortReason::Idle, .. }, _) => "aborted, idle",
        (other, _) => panic!("{other:?}"),
    };
    format!("{} | {end}", if waited.is_empty() { "-".to_owned() } else { waited.join("; ") })
}

#[tokio::test(start_paused = true)]
async fn every_time_control_charges_and_ends_as_the_table_says() {
    let mut table = Vec::new();
    for (name, control) in controls() {
        for event in EVENTS {
            let mut duel = Duel::new(control).await;
            happen(&mut duel, &Times::of(&control), event).await;
            duel.play_on().await;
            table.push(format!("{name} | {event:?} | {}", told(&duel.record().await)));
        }
    }
    let (is, should) = (table.join("\n"), include_str!("clocks.txt").trim_end());
    assert!(is == should, "clocks.txt should say:\n{is}");
}

#[tokio::test(start_paused = true)]
async fn a_time_out_says_whether_its_seat_had_a_stream() {
    let (_, control) = controls().remove(0);
    let (present, absent) = (Attendance::Present, Attendance::Absent);
    // Of a player on Play, and of one who observes and acts by calls.
    for (plays, observes, attendance) in
        [(true, false, present), (false, true, present), (true, true, present), (false, false, absent)]
    {
        let duel = Duel::new(control).await;
        let index = duel.to_act().await;
        let hold = duel.matches.join(duel.id, access(index), None).await.unwrap().hold;
        let audience = Audience::Player(access(index), hold);
        let stream = duel.matches.subscribe(duel.id, audience, None, Views::EveryDecision).await.unwrap();
        let _played = plays.then_some(stream);
        let observed = observe(&duel.matches, duel.id, index, None).await;
        let _observed = observes.then_some(observed);
        // The other's stream is not this one's.
        let _other = observe(&duel.matches, duel.id, 1 - index, None).await;
        wait_ms(Times::of(&control).first_over_ms() + 200).await;
        let record = duel.record().await;
        assert_eq!(record.clocks.unwrap().ledger[0].attendance, Some(attendance));
    }
}

#[tokio::test(start_paused = true)]
async fn while_it_is_not_known_what_is_stored_no_clock_runs() {
    let (_, control) = controls().remove(0);
    for fate in [Fate::Fails, Fate::LostUnknown, Fate::WrittenUnknown] {
        let mut duel = Duel::new(control).await;
        wait_ms(500).await;
        duel.journal.doom(&[fate]);
        duel.journal.blind(6);
        let begun = tokio::time::Instant::now();
        assert_eq!(duel.answer().await, Err(Rejection::OutcomeUnknown), "{fate:?}");
        let retry = Duration::from_millis(limits::RETRY_AFTER_MS.into());
        while duel.answer().await == Err(Rejection::OutcomeUnknown) {
            sleep(retry).await;
        }
        assert!(begun.elapsed() > Duration::from_secs(3), "longer than a decision may take");
        duel.play_on().await;
        let expected = "1: 0 to 500, credit 0, charged 500, bank 2000 | played";
        assert_eq!(told(&duel.record().await), expected, "{fate:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_received_in_time_may_come_in_later_also_behind_a_quick_answer() {
    let (_, control) = controls().remove(0);
    let mut duel = Duel::new(control).await;
    // The alarm that its table has then rings three milliseconds after the next decision's time is out.
    wait_ms(3).await;
    duel.answer().await.unwrap();
    wait_ms(Times::of(&control).first_over_ms() - 1).await;
    let arrival = duel.arrival();
    wait_ms(5).await;
    duel.answer_by(arrival).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_was_received_in_time_is_in_time_when_it_comes_again_after_a_write_that_failed() {
    let (_, control) = controls().remove(0);
    let mut duel = Duel::new(control).await;
    wait_ms(Times::of(&control).first_over_ms() - 1).await;
    let arrival = duel.arrival();
    wait_ms(4).await;
    duel.journal.doom(&[Fate::LostUnknown]);
    assert_eq!(duel.answer_by(arrival).await, Err(Rejection::OutcomeUnknown));
    let retry = Duration::from_millis(limits::RETRY_AFTER_MS.into());
    let answered = loop {
        sleep(retry).await;
        match duel.answer().await {
            Err(Rejection::OutcomeUnknown) => {}
            answered => break answered,
        }
    };
    assert!(matches!(answered, Ok(Done::Acted(_))), "{answered:?}");
}

#[tokio::test(start_paused = true)]
async fn no_clock_runs_back_behind_a_decision_whatever_came_before_it_and_could_not_be_stored() {
    let (_, control) = controls().remove(0);
    let mut duel = Duel::new(control).await;
    wait_ms(100).await;
    let early = duel.arrival();
    wait_ms(900).await;
    duel.answer().await.unwrap();
    // It was on its way when the decision before was not yet taken.
    duel.journal.doom(&[Fate::LostUnknown]);
    let resigned = duel.ask(early, |access| Command::Resign { access }).await;
    assert_eq!(resigned, Err(Rejection::OutcomeUnknown));
    let retry = Duration::from_millis(limits::RETRY_AFTER_MS.into());
    while duel.answer().await == Err(Rejection::OutcomeUnknown) {
        sleep(retry).await;
    }
    duel.play_on().await;
    let expected = "1: 0 to 1000, credit 0, charged 1000, bank 2000 | played";
    assert_eq!(told(&duel.record().await), expected);
}

#[tokio::test(start_paused = true)]
async fn a_restart_costs_nobody_time_to_join() {
    let control = TimeControl::new(1_000, NamedTimeControl::None.decisions()).unwrap();
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let spec = crate::table::MatchSpec { time_control: control, ..spec(Preset::Sackson, 2, DealSpec::Joint) };
    let id = create_one(&matches, spec).await.match_id;
    wait_ms(999).await;
    matches.stop().await;
    wait_ms(60_000).await;
    let matches = open(&journal).await;
    wait_ms(999).await;
    sleep(limits::RESTART_GRACE).await;
    matches.join(id, access(0), None).await.unwrap();
    let (_, end) = drain(&mut observe(&matches, id, 0, Some(0)).await).await;
    let no_show = Outcome::Aborted { reason: AbortReason::NoShow, seats: vec![seat(1)] };
    assert_eq!(end, crate::matches::End::Over(no_show));
}
