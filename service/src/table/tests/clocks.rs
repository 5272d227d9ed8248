//! Clocks (the ledger, time-outs and what follows from them).

use std::sync::Arc;

use proptest::prelude::*;
use zetema_rules::{
    Attendance, ClockOptions, DecisionClock, DecisionTime, LedgerEntry, Outcome, Preset, Rules, Step,
    TimeControl, TimeOut, Viewer,
};

use super::harness::*;
use super::random::check_found;
use crate::encoding::{decode_entry, decode_record, encode_entry, encode_record, record_entries};
use crate::table::{
    Arrival, Choice, ClosedBy, Command, Deals, Done, Entry, FairShuffler, Receipt, Rejection, Table,
};

const FORFEIT: ClockOptions = ClockOptions {
    budget_ms: 1_000,
    first_budget_ms: 2_000,
    bank_ms: 3_000,
    increment_ms: 0,
    network_credit_ms: 100,
    network_credit_total_ms: 150,
    time_out: TimeOut::Forfeit,
};

const TWO_STRIKES: ClockOptions = ClockOptions { time_out: TimeOut::Autoplay { strikes: 2 }, ..FORFEIT };

/// A match with a clock, as it is after the deal.
fn dealt(rules: Rules, seed: u8, options: ClockOptions) -> Harness {
    let clock = DecisionTime::Clock(DecisionClock::new(options).unwrap());
    let control = TimeControl::new(TimeControl::DEFAULT_JOIN_TIMEOUT_MS, clock).unwrap();
    let mut harness = Harness::of(created(rules, Deals::Joint, seed, control), Arc::new(FairShuffler));
    harness.join_all();
    harness
}

impl Harness {
    /// Lets time pass up to the deadline, and what it brings happen.
    fn run_out(&mut self) {
        self.now = self.now.max(self.table.deadline().unwrap());
        let changes = self.table.expired(self.now, |_| self.attended).expect("the deadline has passed");
        self.apply(changes);
        self.follow();
    }

    fn act_at(
        &mut self,
        index: usize,
        decision: u32,
        choice: Choice,
        arrival: Arrival,
    ) -> Result<Receipt, Rejection> {
        match self.send_at(&Command::Act { access: access(index), decision, choice }, arrival)? {
            Done::Acted(receipt) => Ok(receipt),
            other => panic!("{other:?}"),
        }
    }
}

fn ledger(table: &Table) -> Vec<LedgerEntry> {
    table.entries_from(0).filter_map(|entry| entry.change.ledger()).copied().collect()
}

#[test]
fn with_every_bot_silent_every_kind_of_match_ends_by_itself_with_a_result() {
    for (number, rules) in (1..).zip(all_rules()) {
        for options in [FORFEIT, TWO_STRIKES] {
            let mut harness = dealt(rules, number, options);
            while harness.table.outcome().is_none() {
                harness.run_out();
            }
            let record = harness.table.record().unwrap();
            record.verify().unwrap();
            let Outcome::Result(result) = &record.outcome else { panic!("{:?}", record.outcome) };
            let forfeited: Vec<_> = record
                .steps
                .iter()
                .filter_map(|step| match step {
                    Step::Forfeit { seat, .. } => Some(rules.side(*seat)),
                    _ => None,
                })
                .collect();
            let stays = rules.seats().map(|seat| rules.side(seat)).find(|side| !forfeited.contains(side));
            let winner = stays.expect("one side stays");
            assert_eq!(result.ranks[winner.index()], 1, "{rules:?}");
        }
    }
}

#[test]
fn an_answer_that_comes_too_late_closes_its_decision_and_is_told_so() {
    for (options, players) in [(FORFEIT, 3), (TWO_STRIKES, 2)] {
        let mut harness = dealt(Preset::Sackson.rules(players, None).unwrap(), 1, options);
        let index = harness.to_act();
        let receipt = harness.act(index, 1, Choice::LegalIndex(0)).unwrap();
        while harness.to_act() != index {
            let decision = harness.table.decision().unwrap();
            harness.act(harness.to_act(), decision, Choice::LegalIndex(0)).unwrap();
        }
        let decision = harness.table.decision().unwrap();
        harness.now = harness.now.after_ms(1_000 + 3_000 + 30);
        let arrival = Arrival { at: harness.now, round_trip_ms: Some(30) };
        let over = |harness: &Harness| {
            let closed_by = Some(ClosedBy::Clock);
            Err(Rejection::DecisionOver { current: harness.table.decision(), closed_by })
        };
        let late = harness.act_at(index, decision, Choice::LegalIndex(0), arrival);
        assert_eq!(late, over(&harness));
        assert_eq!(harness.table.decision(), Some(decision + 1), "it was played for");
        // What the server played is no answer of the seat's own, whatever it was.
        let played = harness.table.entries_from(0).find_map(|entry| match entry.change {
            crate::table::Change::Acted { decision: of, action, .. } if of == decision => Some(action),
            _ => None,
        });
        let same = harness.act(index, decision, Choice::Action(played.unwrap()));
        assert_eq!(same, over(&harness));
        assert_eq!(harness.act(index, 1, Choice::LegalIndex(0)), Ok(receipt), "the first receipt stands");
        while harness.table.outcome().is_none() {
            harness.run_out();
        }
        assert_eq!(harness.act(index, 1, Choice::LegalIndex(0)), Ok(receipt), "after the end too");
        assert_eq!(harness.act(index, decision, Choice::LegalIndex(0)), over(&harness));
    }
}

