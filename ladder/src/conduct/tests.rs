use proptest::prelude::*;

use super::*;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

/// What happens to a bot, each a minute after the last, with matches that are made just before.
#[derive(Clone, Copy, Debug)]
enum Then {
    NoShow,
    NoNonce,
    Came,
    Finished,
    Forfeited,
    Wait(u64),
}

use Then::{Came, Finished, Forfeited, NoNonce, NoShow, Wait};

/// The bot after all of that, the notices it got, and what time it is then.
fn after(settings: &ConductSettings, all: &[Then]) -> (Conduct, Vec<Notice>, u64) {
    let (mut conduct, mut notices, mut now) = (Conduct::default(), Vec::new(), HOUR);
    for then in all {
        now += MINUTE;
        match then {
            NoShow => notices.extend(conduct.no_show(settings, now - 1, now)),
            NoNonce => notices.extend(conduct.no_nonce(settings, now - 1, now)),
            Came => conduct.came(settings, now - 1),
            Finished => conduct.finished(),
            Forfeited => notices.extend(conduct.forfeited(settings, now - 1, now)),
            Wait(ms) => now += ms,
        }
    }
    (conduct, notices, now)
}

fn check(all: &[Then], expected: Status) {
    let (conduct, _, now) = after(&ConductSettings::default(), all);
    let relative = match conduct.status(now) {
        Status::CoolingDown { until_ms } => Status::CoolingDown { until_ms: until_ms - now },
        Status::Benched(Until::Time(until_ms)) => Status::Benched(Until::Time(until_ms - now)),
        status => status,
    };
    assert_eq!(relative, expected, "{all:?}");
}

#[test]
fn cool_downs_grow_with_each_strike_up_to_the_longest() {
    let settings = ConductSettings::default();
    let minutes: Vec<u64> = (2..=9).map(|strike| settings.cool_down_ms(strike) / MINUTE).collect();
    assert_eq!(settings.cool_down_ms(1), 30_000);
    assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(settings.cool_down_ms(u32::MAX), HOUR);
    check(&[NoShow], Status::CoolingDown { until_ms: 30_000 });
    check(&[NoNonce], Status::CoolingDown { until_ms: 30_000 });
    check(&[NoShow; 2], Status::CoolingDown { until_ms: MINUTE });
    check(&[NoShow; 20], Status::CoolingDown { until_ms: HOUR });
}

#[test]
fn a_cool_down_ends_by_itself() {
    check(&[NoShow, Wait(30_000)], Status::Free);
}

#[test]
fn strikes_are_gone_after_five_matches_in_a_row_or_a_day() {
    check(&[NoShow, NoShow, Came, Came, Came, Came, NoShow], Status::CoolingDown { until_ms: 2 * MINUTE });
    check(&[NoShow, NoShow, Came, Came, Came, Came, Came, NoShow], Status::CoolingDown { until_ms: 30_000 });
    check(
        &[NoShow, Came, Came, Came, NoShow, Came, Came, NoShow],
        Status::CoolingDown { until_ms: 2 * MINUTE },
    );
    check(&[NoShow, NoShow, Wait(24 * HOUR), NoShow], Status::CoolingDown { until_ms: 30_000 });
}

#[test]
fn a_bot_that_goes_away_once_has_one_strike_for_all_its_matches() {
    let settings = ConductSettings::default();
    let mut conduct = Conduct::default();
    assert!(conduct.no_show(&settings, 1_000, 60_000).is_some());
    for paired_ms in [1_000, 59_999, 60_000] {
        assert_eq!(conduct.no_show(&settings, paired_ms, 600_000), None);
    }
    assert_eq!(conduct.strikes(&settings, 600_000), 1);
    assert!(conduct.no_show(&settings, 60_001, 600_000).is_some());
    assert_eq!(conduct.strikes(&settings, 600_000), 2);
}

/// Match `paired` is made then; the bot comes to it, or does not and is waited for until `ended`.
enum Made {
    Came { paired: u64 },
    NoShow { paired: u64, ended: u64 },
}

/// How many strikes there are in the end.
fn check_strikes(expected: u32, all: &[Made]) {
    let settings = ConductSettings::default();
    let mut conduct = Conduct::default();
    for made in all {
        match *made {
            Made::Came { paired } => conduct.came(&settings, paired),
            Made::NoShow { paired, ended } => drop(conduct.no_show(&settings, paired, ended)),
        }
    }
    assert_eq!(conduct.strikes(&settings, HOUR), expected);
}

