//! A receiver of webhooks that does what it is told, well or badly.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use zetema_tests::harness::soon;

/// How it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It takes what comes.
    Takes,
    /// It answers with this status.
    Says(u16),
    /// It sends whoever asks elsewhere.
    Redirects,
    /// It never answers.
    IsSilent,
    /// It answers byte by byte, and has not finished in time.
    IsSlow,
    /// It closes the connection in the middle of the head of its answer.
    CutsTheHead,
    /// It says that it takes what came, and closes the connection in the middle of the body of its answer.
    CutsTheBody,
    /// It takes what came, and closes the connection.
    HangsUp,
}

/// A request that came whole.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) manner: Manner,
    pub(crate) path: String,
    pub(crate) id: String,
    pub(crate) timestamp: u64,
    pub(crate) signature: String,
    pub(crate) body: Vec<u8>,
}

impl Heard {
    /// Whether the receiver said that it takes it.
    pub(crate) const fn was_taken(&self) -> bool {
        matches!(self.manner, Manner::Takes | Manner::CutsTheBody | Manner::HangsUp)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn result_number(&self) -> u64 {
        self.json()["data"]["result_number"].as_u64().unwrap()
    }

    /// It is signed as the Standard Webhooks specification says.
    pub(crate) fn verify(&self, secret: &str) {
        let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(format!("{}.{}.", self.id, self.timestamp).as_bytes());
        mac.update(&self.body);
        let signed = self.signature.split(' ').find_map(|one| one.strip_prefix("v1,")).unwrap();
        mac.verify_slice(&BASE64_STANDARD.decode(signed).unwrap())
            .expect("the signature is that of the body");
    }
}

/// A server on a port of its own, which keeps it when it goes and comes back.
pub(crate) struct Receiver {
    address: SocketAddr,
    manner: watch::Sender<Manner>,
    heard: watch::Sender<Vec<Heard>>,
    place: Place,
}

/// Whether it is there.
enum Place {
    /// It accepts connections.
    Open(JoinHandle<()>),
    /// It is gone, and keeps its port: whoever connects is refused, and nobody else gets it.
    Kept(TcpSocket),
}

impl Receiver {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (manner, heard) = (watch::Sender::new(manner), watch::Sender::new(Vec::new()));
        let place = Place::Open(tokio::spawn(accept(listener, manner.clone(), heard.clone())));
        Self { address, manner, heard, place }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// From now on it answers like this.
    pub(crate) fn behave(&self, manner: Manner) {
        self.manner.send_replace(manner);
    }

    /// It goes: whoever connects is refused.
    pub(crate) async fn go(&mut self) {
        if let Place::Open(accepting) = &mut self.place {
            accepting.abort();
            // The listener goes with it.
            let _ = accepting.await;
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseaddr(true).unwrap();
            socket.bind(self.address).unwrap();
            self.place = Place::Kept(socket);
        }
    }

    /// It comes back.
    pub(crate) fn come_back(self, manner: Manner) -> Self {
        self.behave(manner);
        let Self { address, manner, heard, place } = self;
        let place = match place {
            Place::Open(_) => place,
            Place::Kept(socket) => {
                let listener = socket.listen(1_024).unwrap();
                Place::Open(tokio::spawn(accept(listener, manner.clone(), heard.clone())))
            }
        };
        Self { address, manner, heard, place }
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.borrow().clone()
    }

    /// Waits until what it has heard is enough.
    pub(crate) async fn hears(&self, what: &str, enough: impl Fn(&[Heard]) -> bool) {
        let mut heard = self.heard.subscribe();
        soon(what, heard.wait_for(|heard| enough(heard))).await.unwrap();
    }

    /// What was taken, by result number: each under one id, with one body, however often it came.
    pub(crate) fn taken(&self) -> BTreeMap<u64, Heard> {
        let mut taken = BTreeMap::new();
        let mut ids = BTreeMap::new();
        for heard in self.heard() {
            let number = heard.result_number();
            let first = ids.entry(heard.id.clone()).or_insert_with(|| heard.clone());
            assert_eq!(first.body, heard.body, "the same id, another body");
            if heard.was_taken() {
                let first = taken.entry(number).or_insert_with(|| heard.clone());
                assert_eq!(first.id, heard.id, "the same result, another id");
            }
        }
        taken
    }
}

async fn accept(listener: TcpListener, manner: watch::Sender<Manner>, heard: watch::Sender<Vec<Heard>>) {
    // Its connections go with it.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (manner, heard) = (manner.clone(), heard.clone());
        connections.spawn(async move { converse(stream, &manner, &heard).await });
    }
}

/// Answers requests until the connection ends. `None`: it has.
async fn converse(
    mut stream: TcpStream,
    manner: &watch::Sender<Manner>,
    heard: &watch::Sender<Vec<Heard>>,
) -> Option<()> {
    let mut read = Vec::new();
    loop {
        let mut request = request(&mut stream, &mut read).await?;
        request.manner = *manner.borrow();
        let manner = request.manner;
        heard.send_modify(|heard| heard.push(request));
        match manner {
            Manner::Takes => say(&mut stream, "204 No Content", "").await?,
            Manner::Says(status) => say(&mut stream, &format!("{status} So"), "retry-after: 0\r\n").await?,
            Manner::Redirects => {
                say(&mut stream, "307 Elsewhere", "location: http://169.254.169.254/\r\n").await?;
            }
            Manner::IsSilent => std::future::pending().await,
            Manner::IsSlow => {
                for byte in b"HTTP/1.1 200 OK\r\n".iter().cycle() {
                    stream.write_all(&[*byte]).await.ok()?;
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            }
            Manner::CutsTheHead => {
                stream.write_all(b"HTTP/1.1 200 O").await.ok()?;
                return None;
            }
            Manner::CutsTheBody => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await.ok()?;
                return None;
            }
            Manner::HangsUp => {
                say(&mut stream, "200 OK", "").await?;
                return None;
            }
        }
    }
}

async fn say(stream: &mut TcpStream, status: &str, headers: &str) -> Option<()> {
    let length = if status.starts_with("204") { "" } else { "content-length: 0\r\n" };
    stream.write_all(format!("HTTP/1.1 {status}\r\n{length}{headers}\r\n").as_bytes()).await.ok()
}

async fn request(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<Heard> {
    let end = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        more(stream, read).await?;
    };
    let head = String::from_utf8(read.drain(..end).collect()).unwrap();
    let (line, headers) = head.split_once("\r\n").unwrap();
    let header = |name: &str| {
        let found = headers.lines().filter_map(|line| line.split_once(": "));
        let mut found = found.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        let value = found.next().unwrap_or_else(|| panic!("no {name} in {head}"));
        assert_eq!(found.next(), None, "{name} twice");
        value.to_owned()
    };
    let length: usize = header("content-length").parse().unwrap();
    while read.len() < length {
        more(stream, read).await?;
    }
    let mut words = line.split(' ');
    assert_eq!(words.next(), Some("POST"));
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(header("host"), stream.local_addr().unwrap().to_string());
    Some(Heard {
        manner: Manner::Takes,
        path: words.next().unwrap().to_owned(),
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp").parse().unwrap(),
        signature: header("webhook-signature"),
        body: read.drain(..length).collect(),
    })
}

async fn more(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<()> {
    (stream.read_buf(read).await.ok()? > 0).then_some(())
}