#[test]
fn everyone_sees_a_time_out_and_the_seat_its_clock() {
    let mut harness = dealt(Preset::Sackson.rules(2, None).unwrap(), 2, TWO_STRIKES);
    let index = harness.to_act();
    let clock = |harness: &Harness, elapsed_ms| {
        let snapshot = harness.table.snapshot(Viewer::Seat(seat(harness.to_act())), harness.now);
        let clock = snapshot.clock.unwrap();
        assert_eq!(clock.elapsed_ms, elapsed_ms);
        (clock.budget_ms, clock.bank_ms, clock.strikes_left)
    };
    harness.now = harness.now.after_ms(700);
    assert_eq!(clock(&harness, 700), (2_000, 3_000, 2));
    harness.run_out();
    assert_eq!(clock(&harness, 0), (2_000, 3_000, 2), "the other seat's");
    for (_, observed) in &harness.observed {
        let out = crate::table::TableEvent::TimedOut { seat: seat(index), decision: 1, strikes: 1 };
        assert_eq!(observed.last().unwrap().events[0], out);
    }
    harness.act(1 - index, 2, Choice::LegalIndex(0)).unwrap();
    assert_eq!(clock(&harness, 0), (1_000, 0, 1), "no budget for the first, no bank, one strike");
    let observed = &harness.observed[index].1;
    assert_eq!(observed.last().unwrap().clock.unwrap().bank_ms, 0);
}

#[test]
fn a_time_out_says_whether_its_seat_had_a_player_and_stays_as_it_is_stored() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    for (attended, told) in [(true, Attendance::Present), (false, Attendance::Absent)] {
        let mut harness = dealt(rules, 3, TWO_STRIKES);
        harness.attended = attended;
        harness.act(harness.to_act(), 1, Choice::LegalIndex(0)).unwrap();
        harness.run_out();
        let entries: Vec<_> = harness.table.entries_from(0).cloned().collect();
        let attendance = ledger(&harness.table).iter().map(|entry| entry.attendance).collect::<Vec<_>>();
        assert_eq!(attendance, [None, Some(told)]);
        for entry in entries {
            assert_eq!(decode_entry(&encode_entry(&entry), rules.imperial_suit), Ok(entry.clone()));
        }
    }
}

#[test]
fn whoever_answers_too_late_was_there_without_a_stream() {
    let mut harness = dealt(Preset::Sackson.rules(2, None).unwrap(), 1, FORFEIT);
    harness.attended = false;
    harness.now = harness.table.deadline().unwrap();
    harness.act(harness.to_act(), 1, Choice::LegalIndex(0)).unwrap_err();
    assert_eq!(ledger(&harness.table)[0].attendance, Some(Attendance::Present));
}

/// One thing that happens in a random match.
#[derive(Clone, Copy, Debug)]
struct Moved {
    after_ms: u64,
    round_trip_ms: Option<u32>,
    choice: u32,
    restart: bool,
}

fn moved() -> impl Strategy<Value = Moved> {
    let after_ms = prop_oneof![5 => 0..50_u64, 3 => 0..1_500_u64, 1 => 0..8_000_u64];
    let restart = prop::bool::weighted(0.05);
    (after_ms, prop::option::of(0..300_u32), 0..50_u32, restart).prop_map(
        |(after_ms, round_trip_ms, choice, restart)| Moved { after_ms, round_trip_ms, choice, restart },
    )
}

