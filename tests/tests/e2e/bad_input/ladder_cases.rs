//! Inputs of `LadderService`, and of what waits on ladders, that must be refused. The server has the usual ladders, on which nobody has
//! played, and the bot `rex` of `kennel`.

use prost_types::Timestamp;
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason::{CursorAhead, NotAdmitted, NotFound, Unauthenticated};

use super::case::{Caller, Case, Expected};

const STANDINGS: &str = "LadderService/GetStandings";
const RESULTS: &str = "LadderService/ListResults";
const HISTORY: &str = "LadderService/GetRatingHistory";
const MET: &str = "LadderService/GetHeadToHead";
const WATCH: &str = "LadderService/WatchStandings";
const REINSTATE: &str = "LadderService/ReinstateBot";
const SUSPICIONS: &str = "LadderService/ListSuspicions";
const QUEUES: &str = "PlayService/UpdateQueues";

const LADDER: &str = "quick-2";

/// `stray` is the token of a bot that is not registered.
pub(crate) fn cases(stray: &str) -> Vec<Case> {
    [standings(), results(), of_a_bot(), suspicions(), queues(stray)].concat()
}

fn standings() -> Vec<Case> {
    let get = |ladder: &str, page_token: &str| v1::GetStandingsRequest {
        ladder: ladder.to_owned(),
        page_token: page_token.to_owned(),
        ..v1::GetStandingsRequest::default()
    };
    let watch = |ladder: &str| v1::WatchStandingsRequest { ladder: ladder.to_owned() };
    vec![
        Case::new(STANDINGS, "no ladder", &get("", ""), Expected::field("ladder")),
        Case::new(STANDINGS, "a ladder that does not exist", &get("nowhere", ""), Expected::field("ladder")),
        Case::new(STANDINGS, "a page token of no list", &get(LADDER, "x"), Expected::field("page_token")),
        Case::new(WATCH, "no ladder", &watch(""), Expected::field("ladder")),
        Case::new(WATCH, "what is no ladder's name", &watch("A B"), Expected::field("ladder")),
    ]
}

fn results() -> Vec<Case> {
    let list = |filter| v1::ListResultsRequest {
        ladder: LADDER.to_owned(),
        filter: Some(filter),
        ..v1::ListResultsRequest::default()
    };
    let of = |bot: &str, opponent: &str| v1::LadderResultFilter {
        bot_name: bot.to_owned(),
        opponent_name: opponent.to_owned(),
        ..v1::LadderResultFilter::default()
    };
    let onward = |after: &str, page_token: &str| v1::ListResultsRequest {
        ladder: LADDER.to_owned(),
        page_token: page_token.to_owned(),
        oldest_first: Some(v1::OldestFirst { after: after.to_owned() }),
        ..v1::ListResultsRequest::default()
    };
    let reasons = |reason| v1::LadderResultFilter { reasons: vec![1, reason], ..of("", "") };
    let since = Some(Timestamp { seconds: -1, nanos: 0 });
    vec![
        Case::new(RESULTS, "no ladder", &v1::ListResultsRequest::default(), Expected::field("ladder")),
        Case::new(RESULTS, "a bot with capitals", &list(of("Rex", "")), Expected::field("filter.bot_name")),
        Case::new(RESULTS, "an opponent alone", &list(of("", "rex")), Expected::field("filter.bot_name")),
        Case::new(RESULTS, "no reason", &list(reasons(0)), Expected::field("filter.reasons[1]")),
        Case::new(RESULTS, "an unknown reason", &list(reasons(99)), Expected::field("filter.reasons[1]")),
        Case::new(
            RESULTS,
            "a time before 1970",
            &list(v1::LadderResultFilter { since, ..of("", "") }),
            Expected::field("filter.since"),
        ),
        Case::new(
            RESULTS,
            "what is no cursor",
            &onward("r-0000000000000000-00000000", ""),
            Expected::field("oldest_first.after"),
        ),
        Case::new(
            RESULTS,
            "a page token of the other order",
            &onward("", "7"),
            Expected::field("page_token"),
        ),
        Case::new(
            RESULTS,
            "a cursor beyond the end",
            // After result 12 of the first life.
            &onward("r-000000000000000c-2b44c90e", ""),
            Expected::reason(CursorAhead),
        ),
    ]
}

