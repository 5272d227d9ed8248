//! Tokens, and the admin token in its file.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::server::{Served, text, zetema};

#[test]
fn a_server_says_when_its_folder_does_not_hold_the_admin_token() {
    let data = tempfile::tempdir().unwrap();
    let (first, said) = Served::on(data);
    assert!(said.contains("; the admin token is in "), "{said}");
    let kept = tempfile::tempdir().unwrap();
    let data = first.stop();
    // All of the journal, without the file of the token.
    for file in fs::read_dir(data.path()).unwrap().map(Result::unwrap) {
        if file.file_name().to_string_lossy().starts_with("journal.") {
            fs::copy(file.path(), kept.path().join(file.file_name())).unwrap();
        }
    }
    let (_second, said) = Served::on(kept);
    assert!(said.contains("does not hold any more"), "{said}");
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let server = Served::start();
    let made = server.output(&["token", "create", "--owner", "shop", "--label", "backend"]);
    assert!(made.status.success(), "{made:?}");
    let secret = text(&made.stdout);
    let secret = secret.strip_suffix('\n').expect("the secret alone");
    assert!(secret.starts_with("zto_") && secret.bytes().all(|byte| byte.is_ascii_graphic()), "{secret}");
    let bot = server.json(&["token", "create", "--bot", "greedy", "--expires-in-days", "90"]);
    assert!(bot["secret"].as_str().unwrap().starts_with("ztb_"));
    assert_eq!(
        (bot["token"]["scope"].as_str(), bot["token"]["account"].as_str()),
        (Some("bot"), Some("greedy"))
    );
    assert!(bot["token"]["expire_time"].is_string());

    let listed = server.json(&["token", "list", "--owner", "shop"]);
    let [token] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!((&token["scope"], &token["label"]), (&"owner".into(), &"backend".into()));
    let all = server.output(&["token", "list", "--void"]);
    assert!(!text(&all.stdout).contains(secret), "a list shows no secret");

    let as_owner = |args: &[&str]| server.command(args).env("ZETEMA_TOKEN", secret).output().unwrap();
    assert!(as_owner(&["match", "create"]).status.success());
    let refused = as_owner(&["token", "list"]);
    assert!(text(&refused.stderr).contains("UNAUTHENTICATED"));

    let id = token["token_id"].as_str().unwrap();
    let replaced = server.json(&["token", "create", "--replaces", id]);
    assert_eq!(replaced["token"]["account"], "shop");
    assert!(!as_owner(&["match", "list"]).status.success());
    let id = replaced["token"]["token_id"].as_str().unwrap();
    let revoked = server.json(&["token", "revoke", id]);
    assert!(revoked["revoke_time"].is_string(), "{revoked}");
    assert_eq!(server.json(&["token", "revoke", id]), revoked);
    assert_eq!(server.json(&["token", "list", "--owner", "shop"]), Value::Array(Vec::new()));
    assert_eq!(server.json(&["token", "list", "--owner", "shop", "--void"]).as_array().unwrap().len(), 2);
}

#[test]
fn a_token_needs_one_scope_and_one_expiry() {
    for args in [
        &["token", "create"][..],
        &["token", "create", "--admin", "--owner", "shop"],
        &["token", "create", "--bot", "b", "--expires", "tomorrow"],
        &["token", "create", "--bot", "b", "--expires-in-days", "0"],
        // Sent again it would ask for another time, and be refused.
        &["token", "create", "--bot", "b", "--expires-in-days", "9", "--request-id", "a"],
    ] {
        assert_eq!(zetema().args(args).output().unwrap().status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_lost_admin_token_is_replaced_on_a_stopped_server() {
    let server = Served::start();
    let file = server.data.path().join("admin-token");
    let old = fs::read_to_string(&file).unwrap();
    let owner = server.json(&["token", "create", "--owner", "shop"])["secret"].as_str().unwrap().to_owned();
    let reset = |data: &Path| zetema().args(["token", "reset-admin", "--data"]).arg(data).output().unwrap();
    let refused = reset(server.data.path());
    assert!(text(&refused.stderr).contains("in use by another server"));
    let nothing = tempfile::tempdir().unwrap();
    let refused = reset(nothing.path());
    assert!(text(&refused.stderr).contains("no server's data folder"));
    assert_eq!(fs::read_dir(nothing.path()).unwrap().count(), 0, "nothing was made there");

    let data = server.stop();
    let done = reset(data.path());
    assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
    let new = fs::read_to_string(&file).unwrap();
    assert!(new != old && !text(&done.stderr).contains(new.trim()));
    let (server, _) = Served::on(data);
    let list = |token: &str| server.command(&["token", "list"]).env("ZETEMA_TOKEN", token).output().unwrap();
    assert!(list(new.trim()).status.success());
    assert!(!list(old.trim()).status.success());
    let list = server.command(&["match", "list"]).env("ZETEMA_TOKEN", owner).output().unwrap();
    assert!(list.status.success(), "{list:?}");
}
