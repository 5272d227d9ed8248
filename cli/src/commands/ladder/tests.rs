//! What the commands print, from what a server sends.

use comfy_table::Table;
use prost_types::Timestamp;
use serde_json::json;
use zetema_proto::{Wire, v1};
use zetema_rules::{NamedTimeControl, Preset, TimeControl};

use super::standings::Columns;
use super::{filter, head_to_head, history, list, reinstate, results, standings, suspicions};
use crate::json::{
    ConductJson, HeadToHeadJson, LadderJson, LadderResultJson, RatingPointJson, StandingJson, StandingsJson,
    SuspicionsJson, UncomparedJson,
};

/// What a table says, cell by cell.
fn check(table: &Table, rows: &[&[&str]]) {
    let told: Vec<Vec<String>> = table
        .header()
        .into_iter()
        .chain(table.row_iter())
        .map(|row| row.cell_iter().map(comfy_table::Cell::content).collect())
        .collect();
    assert_eq!(told, rows);
}

fn time(text: &str) -> Timestamp {
    filter::time(text).unwrap()
}

fn rating(mu: f64, sigma: f64, certainty: v1::RatingCertainty) -> v1::Rating {
    v1::Rating { mu, sigma, shown: mu - 3.0 * sigma, certainty: certainty.into() }
}

fn established(mu: f64) -> v1::Rating {
    rating(mu, 1.5, v1::RatingCertainty::Established)
}

fn free() -> v1::BotConduct {
    v1::BotConduct { kind: Some(v1::bot_conduct::Kind::Free(v1::FreeToPlay {})) }
}

fn cooling_down() -> v1::BotConduct {
    let until = Some(time("2026-11-21T03:04:01.25Z"));
    v1::BotConduct { kind: Some(v1::bot_conduct::Kind::CoolingDown(v1::CoolingDown { until })) }
}

fn benched(until: Option<Timestamp>) -> v1::BotConduct {
    v1::BotConduct { kind: Some(v1::bot_conduct::Kind::Benched(v1::Benched { until })) }
}

fn standing(rank: u32, bot: &str, rating: v1::Rating, margin: i64, conduct: v1::BotConduct) -> v1::Standing {
    let tally = v1::Tally { matches: 120, wins: 60, draws: 2, forfeits: 1, sides_met: 130, margin };
    v1::Standing {
        rank,
        bot_name: bot.to_owned(),
        rating: Some(rating),
        tally: Some(tally),
        conduct: Some(conduct),
        points: None,
        luck_adjusted_rating: None,
    }
}

fn four_standings() -> Vec<v1::Standing> {
    vec![
        standing(1, "searcher", established(31.0), 2_310, free()),
        standing(2, "greedy", established(25.5), -15, cooling_down()),
        standing(2, "appraiser", established(25.5), 0, benched(Some(time("2026-11-21")))),
        standing(4, "new", rating(25.0, 8.25, v1::RatingCertainty::Provisional), 7, benched(None)),
    ]
}

fn ladder(name: &str, entry: v1::ladder_entry::Kind) -> v1::Ladder {
    v1::Ladder {
        name: name.to_owned(),
        description: "two players,\u{1b} to 200".to_owned(),
        rules: Some(Preset::Sackson.rules(2, None).unwrap().to_wire()),
        time_control: Some(TimeControl::named(NamedTimeControl::Standard).to_wire()),
        rating: Some(v1::RatingSettings {
            mu: 25.0,
            sigma: 8.25,
            beta: 10.0,
            kappa: 0.0001,
            tau: 0.0625,
            provisional_sigma: 4.5,
        }),
        same_owner: v1::SameOwner::Apart.into(),
        entry: Some(v1::LadderEntry { kind: Some(entry) }),
        queued_bots: 12,
        live_matches: 5,
        rated_bots: 40,
        rated_matches: 12_345,
        result_number: 20_000,
        lost_results: 0,
    }
}

fn result(number: u64, reason: v1::LadderResultReason, seats: Vec<v1::LadderSeat>) -> v1::LadderResult {
    v1::LadderResult {
        result_number: number,
        match_id: format!("match-{number}"),
        time: Some(time("2026-11-21T03:04:01Z")),
        seats,
        reason: reason.into(),
    }
}

