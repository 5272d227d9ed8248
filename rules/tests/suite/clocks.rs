//! What time costs: the clock of a seat, decision by decision, and the numbers of time controls.

use zetema_rules::{
    Charge, ClockOptions, DecisionClock, DecisionTime, ForfeitReason, NamedTimeControl, OutOfTime, SeatClock,
    TimeControl, TimeControlError, TimeOut, TimedOut,
};

const DAY_MS: u32 = 86_400_000;

/// 100 ms a decision, 1,000 for the first, 500 in the bank, 20 more with each, 50 of credit and 80 in all.
const OPTIONS: ClockOptions = ClockOptions {
    budget_ms: 100,
    first_budget_ms: 1_000,
    bank_ms: 500,
    increment_ms: 20,
    network_credit_ms: 50,
    network_credit_total_ms: 80,
    time_out: TimeOut::Forfeit,
};

const NO_BANK: ClockOptions = ClockOptions { bank_ms: 0, increment_ms: 0, ..OPTIONS };

/// What happens to a decision.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// It is answered after so long, with this round trip; then so much was credited and charged, and is in the bank.
    Charged(u64, Option<u32>, (u32, u64, u64)),
    /// It is answered after so long, with this round trip; then it had only so long.
    TooLate(u64, Option<u32>, u64),
    /// Its time runs out; then so much was charged.
    Out(u64, TimedOut),
}
use Then::{Charged, Out, TooLate};

const OUT_OF_TIME: TimedOut = TimedOut::Forfeits(ForfeitReason::OutOfTime);

fn check(name: &str, options: ClockOptions, course: &[Then]) {
    let mut clock = SeatClock::new(DecisionClock::new(options).unwrap());
    for (i, then) in course.iter().enumerate() {
        let what = format!("{name}: {i}: {then:?}");
        let before = clock;
        match *then {
            Charged(elapsed_ms, round_trip_ms, (credit_ms, charged_ms, bank_ms)) => {
                let charge = Charge { credit_ms, charged_ms, bank_ms };
                assert_eq!(clock.answer(elapsed_ms, round_trip_ms), Ok(charge), "{what}");
                assert_eq!(clock.bank_ms(), bank_ms, "{what}");
                let mut recorded = before;
                assert_eq!(recorded.answer_with_credit(elapsed_ms, credit_ms), Ok(charge), "{what}");
                assert_eq!(recorded, clock, "{what}");
            }
            TooLate(elapsed_ms, round_trip_ms, allowed_ms) => {
                let late = OutOfTime { elapsed_ms, allowed_ms };
                assert_eq!(clock.answer(elapsed_ms, round_trip_ms), Err(late), "{what}");
                assert_eq!(clock, before, "{what}: nothing is charged");
            }
            Out(charged_ms, becomes) => {
                let charge = Charge { credit_ms: 0, charged_ms, bank_ms: 0 };
                assert_eq!(clock.time_out(), (charge, becomes), "{what}");
                assert_eq!((clock.bank_ms(), clock.strikes()), (0, before.strikes() + 1), "{what}");
            }
        }
        assert!(before.over_after_ms() >= u64::from(before.budget_ms()) + before.bank_ms(), "{what}");
    }
}

#[test]
fn a_decision_costs_what_goes_beyond_its_budget() {
    check(
        "the first decision has a budget of its own",
        OPTIONS,
        &[Charged(999, None, (0, 999, 520)), Charged(101, None, (0, 101, 539))],
    );
    check(
        "nothing is drawn up to the budget",
        OPTIONS,
        &[Charged(0, None, (0, 0, 520)), Charged(100, None, (0, 100, 540))],
    );
    check(
        "an overrun draws on the bank, and the increment comes after",
        OPTIONS,
        &[Charged(1_499, None, (0, 1_499, 21)), Charged(120, None, (0, 120, 21)), TooLate(121, None, 121)],
    );
    check(
        "the last millisecond of the bank",
        OPTIONS,
        &[TooLate(1_500, None, 1_500), TooLate(u64::MAX, None, 1_500), Charged(1_499, None, (0, 1_499, 21))],
    );
    check(
        "without a bank the budget's last millisecond is the last",
        NO_BANK,
        &[
            TooLate(1_000, None, 1_000),
            Charged(999, None, (0, 999, 0)),
            TooLate(100, None, 100),
            Charged(99, None, (0, 99, 0)),
        ],
    );
    check(
        "an answer too late does not take the first budget",
        OPTIONS,
        &[TooLate(1_600, None, 1_500), Out(1_500, OUT_OF_TIME), TooLate(100, None, 100)],
    );
}

