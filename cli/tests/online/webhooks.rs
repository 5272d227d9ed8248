//! Webhooks: made, looked at, mended and ended.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::server::{Served, text};

/// A receiver that refuses so many messages and takes the next: its address.
fn receiver(refused: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/zetema", listener.local_addr().unwrap());
    let heard = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let heard = Arc::clone(&heard);
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream);
                loop {
                    let mut length = 0;
                    loop {
                        let mut line = String::new();
                        if lines.read_line(&mut line).unwrap_or(0) == 0 {
                            return;
                        }
                        if let Some(value) = line.strip_prefix("content-length: ") {
                            length = value.trim().parse().unwrap();
                        }
                        if line == "\r\n" {
                            break;
                        }
                    }
                    lines.read_exact(&mut vec![0; length]).unwrap();
                    let taken = heard.fetch_add(1, Ordering::SeqCst) >= refused;
                    let status = if taken { "200 OK" } else { "400 No" };
                    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
                    lines.get_mut().write_all(answer.as_bytes()).unwrap();
                }
            });
        }
    });
    url
}

/// Asks until the answer is the right one.
fn until(server: &Served, args: &[&str], is_right: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..1_000 {
        let answer = server.json(args);
        if is_right(&answer) {
            return answer;
        }
    }
    panic!("{args:?} never came to it: {}", server.json(args));
}

#[test]
fn a_webhook_is_made_only_to_where_the_server_may_send() {
    let server = Served::start();
    let refused = server.output(&["webhook", "add", "https://hooks.example.com/zetema"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("webhook_allow"), "{}", text(&refused.stderr));
    assert_eq!(server.json(&["webhook", "list"]), json!([]));
}

#[test]
fn what_a_receiver_refuses_is_listed_and_sent_again() {
    let flags = [
        "--webhook-allow",
        "http://127.0.0.1:*",
        "--webhook-first-retry-ms",
        "10",
        "--webhook-last-retry-ms",
        "100",
    ];
    let (server, _) = Served::on_with(tempfile::tempdir().unwrap(), &flags);
    let url = receiver(3);
    let made = server.output(&["webhook", "add", &url, "--request-id", "one"]);
    let secret = text(&made.stdout);
    assert!(secret.starts_with("whsec_") && secret.lines().count() == 1, "{made:?}");
    let again = server.json(&["webhook", "add", &url, "--request-id", "one"]);
    assert_eq!(again["secret"], secret.trim());
    let id = again["webhook"]["webhook_id"].as_str().unwrap();

    let created = server.json(&["match", "create"]);
    let match_id = created["match"]["match_id"].as_str().unwrap();
    assert!(server.output(&["match", "cancel", match_id]).status.success());
    let dead = until(&server, &["webhook", "dead-letters", id], |dead| *dead != json!([]));
    assert_eq!(
        (&dead[0]["result_number"], &dead[0]["attempts"], &dead[0]["error"], &dead[0]["state"]),
        (&json!(1), &json!(3), &json!("HTTP 400"), &json!("kept"))
    );
    let listed = server.json(&["webhook", "list"]);
    assert_eq!(
        (&listed[0]["dead_letters"], &listed[0]["url"], &listed[0]["owner"]),
        (&json!(1), &json!(url), &Value::Null)
    );
    let table = text(&server.output(&["webhook", "list"]).stdout);
    assert!(table.contains(id) && table.contains("all matches"), "{table}");

    assert_eq!(text(&server.output(&["webhook", "resend", id, "--result", "1"]).stdout), "1\n");
    until(&server, &["webhook", "dead-letters", id], |dead| *dead == json!([]));
    assert!(server.output(&["webhook", "remove", id]).status.success());
    let gone = server.output(&["webhook", "remove", id]);
    assert!(text(&gone.stderr).contains("zetema webhook list"), "{}", text(&gone.stderr));
    assert_eq!(server.json(&["webhook", "list"]), json!([]));
}
