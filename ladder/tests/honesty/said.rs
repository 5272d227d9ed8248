//! What is said of findings, of settings and of matches that don't go together.

use zetema_ladder::{
    Cause, Cited, Departure, Ending, Finding, FinishedMatch, FinishedSeat, HonestyOptions, HonestySettings,
    Played, ResultNumber, Shortfall, Significance, Suspicion,
};
use zetema_rules::{EndReason, MatchResult, Seat, Seats, Teams};

const SHORT: Shortfall = Shortfall { matches: 36, points: 263.84, deviation: 144.92 };

#[test]
fn each_finding_is_one_line() {
    let cases = [
        (
            Finding::LosesTo {
                loser: "eve",
                winner: "dan",
                meetings: 22,
                lost: 21,
                by_ratings: 6.8,
                by_the_rest: 7.25,
            },
            "eve loses to dan: behind in 21 of 22 meetings, where the ratings give 6.8 and their results against all others \
             7.2",
        ),
        (
            Finding::FeedsOpponent { feeder: "eve", fed: "dan", short: SHORT },
            "eve feeds dan in teams: in 36 matches their margin is 263.8 points a match short of what all their other \
             results give, where one match varies by 144.9",
        ),
        (
            Finding::FailPartner { partners: ["eve", "dan"], short: SHORT },
            "eve and dan fail each other as partners: in 36 matches their margin is 263.8 points a match short of what all \
             their other results give, where one match varies by 144.9",
        ),
        (
            Finding::TimesOutWhenBehind { bot: "eve", behind: 300, ahead: 1, expected: 205.1 },
            "eve runs out of time when it is behind: 300 times behind and 1 times ahead, where 205.1 times behind are as \
             often as it is behind then",
        ),
        (
            Finding::Abandons {
                bot: "eve",
                matches: 555,
                resigned: 82,
                disconnected: 80,
                behind: 106,
                ahead: 54,
                others: 0.006,
            },
            "eve abandons matches: of 555 it resigned 82 that were not lost and left 80, 106 when it was behind and 54 when it \
             was ahead; all others abandon 0.6 of 100",
        ),
        (
            Finding::SameDecisions { bots: ["eve", "dan"], stretches: 31, nearer: 30, likeness: 0.9987 },
            "eve and dan decide alike: nearer than programs of different ideas may be in 30 of 31 stretches of their matches, \
             99.9 % as near as each is to itself. Authors of one idea who tuned it each by themselves are listed too: where that \
             was measured, up to 8 of 231 such pairs a season",
        ),
    ];
    for (finding, line) in cases {
        assert_eq!(finding.to_string(), line);
    }
}

#[test]
fn a_suspicion_names_ten_matches() {
    let suspicion = |matches: u64| Suspicion {
        finding: Finding::TimesOutWhenBehind { bot: "eve", behind: 300, ahead: 1, expected: 205.1 },
        significance: Significance { p_value: 2.44e-9, bar: 7.7e-5, compared: 26 },
        matches: (1..=matches)
            .map(|number| Cited { number: ResultNumber::new(number), ended_ms: 0 })
            .collect(),
    };
    let bar = "(p = 2.4e-9; listed up to 7.7e-5, as 26 were looked at); matches";
    for (matches, end) in [
        (2, format!("{bar} 1, 2")),
        (10, format!("{bar} 1, 2, 3, 4, 5, 6, 7, 8, 9, 10")),
        (13, format!("{bar} 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more")),
    ] {
        let line = suspicion(matches).to_string();
        assert!(line.ends_with(&end), "{line}");
    }
}

#[test]
fn a_setting_out_of_its_range_is_named() {
    let fine = HonestyOptions::default();
    assert!(HonestySettings::new(fine).is_ok());
    let cases = [
        (HonestyOptions { false_alarms: 0.0, ..fine }, "false_alarms is 0: give 0.000000001 to 0.5"),
        (HonestyOptions { least_matches: 0, ..fine }, "least_matches is 0: give 1 to 1000"),
        (HonestyOptions { win_allowance: 0.6, ..fine }, "win_allowance is 0.6: give 0 to 0.5"),
        (HonestyOptions { margin_allowance: -0.1, ..fine }, "margin_allowance is -0.1: give 0 to 2"),
        (HonestyOptions { time_out_odds: 0.5, ..fine }, "time_out_odds is 0.5: give 1 to 100"),
        (HonestyOptions { abandoned_share: f64::NAN, ..fine }, "abandoned_share is NaN: give 0 to 1"),
        (HonestyOptions { abandoned_times: f64::INFINITY, ..fine }, "abandoned_times is inf: give 1 to 100"),
        (HonestyOptions { hopeless: -0.5, ..fine }, "hopeless is -0.5: give 0 to 10"),
        (HonestyOptions { alike: 1.0, ..fine }, "alike is 1: give 0.5 to 0.999"),
    ];
    for (options, error) in cases {
        assert_eq!(HonestySettings::new(options).expect_err("out of range").to_string(), error);
    }
}

#[test]
fn a_match_whose_parts_do_not_go_together_is_refused() {
    let number = ResultNumber::new(7);
    let result =
        MatchResult { reason: EndReason::Forfeit, ranks: [2, 1, 0, 0, 0, 0], totals: [260, 210, 0, 0, 0, 0] };
    let forfeited = Seats::EMPTY.with(Seat::new(0).expect("a seat"));
    let played =
        || Played::new(vec!["ada", "bob"], Teams::Individual, result, forfeited).expect("a match of two");
    let seat = |ending| FinishedSeat { ending, ..FinishedSeat::played_on("kahn") };
    let departed = Ending::Forfeited(Departure { cause: Cause::Resigned, lead: 50, decisions_left: None });
    let refused = |seats| FinishedMatch::new(number, 0, played(), seats).expect_err("wrong").to_string();

    assert!(FinishedMatch::new(number, 0, played(), vec![seat(departed), seat(Ending::PlayedOn)]).is_ok());
    assert_eq!(
        refused(vec![seat(departed)]),
        "result 7 has 1 seats and 2 bots: give what each bot's seat did"
    );
    assert_eq!(
        refused(vec![seat(Ending::PlayedOn), seat(Ending::PlayedOn)]),
        "result 7: seat 0 ended as PlayedOn, the match says otherwise: both are to say whether it forfeited"
    );
    assert!(refused(vec![seat(departed), seat(departed)]).starts_with("result 7: seat 1 ended as Forfeited"));
}