#[test]
fn the_network_is_credited_with_an_overrun_up_to_its_round_trip_and_the_caps() {
    check("nothing below the budget", OPTIONS, &[Charged(999, Some(30), (0, 999, 520))]);
    check("nothing at the budget", OPTIONS, &[Charged(1_000, Some(30), (0, 1_000, 520))]);
    check("all of a small overrun", OPTIONS, &[Charged(1_007, Some(30), (7, 1_000, 520))]);
    check("the round trip of a larger one", OPTIONS, &[Charged(1_100, Some(30), (30, 1_070, 450))]);
    check("at most the cap", OPTIONS, &[Charged(1_100, Some(u32::MAX), (50, 1_050, 470))]);
    check("nothing without a round trip", OPTIONS, &[Charged(1_100, None, (0, 1_100, 420))]);
    check("nothing for a round trip of zero", OPTIONS, &[Charged(1_100, Some(0), (0, 1_100, 420))]);
    check(
        "at most the total of the match",
        OPTIONS,
        &[
            Charged(1_100, Some(50), (50, 1_050, 470)),
            Charged(200, Some(50), (30, 170, 420)),
            Charged(200, Some(50), (0, 200, 340)),
        ],
    );
    check(
        "it puts off the end of the time",
        OPTIONS,
        &[
            TooLate(1_550, Some(60), 1_550),
            TooLate(1_549, Some(49), 1_549),
            Charged(1_549, Some(60), (50, 1_499, 21)),
            TooLate(151, Some(u32::MAX), 151),
        ],
    );
    check(
        "it helps where the bank is empty",
        NO_BANK,
        &[
            TooLate(1_000, None, 1_000),
            TooLate(1_030, Some(30), 1_030),
            Charged(1_029, Some(30), (29, 1_000, 0)),
            TooLate(150, Some(50), 150),
            Charged(149, Some(50), (49, 100, 0)),
            TooLate(102, Some(50), 102),
            Charged(101, Some(50), (1, 100, 0)),
            Charged(100, Some(50), (0, 100, 0)),
        ],
    );
}

#[test]
fn when_the_time_is_out_the_bank_is_gone_and_the_seat_forfeits_or_has_a_strike() {
    check("it forfeits", OPTIONS, &[Out(1_500, OUT_OF_TIME)]);
    check(
        "the first strike forfeits",
        strikes(1),
        &[Charged(10, None, (0, 10, 520)), Out(620, TimedOut::Forfeits(ForfeitReason::OutOfStrikes))],
    );
    check(
        "the third strike forfeits, whatever lies between",
        strikes(3),
        &[
            Out(1_500, TimedOut::PlayedFor),
            Charged(99, None, (0, 99, 20)),
            Out(120, TimedOut::PlayedFor),
            TooLate(100, None, 100),
            Out(100, TimedOut::Forfeits(ForfeitReason::OutOfStrikes)),
        ],
    );
    let mut clock = SeatClock::new(DecisionClock::new(strikes(3)).unwrap());
    let left = [3, 2, 1, 0].map(|left| {
        let found = clock.strikes_left();
        clock.time_out();
        (found, left)
    });
    assert!(left.iter().all(|(found, left)| found == left), "{left:?}");
    assert_eq!(SeatClock::new(DecisionClock::new(OPTIONS).unwrap()).strikes_left(), 1);
}

const fn strikes(strikes: u32) -> ClockOptions {
    ClockOptions { time_out: TimeOut::Autoplay { strikes }, ..OPTIONS }
}

#[test]
fn the_largest_numbers_are_charged_as_the_others() {
    let month = 30 * DAY_MS;
    let largest = ClockOptions {
        budget_ms: month,
        first_budget_ms: month,
        bank_ms: month,
        increment_ms: DAY_MS,
        network_credit_ms: 1_000,
        network_credit_total_ms: 3_600_000,
        time_out: TimeOut::Autoplay { strikes: 1_000 },
    };
    let all = 2 * u64::from(month);
    check(
        "largest",
        largest,
        &[
            TooLate(u64::MAX, Some(u32::MAX), all + 1_000),
            TooLate(all, None, all),
            Charged(all + 999, Some(u32::MAX), (1_000, all - 1, 1 + u64::from(DAY_MS))),
        ],
    );
    let mut clock = SeatClock::new(DecisionClock::new(largest).unwrap());
    for decisions in 1..=10_000 {
        let bank_ms = u64::from(month) + decisions * u64::from(DAY_MS);
        assert_eq!(clock.answer(0, None).map(|charge| charge.bank_ms), Ok(bank_ms));
    }
    assert_eq!(clock.over_after_ms(), clock.bank_ms() + u64::from(month) + 1_000);
}