fn of_a_bot() -> Vec<Case> {
    let history = |bot: &str, page_token: &str| v1::GetRatingHistoryRequest {
        ladder: LADDER.to_owned(),
        bot_name: bot.to_owned(),
        page_token: page_token.to_owned(),
        ..v1::GetRatingHistoryRequest::default()
    };
    let met = |bot: &str, opponent: &str| v1::GetHeadToHeadRequest {
        ladder: LADDER.to_owned(),
        bot_name: bot.to_owned(),
        opponent_name: opponent.to_owned(),
        ..v1::GetHeadToHeadRequest::default()
    };
    let reinstate = |ladder: &str, bot: &str| v1::ReinstateBotRequest {
        ladder: ladder.to_owned(),
        bot_name: bot.to_owned(),
    };
    let (name, absent) = (|| Expected::field("bot_name"), || Expected::reason(NotFound));
    vec![
        Case::new(HISTORY, "no bot", &history("", ""), name()),
        Case::new(HISTORY, "a bot that has not played", &history("rex", ""), absent()),
        Case::new(HISTORY, "a page token of no list", &history("rex", "x"), Expected::field("page_token")),
        Case::new(MET, "no bot", &met("", ""), name()),
        Case::new(MET, "an opponent with capitals", &met("rex", "Fido"), Expected::field("opponent_name")),
        Case::new(MET, "a bot that has not played", &met("rex", ""), absent()),
        Case::new(REINSTATE, "no bot", &reinstate(LADDER, ""), name()),
        Case::new(REINSTATE, "no ladder", &reinstate("", "rex"), Expected::field("ladder")),
        Case::new(REINSTATE, "a bot that has not played", &reinstate(LADDER, "rex"), absent()),
        Case::new(
            REINSTATE,
            "nobody puts a bot back",
            &reinstate(LADDER, "rex"),
            Expected::reason(Unauthenticated),
        )
        .by(Caller::Nobody),
    ]
}

fn suspicions() -> Vec<Case> {
    let list = |ladder: &str, page_token: &str| v1::ListSuspicionsRequest {
        ladder: ladder.to_owned(),
        page_token: page_token.to_owned(),
        ..v1::ListSuspicionsRequest::default()
    };
    let since = Some(Timestamp { seconds: -1, nanos: 0 });
    let token = || Expected::field("page_token");
    vec![
        Case::new(SUSPICIONS, "no ladder", &list("", ""), Expected::field("ladder")),
        Case::new(
            SUSPICIONS,
            "a ladder that does not exist",
            &list("nowhere", ""),
            Expected::field("ladder"),
        ),
        Case::new(SUSPICIONS, "a page token of no list", &list(LADDER, "7"), token()),
        Case::new(SUSPICIONS, "a page of results that nobody looked at", &list(LADDER, "7-100"), token()),
        Case::new(
            SUSPICIONS,
            "a time before 1970",
            &v1::ListSuspicionsRequest { since, ..list(LADDER, "") },
            Expected::field("since"),
        ),
        Case::new(
            SUSPICIONS,
            "nobody asks what is suspected",
            &list(LADDER, ""),
            Expected::reason(Unauthenticated),
        )
        .by(Caller::Nobody),
    ]
}

fn queues(stray: &str) -> Vec<Case> {
    let queue =
        |ladder: &str, matches_at_once| v1::LadderQueue { ladder: ladder.to_owned(), matches_at_once };
    let update = |queues| v1::UpdateQueuesRequest { queues: Some(v1::Queues { queues, challenges: None }) };
    let challenges = |from, matches_at_once| v1::UpdateQueuesRequest {
        queues: Some(v1::Queues {
            queues: Vec::new(),
            challenges: Some(v1::Challenges { from, matches_at_once }),
        }),
    };
    let row = |name, queues, expected| {
        Case::new(QUEUES, name, &update(queues), expected).by(Caller::Token(stray.to_owned()))
    };
    let (quick, second) = (|| queue(LADDER, 1), || Expected::field("queues.queues[1].ladder"));
    vec![
        row("a ladder's name with capitals", vec![quick(), queue("Quick", 1)], second()),
        row("a ladder twice", vec![quick(), quick()], second()),
        row(
            "a ladder that does not exist",
            vec![queue("nowhere", 1)],
            Expected::field("queues.queues[0].ladder"),
        ),
        row(
            "too many matches at once",
            vec![queue(LADDER, 1_001)],
            Expected::field("queues.queues[0].matches_at_once"),
        ),
        Case::new(
            QUEUES,
            "challenges from nobody knows whom",
            &challenges(0, 1),
            Expected::field("queues.challenges.from"),
        )
        .by(Caller::Token(stray.to_owned())),
        Case::new(
            QUEUES,
            "too many challenges at once",
            &challenges(v1::ChallengesFrom::Everyone.into(), 1_001),
            Expected::field("queues.challenges.matches_at_once"),
        )
        .by(Caller::Token(stray.to_owned())),
        row("a bot that is not registered", vec![quick()], Expected::reason(NotAdmitted)),
        Case::new(
            QUEUES,
            "the admin waits for matches",
            &update(vec![quick()]),
            Expected::reason(Unauthenticated),
        ),
    ]
}
