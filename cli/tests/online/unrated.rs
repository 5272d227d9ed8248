//! A match of a ladder to which nobody comes: it is listed as soon as it is over, and the owners see what comes of it.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use tonic::Request;
use zetema_proto::v1;
use zetema_proto::v1::play_service_client::PlayServiceClient;

use crate::ladders::{LADDER, register};
use crate::server::{Served, text, with_ladders};

/// A bot waits on the ladder for a match to which it does not come.
#[tokio::main(flavor = "current_thread")]
async fn wait(server: &Served, token: &str) {
    let queue = v1::LadderQueue { ladder: LADDER.to_owned(), matches_at_once: 1 };
    let queues = v1::Queues { queues: vec![queue], challenges: None };
    let mut request = Request::new(v1::UpdateQueuesRequest { queues: Some(queues) });
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    let mut client = PlayServiceClient::connect(server.url.clone()).await.unwrap();
    client.update_queues(request).await.unwrap();
}

#[test]
fn a_match_that_is_not_rated_is_shown_to_who_watches_and_its_bots_strikes_to_their_owners() {
    let data = tempfile::tempdir().unwrap();
    let config = data.path().join("config.toml");
    let ladder = format!(
        "[[ladder]]\nname = \"{LADDER}\"\npreset = \"quick\"\nplayers = 2\ntime_control = \"blitz\"\njoin_timeout_ms = 1000\n"
    );
    std::fs::write(&config, ladder).unwrap();
    let flags = ["--config", config.to_str().unwrap()];
    let (server, _) = Served::on_with(data, &flags);
    let tokens = [("ann", "ada"), ("bob", "ben")].map(|(bot, owner)| register(&server, bot, owner));

    let mut watch = server.command(&["ladder", "results", LADDER, "--watch", "--format", "json"]);
    let mut watch = watch.stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(watch.stdout.take().unwrap()).lines();
    assert_eq!(told.next().unwrap().unwrap(), "[]");
    for token in &tokens {
        wait(&server, token);
    }
    let shown: Value = serde_json::from_str(&told.next().unwrap().unwrap()).unwrap();
    assert_eq!((&shown[0]["reason"], &shown[0]["seats"][0]["end"]), (&json!("aborted"), &json!("no-show")));
    watch.kill().unwrap();
    watch.wait().unwrap();

    let shown = with_ladders(|| server.json(&["bot", "show", "ann"]));
    let [on] = &shown["on_ladders"].as_array().unwrap()[..] else { panic!("{shown}") };
    assert_eq!((&on["ladder"], &on["counts"]["strikes"]), (&json!(LADDER), &json!(1)));
    let shown = server.output(&["bot", "show", "ann"]);
    assert!(text(&shown.stderr).contains("quick-2: ann is "), "{}", text(&shown.stderr));
}