#[test]
fn a_recorded_credit_that_no_round_trip_gives_is_charged_another() {
    for (elapsed_ms, recorded, right) in [(999, 1, 0), (1_007, 8, 7), (1_100, 51, 50), (1_100, u32::MAX, 50)]
    {
        let mut clock = SeatClock::new(DecisionClock::new(OPTIONS).unwrap());
        let charge = clock.answer_with_credit(elapsed_ms, recorded).unwrap();
        assert_eq!(charge.credit_ms, right, "{elapsed_ms} ms, {recorded} ms recorded");
    }
}

#[test]
fn numbers_out_of_their_range_are_named() {
    type Case = (&'static str, u32, u32, fn(&mut ClockOptions, u32));
    let month = 30 * DAY_MS;
    let cases: [Case; 7] = [
        ("budget_ms", 1, month, |options, ms| options.budget_ms = ms),
        ("first_budget_ms", 1, month, |options, ms| options.first_budget_ms = ms),
        ("bank_ms", 0, month, |options, ms| options.bank_ms = ms),
        ("increment_ms", 0, DAY_MS, |options, ms| options.increment_ms = ms),
        ("network_credit_ms", 0, 1_000, |options, ms| options.network_credit_ms = ms),
        ("network_credit_total_ms", 0, 3_600_000, |options, ms| options.network_credit_total_ms = ms),
        ("strikes", 1, 1_000, |options, strikes| options.time_out = TimeOut::Autoplay { strikes }),
    ];
    for (field, least, most, set) in cases {
        for given in [least.checked_sub(1), Some(least), Some(most), Some(most + 1)].into_iter().flatten() {
            let mut options = OPTIONS;
            set(&mut options, given);
            let error = TimeControlError { field, given, least, most };
            let expected = if (least..=most).contains(&given) { Ok(()) } else { Err(error) };
            assert_eq!(DecisionClock::new(options).map(drop), expected, "{field}={given}");
        }
    }
    let week = 7 * DAY_MS;
    for (join_timeout_ms, idle_timeout_ms, refused) in [
        (1_000, 1_000, None),
        (week, month, None),
        (999, 1_000, Some("join_timeout_ms is 999: give 1000 to 604800000")),
        (week + 1, 1_000, Some("join_timeout_ms is 604800001: give 1000 to 604800000")),
        (1_000, 999, Some("idle_timeout_ms is 999: give 1000 to 2592000000")),
        (1_000, month + 1, Some("idle_timeout_ms is 2592000001: give 1000 to 2592000000")),
    ] {
        let control = TimeControl::new(join_timeout_ms, DecisionTime::Unlimited { idle_timeout_ms });
        assert_eq!(control.err().map(|error| error.to_string()).as_deref(), refused);
    }
}

#[test]
fn named_time_controls_are_valid_and_known_by_their_names() {
    for named in NamedTimeControl::ALL {
        assert_eq!(named.to_string().parse(), Ok(named));
        assert_eq!(named.decisions().name(), Some(named));
        let control = TimeControl::named(named);
        assert_eq!(TimeControl::new(600_000, named.decisions()), Ok(control));
        if let Some(clock) = control.clock() {
            assert_eq!(DecisionClock::new(**clock), Ok(*clock));
        }
    }
    assert_eq!(TimeControl::default(), TimeControl::named(NamedTimeControl::Standard));
    assert_eq!(DecisionTime::Clock(DecisionClock::new(OPTIONS).unwrap()).name(), None);
    assert_eq!(DecisionTime::Unlimited { idle_timeout_ms: 1_000 }.name(), Some(NamedTimeControl::None));
    let unknown = "Blitz".parse::<NamedTimeControl>().unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no time control \"Blitz\": give bullet, blitz, standard, correspondence or none"
    );
}
