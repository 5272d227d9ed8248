//! Inputs of `BotService` that must be refused. The server lets nobody register as an owner, and has the bot `rex` of `kennel`.

use zetema_proto::v1;
use zetema_proto::v1::ErrorReason::{NameTaken, NotFound, NotSupported, Unauthenticated};

use super::case::{Caller, Case, Expected};
use super::scene::Scene;

const OWNER: &str = "BotService/RegisterOwner";
const REGISTER: &str = "BotService/RegisterBot";
const GET: &str = "BotService/GetBot";
const LIST: &str = "BotService/ListBots";
const UPDATE: &str = "BotService/UpdateBot";
const ROTATE: &str = "BotService/RotateToken";
const RETIRE: &str = "BotService/RetireBot";

pub(crate) fn cases(scene: &Scene) -> Vec<Case> {
    [registrations(scene), lists(), of_one()].concat()
}

fn registrations(scene: &Scene) -> Vec<Case> {
    let owner = |owner: &str| v1::RegisterOwnerRequest { owner: owner.to_owned() };
    let ask = |name: &str| v1::RegisterBotRequest {
        name: name.to_owned(),
        owner: "kennel".to_owned(),
        ..v1::RegisterBotRequest::default()
    };
    let rows = [
        ("no name", ask(""), Expected::field("name")),
        ("a name with capitals", ask("Rex"), Expected::field("name")),
        ("too long a name", ask(&"x".repeat(65)), Expected::field("name")),
        ("a name that a bot has", ask("rex"), Expected::reason(NameTaken)),
        (
            "no owner",
            v1::RegisterBotRequest { owner: String::new(), ..ask("fido") },
            Expected::field("owner"),
        ),
        (
            "an owner with a blank",
            v1::RegisterBotRequest { owner: "a b".to_owned(), ..ask("fido") },
            Expected::field("owner"),
        ),
        (
            "too long a description",
            v1::RegisterBotRequest { description: "x".repeat(257), ..ask("fido") },
            Expected::field("description"),
        ),
        (
            "too long a version",
            v1::RegisterBotRequest { version: "x".repeat(65), ..ask("fido") },
            Expected::field("version"),
        ),
        (
            "too long a contact",
            v1::RegisterBotRequest { fault_contact: "x".repeat(257), ..ask("fido") },
            Expected::field("fault_contact"),
        ),
        (
            "a request id with a blank",
            v1::RegisterBotRequest { request_id: "a b".to_owned(), ..ask("fido") },
            Expected::field("request_id"),
        ),
    ];
    let seat = Caller::Token(scene.playing.actor().to_owned());
    let by =
        |name, caller| Case::new(REGISTER, name, &ask("fido"), Expected::reason(Unauthenticated)).by(caller);
    rows.into_iter()
        .map(|(name, request, expected)| Case::new(REGISTER, name, &request, expected))
        .chain([
            by("nobody registers a bot", Caller::Nobody),
            by("a seat registers a bot", seat),
            Case::new(OWNER, "an owner without a name", &owner(""), Expected::field("owner")),
            Case::new(OWNER, "an owner with capitals", &owner("Kennel"), Expected::field("owner")),
            Case::new(OWNER, "where that is not open", &owner("stable"), Expected::reason(NotSupported)),
        ])
        .collect()
}

fn lists() -> Vec<Case> {
    let paged = |page_token: &str| v1::ListBotsRequest {
        page_token: page_token.to_owned(),
        ..v1::ListBotsRequest::default()
    };
    let of = |owner: Option<&str>, state| v1::ListBotsRequest {
        filter: Some(v1::BotFilter { owner: owner.map(str::to_owned), state }),
        ..v1::ListBotsRequest::default()
    };
    vec![
        Case::new(LIST, "a page token of no list", &paged("x"), Expected::field("page_token")),
        Case::new(LIST, "an owner without a name", &of(Some(""), None), Expected::field("filter.owner")),
        Case::new(LIST, "no state", &of(None, Some(0)), Expected::field("filter.state")),
        Case::new(LIST, "an unknown state", &of(None, Some(99)), Expected::field("filter.state")),
    ]
}

fn of_one() -> Vec<Case> {
    let get = |name: &str| v1::GetBotRequest { name: name.to_owned() };
    let update = |name: &str, version: &str| v1::UpdateBotRequest {
        name: name.to_owned(),
        version: Some(version.to_owned()),
        ..v1::UpdateBotRequest::default()
    };
    let rotate = |name: &str| v1::RotateTokenRequest { name: name.to_owned(), old_tokens: 0 };
    let retire = |name: &str| v1::RetireBotRequest { name: name.to_owned() };
    let (missing, absent) = (|| Expected::field("name"), || Expected::reason(NotFound));
    vec![
        Case::new(GET, "no bot", &get(""), missing()),
        Case::new(GET, "a bot that does not exist", &get("nobody"), absent()),
        Case::new(UPDATE, "no bot", &update("", ""), missing()),
        Case::new(UPDATE, "a bot that does not exist", &update("nobody", ""), absent()),
        Case::new(UPDATE, "too long a version", &update("rex", &"x".repeat(65)), Expected::field("version")),
        Case::new(ROTATE, "no bot", &rotate(""), missing()),
        Case::new(ROTATE, "a bot that does not exist", &rotate("nobody"), absent()),
        Case::new(
            ROTATE,
            "an unknown fate of the old tokens",
            &v1::RotateTokenRequest { old_tokens: 99, ..rotate("rex") },
            Expected::field("old_tokens"),
        ),
        Case::new(RETIRE, "no bot", &retire(""), missing()),
        Case::new(RETIRE, "a bot that does not exist", &retire("nobody"), absent()),
    ]
}
