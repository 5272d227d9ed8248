//! Every RPC by every wrong token.

use prost::Message;
use tonic::Code;
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_rules::Seat;
use zetema_service::access::{SeatGrant, ServiceKey};
use zetema_tests::harness::{Clients, Created, TestServer, call_as, preset, soon};

use super::requests::{Door, Target, methods, request};
use super::{check_cut, check_unauthenticated, in_ms};

/// A match that does not exist.
const ABSENT: &str = "00000000000000000000000000000000";
/// Calls that have a token in the metadata and one in a field. The one that is void is refused before the other is read, so
/// there are two answers to tell apart, neither of which tells more than which of the tokens is wrong.
const TWO_TOKENS: [&str; 2] = ["PlayService/Play", "PlayService/ListFaults"];

/// Calls that change what the others are about, so that they come last.
const DONE_ONCE: [&str; 4] = [
    "BotService/RetireBot",
    "MatchService/CancelMatch",
    "MatchService/RotateSeatToken",
    "WebhookService/DeleteWebhook",
];
/// Calls whose answer has nothing in it here: a webhook without dead letters.
const EMPTY_ANSWERS: [&str; 5] = [
    "LadderService/GetStandings",
    "LadderService/ListResults",
    "LadderService/ListSuspicions",
    "WebhookService/ListDeadLetters",
    "WebhookService/ResendDeadLetters",
];

/// What is wrong with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Malformed,
    Unknown,
    Expired,
    Revoked,
    Replaced,
    ReplacedSeat,
    Bot,
    AnotherOwner,
    /// A seat of another match.
    AnotherMatch,
    /// A seat of the same match.
    AnotherSeat,
}

struct Wrong {
    fault: Fault,
    /// The `authorization` headers.
    headers: Vec<String>,
    /// What stands in a field for a seat's token.
    text: String,
}

impl Wrong {
    fn new(fault: Fault, text: &str) -> Self {
        Self { fault, headers: vec![format!("Bearer {text}")], text: text.to_owned() }
    }
}

/// What must come of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Unauthenticated,
    NotFound,
    /// A required field is missing.
    InvalidField,
    /// An empty list.
    Nothing,
    /// The token does not matter here.
    Answered,
    /// The token is not wrong for this call.
    NotWrong,
}

/// Whether it is no token of this server, or holds no longer.
fn is_void(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::Malformed
            | Fault::Unknown
            | Fault::Expired
            | Fault::Revoked
            | Fault::Replaced
            | Fault::ReplacedSeat
    )
}

fn expected(door: Door, fault: Fault) -> Expected {
    use Expected::{Answered, InvalidField, NotFound, NotWrong, Nothing, Unauthenticated};
    let void = is_void(fault);
    match (door, fault) {
        (Door::Open, _) => Answered,
        (Door::Everyone, _) | (Door::Bots, Fault::Bot) if !void => Answered,
        // In a field the token is the seat, of this match or of another. An owner creates and follows its own. A seat
        // may see its match, in lists too.
        (Door::Seat | Door::Lists, Fault::AnotherMatch | Fault::AnotherSeat)
        | (Door::Creators, Fault::AnotherOwner)
        | (Door::Viewers, Fault::AnotherSeat) => NotWrong,
        (Door::Seat, Fault::None) => InvalidField,
        (Door::Viewers, _) if !void => NotFound,
        (Door::Owners, Fault::AnotherOwner) => NotFound,
        (Door::Lists, _) if !void => Nothing,
        _ => Unauthenticated,
    }
}

struct Scene {
    server: TestServer,
    clients: Clients,
    owner_secret: String,
    owner_id: String,
    /// A webhook of the owner's.
    webhook_id: String,
    /// A private match of the owner's, which waits for its seats.
    target: Created,
    /// One that is over.
    over: Created,
    wrong: Vec<Wrong>,
}