fn two_results() -> Vec<LadderResultJson> {
    use v1::LadderSeatEnd::{Forfeited, NoShow, Played};
    let seat =
        |bot: &str, side, rank, total, end: v1::LadderSeatEnd, moved: Option<(f64, f64)>| v1::LadderSeat {
            bot_name: bot.to_owned(),
            side,
            rank,
            total,
            end: end.into(),
            before: moved.map(|(before, _)| established(before)),
            after: moved.map(|(_, after)| established(after)),
            adjusted_score: moved.map(|_| {
                let luck = if side == 0 { -12.25 } else { 12.25 };
                let score = if side == 0 { 40.0 } else { -40.0 };
                v1::AdjustedScore { score, luck, adjusted: score - luck }
            }),
        };
    let played = [
        seat("greedy", 0, 2, 120, Forfeited, Some((25.5, 25.25))),
        seat("searcher", 1, 1, 80, Played, Some((31.0, 31.25))),
    ];
    let aborted = [seat("greedy", 0, 0, 0, Played, None), seat("new", 1, 0, 0, NoShow, None)];
    let results = [
        result(12, v1::LadderResultReason::Forfeit, played.to_vec()),
        result(9, v1::LadderResultReason::Aborted, aborted.to_vec()),
    ];
    results.iter().map(LadderResultJson::new).collect()
}

#[test]
fn ladders_are_a_row_each() {
    let owners = v1::EntryOwners { owners: vec!["ann".to_owned(), "bob".to_owned()] };
    let ladders = [
        ladder("sackson-2", v1::ladder_entry::Kind::Registered(v1::RegisteredBots {})),
        ladder("closed", v1::ladder_entry::Kind::Owners(owners)),
    ];
    let rules = Preset::Sackson.rules(2, None).unwrap().to_string();
    let about = "two players,\\u{1b} to 200";
    check(
        &list::table(&ladders).unwrap(),
        &[
            &["ladder", "rules", "who may enter", "waiting", "live", "rated", "matches", "about"],
            &["sackson-2", &rules, "every registered bot", "12", "5", "40", "12,345", about],
            &["closed", &rules, "bots of ann, bob", "12", "5", "40", "12,345", about],
        ],
    );
}

#[test]
fn the_json_of_a_ladder_has_its_rules_clocks_and_settings() {
    let owners = v1::EntryOwners { owners: vec!["ann".to_owned()] };
    let message = ladder("closed", v1::ladder_entry::Kind::Owners(owners));
    let mut told = serde_json::to_value(LadderJson::new(&message).unwrap()).unwrap();
    let fields = told.as_object_mut().unwrap();
    assert_eq!(fields.remove("rules").unwrap()["players"], 2);
    assert_eq!(
        fields.remove("time_control").unwrap()["join_timeout_ms"],
        TimeControl::DEFAULT_JOIN_TIMEOUT_MS
    );
    let rating = json!({
        "mu": 25.0, "sigma": 8.25, "beta": 10.0, "kappa": 0.0001, "tau": 0.0625, "provisional_sigma": 4.5,
    });
    let rest = json!({
        "name": "closed", "description": "two players,\u{1b} to 200", "rating": rating, "same_owner": "apart",
        "owners": ["ann"], "queued_bots": 12, "live_matches": 5, "rated_bots": 40, "rated_matches": 12_345,
        "result_number": 20_000,
        "lost_results": 0,
    });
    assert_eq!(told, rest);
    let everyone = ladder("open", v1::ladder_entry::Kind::Registered(v1::RegisteredBots {}));
    assert_eq!(LadderJson::new(&everyone).unwrap().owners, None);
}

#[test]
fn standings_say_who_is_not_paired_and_what_says_little_yet() {
    let standings: Vec<_> = four_standings().iter().map(|one| StandingJson::new(one).unwrap()).collect();
    let (cool, bench) = ("cooling down until 2026-11-21T03:04:01.250Z", "benched until 2026-11-21T00:00:00Z");
    check(
        &standings::table(&standings, Columns::Usual),
        &[
            &["rank", "bot", "rating", "matches", "wins", "draws", "forfeits", "margin", "conduct"],
            &["1", "searcher", "26.50 ± 1.50", "120", "60", "2", "1", "+2310", ""],
            &["2", "greedy", "21.00 ± 1.50", "120", "60", "2", "1", "-15", cool],
            &["2", "appraiser", "21.00 ± 1.50", "120", "60", "2", "1", "+0", bench],
            &[
                "4",
                "new",
                "0.25? ± 8.25",
                "120",
                "60",
                "2",
                "1",
                "+7",
                "benched until its owner puts it back",
            ],
        ],
    );
    let rating = json!({ "mu": 25.5, "sigma": 1.5, "shown": 21.0, "provisional": false });
    let greedy = json!({
        "rank": 2, "bot": "greedy", "rating": rating, "matches": 120, "wins": 60, "draws": 2, "forfeits": 1,
        "sides_met": 130, "margin": -15,
        "conduct": { "state": "cooling-down", "until": "2026-11-21T03:04:01.250Z" }, "points": null,
        "luck_adjusted_rating": null,
    });
    assert_eq!(serde_json::to_value(&standings[1]).unwrap(), greedy);
}

