//! Inputs of `MatchService` that must be refused.

use zetema_proto::v1;
use zetema_proto::v1::ErrorReason::{
    CursorAhead, HeldUntilReveal, MatchOver, NotFound, NotRevealed, RequestIdReused, Unauthenticated,
};
use zetema_proto::v1::watch_results_request::From;
use zetema_proto::v1::{MatchSpec, MatchState, Preset, deals, match_spec};
use zetema_service::journal::ResultNumber;
use zetema_service::limits;
use zetema_service::matches::{Incarnation, ResultCursor};
use zetema_tests::harness::{fixed, preset, shared};

use super::case::{Caller, Case, Expected};
use super::scene::{ROTATION_ID, Scene};

/// The id that creates the scene's request, whose body is that of [`request`].
pub(crate) const REQUEST_ID: &str = "one-request";

/// A value that no enum of the protocol has.
const UNKNOWN: i32 = 99;
const NO_MATCH: &str = "no-such-match";

const CREATE: &str = "MatchService/CreateMatch";
const BATCH: &str = "MatchService/BatchCreateMatches";
const GET: &str = "MatchService/GetMatch";
const LIST: &str = "MatchService/ListMatches";
const CANCEL: &str = "MatchService/CancelMatch";
const WATCH: &str = "MatchService/WatchMatch";
const RECORD: &str = "MatchService/GetRecord";
const RECORDS: &str = "MatchService/ListRecords";
const RESULTS: &str = "MatchService/WatchResults";
const ROTATE: &str = "MatchService/RotateSeatToken";

