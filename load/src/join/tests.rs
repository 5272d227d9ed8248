//! Who may join, and what becomes of a run when one of its generators does what it should not.

use std::net::SocketAddr;
use std::num::NonZeroU32;

use bytes::Bytes;
use futures::SinkExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use zetema_sdk::Tls;

use super::link::{Frames, frames, read, write};
use super::message::{Message, REVISION, VERSION};
use super::*;
use crate::target::Target;

const TWO: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

fn target() -> Target {
    // Nobody is there.
    let endpoint = Endpoint::from_static("http://127.0.0.1:1");
    Target::new("http://127.0.0.1:1", endpoint, Tls::default(), "token").unwrap()
}

fn hello() -> Message {
    Message::Hello { revision: REVISION, version: VERSION.to_owned() }
}

async fn connect(address: SocketAddr) -> Frames {
    frames(TcpStream::connect(address).await.unwrap())
}

/// A meeting of two, where it is, and what it says in the end.
async fn meeting() -> (SocketAddr, tokio::task::JoinHandle<(Met, Vec<String>)>) {
    let meeting = Meeting::open("127.0.0.1:0".parse().unwrap(), TWO).await.unwrap();
    let address = meeting.local_addr().unwrap();
    let waiting = tokio::spawn(async move {
        let mut said = Vec::new();
        let met = meeting.wait(|arrival| {
            said.push(match arrival {
                Arrival::Joined { missing, .. } => format!("joined, {missing} missing"),
                Arrival::Refused { problem, .. } => problem,
                Arrival::Left { problem, .. } => format!("left: {problem}"),
            });
        });
        (met.await.unwrap(), said)
    });
    (address, waiting)
}

#[tokio::test]
async fn garbage_on_the_port_is_refused_and_holds_up_nobody() {
    let (address, waiting) = meeting().await;
    // One that says nothing at all.
    let _silent = TcpStream::connect(address).await.unwrap();
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\nHost: zetema\r\n\r\n",
        &[0xff; 64],
        &[0, 0, 0, 2, b'{', b'}'],
        &[0, 0, 0, 0],
        &[0, 0, 0, 3, 0xc3, 0x28, 0],
        b"\0\0\0\x09\"welcome\"",
    ];
    for bytes in garbage {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        // It is closed, with a word or without.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    // A message that is not finished.
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(&[0, 0, 1, 0, b'{']).await.unwrap();
    drop(half);
    let mut other = connect(address).await;
    write(&mut other, &hello()).await.unwrap();
    assert!(matches!(read(&mut other).await.unwrap(), Message::Welcome { generators: TWO }));
    let (_, said) = waiting.await.unwrap();
    assert_eq!(said.last().unwrap(), "joined, 0 missing");
    assert!(said.len() >= garbage.len(), "{said:?}");
    assert!(said.iter().any(|said| said.contains("a message that is too long")), "{said:?}");
}

#[tokio::test]
async fn a_generator_of_another_version_is_refused_and_told_so() {
    let (address, waiting) = meeting().await;
    let refused = |revision, version: &str| {
        let hello = Message::Hello { revision, version: version.to_owned() };
        async move {
            let mut frames = connect(address).await;
            write(&mut frames, &hello).await.unwrap();
            let Message::Refused { problem } = read(&mut frames).await.unwrap() else { panic!("it is in") };
            problem
        }
    };
    let problem = refused(REVISION, "0.0.1\u{1b}[2J").await;
    let expected =
        format!("it is version 0.0.1\\u{{1b}}[2J of zetema and this is version {VERSION}: run the same");
    assert!(problem.starts_with(&expected), "{problem}");
    assert!(refused(REVISION + 1, VERSION).await.contains("run the same"));
    let mut other = connect(address).await;
    write(&mut other, &hello()).await.unwrap();
    let (_, said) = waiting.await.unwrap();
    assert_eq!(said.len(), 3, "{said:?}");
}

#[tokio::test]
async fn another_is_waited_for_when_one_leaves_before_all_have_joined() {
    let meeting = Meeting::open("127.0.0.1:0".parse().unwrap(), TWO.saturating_add(1)).await.unwrap();
    let address = meeting.local_addr().unwrap();
    let (sender, mut said) = tokio::sync::mpsc::unbounded_channel();
    let waiting = tokio::spawn(meeting.wait(move |arrival| sender.send(arrival).unwrap()));
    let join = || async {
        let mut frames = connect(address).await;
        write(&mut frames, &hello()).await.unwrap();
        frames
    };
    let first = join().await;
    assert!(matches!(said.recv().await.unwrap(), Arrival::Joined { missing: 1, .. }));
    drop(first);
    let left = said.recv().await.unwrap();
    assert!(matches!(&left, Arrival::Left { problem, .. } if problem.starts_with("is gone")), "{left:?}");
    let _kept = (join().await, join().await);
    waiting.await.unwrap().unwrap();
}