#[test]
fn points_a_match_are_shown_with_luck_and_without_where_they_are_known() {
    let estimate = |mean, standard_error, half| v1::PointsEstimate {
        mean,
        standard_error: Some(standard_error),
        interval: Some(v1::PointsInterval { from: mean - half, to: mean + half }),
    };
    let points = v1::PointsPerMatch {
        matches: 118,
        scored: Some(estimate(4.25, 1.5, 2.5)),
        adjusted: Some(estimate(-2.0, 0.75, 1.25)),
        luck_share: 0.5,
        variance_ratio: Some(4.0),
    };
    let first = v1::PointsPerMatch {
        matches: 1,
        scored: Some(v1::PointsEstimate { mean: 65.0, ..v1::PointsEstimate::default() }),
        adjusted: Some(v1::PointsEstimate { mean: 65.0, ..v1::PointsEstimate::default() }),
        ..v1::PointsPerMatch::default()
    };
    let mut standings = four_standings();
    standings.truncate(3);
    (standings[0].points, standings[1].points) = (Some(points), Some(first));
    let adjusted = v1::LuckAdjustedRating { rating: Some(established(26.5)), matches: 118 };
    standings[0].luck_adjusted_rating = Some(adjusted);
    let standings: Vec<_> = standings.iter().map(|one| StandingJson::new(one).unwrap()).collect();
    let table = standings::table(&standings, Columns::WithLuck);
    let columns = |row: &comfy_table::Row| {
        let cells: Vec<String> = row.cell_iter().map(comfy_table::Cell::content).collect();
        cells[8..12].to_vec()
    };
    let told: Vec<_> = table.header().into_iter().chain(table.row_iter()).map(columns).collect();
    assert_eq!(
        told,
        [
            ["points a match ± 95 %", "without luck ± 95 %", "rating without luck", "of matches"],
            ["+4.2 ± 2.5", "-2.0 ± 1.2", "22.00 ± 1.50", "118"],
            ["+65.0", "+65.0", "–", "1"],
            ["–", "–", "–", "0"],
        ]
    );
    let mean = |mean: f64, error: f64, half: f64| json!({ "mean": mean, "standard_error": error, "interval": { "from": mean - half, "to": mean + half } });
    let expected = json!({
        "matches": 118, "scored": mean(4.25, 1.5, 2.5), "adjusted": mean(-2.0, 0.75, 1.25), "luck_share": 0.5,
        "variance_ratio": 4.0,
    });
    assert_eq!(serde_json::to_value(&standings[0]).unwrap()["points"], expected);
    let rated = json!({ "mu": 26.5, "sigma": 1.5, "shown": 22.0, "provisional": false, "matches": 118 });
    assert_eq!(serde_json::to_value(&standings[0]).unwrap()["luck_adjusted_rating"], rated);
    assert_eq!(standings::luck_is_behind(480, 480), None);
    let behind = "the luck of results 471 to 480 is not computed yet";
    assert_eq!(standings::luck_is_behind(470, 480).as_deref(), Some(behind));
    assert_eq!(
        standings::luck_is_behind(479, 480).as_deref(),
        Some("the luck of result 480 is not computed yet")
    );
    let no_interval = json!({ "mean": 65.0, "standard_error": null, "interval": null });
    assert_eq!(serde_json::to_value(&standings[1]).unwrap()["points"]["scored"], no_interval);
}

#[test]
fn changes_take_the_place_of_what_was_told_before() {
    let mut latest = standings::Latest::default();
    latest.take(StandingsJson::new(1, "all", &four_standings()).unwrap());
    let changed = [
        standing(1, "new", established(40.0), 9, free()),
        standing(2, "searcher", established(31.0), 2_310, free()),
        standing(5, "late", established(20.0), 0, free()),
    ];
    latest.take(StandingsJson::new(2, "changed", &changed).unwrap());
    let told = |latest: &standings::Latest, limit| {
        latest.best(limit).iter().map(|one| format!("{} {}", one.rank, one.bot)).collect::<Vec<_>>()
    };
    assert_eq!(told(&latest, 100), ["1 new", "2 appraiser", "2 greedy", "2 searcher", "5 late"]);
    assert_eq!(told(&latest, 2), ["1 new", "2 appraiser"]);
    latest.take(StandingsJson::new(3, "all", &changed[..1]).unwrap());
    assert_eq!(told(&latest, 100), ["1 new"], "all of them again");
}

