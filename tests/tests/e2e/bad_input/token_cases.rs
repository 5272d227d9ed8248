//! Inputs of `TokenService` that must be refused.

use prost_types::Timestamp;
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason::{NotFound, RequestIdReused, Unauthenticated};
use zetema_proto::v1::token_scope::Kind;

use super::case::{Caller, Case, Expected};
use super::match_cases::REQUEST_ID;
use super::scene::Scene;

const CREATE: &str = "TokenService/CreateToken";
const LIST: &str = "TokenService/ListTokens";
const REVOKE: &str = "TokenService/RevokeToken";
const NO_TOKEN: &str = "00000000000000000000000000000000";
/// A value that no enum of the protocol has.
const UNKNOWN: i32 = 99;

fn owner(name: &str) -> v1::TokenScope {
    v1::TokenScope { kind: Some(Kind::Owner(v1::OwnerScope { owner: name.to_owned() })) }
}

fn bot(name: &str) -> v1::TokenScope {
    v1::TokenScope { kind: Some(Kind::Bot(v1::BotScope { bot: name.to_owned() })) }
}

/// `existing` is the token of an owner.
pub(crate) fn cases(scene: &Scene, existing: &v1::Token) -> Vec<Case> {
    [creations(scene, existing), lists(), revocations()].concat()
}

fn creations(scene: &Scene, existing: &v1::Token) -> Vec<Case> {
    let ask = |scope| v1::CreateTokenRequest { scope, ..v1::CreateTokenRequest::default() };
    let expiring = |seconds, nanos| v1::CreateTokenRequest {
        expire_time: Some(Timestamp { seconds, nanos }),
        ..ask(Some(owner("shop")))
    };
    let replacing = |scope, token_id: &str| v1::CreateTokenRequest {
        replaces_token_id: token_id.to_owned(),
        ..ask(scope)
    };
    let named = |request_id: &str| v1::CreateTokenRequest {
        request_id: request_id.to_owned(),
        ..ask(Some(owner("shop")))
    };
    let labelled = v1::CreateTokenRequest { label: "x".repeat(65), ..ask(Some(owner("shop"))) };
    let time = || Expected::field("expire_time");
    let rows = vec![
        ("no scope", ask(None), Expected::field("scope")),
        ("a scope of no kind", ask(Some(v1::TokenScope { kind: None })), Expected::field("scope.kind")),
        ("an owner without a name", ask(Some(owner(""))), Expected::field("scope.owner.owner")),
        ("an owner with a colon", ask(Some(owner("a:b"))), Expected::field("scope.owner.owner")),
        ("an owner with capitals", ask(Some(owner("Shop"))), Expected::field("scope.owner.owner")),
        ("too long a name", ask(Some(owner(&"x".repeat(65)))), Expected::field("scope.owner.owner")),
        ("a bot without a name", ask(Some(bot(""))), Expected::field("scope.bot.bot")),
        ("a bot with a blank", ask(Some(bot("a bot"))), Expected::field("scope.bot.bot")),
        ("too long a label", labelled, Expected::field("label")),
        ("an expiry in the past", expiring(1_000_000_000, 0), time()),
        ("an expiry before 1970", expiring(-1, 0), time()),
        ("an expiry after the year 9999", expiring(253_402_300_800, 0), time()),
        ("an expiry with too many nanoseconds", expiring(4_000_000_000, 1_000_000_000), time()),
        ("an expiry with negative nanoseconds", expiring(4_000_000_000, -1), time()),
        ("too long a request id", named(&"x".repeat(65)), Expected::field("request_id")),
        ("a request id of another call", named(REQUEST_ID), Expected::reason(RequestIdReused)),
        ("to replace no token", replacing(None, NO_TOKEN), Expected::reason(NotFound)),
        ("to replace what is no id", replacing(None, "x"), Expected::reason(NotFound)),
        (
            "to replace with another scope",
            replacing(Some(owner("rival")), &existing.token_id),
            Expected::field("scope"),
        ),
        ("to replace by a bot's", replacing(Some(bot("shop")), &existing.token_id), Expected::field("scope")),
    ];
    let seat = Caller::Token(scene.playing.actor().to_owned());
    let refused = || Expected::reason(Unauthenticated);
    let by = |name, caller| Case::new(CREATE, name, &ask(Some(owner("shop"))), refused()).by(caller);
    rows.into_iter()
        .map(|(name, request, expected)| Case::new(CREATE, name, &request, expected))
        .chain([by("nobody makes a token", Caller::Nobody), by("a seat makes a token", seat)])
        .collect()
}

fn lists() -> Vec<Case> {
    let filtered = |scope, void_tokens| v1::ListTokensRequest {
        filter: Some(v1::TokenFilter { scope, void_tokens }),
        ..v1::ListTokensRequest::default()
    };
    let paged =
        |page_token: &str| v1::ListTokensRequest { page_token: page_token.to_owned(), ..Default::default() };
    let void = || Expected::field("filter.void_tokens");
    let rows = [
        (
            "a scope of no kind",
            filtered(Some(v1::TokenScope { kind: None }), None),
            Expected::field("filter.scope.kind"),
        ),
        (
            "an owner without a name",
            filtered(Some(owner("")), None),
            Expected::field("filter.scope.owner.owner"),
        ),
        ("void tokens unspecified", filtered(None, Some(0)), void()),
        ("void tokens unknown", filtered(None, Some(UNKNOWN)), void()),
        ("a page token of no list", paged("x"), Expected::field("page_token")),
        ("a page token of another list", paged("o1"), Expected::field("page_token")),
        ("a page token with a sign", paged("+1"), Expected::field("page_token")),
    ];
    rows.into_iter().map(|(name, request, expected)| Case::new(LIST, name, &request, expected)).collect()
}

fn revocations() -> Vec<Case> {
    let ask = |token_id: &str| v1::RevokeTokenRequest { token_id: token_id.to_owned() };
    vec![
        Case::new(REVOKE, "no token", &ask(""), Expected::field("token_id")),
        Case::new(REVOKE, "a token that does not exist", &ask(NO_TOKEN), Expected::reason(NotFound)),
        Case::new(REVOKE, "what is no id", &ask("x"), Expected::reason(NotFound)),
    ]
}