/// The first use of [`REQUEST_ID`].
pub(crate) fn request() -> v1::CreateMatchRequest {
    v1::CreateMatchRequest { request_id: REQUEST_ID.to_owned(), r#match: Some(preset(Preset::Sackson, 2)) }
}

pub(crate) fn cases(scene: &Scene) -> Vec<Case> {
    [creations(scene), batches(), lists(), results(scene), single_matches(scene)].concat()
}

fn creations(scene: &Scene) -> Vec<Case> {
    let ask = |request_id: &str, spec: Option<MatchSpec>| v1::CreateMatchRequest {
        request_id: request_id.to_owned(),
        r#match: spec,
    };
    let two = Some(preset(Preset::Sackson, 2));
    let three = Some(preset(Preset::Sackson, 3));
    let seat_token = Caller::Token(scene.playing.actor().to_owned());
    let batch = v1::BatchCreateMatchesRequest {
        request_id: REQUEST_ID.to_owned(),
        matches: vec![preset(Preset::Sackson, 2)],
    };
    vec![
        Case::new(CREATE, "no match", &ask("", None), Expected::field("match")),
        Case::new(
            CREATE,
            "too long a request id",
            &ask(&"x".repeat(65), two.clone()),
            Expected::field("request_id"),
        ),
        Case::new(
            CREATE,
            "a request id that is not ASCII",
            &ask("é", two.clone()),
            Expected::field("request_id"),
        ),
        Case::new(
            CREATE,
            "a request id again with another body",
            &ask(REQUEST_ID, three),
            Expected::reason(RequestIdReused),
        ),
        Case::new(CREATE, "nobody creates", &ask("", two.clone()), Expected::reason(Unauthenticated))
            .by(Caller::Nobody),
        Case::new(CREATE, "a seat creates", &ask("", two), Expected::reason(Unauthenticated)).by(seat_token),
        Case::new(BATCH, "a request id again with another call", &batch, Expected::reason(RequestIdReused)),
    ]
}

fn batches() -> Vec<Case> {
    let two = || preset(Preset::Sackson, 2);
    let ask = |matches: Vec<MatchSpec>| v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
    let hearts = MatchSpec {
        rules: Some(match_spec::Rules::Preset(v1::PresetRules {
            preset: Preset::Sackson.into(),
            teams: None,
            imperial_suit: Some(v1::Suit::Hearts.into()),
        })),
        ..two()
    };
    let many = vec![two(); limits::MAX_BATCH_MATCHES + 1];
    let set = "matches[0].deals.shared.deal_set";
    let second = "matches[1].deals.shared.deal_set";
    let rows = [
        ("no match", vec![], Expected::field("matches")),
        ("too many matches", many, Expected::field("matches")),
        (
            "the second one is wrong",
            vec![two(), preset(Preset::Unspecified, 2)],
            Expected::field("matches[1].preset.preset"),
        ),
        ("a set of number 0", vec![shared(two(), 0), shared(two(), 0)], Expected::field(set)),
        ("a set of one match", vec![shared(two(), 1), two()], Expected::field(set)),
        (
            "a set with other numbers of players",
            vec![shared(two(), 1), shared(preset(Preset::Sackson, 3), 1)],
            Expected::field(second),
        ),
        ("a set with other suits", vec![shared(two(), 1), shared(hearts, 1)], Expected::field(second)),
        (
            "a set of too many seats",
            vec![shared(two(), 1); limits::MAX_DEAL_SET_SEATS / 2 + 1],
            Expected::field("matches[128].deals.shared.deal_set"),
        ),
        (
            "a seed of 33 bytes",
            vec![MatchSpec {
                deals: Some(v1::Deals {
                    kind: Some(deals::Kind::Fixed(v1::FixedDeals { server_seed: vec![1; 33] })),
                }),
                ..fixed(two(), [1; 32])
            }],
            Expected::field("matches[0].deals.fixed.server_seed"),
        ),
    ];
    rows.map(|(name, matches, expected)| Case::new(BATCH, name, &ask(matches), expected)).to_vec()
}

fn lists() -> Vec<Case> {
    let filter = |states: &[i32], client_reference: Option<String>| {
        Some(v1::MatchFilter { states: states.to_vec(), client_reference })
    };
    let rows = [
        ("a page token of nobody's", None, "not a token", Expected::field("page_token")),
        (
            "a page token that is too long",
            None,
            "0123456789012345678901234567890123456789012345678901234567890123456789",
            Expected::field("page_token"),
        ),
        (
            "a state unspecified",
            filter(&[MatchState::Unspecified.into()], None),
            "",
            Expected::field("filter.states[0]"),
        ),
        (
            "a state unknown",
            filter(&[MatchState::Finished.into(), UNKNOWN], None),
            "",
            Expected::field("filter.states[1]"),
        ),
        (
            "too long a reference",
            filter(&[], Some("x".repeat(65))),
            "",
            Expected::field("filter.client_reference"),
        ),
        (
            "an empty reference",
            filter(&[], Some(String::new())),
            "",
            Expected::field("filter.client_reference"),
        ),
    ];
    let row =
        |(name, filter, page_token, expected): (&'static str, Option<v1::MatchFilter>, &str, Expected)| {
            let page_token = page_token.to_owned();
            let matches = v1::ListMatchesRequest {
                filter: filter.clone(),
                page_size: 1,
                page_token: page_token.clone(),
            };
            let records = v1::ListRecordsRequest { filter, page_size: 1, page_token };
            [Case::new(LIST, name, &matches, expected.clone()), Case::new(RECORDS, name, &records, expected)]
        };
    let playing = v1::ListRecordsRequest {
        filter: filter(&[MatchState::Aborted.into(), MatchState::Playing.into()], None),
        page_size: 0,
        page_token: String::new(),
    };
    let unfinished =
        Case::new(RECORDS, "records of what is not over", &playing, Expected::field("filter.states[1]"));
    rows.into_iter().flat_map(row).chain([unfinished]).collect()
}

fn results(scene: &Scene) -> Vec<Case> {
    let ask = |from: Option<From>, client_reference: Option<String>| v1::WatchResultsRequest {
        from,
        filter: client_reference.map(|text| v1::ResultFilter { client_reference: Some(text) }),
    };
    let after = |cursor: &str| ask(Some(From::After(cursor.to_owned())), None);
    let far = ResultCursor::new(ResultNumber::new(1_000_000), Incarnation::FIRST).to_string();
    let reference = || Expected::field("filter.client_reference");
    let seat_token = Caller::Token(scene.playing.actor().to_owned());
    let refused = || Expected::reason(Unauthenticated);
    vec![
        Case::new(RESULTS, "an empty cursor", &after(""), Expected::field("after")),
        Case::new(RESULTS, "a number as a cursor", &after("1"), Expected::field("after")),
        Case::new(RESULTS, "a cursor that was cut", &after(&far[..26]), Expected::field("after")),
        Case::new(RESULTS, "a cursor that is too long", &after(&"r".repeat(65)), Expected::field("after")),
        Case::new(RESULTS, "a cursor beyond the end", &after(&far), Expected::reason(CursorAhead)),
        Case::new(RESULTS, "too long a reference", &ask(None, Some("x".repeat(65))), reference()),
        Case::new(RESULTS, "an empty reference", &ask(None, Some(String::new())), reference()),
        Case::new(RESULTS, "nobody reads results", &ask(None, None), refused()).by(Caller::Nobody),
        Case::new(RESULTS, "a seat reads results", &ask(None, None), refused()).by(seat_token),
    ]
}

fn single_matches(scene: &Scene) -> Vec<Case> {
    let id = |match_id: &str| match_id.to_owned();
    let get = |match_id: &str| v1::GetMatchRequest { match_id: id(match_id) };
    let cancel = |match_id: &str| v1::CancelMatchRequest { match_id: id(match_id) };
    let record = |match_id: &str| v1::GetRecordRequest { match_id: id(match_id) };
    let watch =
        |match_id: &str, after_seq, views| v1::WatchMatchRequest { match_id: id(match_id), after_seq, views };
    let rotate = |match_id: &str, seat, request_id: &str| v1::RotateSeatTokenRequest {
        match_id: id(match_id),
        seat,
        request_id: request_id.to_owned(),
    };
    let missing = || Expected::field("match_id");
    let unknown = || Expected::reason(NotFound);
    let playing = scene.playing.created.id();
    let stranger = Caller::Token(scene.forfeited.created.tokens[0].clone());
    let mut cases = Vec::new();
    for (name, match_id, expected) in [
        ("no match", "", missing()),
        ("an unknown match", NO_MATCH, unknown()),
        ("too long an id", &"x".repeat(200), unknown()),
    ] {
        cases.extend([
            Case::new(GET, name, &get(match_id), expected.clone()),
            Case::new(CANCEL, name, &cancel(match_id), expected.clone()),
            Case::new(RECORD, name, &record(match_id), expected.clone()),
            Case::new(WATCH, name, &watch(match_id, None, None), expected.clone()),
            Case::new(ROTATE, name, &rotate(match_id, 0, ""), expected),
        ]);
    }
    cases.extend([
        Case::new(GET, "a seat of another match asks", &get(playing), unknown()).by(stranger.clone()),
        Case::new(WATCH, "a seat of another match asks", &watch(playing, None, None), unknown())
            .by(stranger.clone()),
        Case::new(RECORD, "a seat of another match asks", &record(scene.over.id()), unknown()).by(stranger),
        Case::new(CANCEL, "a match that is over", &cancel(scene.over.id()), Expected::reason(MatchOver)),
        Case::new(RECORD, "a match that is not over", &record(playing), Expected::reason(NotRevealed)),
        Case::new(
            RECORD,
            "a match whose set is not over",
            &record(scene.held[0].id()),
            Expected::reason(HeldUntilReveal),
        ),
        Case::new(RECORD, "a match of a set", &record(scene.held[1].id()), Expected::reason(NotRevealed)),
        Case::new(
            WATCH,
            "a match whose set is not over",
            &watch(scene.held[0].id(), None, None),
            Expected::reason(HeldUntilReveal),
        ),
        Case::new(
            WATCH,
            "a cursor ahead",
            &watch(playing, Some(1_000_000), None),
            Expected::reason(CursorAhead),
        ),
        Case::new(WATCH, "views unspecified", &watch(playing, None, Some(0)), Expected::field("views")),
        Case::new(WATCH, "views unknown", &watch(playing, None, Some(UNKNOWN)), Expected::field("views")),
        Case::new(ROTATE, "a seat that the match has not", &rotate(playing, 2, ""), Expected::field("seat")),
        Case::new(ROTATE, "a seat that no match has", &rotate(playing, 6, ""), Expected::field("seat")),
        Case::new(
            ROTATE,
            "a seat of a match that is over",
            &rotate(scene.over.id(), 0, ""),
            Expected::reason(MatchOver),
        ),
        Case::new(
            ROTATE,
            "too long a request id",
            &rotate(playing, 0, &"x".repeat(65)),
            Expected::field("request_id"),
        ),
        Case::new(
            ROTATE,
            "a request id again for another seat",
            &rotate(playing, 0, ROTATION_ID),
            Expected::reason(RequestIdReused),
        ),
    ]);
    cases
}