#[test]
fn results_have_a_line_for_each_seat() {
    let ended = "2026-11-21T03:04:01Z";
    check(
        &results::table(&two_results(), Columns::Usual),
        &[
            &["result", "ended", "match", "reason", "rank", "bot", "points", "rating"],
            &[
                "12",
                ended,
                "match-12",
                "forfeit",
                "2\n1",
                "greedy (forfeited)\nsearcher",
                "120\n80",
                "20.75 (-0.25)\n26.75 (+0.25)",
            ],
            &["9", ended, "match-9", "aborted", "–\n–", "greedy\nnew (did not come)", "–\n–", "–\n–"],
        ],
    );
    let with_luck = results::table(&two_results(), Columns::WithLuck);
    let columns = |row: &comfy_table::Row| {
        let cells: Vec<String> = row.cell_iter().map(comfy_table::Cell::content).collect();
        cells[8..].to_vec()
    };
    let told: Vec<_> = with_luck.header().into_iter().chain(with_luck.row_iter()).map(columns).collect();
    assert_eq!(
        told,
        [
            ["score", "luck", "without luck"],
            ["+40.0\n-40.0", "-12.2\n+12.2", "+52.2\n-52.2"],
            ["–\n–", "–\n–", "–\n–"],
        ]
    );
    let seat = |bot: &str, side, end: &str| {
        json!({
            "bot": bot, "side": side, "rank": null, "total": null, "end": end, "before": null, "after": null,
            "adjusted_score": null,
        })
    };
    let aborted = json!({
        "result_number": 9, "match_id": "match-9", "time": ended, "reason": "aborted",
        "seats": [seat("greedy", 0, "played"), seat("new", 1, "no-show")],
    });
    assert_eq!(serde_json::to_value(&two_results()[1]).unwrap(), aborted);
}

#[test]
fn a_history_has_the_rating_after_each_match() {
    let point = |number, rating| v1::RatingPoint {
        result_number: number,
        match_id: format!("match-{number}"),
        time: Some(time("2026-11-21T03:04:01Z")),
        rating: Some(rating),
    };
    let points =
        [point(12, established(25.5)), point(9, rating(25.0, 8.25, v1::RatingCertainty::Provisional))];
    let points: Vec<_> = points.iter().map(|point| RatingPointJson::new(point).unwrap()).collect();
    let ended = "2026-11-21T03:04:01Z";
    check(
        &history::table(&points),
        &[
            &["result", "ended", "match", "rating"],
            &["12", ended, "match-12", "21.00 ± 1.50"],
            &["9", ended, "match-9", "0.25? ± 8.25"],
        ],
    );
}

#[test]
fn a_head_to_head_has_a_row_for_each_opponent() {
    let met = |opponent: &str, margin| v1::HeadToHead {
        opponent_name: opponent.to_owned(),
        matches: 20,
        ahead: 11,
        level: 1,
        behind: 8,
        margin,
    };
    let met: Vec<_> = [met("greedy", 130), met("random", -12)].iter().map(HeadToHeadJson::new).collect();
    check(
        &head_to_head::table(&met),
        &[
            &["opponent", "matches", "ahead", "level", "behind", "margin"],
            &["greedy", "20", "11", "1", "8", "+130"],
            &["random", "20", "11", "1", "8", "-12"],
        ],
    );
}

#[test]
fn a_bot_that_was_put_back_is_told_of_by_its_conduct() {
    for (conduct, text) in [
        (free(), "greedy may be paired again"),
        (cooling_down(), "greedy is cooling down until 2026-11-21T03:04:01.250Z"),
        (benched(None), "greedy is benched until its owner puts it back"),
        (v1::BotConduct { kind: None }, "greedy is unknown"),
    ] {
        assert_eq!(reinstate::told("greedy", &ConductJson::new(Some(&conduct))), text);
    }
}

