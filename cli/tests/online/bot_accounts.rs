//! Accounts of bots: registered, listed, played with, given another token and retired.

use std::process::{Child, Output, Stdio};

use serde_json::{Value, json};
use tonic::{Request, Status};
use zetema_proto::v1;
use zetema_proto::v1::match_service_client::MatchServiceClient;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::v1::seat_spec::Kind;

use crate::server::{Served, parse, text, with_ladders, zetema};

/// A house bot that plays all seats of a bot.
fn start(server: &Served, token: &str) -> Child {
    let mut command = server.command(&["bot", "greedy", "--format", "json", "--token", token]);
    command.arg("--nonce-secret").arg(server.data.path().join("nonce-secret"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Creates a match between two bots: its id.
#[tokio::main(flavor = "current_thread")]
async fn create(server: &Served, bots: [&str; 2]) -> Result<String, Status> {
    let preset = v1::PresetRules { preset: v1::Preset::Fosdick.into(), teams: None, imperial_suit: None };
    let seat = |name: &str| v1::SeatSpec { kind: Some(Kind::Bot(v1::BotSeat { name: name.to_owned() })) };
    let spec = v1::MatchSpec {
        rules: Some(v1::match_spec::Rules::Preset(preset)),
        seats: bots.map(seat).to_vec(),
        ..v1::MatchSpec::default()
    };
    let mut request = Request::new(v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) });
    let admin = std::fs::read_to_string(server.data.path().join("admin-token")).unwrap();
    request.metadata_mut().insert("authorization", format!("Bearer {}", admin.trim()).parse().unwrap());
    let mut client = MatchServiceClient::connect(server.url.clone()).await.unwrap();
    Ok(client.create_match(request).await?.into_inner().r#match.unwrap().match_id)
}

fn show(server: &Served, match_id: &str) -> Value {
    server.json(&["match", "show", match_id])
}

#[test]
fn a_bot_is_registered_plays_has_its_token_replaced_and_is_retired() {
    let (server, _) = Served::on_with(tempfile::tempdir().unwrap(), &["--open-registration", "on"]);
    let mut register = zetema();
    register.args(["bot", "register-owner", "kennel", "--server", &server.url]);
    let owner = register.output().unwrap();
    assert!(owner.status.success(), "{}", text(&owner.stderr));
    let owner = text(&owner.stdout).trim().to_owned();
    assert!(owner.starts_with("zto_"), "the token alone");
    let as_owner = |args: &[&str]| server.command(args).env("ZETEMA_TOKEN", &owner).output().unwrap();

    let registered =
        as_owner(&["bot", "register", "rex", "--bot-version", "1.0", "--contact", "rex@example.com"]);
    let first = text(&registered.stdout).trim().to_owned();
    assert!(registered.status.success() && first.starts_with("ztb_"), "{}", text(&registered.stderr));
    let again = as_owner(&["bot", "register", "rex"]);
    assert!(text(&again.stderr).contains("NAME_TAKEN"), "{}", text(&again.stderr));
    let tom = parse(&as_owner(&["bot", "register", "tom", "--format", "json"]));
    let updated = parse(&as_owner(&["bot", "update", "rex", "--description", "careful", "--format", "json"]));
    let said = |field: &str| updated[field].as_str().unwrap().to_owned();
    assert_eq!([said("description"), said("version")], ["careful", "1.0"]);

    // Whoever asks reads bots, but not whom to tell of their faults.
    let anyone = |args: &[&str]| {
        let mut command = zetema();
        command.args(args).args(["--format", "json", "--server", &server.url]);
        parse(&command.env("ZETEMA_DATA", "/nowhere").output().unwrap())
    };
    let listed = anyone(&["bot", "list", "--owner", "kennel"]);
    let names: Vec<&Value> = listed.as_array().unwrap().iter().map(|bot| &bot["name"]).collect();
    assert_eq!(names, ["tom", "rex"]);
    assert_eq!(anyone(&["bot", "show", "rex"])["fault_contact"], "");
    assert_eq!(server.json(&["bot", "show", "rex"])["fault_contact"], "rex@example.com");
    // How it behaves on each ladder is for its owner as long as no standings show it, and it need not run for that.
    assert_eq!(with_ladders(|| anyone(&["bot", "show", "rex"]))["on_ladders"], json!([]));
    let shown = with_ladders(|| parse(&as_owner(&["bot", "show", "rex", "--format", "json"])));
    let on = &shown["on_ladders"].as_array().unwrap()[0];
    assert_eq!((&on["ladder"], &on["conduct"]["state"]), (&json!("quick-2"), &json!("free")));
    assert_eq!((&on["counts"]["strikes"], &on["counts"]["forfeits_to_bench"]), (&json!(0), &json!(3)));
    let shown = text(&as_owner(&["bot", "show", "rex"]).stdout);
    assert!(shown.contains("sackson-2") && shown.contains("0 of the last 10"), "{shown}");
    assert!(shown.contains("contact for faults: rex@example.com"), "{shown}");
    let mut stranger = zetema();
    stranger.args(["bot", "show", "rex", "--server", &server.url]).env("ZETEMA_DATA", "/nowhere");
    let shown = text(&stranger.output().unwrap().stdout);
    assert!(shown.contains("rex") && !shown.contains("contact for faults"), "{shown}");

    // A match that is played with the first token is played to its end with it, whenever the second comes.
    let match_id = &create(&server, ["rex", "tom"]).unwrap();
    let before = start(&server, &first);
    while show(&server, match_id)["seats"][0]["state"] != "joined" {}
    let rotated = as_owner(&["bot", "rotate", "rex"]);
    let second = text(&rotated.stdout).trim().to_owned();
    assert!(rotated.status.success() && second != first, "{}", text(&rotated.stderr));
    assert!(
        text(&rotated.stderr).contains("plays the seats of before until 20"),
        "{}",
        text(&rotated.stderr)
    );
    let mut other = start(&server, tom["secret"].as_str().unwrap());
    let ended = before.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(4), "its token was rotated: {}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("TOKEN_ROTATED"), "{}", text(&ended.stderr));
    assert_eq!(show(&server, match_id)["state"], "finished");

    // One that is voided at once is cut, and the match goes on with the next.
    other.kill().unwrap();
    other.wait().unwrap();
    let other_id = &create(&server, ["rex", "tom"]).unwrap();
    let before = start(&server, &second);
    while show(&server, other_id)["seats"][0]["state"] != "joined" {}
    let rotated = as_owner(&["bot", "rotate", "rex", "--now"]);
    assert!(rotated.status.success(), "{}", text(&rotated.stderr));
    assert!(text(&rotated.stderr).contains("is void already"), "{}", text(&rotated.stderr));
    let ended = before.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(4), "its token is void: {}", text(&ended.stderr));
    let mut rex = start(&server, text(&rotated.stdout).trim());

    let retired = parse(&as_owner(&["bot", "retire", "rex", "--format", "json"]));
    assert_eq!((&retired["state"], retired["retire_time"].is_string()), (&json!("retired"), true));
    assert_eq!(rex.wait().unwrap().code(), Some(4));
    let refused = create(&server, ["rex", "tom"]).unwrap_err();
    assert!(refused.message().contains("retired"), "{refused:?}");
    let refused = server.output(&["token", "create", "--bot", "rex"]);
    assert!(text(&refused.stderr).contains("retired"), "{}", text(&refused.stderr));

    let (server, _) = Served::on(server.stop());
    let mut shown = server.json(&["bot", "show", "rex"]);
    assert!(shown.as_object_mut().unwrap().remove("on_ladders").is_some(), "its conduct is told as well");
    assert_eq!(shown, retired);
    assert_eq!(server.json(&["bot", "list", "--state", "active"])[0]["name"], "tom");
    assert_eq!(show(&server, match_id)["state"], "finished");
}

/// Has the bot act in its match before it is dealt, which is refused, and waits until the server has noted it.
#[tokio::main(flavor = "current_thread")]
async fn acts_too_early(server: &Served, bot: &str, match_id: &str) {
    let mut client = PlayServiceClient::connect(server.url.clone()).await.unwrap();
    let assigned = Some(v1::AssignedSeat { match_id: match_id.to_owned(), seat: 0 });
    let bearer = |metadata: &mut tonic::metadata::MetadataMap| {
        metadata.insert("authorization", format!("Bearer {bot}").parse().unwrap());
    };
    let join = v1::JoinSeatRequest { assigned: assigned.clone(), ..v1::JoinSeatRequest::default() };
    let mut join = Request::new(join);
    bearer(join.metadata_mut());
    client.join_seat(join).await.unwrap();
    let act = Some(v1::Act { decision_number: 1, choice: Some(v1::act::Choice::LegalIndex(0)) });
    let mut act = Request::new(v1::ActRequest { act, assigned, ..v1::ActRequest::default() });
    bearer(act.metadata_mut());
    client.act(act).await.unwrap_err();
}

#[test]
fn an_owner_and_the_admin_list_what_went_wrong_for_a_bot_that_is_retired_too_and_nobody_else() {
    let server = Served::start();
    let token = |args: &[&str]| {
        let made = server.output(args);
        assert!(made.status.success(), "{}", text(&made.stderr));
        text(&made.stdout).trim().to_owned()
    };
    let kennel = token(&["token", "create", "--owner", "kennel"]);
    let shop = token(&["token", "create", "--owner", "shop"]);
    let rex = token(&["bot", "register", "rex", "--owner", "kennel"]);
    token(&["bot", "register", "tom", "--owner", "kennel"]);
    let match_id = &create(&server, ["rex", "tom"]).unwrap();
    acts_too_early(&server, &rex, match_id);
    let seats = &show(&server, match_id)["seats"];
    assert_eq!([&seats[0]["bot"], &seats[1]["bot"]], ["rex", "tom"], "{seats}");
    let table = text(&server.output(&["match", "show", match_id]).stdout);
    assert!(table.contains("0 joined (rex), 1 open (tom)"), "{table}");
    let by = |token: &str, args: &[&str]| server.command(args).env("ZETEMA_TOKEN", token).output().unwrap();
    let json = ["bot", "faults", "rex", "--format", "json"];

    let told = parse(&by(&kennel, &json));
    assert_eq!(
        (told.as_array().unwrap().len(), &told[0]["match_id"], &told[0]["reason"]),
        (1, &match_id.as_str().into(), &"MATCH_NOT_STARTED".into()),
        "{told}"
    );
    assert_eq!(parse(&by(&rex, &["match", "faults", "--format", "json"])), told, "as by the bot's own token");
    assert_eq!(server.json(&["bot", "faults", "rex", "--match", match_id]), told, "by the admin's");
    let other = &create(&server, ["rex", "tom"]).unwrap();
    assert_eq!(server.json(&["bot", "faults", "rex", "--match", other]), json!([]));
    let table = by(&kennel, &["bot", "faults", "rex"]);
    assert!(text(&table.stdout).contains("MATCH_NOT_STARTED"), "{}", text(&table.stdout));

    let says = |output: &Output, code: i32, part: &str| {
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(part) && output.stdout.is_empty(), "{part}: {stderr}");
    };
    says(&by(&shop, &["bot", "faults", "rex"]), 1, "`zetema bot list` shows all bots, and whose they are");
    says(&server.output(&["bot", "faults", "nobody"]), 1, "`zetema bot list` shows all bots");
    says(&by(&rex, &["bot", "faults", "rex"]), 1, "for the bot's own there is `zetema match faults`");
    says(&by(&kennel, &["match", "faults"]), 2, "`zetema bot faults NAME`");
    let admin = std::fs::read_to_string(server.data.path().join("admin-token")).unwrap();
    says(&by(admin.trim(), &["match", "faults"]), 2, "`zetema bot faults NAME`");

    assert!(by(&kennel, &["bot", "retire", "rex"]).status.success());
    assert_eq!(parse(&by(&kennel, &json)), told, "of one that is retired too");
}

#[test]
fn the_help_of_rotate_says_that_the_old_token_plays_on() {
    let help = text(&zetema().args(["bot", "--help"]).output().unwrap().stdout);
    assert!(help.contains("24 hours") && !help.contains("void all that it had"), "{help}");
}

#[test]
fn nobody_registers_as_an_owner_unless_the_server_lets_everybody() {
    let server = Served::start();
    let mut register = zetema();
    let refused =
        register.args(["bot", "register-owner", "kennel", "--server", &server.url]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("ask whoever runs this server"), "{}", text(&refused.stderr));
}

#[test]
fn an_account_needs_what_it_is_about() {
    for args in [
        &["bot"][..],
        &["bot", "greedy"],
        &["bot", "update", "rex"],
        &["bot", "list", "--state", "asleep"],
        &["bot", "register"],
    ] {
        assert_eq!(zetema().args(args).output().unwrap().status.code(), Some(2), "{args:?}");
    }
}