impl Scene {
    async fn set() -> Self {
        let (server, clients) = TestServer::start_allowing("http://127.0.0.1:*").await;
        let spec = || preset(v1::Preset::Sackson, 2);
        let (owner, owner_secret) = clients.owner_token("shop").await;
        let shop = clients.by(&owner_secret);
        let target = shop.create(spec()).await;
        let over = shop.create(spec()).await;
        let cancel = v1::CancelMatchRequest { match_id: over.id().to_owned() };
        soon("CancelMatch", shop.matches().cancel_match(cancel)).await.unwrap();
        let webhook =
            v1::CreateWebhookRequest { url: "http://127.0.0.1:9/".to_owned(), ..Default::default() };
        let webhook = soon("CreateWebhook", shop.webhooks().create_webhook(webhook)).await.unwrap();
        let webhook_id = webhook.into_inner().webhook.unwrap().webhook_id;
        clients.register_bot("rex", "shop").await;
        let another = clients.create(spec()).await;
        let wrong = wrong_tokens(&clients, &target, &another).await;
        Self { server, clients, owner_secret, owner_id: owner.token_id, webhook_id, target, over, wrong }
    }

    /// What a call is about: a match that suits the method, or one that does not exist.
    fn target<'a>(&'a self, method: &str, wrong: &'a Wrong, absent: bool) -> Target<'a> {
        let over = ["MatchService/GetRecord", "MatchService/WatchMatch"].contains(&method);
        let created = if over { &self.over } else { &self.target };
        let match_id = if absent { ABSENT } else { created.id() };
        let token_id = if absent { ABSENT } else { &self.owner_id };
        let webhook_id = if absent { ABSENT } else { &self.webhook_id };
        let bot = if absent { ABSENT } else { "rex" };
        Target { match_id, seat_token: &wrong.text, token_id, webhook_id, bot }
    }

    async fn call(&self, method: &str, wrong: &Wrong, absent: bool) -> Outcome {
        let (_, bodies) = request(method, &self.target(method, wrong, absent));
        let path = format!("/zetema.v1.{method}");
        let (messages, end) = call_as(self.clients.channel(), &path, &wrong.headers, bodies).await;
        match (method, end) {
            (_, Err(status)) => Outcome::Refused(
                v1::Error::from_status(&status).map(|error| error.reason()),
                status.code(),
                status.message().to_owned(),
                status.details().to_vec(),
            ),
            ("PlayService/Play", Ok(())) => {
                let answers = messages.iter().map(|bytes| v1::PlayResponse::decode(&bytes[..]).unwrap());
                let mut error = answers.filter_map(|answer| match answer.kind {
                    Some(Answer::Rejection(error)) => Some(error),
                    _ => None,
                });
                match error.next_back() {
                    None => Outcome::Done(messages.clone()),
                    Some(error) => {
                        let reason = error.reason();
                        Outcome::Refused(
                            Some(reason),
                            reason.code(),
                            error.message.clone(),
                            error.encode_to_vec(),
                        )
                    }
                }
            }
            (_, Ok(())) => Outcome::Done(messages),
        }
    }
}

/// What came of a call: all that the caller can tell one refusal from another by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Done(Vec<Vec<u8>>),
    Refused(Option<ErrorReason>, Code, String, Vec<u8>),
}

impl Outcome {
    fn is(&self, expected: Expected) -> bool {
        let refused = |wanted: ErrorReason| match self {
            Self::Refused(reason, code, ..) => *reason == Some(wanted) && *code == wanted.code(),
            Self::Done(_) => false,
        };
        match expected {
            Expected::Unauthenticated => refused(ErrorReason::Unauthenticated),
            Expected::NotFound => refused(ErrorReason::NotFound),
            Expected::InvalidField => refused(ErrorReason::InvalidField),
            Expected::Nothing => *self == Self::Done(vec![Vec::new()]),
            // A request may have other faults: CheckRules of no rules has.
            Expected::Answered => !refused(ErrorReason::Unauthenticated) && !refused(ErrorReason::NotFound),
            Expected::NotWrong => true,
        }
    }
}