#[test]
fn a_time_is_a_moment_or_a_day() {
    for (text, moment) in [
        ("2026-11-21T03:04:01Z", "2026-11-21T03:04:01Z"),
        ("2026-11-21", "2026-11-21T00:00:00Z"),
        ("2026-11-21T03:04:01+01:00", "2026-11-21T02:04:01Z"),
    ] {
        assert_eq!(filter::time(text).map(|time| time.to_string()), Ok(moment.to_owned()));
    }
    for text in ["", "yesterday", "2026-13-01", "21.11.2026"] {
        assert!(filter::time(text).is_err(), "{text}");
    }
}

#[test]
fn what_is_suspected_is_a_row_each_and_what_was_looked_at_is_said() {
    let line = "eve loses to dan: behind in 40 of 40 meetings";
    let suspicion = v1::Suspicion {
        kind: v1::SuspicionKind::LosesTo.into(),
        bot_names: vec!["eve".to_owned(), "dan".to_owned()],
        p_value: 2.5e-9,
        bar: 1e-4,
        looked_at: 12,
        line: line.to_owned(),
        result_count: 40,
        results: vec![v1::CitedResult { result_number: 7, match_id: "match-7".to_owned() }],
    };
    let answer = v1::ListSuspicionsResponse {
        suspicions: vec![suspicion],
        suspicion_count: 1,
        first_result_number: 7,
        last_result_number: 420,
        matches: 239,
        unread_matches: 1,
        uncompared: Some(v1::UncomparedPairs { pairs: 40, of_pairs: 66, lacking_matches: 310 }),
        ..v1::ListSuspicionsResponse::default()
    };
    let season = SuspicionsJson::new(&answer);
    check(
        &suspicions::table(&season),
        &[&["kind", "bots", "p", "what was seen"], &["loses-to", "eve\ndan", "2.5e-9", line]],
    );
    assert_eq!(
        suspicions::looked_at(&season, None),
        "239 rated matches were looked at, results 7 to 420; 1 could not be read, as the log of the server says"
    );
    assert_eq!(suspicions::not_shown(&season), None);
    let expected = json!({
        "first_result_number": 7, "last_result_number": 420, "matches": 239, "unread_matches": 1, "left_out_to": 0,
        "uncompared": { "pairs": 40, "of_pairs": 66, "lacking_matches": 310 }, "suspicion_count": 1,
        "suspicions": [{
            "kind": "loses-to", "bots": ["eve", "dan"], "p_value": 2.5e-9, "bar": 1e-4, "looked_at": 12, "line": line,
            "result_count": 40, "results": [{ "result_number": 7, "match_id": "match-7" }],
        }],
    });
    assert_eq!(serde_json::to_value(&season).unwrap(), expected);
    for (pairs, lacking_matches, told) in [
        (
            40,
            310,
            Some(
                "40 of 66 pairs of bots played too little to tell whether they decide alike; half of them lack 310 \
                        matches of one bot or more",
            ),
        ),
        (40, 0, Some("40 of 66 pairs of bots played too little to tell whether they decide alike")),
        (0, 0, None),
    ] {
        let uncompared = UncomparedJson { pairs, of_pairs: 66, lacking_matches };
        assert_eq!(suspicions::not_compared(uncompared).as_deref(), told);
    }
    let nothing = SuspicionsJson::new(&v1::ListSuspicionsResponse::default());
    assert_eq!(suspicions::looked_at(&nothing, None), "no rated match was looked at");
    let part = v1::ListSuspicionsResponse { left_out_to: 6, suspicion_count: 2, unread_matches: 0, ..answer };
    let mut part = SuspicionsJson::new(&part);
    assert_eq!(
        suspicions::looked_at(&part, None),
        "239 rated matches were looked at, results 7 to 420; older ones, up to result 6, were not: --before 7 looks at \
         them"
    );
    assert_eq!(
        suspicions::looked_at(&part, Some(7)),
        "239 rated matches were looked at, results 7 to 420; older ones, up to result 6, can't be looked up: the log of \
         the server says why"
    );
    for (before, next) in [(None, Some(7)), (Some(421), Some(7)), (Some(8), Some(7)), (Some(7), None)] {
        assert_eq!(suspicions::season_before(&part, before), next, "{before:?}");
    }
    assert_eq!(suspicions::season_before(&season, None), None, "nothing is left out");
    let hidden = "1 of 2 suspicions are shown: a greater --limit shows more";
    assert_eq!(suspicions::not_shown(&part).as_deref(), Some(hidden));
    (part.suspicions, part.suspicion_count) = (vec![part.suspicions[0].clone(); 1_000], 1_200);
    let hidden = "1000 of 1200 suspicions are shown: no more can be read";
    assert_eq!(suspicions::not_shown(&part).as_deref(), Some(hidden));
}