/// How a run of two ends, when the other does this after it was told to get ready.
async fn run_with(does: impl AsyncFnOnce(Frames)) -> String {
    let (address, waiting) = meeting().await;
    let mut other = connect(address).await;
    write(&mut other, &hello()).await.unwrap();
    assert!(matches!(read(&mut other).await.unwrap(), Message::Welcome { .. }));
    other.codec_mut().set_max_frame_length(1 << 24);
    let (met, _) = waiting.await.unwrap();
    // A server that takes connections and says nothing: this generator gets not as far as to begin.
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let target =
        Target::new(&url, Endpoint::from_shared(url.clone()).unwrap(), Tls::default(), "token").unwrap();
    let mut generators = Generators::joined(target, met);
    let plan = crate::scenario("[[phase]]\nname = \"p\"\nduration = \"10s\"\nmatches = 4\n").unwrap();
    let stop = CancellationToken::new();
    let running = generators.run(&plan, "a server", stop, |_, _, _| {});
    let doing = async {
        while !matches!(read(&mut other).await.unwrap(), Message::Prepare { .. }) {}
        does(other).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = running => ended.unwrap_err().to_string(),
        () = doing => unreachable!("it is never done"),
    }
}

#[tokio::test]
async fn a_generator_that_fails_or_goes_before_the_run_is_named() {
    let check = |error: String, expected: &str| {
        assert!(error.starts_with("generator 2 of 2 (127.0.0.1:"), "{error}");
        assert!(error.ends_with(expected), "{error}");
    };
    check(run_with(async |_| {}).await, ") is gone: it has closed the connection");
    let failed = async |mut other: Frames| {
        let problem = "no connection to the server".to_owned();
        write(&mut other, &Message::Failed { problem }).await.unwrap();
        std::future::pending::<()>().await;
    };
    check(run_with(failed).await, ") has failed: no connection to the server");
    let garbage = async |mut other: Frames| {
        other.send(Bytes::from_static(b"[]")).await.unwrap();
        std::future::pending::<()>().await;
    };
    let error = run_with(garbage).await;
    assert!(error.contains("has sent what no generator sends"), "{error}");
    let early = async |mut other: Frames| {
        write(&mut other, &Message::Go).await.unwrap();
        std::future::pending::<()>().await;
    };
    check(run_with(early).await, ") has said something that was not asked");
}

#[tokio::test(start_paused = true)]
async fn a_generator_that_says_nothing_any_more_is_given_up() {
    let begun = tokio::time::Instant::now();
    let lost = read(&mut futures::stream::pending()).await.unwrap_err();
    assert_eq!(lost.to_string(), "has said nothing for 10 s");
    assert_eq!(begun.elapsed().as_secs(), 10);
}

/// What who joins says of one at the port that answers with this.
async fn join_one_that_says(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answering = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(answer).await.unwrap();
        stream.shutdown().await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
        std::future::pending::<()>().await;
    };
    let target = target();
    let joining = join(&address, &target, CancellationToken::new(), |_| {});
    let error = tokio::select! {
        joined = joining => joined.unwrap_err().to_string(),
        () = answering => unreachable!("it is never done"),
    };
    assert!(error.contains(&address), "{error}");
    error
}

#[tokio::test]
async fn who_joins_what_is_no_generator_says_so() {
    let error = join_one_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert!(error.contains("no generator sends"), "{error}");
    assert!(join_one_that_says(b"").await.contains("is gone"));
    let error = join_one_that_says(b"\0\0\0\x21{\"refused\":{\"problem\":\"not you\"}}").await;
    assert!(error.ends_with("refuses this one: not you"), "{error}");
}

#[tokio::test]
async fn who_can_t_load_its_server_tells_the_first_one_why() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let plan = crate::scenario("[[phase]]\nname = \"p\"\nduration = \"10s\"\nmatches = 4\n").unwrap();
    let first = async {
        let mut frames = frames(listener.accept().await.unwrap().0);
        assert!(matches!(read(&mut frames).await.unwrap(), Message::Hello { .. }));
        write(&mut frames, &Message::Welcome { generators: TWO }).await.unwrap();
        write(&mut frames, &Message::Prepare { plan: Box::new((&plan).into()) }).await.unwrap();
        loop {
            match read(&mut frames).await.unwrap() {
                Message::Alive => {}
                Message::Failed { problem } => return problem,
                message => panic!("{message:?}"),
            }
        }
    };
    let target = target();
    let (told, joined) = tokio::join!(first, join(&address, &target, CancellationToken::new(), |_| {}));
    assert_eq!(told, "no connection to http://127.0.0.1:1");
    assert!(matches!(joined, Err(JoinError::Run(_))), "{joined:?}");
}