async fn wrong_tokens(clients: &Clients, target: &Created, another: &Created) -> Vec<Wrong> {
    let owner = |expire_time, replaces: &str| v1::CreateTokenRequest {
        scope: Some(v1::TokenScope {
            kind: Some(v1::token_scope::Kind::Owner(v1::OwnerScope { owner: "shop".to_owned() })),
        }),
        expire_time,
        replaces_token_id: replaces.to_owned(),
        ..v1::CreateTokenRequest::default()
    };
    let (_, expired) = clients.create_token(owner(Some(in_ms(5_000)), "")).await;
    let request = v1::WatchResultsRequest::default();
    match clients.by(&expired).matches().watch_results(request).await {
        Ok(results) => check_cut("a stream of a token that expires", &mut results.into_inner()).await,
        // On a slow machine it may have expired before.
        Err(status) => check_unauthenticated("a token that has expired", &status),
    }

    let (token, revoked) = clients.create_token(owner(None, "")).await;
    clients.revoke(&token).await;
    let (token, replaced) = clients.create_token(owner(None, "")).await;
    clients.create_token(owner(None, &token.token_id)).await;
    let (_, bot) = clients.bot_token("greedy").await;
    let (_, rival) = clients.owner_token("rival").await;

    let rotate =
        v1::RotateSeatTokenRequest { match_id: target.id().to_owned(), seat: 0, request_id: String::new() };
    soon("RotateSeatToken", clients.matches().rotate_seat_token(rotate)).await.unwrap();

    // By the key of another server.
    let grant =
        SeatGrant { match_id: target.id().parse().unwrap(), seat: Seat::new(1).unwrap(), generation: 1 };
    let forged = ServiceKey::from_bytes([7; 32]).seat_token(&grant);
    let headers = |fault, headers: &[&str]| Wrong {
        fault,
        headers: headers.iter().map(ToString::to_string).collect(),
        text: "malformed".to_owned(),
    };
    let admin = format!("Bearer {}", clients.admin_token());
    vec![
        Wrong { fault: Fault::None, headers: Vec::new(), text: String::new() },
        headers(Fault::Malformed, &["Bearer"]),
        headers(Fault::Malformed, &["Bearer "]),
        headers(Fault::Malformed, &[clients.admin_token()]),
        headers(Fault::Malformed, &[&admin.replace("Bearer", "Basic")]),
        headers(Fault::Malformed, &[&admin, &admin]),
        Wrong::new(Fault::Unknown, "nobody's"),
        Wrong::new(Fault::Unknown, forged.expose()),
        Wrong::new(Fault::Unknown, &format!("zta_{}", "A".repeat(43))),
        Wrong::new(Fault::Unknown, &format!("zto_{}", "A".repeat(64))),
        // One character of a good one is another.
        Wrong::new(Fault::Unknown, &changed(&rival)),
        Wrong::new(Fault::Unknown, &rival.replacen("zto_", "zta_", 1)),
        Wrong::new(Fault::Expired, &expired),
        Wrong::new(Fault::Revoked, &revoked),
        Wrong::new(Fault::Replaced, &replaced),
        Wrong::new(Fault::ReplacedSeat, &target.tokens[0]),
        Wrong::new(Fault::Bot, &bot),
        Wrong::new(Fault::AnotherOwner, &rival),
        Wrong::new(Fault::AnotherMatch, &another.tokens[0]),
        Wrong::new(Fault::AnotherSeat, &target.tokens[1]),
    ]
}