prop_compose! {
    fn options()(
        budget_ms in 1..1_500_u32,
        first_budget_ms in 1..3_000_u32,
        bank_ms in 0..6_000_u32,
        increment_ms in 0..400_u32,
        network_credit_ms in 0..200_u32,
        network_credit_total_ms in 0..1_000_u32,
        strikes in 0..4_u32,
    ) -> ClockOptions {
        let time_out = if strikes == 0 { TimeOut::Forfeit } else { TimeOut::Autoplay { strikes } };
        ClockOptions {
            budget_ms, first_budget_ms, bank_ms, increment_ms, network_credit_ms, network_credit_total_ms, time_out,
        }
    }
}

/// The ledger by arithmetic of its own: what each seat has left after each of its decisions.
fn check_ledger(ledger: &[LedgerEntry], options: &ClockOptions) -> Result<(), TestCaseError> {
    let mut seats = [(options.first_budget_ms, i128::from(options.bank_ms), 0_u32); 6];
    let mut clock_ms = 0;
    for entry in ledger {
        let (budget_ms, bank_ms, credited_ms) = &mut seats[entry.seat.index()];
        prop_assert!(entry.published_ms >= clock_ms, "{entry:?} began before {clock_ms}");
        let drawn = (i128::from(entry.charge.charged_ms) - i128::from(*budget_ms)).max(0);
        *bank_ms -= drawn;
        if let Some(received_ms) = entry.received_ms {
            prop_assert!(*bank_ms > 0 || drawn == 0, "{entry:?} had nothing left");
            let elapsed_ms = received_ms - entry.published_ms;
            prop_assert_eq!(elapsed_ms, entry.charge.charged_ms + u64::from(entry.charge.credit_ms));
            *bank_ms += i128::from(options.increment_ms);
            *credited_ms += entry.charge.credit_ms;
            clock_ms = received_ms;
        } else {
            prop_assert_eq!((*bank_ms, entry.charge.credit_ms), (0, 0));
            clock_ms = entry.published_ms + entry.charge.charged_ms;
        }
        prop_assert_eq!(i128::from(entry.charge.bank_ms), *bank_ms);
        prop_assert!(*credited_ms <= options.network_credit_total_ms);
        *budget_ms = options.budget_ms;
    }
    Ok(())
}

proptest! {
    #[test]
    fn however_the_answers_come_the_match_ends_and_replays_with_the_same_ledger(
        seed in 0..200_u8,
        options in options(),
        moves in proptest::collection::vec(moved(), 1..60),
    ) {
        let rules = all_rules().nth(usize::from(seed) % all_rules().count()).unwrap();
        let mut harness = dealt(rules, seed, options);
        for moved in moves.iter().cycle().take(20_000) {
            let Some(decision) = harness.table.decision() else { break };
            if moved.restart {
                let entries: Vec<Entry> = harness.table.entries_from(0).cloned().collect();
                harness.table = Table::replay(entries, Arc::new(FairShuffler)).unwrap();
                harness.now = harness.now.after_ms(50_000);
                harness.table.run_clock(harness.now.after_ms(10_000));
            }
            let at = harness.now.after_ms(moved.after_ms);
            if harness.table.deadline().unwrap() <= at {
                harness.run_out();
                continue;
            }
            harness.now = at;
            let index = harness.to_act();
            let legal = harness.table.snapshot(Viewer::Seat(seat(index)), at).to_decide.unwrap();
            let choice = Choice::LegalIndex(moved.choice % u32::try_from(legal.len()).unwrap());
            let arrival = Arrival { at, round_trip_ms: moved.round_trip_ms };
            match harness.act_at(index, decision, choice, arrival) {
                Ok(_) | Err(Rejection::DecisionOver { closed_by: Some(ClosedBy::Clock), .. }) => {}
                Err(other) => prop_assert!(false, "{other:?}"),
            }
        }
        let table = &harness.table;
        let record = table.record().expect("the match has ended");
        prop_assert!(record.verify().is_ok(), "{:?}", record.verify());
        check_ledger(&ledger(table), &options)?;
        check_found(table)?;
        prop_assert_eq!(&record.clocks.as_ref().unwrap().ledger, &ledger(table));

        let stored = table.entries_from(0).map(|entry| {
            decode_entry(&encode_entry(entry), rules.imperial_suit).unwrap()
        });
        let stored: Vec<Entry> = stored.collect();
        let (read, header) = decode_record(&encode_record(table).unwrap()).unwrap();
        prop_assert_eq!(&read, &record);
        let filed = record_entries(&read, &header, &table.info()).unwrap();
        for (viewer, observed) in &harness.observed {
            for source in [&stored, &filed] {
                let (again, replayed) = replayed(source, *viewer);
                prop_assert!(again == *observed, "{viewer:?}");
                prop_assert_eq!(ledger(&replayed), ledger(table));
            }
        }
    }
}