#[test]
fn matches_clear_no_strike_for_one_that_was_made_before_them() {
    let came = |from: u64, to: u64| (from..to).map(|paired| Made::Came { paired });
    let with = |all: [Vec<Made>; 4]| all.into_iter().flatten().collect::<Vec<_>>();
    let strike = |paired, ended| vec![Made::NoShow { paired, ended }];
    let none = Vec::new;
    // It is waited for at 100 while it comes to five that were made later, again and again.
    let twice = with([strike(100, 120), came(201, 206).collect(), strike(200, 220), none()]);
    check_strikes(2, &twice);
    let thrice = with([twice, came(301, 350).collect(), strike(300, 360), none()]);
    check_strikes(3, &thrice);
    // Made at the same time.
    check_strikes(2, &with([strike(100, 120), came(200, 205).collect(), strike(204, 220), none()]));
    // Five were made before the one it does not come to.
    check_strikes(1, &with([strike(100, 120), came(200, 205).collect(), strike(205, 225), none()]));
    // What was made before the strike ends after it.
    check_strikes(1, &with([strike(100, 120), came(101, 111).collect(), none(), none()]));
    let before_and_after =
        with([strike(100, 120), came(101, 111).collect(), came(121, 125).collect(), none()]);
    check_strikes(1, &before_and_after);
    check_strikes(0, &with([before_and_after, came(125, 126).collect(), none(), none()]));
    // It was lost at once to what it had then: that breaks no row of later ones, which has to be longer by that.
    let lost = with([strike(100, 120), came(200, 203).collect(), strike(110, 230), came(203, 205).collect()]);
    check_strikes(1, &lost);
    check_strikes(0, &with([lost, came(205, 206).collect(), none(), none()]));
}

#[test]
fn who_comes_to_five_of_ten_at_once_each_time_has_a_strike_more_each_time() {
    let mut all = Vec::new();
    for (wave, strikes) in (1..=4_u32).map(|wave| (u64::from(wave) * 1_000, wave)) {
        all.extend((0..5).map(|match_of| Made::Came { paired: wave + match_of }));
        all.extend(
            (5..10).map(|match_of| Made::NoShow { paired: wave + match_of, ended: wave + 500 + match_of }),
        );
        check_strikes(strikes, &all);
    }
    // Four more than usual, as it was lost to four beside the one that was the last strike.
    all.extend((0..8).map(|match_of| Made::Came { paired: 9_000 + match_of }));
    check_strikes(4, &all);
    all.push(Made::Came { paired: 9_008 });
    check_strikes(0, &all);
}

#[test]
fn three_forfeits_of_the_last_ten_matches_bench() {
    let ten_minutes = Status::Benched(Until::Time(10 * MINUTE));
    check(&[Forfeited, Forfeited], Status::Free);
    check(&[Forfeited, Forfeited, Forfeited], ten_minutes);
    let mut spread = [Finished; 10];
    (spread[0], spread[4], spread[9]) = (Forfeited, Forfeited, Forfeited);
    check(&spread, ten_minutes);
    let mut wider = [Finished; 11];
    (wider[0], wider[4], wider[10]) = (Forfeited, Forfeited, Forfeited);
    check(&wider, Status::Free);
}

#[test]
fn benches_grow_until_the_author_has_to_act() {
    let again = |times: usize| {
        let mut all = Vec::new();
        for _ in 0..times {
            all.extend([Wait(6 * HOUR), Forfeited, Forfeited, Forfeited]);
        }
        all
    };
    check(&again(1), Status::Benched(Until::Time(10 * MINUTE)));
    check(&again(2), Status::Benched(Until::Time(HOUR)));
    check(&again(3), Status::Benched(Until::Time(6 * HOUR)));
    check(&again(4), Status::Benched(Until::Author));
    let mut for_ever = again(4);
    for_ever.push(Wait(1_000 * 24 * HOUR));
    check(&for_ever, Status::Benched(Until::Author));
}

#[test]
fn a_week_after_the_last_bench_the_next_is_the_first_again() {
    let bench = [Forfeited, Forfeited, Forfeited];
    let again = [&bench[..], &[Wait(8 * 24 * HOUR)], &bench].concat();
    check(&again, Status::Benched(Until::Time(10 * MINUTE)));
}

#[test]
fn matches_from_before_a_bench_do_not_bench_again() {
    let settings = ConductSettings::default();
    let mut conduct = Conduct::default();
    let notices: Vec<_> =
        (0..20).filter_map(|ended| conduct.forfeited(&settings, 0, 1_000 + ended)).collect();
    assert_eq!(notices.len(), 3);
    assert_eq!(conduct.status(2_000), Status::Benched(Until::Time(601_002)));
    assert_eq!(conduct.benches(&settings, 2_000), 1);
}

#[test]
fn only_an_author_ends_a_bench_without_a_time_and_no_other() {
    let settings =
        ConductSettings::new(ConductOptions { bench_until_author: 2, ..Default::default() }).unwrap();
    let bench = [Forfeited, Forfeited, Forfeited];
    let (mut conduct, _, now) = after(&settings, &bench);
    assert_eq!(conduct.reinstate(now), Err(ReinstateError::Timed { until_ms: now + 10 * MINUTE }));
    let (mut conduct, _, now) = after(&settings, &[&bench[..], &[Wait(HOUR)], &bench].concat());
    assert_eq!(conduct.status(now), Status::Benched(Until::Author));
    assert_eq!(conduct.reinstate(now), Ok(()));
    assert_eq!(conduct.status(now), Status::Free);
    assert_eq!(conduct.reinstate(now), Err(ReinstateError::NotBenched));
    for second in 1..=3 {
        conduct.forfeited(&settings, now + second, now + MINUTE);
    }
    assert_eq!(conduct.status(now + MINUTE), Status::Benched(Until::Author));
}

