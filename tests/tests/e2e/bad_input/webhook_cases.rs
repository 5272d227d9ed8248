//! Inputs of `WebhookService` that must be refused. The server has no address that may be sent to.

use zetema_proto::v1;
use zetema_proto::v1::ErrorReason::{NotFound, Unauthenticated};
use zetema_proto::v1::create_webhook_request::From;

use super::case::{Caller, Case, Expected};
use super::scene::Scene;

const CREATE: &str = "WebhookService/CreateWebhook";
const LIST: &str = "WebhookService/ListWebhooks";
const DELETE: &str = "WebhookService/DeleteWebhook";
const DEAD_LETTERS: &str = "WebhookService/ListDeadLetters";
const RESEND: &str = "WebhookService/ResendDeadLetters";
const NO_WEBHOOK: &str = "00000000000000000000000000000000";

pub(crate) fn cases(scene: &Scene) -> Vec<Case> {
    [creations(scene), lists(), of_none()].concat()
}

fn creations(scene: &Scene) -> Vec<Case> {
    let ask = |url: &str| v1::CreateWebhookRequest { url: url.to_owned(), ..Default::default() };
    let good = || ask("https://hooks.example.com/zetema");
    let owned = |owner: &str| v1::CreateWebhookRequest { owner: owner.to_owned(), ..good() };
    let after =
        |cursor: &str| v1::CreateWebhookRequest { from: Some(From::After(cursor.to_owned())), ..good() };
    let named = |id: &str| v1::CreateWebhookRequest { request_id: id.to_owned(), ..good() };
    let url = || Expected::field("url");
    let rows = [
        ("no address", ask(""), url()),
        ("an address of no scheme", ask("hooks.example.com"), url()),
        ("an address of another scheme", ask("ftp://hooks.example.com/"), url()),
        ("an address without a host", ask("https:///zetema"), url()),
        ("an address with a user", ask("https://me@hooks.example.com/"), url()),
        ("an address with a fragment", ask("https://hooks.example.com/#top"), url()),
        ("an address with port 0", ask("https://hooks.example.com:0/"), url()),
        ("an address of another form", ask("https://0x7f.1/"), url()),
        ("too long an address", ask(&format!("https://hooks.example.com/{}", "x".repeat(2_048))), url()),
        ("an address that is not allowed", good(), url()),
        ("an address of this machine", ask("http://127.0.0.1:4680/"), url()),
        ("an address of the cloud's metadata", ask("http://169.254.169.254/"), url()),
        ("an owner with capitals", owned("Shop"), Expected::field("owner")),
        ("too long an owner", owned(&"x".repeat(65)), Expected::field("owner")),
        ("what is no cursor", after("12"), Expected::field("after")),
        ("an empty cursor", after(""), Expected::field("after")),
        ("too long a request id", named(&"x".repeat(65)), Expected::field("request_id")),
        ("a request id with a blank", named("a b"), Expected::field("request_id")),
    ];
    let seat = Caller::Token(scene.playing.actor().to_owned());
    let refused = || Expected::reason(Unauthenticated);
    let by = |name, caller| Case::new(CREATE, name, &good(), refused()).by(caller);
    rows.into_iter()
        .map(|(name, request, expected)| Case::new(CREATE, name, &request, expected))
        .chain([by("nobody makes a webhook", Caller::Nobody), by("a seat makes a webhook", seat)])
        .collect()
}

fn lists() -> Vec<Case> {
    let paged =
        |page_token: &str| v1::ListWebhooksRequest { page_size: 0, page_token: page_token.to_owned() };
    let rows = [
        ("a page token of no list", paged("x")),
        ("a page token of another list", paged("o1")),
        ("a page token with a sign", paged("+1")),
    ];
    let wrong = || Expected::field("page_token");
    rows.into_iter().map(|(name, request)| Case::new(LIST, name, &request, wrong())).collect()
}

fn of_none() -> Vec<Case> {
    let delete = |id: &str| v1::DeleteWebhookRequest { webhook_id: id.to_owned() };
    let letters = |id: &str, page_token: &str| v1::ListDeadLettersRequest {
        webhook_id: id.to_owned(),
        page_size: 0,
        page_token: page_token.to_owned(),
    };
    let resend = |id: &str, count: u64| v1::ResendDeadLettersRequest {
        webhook_id: id.to_owned(),
        result_numbers: (1..=count).collect(),
    };
    let missing = || Expected::field("webhook_id");
    let absent = || Expected::reason(NotFound);
    vec![
        Case::new(DELETE, "no webhook", &delete(""), missing()),
        Case::new(DELETE, "a webhook that does not exist", &delete(NO_WEBHOOK), absent()),
        Case::new(DELETE, "what is no id", &delete("x"), absent()),
        Case::new(DEAD_LETTERS, "no webhook", &letters("", ""), missing()),
        Case::new(DEAD_LETTERS, "a webhook that does not exist", &letters(NO_WEBHOOK, ""), absent()),
        Case::new(
            DEAD_LETTERS,
            "a page token of no list",
            &letters(NO_WEBHOOK, "x"),
            Expected::field("page_token"),
        ),
        Case::new(RESEND, "no webhook", &resend("", 0), missing()),
        Case::new(RESEND, "a webhook that does not exist", &resend(NO_WEBHOOK, 0), absent()),
        Case::new(RESEND, "too many", &resend(NO_WEBHOOK, 1_001), Expected::field("result_numbers")),
    ]
}