fn changed(token: &str) -> String {
    let last = if token.ends_with('A') { 'B' } else { 'A' };
    format!("{}{last}", &token[..token.len() - 1])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_refuses_every_wrong_token_and_tells_no_more() {
    let scene = Box::pin(Scene::set()).await;
    let mut failures = Vec::new();
    let mut cells = 0;
    for method in methods() {
        let mut unauthenticated: [Option<Outcome>; 2] = [None, None];
        for wrong in &scene.wrong {
            let (door, _) = request(&method, &scene.target(&method, wrong, false));
            let expected = expected(door, wrong.fault);
            if expected == Expected::NotWrong {
                continue;
            }
            cells += 1;
            let cell = format!("{method} by {:?} ({:?})", wrong.fault, wrong.headers);
            let outcome = scene.call(&method, wrong, false).await;
            if !outcome.is(expected) {
                failures.push(format!("{cell}: expected {expected:?}, got {outcome:?}"));
                continue;
            }
            let of_absent = scene.call(&method, wrong, true).await;
            if outcome != of_absent && expected != Expected::Answered {
                failures.push(format!(
                    "{cell}: {outcome:?} differs from {of_absent:?}, the answer for what is absent"
                ));
            }
            if expected == Expected::Unauthenticated {
                let by_metadata = TWO_TOKENS.contains(&method.as_str()) && is_void(wrong.fault);
                let first = unauthenticated[usize::from(by_metadata)].get_or_insert_with(|| outcome.clone());
                if *first != outcome {
                    failures
                        .push(format!("{cell}: {outcome:?} differs from {first:?}, that of another token"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cells} cells:\n{}", failures.len(), failures.join("\n"));
    assert!(cells > 300, "{cells} cells are too few");
    check_right_tokens(&scene).await;
    scene.server.stop().await;
}

/// The same calls by the right tokens are done, so the table does not refuse for another reason.
async fn check_right_tokens(scene: &Scene) {
    let admin = scene.clients.admin_token();
    let seat = &scene.target.tokens[1];
    for method in methods() {
        // A stream of results has no end.
        if method == "MatchService/WatchResults" {
            continue;
        }
        let right = |token: &str| Wrong { text: seat.clone(), ..Wrong::new(Fault::None, token) };
        let (door, _) = request(&method, &scene.target(&method, &right(admin), false));
        let tokens: &[&str] = match door {
            // The bot of the table is none of them.
            Door::Bots => &[],
            Door::Admin | Door::Seat => &[admin],
            _ => &[&scene.owner_secret, admin],
        };
        // Once a match is cancelled the seat can do no more, and a webhook that is deleted is gone.
        if DONE_ONCE.contains(&method.as_str()) {
            continue;
        }
        for token in tokens {
            if method == "TokenService/RevokeToken" || method == "PlayService/Observe" {
                continue;
            }
            let outcome = scene.call(&method, &right(token), false).await;
            let allowed = match &outcome {
                Outcome::Done(messages) => {
                    *messages != vec![Vec::<u8>::new()] || EMPTY_ANSWERS.contains(&method.as_str())
                }
                // The match waits for its seats, and no rules are no rules: both are said after the token was taken.
                Outcome::Refused(reason, ..) => matches!(
                    reason,
                    Some(
                        ErrorReason::NonceNotWanted
                            | ErrorReason::MatchNotStarted
                            | ErrorReason::NotSupported
                            | ErrorReason::InvalidField
                            | ErrorReason::InvalidRules
                    )
                ),
            };
            assert!(allowed, "{method} by a right token: {outcome:?}");
        }
    }
    let right = |token: &str| Wrong { text: seat.clone(), ..Wrong::new(Fault::None, token) };
    for method in ["MatchService/RotateSeatToken", "MatchService/CancelMatch"] {
        for token in [scene.owner_secret.as_str(), admin] {
            let outcome = scene.call(method, &right(token), false).await;
            assert!(matches!(outcome, Outcome::Done(_)), "{method} by a right token: {outcome:?}");
        }
    }
    let outcome = scene.call("WebhookService/DeleteWebhook", &right(&scene.owner_secret), false).await;
    assert!(matches!(outcome, Outcome::Done(_)), "DeleteWebhook by its owner: {outcome:?}");
    let outcome = scene.call("TokenService/RevokeToken", &right(admin), false).await;
    assert!(matches!(outcome, Outcome::Done(_)), "RevokeToken by the admin: {outcome:?}");
}