#[test]
fn the_author_is_told_what_follows_and_what_to_do() {
    let (_, notices, _) =
        after(&ConductSettings::default(), &[NoShow, NoNonce, Forfeited, Forfeited, Forfeited]);
    let texts: Vec<String> = notices.iter().map(Notice::to_string).collect();
    let parts: [&[&str]; 5] = [
        &["did not come", "strike 1", "for 30 s", "not rated", "Leave the queue"],
        &["joined", "nonce", "strike 2", "for 1 min", "not rated"],
        &["1 of its last 10", "With 3 it is benched", "rated as lost"],
        &["2 of its last 10"],
        &["3 of its last 10", "is benched", "for 10 min", "Mend it"],
    ];
    assert_eq!(texts.len(), parts.len());
    for (text, parts) in texts.iter().zip(parts) {
        for part in parts {
            assert!(text.contains(part), "{text}: {part}");
        }
    }
}

#[test]
fn each_number_out_of_its_range_is_named() {
    let usual = ConductOptions::default();
    for (options, field) in [
        (ConductOptions { first_cool_down_ms: 999, ..usual }, "first_cool_down_ms"),
        (ConductOptions { cool_down_factor: 0, ..usual }, "cool_down_factor"),
        (ConductOptions { longest_cool_down_ms: 29_999, ..usual }, "longest_cool_down_ms"),
        (ConductOptions { matches_to_clear: 0, ..usual }, "matches_to_clear"),
        (ConductOptions { strikes_last_ms: 0, ..usual }, "strikes_last_ms"),
        (ConductOptions { forfeits_to_bench: 0, ..usual }, "forfeits_to_bench"),
        (ConductOptions { of_last_matches: 65, ..usual }, "of_last_matches"),
        (ConductOptions { first_bench_ms: 0, ..usual }, "first_bench_ms"),
        (ConductOptions { bench_factor: 101, ..usual }, "bench_factor"),
        (ConductOptions { bench_until_author: 0, ..usual }, "bench_until_author"),
        (ConductOptions { benches_last_ms: 0, ..usual }, "benches_last_ms"),
    ] {
        assert_eq!(ConductSettings::new(options).unwrap_err().field(), field);
    }
    assert_eq!(ConductSettings::new(usual), Ok(ConductSettings::default()));
}

#[test]
fn a_bot_that_is_looked_at_has_what_its_next_cool_down_and_bench_come_of() {
    let settings = ConductSettings::default();
    let (conduct, _, now) = after(&settings, &[NoShow, Came, Came]);
    assert_eq!((conduct.strikes(&settings, now), conduct.matches_to_clear(&settings, now)), (1, 3));
    let (conduct, _, now) = after(&settings, &[NoShow, Came, Came, Came, Came, Came]);
    assert_eq!((conduct.strikes(&settings, now), conduct.matches_to_clear(&settings, now)), (0, 0));
    let (conduct, _, now) = after(&settings, &[Forfeited, Finished, Forfeited]);
    assert_eq!((conduct.forfeits(&settings), conduct.cools_down_until(now)), (2, None));
    // Benched and cooling down: the bench is what is told, and the cool-down runs beside it.
    let (conduct, _, now) = after(&settings, &[Forfeited, Forfeited, Forfeited, NoShow]);
    assert!(matches!(conduct.status(now), Status::Benched(_)));
    assert_eq!((conduct.forfeits(&settings), conduct.cools_down_until(now)), (0, Some(now + 30_000)));
}

fn anything() -> impl Strategy<Value = Then> {
    prop_oneof![
        Just(NoShow),
        Just(NoNonce),
        Just(Came),
        Just(Finished),
        Just(Forfeited),
        (0..200 * HOUR).prop_map(Wait),
    ]
}

proptest! {
    #[test]
    fn whoever_is_not_benched_until_its_author_acts_is_free_in_time(all in prop::collection::vec(anything(), 0..60)) {
        let settings = ConductSettings::default();
        let (conduct, _, now) = after(&settings, &all);
        let longest = settings.bench_ms(3).unwrap().max(settings.longest_cool_down_ms);
        if conduct.status(now) != Status::Benched(Until::Author) {
            prop_assert_eq!(conduct.status(now + longest), Status::Free);
        }
    }

    #[test]
    fn a_bot_that_never_fails_is_always_free(all in prop::collection::vec(prop_oneof![Just(Came), Just(Finished)], 0..100)) {
        let (conduct, notices, now) = after(&ConductSettings::default(), &all);
        prop_assert_eq!(conduct.status(now), Status::Free);
        prop_assert!(notices.is_empty());
    }
}
