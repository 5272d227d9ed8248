//! A session that finds no server.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::net::TcpListener;
use std::time::Duration;

use zetema_sdk::{Action, Bot, Decision, Disconnect, End, Error, Session, Settings};

struct First;

impl Bot for First {
    fn choose(&mut self, decision: &Decision) -> Action {
        decision.first()
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_an_error_at_once() {
    for (address, problem) in
        [("", "invalid URI"), ("127.0.0.1:1", "http://"), ("ftp://a:1", "ftp is not supported")]
    {
        let error = Session::open(address, Settings::default(), |_| First).unwrap_err();
        let Error::Address { address: given, .. } = &error else { panic!("{error}") };
        assert_eq!(given, address);
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_with_its_address() {
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = format!("http://{address}");
    let settings = Settings { first_connection_within: Duration::from_millis(200), ..Settings::default() };
    let mut session = Session::open(&server, settings, |_| First).unwrap();
    session.play("token".into()).unwrap();
    let outcome = session.next().await.unwrap();
    let End::Failed(Error::NoConnection { server: given, last: Disconnect::NotReached(_), .. }) =
        &outcome.end
    else {
        panic!("{outcome}")
    };
    assert_eq!(*given, server);
    assert!(outcome.to_string().contains(&server), "{outcome}");
    assert!(!format!("{outcome:?}").contains("\"token\""), "a token is not shown");
    assert!(session.next().await.is_none(), "nothing is left");
}

#[tokio::test]
async fn a_session_that_is_stopped_gives_every_seat_its_end() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap();
    // It accepts connections and never answers.
    let server = format!("http://{}", address.local_addr().unwrap());
    let mut session = Session::open(&server, Settings::default(), |_| First).unwrap();
    session.play("one".into()).unwrap();
    session.play("two".into()).unwrap();
    session.stopper().stop();
    for _ in 0..2 {
        assert_eq!(session.next().await.unwrap().end, End::Stopped);
    }
    assert!(session.next().await.is_none());
}

#[test]
fn a_session_outside_a_runtime_is_an_error() {
    let error = Session::open("http://127.0.0.1:1", Settings::default(), |_| First).unwrap_err();
    assert!(matches!(error, Error::System { what: "tokio runtime", .. }), "{error}");
}

#[test]
fn an_error_that_main_returns_reads_as_a_sentence() {
    let error = Error::Environment { name: "ZETEMA_TOKEN", meaning: "the seat's token" };
    assert_eq!(format!("{error:?}"), "ZETEMA_TOKEN is not set: set it to the seat's token");
}
