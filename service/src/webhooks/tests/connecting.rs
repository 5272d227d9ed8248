//! To which addresses a receiver is connected, whom it has to prove to be, and what becomes of what it answers.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::network;
use crate::limits;
use crate::webhooks::connect::{ConnectError, Net, Network, Stream};
use crate::webhooks::lookups::Lookups;
use crate::webhooks::post::{Attempt, Message, Receiver};
use crate::webhooks::{Allowed, Target};

const WITHIN: Duration = Duration::from_secs(8);

/// What is at an address.
#[derive(Clone)]
enum At {
    /// Nothing that answers.
    Nothing,
    /// Something that refuses.
    Closed,
    /// Something that is cut off, as the system says with words of its own.
    Broken,
    /// Something that takes a connection and says nothing.
    Silence,
    /// Something that answers every request with these bytes, and then ends the connection.
    Answers(String),
    /// The same, behind TLS.
    Tls(TlsAcceptor, &'static str),
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// A net in which every name has an address for each of these.
#[derive(Clone)]
struct Places {
    at: Vec<At>,
    /// Which of them were connected to.
    tried: Arc<Mutex<Vec<usize>>>,
}

impl Places {
    fn new(at: &[At]) -> Self {
        Self { at: at.to_vec(), tried: Arc::default() }
    }
}

#[async_trait]
impl Net for Places {
    async fn resolve(&self, _: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let address = |place| SocketAddr::new([10, 0, 0, u8::try_from(place).unwrap()].into(), port);
        Ok((0..self.at.len()).map(address).collect())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Stream>> {
        let SocketAddr::V4(v4) = address else { panic!("{address}") };
        let place = usize::from(v4.ip().octets()[3]);
        self.tried.lock().unwrap().push(place);
        let (client, mut host) = duplex(64 * 1024);
        match self.at[place].clone() {
            At::Nothing => std::future::pending().await,
            At::Closed => return Err(io::ErrorKind::ConnectionRefused.into()),
            At::Broken => return Err(io::Error::other("No route to host (os error 113)")),
            At::Silence => {
                tokio::spawn(async move {
                    let _host = host;
                    std::future::pending::<()>().await;
                });
            }
            At::Answers(answer) => {
                tokio::spawn(async move { answer_to(&mut host, &answer).await });
            }
            At::Tls(acceptor, answer) => {
                tokio::spawn(async move { answer_to(&mut acceptor.accept(host).await?, answer).await });
            }
        }
        Ok(Box::new(client))
    }
}

async fn answer_to(host: &mut (impl Stream + ?Sized), answer: &str) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n{}") {
        request.push(host.read_u8().await?);
    }
    host.write_all(answer.as_bytes()).await?;
    host.shutdown().await
}

fn message() -> Message {
    let (id, signature) = ("a".to_owned(), "v1,b".to_owned());
    Message { id, timestamp: 1, signature, body: "{}".into() }
}

async fn post(network: Network, url: &str) -> Attempt {
    Receiver::new(Arc::new(network), Target::parse(url).unwrap(), WITHIN).post(&message()).await
}

fn unavailable(why: &str) -> Attempt {
    Attempt::Unavailable { why: why.to_owned(), retry_after: None }
}

/// It says that every name stands for these, and connects to none.
struct Says(&'static [&'static str]);

#[async_trait]
impl Net for Says {
    async fn resolve(&self, _: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(self.0.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), port)).collect())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Stream>> {
        panic!("connected to {address}")
    }
}

/// Names that stand for what they should not are those of an attacker, or of a mistake.
#[tokio::test]
async fn a_name_leads_to_no_address_that_is_not_allowed() {
    let check = async |allowed, url, says, expected: &[&str]| {
        let network = network(allowed, Says(says)).await;
        let found = network.addresses(&Target::parse(url).unwrap(), &Lookups::one()).await;
        let found = found.unwrap_or_default().into_iter().map(|address| address.ip().to_string());
        assert_eq!(found.collect::<Vec<_>>(), expected, "{allowed:?}: {url} is {says:?}");
    };
    let url = "https://hooks.example.com/";
    check("hooks.example.com", url, &["93.184.215.14"], &["93.184.215.14"]).await;
    check("hooks.example.com", url, &["127.0.0.1", "93.184.215.14", "::1"], &["93.184.215.14"]).await;
    check("hooks.example.com", url, &["169.254.169.254"], &[]).await;
    check("hooks.example.com", url, &["::ffff:127.0.0.1"], &[]).await;
    check("hooks.example.com", url, &[], &[]).await;
    check("*", "https://localhost/", &["127.0.0.1", "::1"], &[]).await;
    check("10.0.0.0/8", url, &["10.1.2.3", "11.1.2.3"], &["10.1.2.3"]).await;
    check("", url, &["93.184.215.14"], &[]).await;
}

/// It has no name.
struct Knows(io::ErrorKind);

#[async_trait]
impl Net for Knows {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        Err(self.0.into())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Stream>> {
        panic!("connected to {address}")
    }
}

/// Else it could be asked which names the server's own network has.
#[tokio::test]
async fn a_name_that_stands_for_nothing_and_one_that_is_not_allowed_look_the_same_unless_it_is_allowed_itself()
 {
    let check = async |allowed: &str, same: bool| {
        let target = Target::parse("https://hooks.example.com/").unwrap();
        let inner = network(allowed, Says(&["10.0.0.1"])).await;
        let none = network(allowed, Knows(io::ErrorKind::NotFound)).await;
        let inner = inner.addresses(&target, &Lookups::one()).await.unwrap_err().to_string();
        let none = none.addresses(&target, &Lookups::one()).await.unwrap_err().to_string();
        assert_eq!(inner == none, same, "{allowed}: {inner}, {none}");
    };
    check("*", true).await;
    check("*.example.com", true).await;
    check("192.168.0.0/16", true).await;
    check("hooks.example.com", false).await;
    check("http://hooks.example.com, *", true).await;
}

#[tokio::test]
async fn a_name_that_changes_what_it_stands_for_is_not_connected_to() {
    let network = network("hooks.example.com", Says(&["127.0.0.1"])).await;
    let target = Target::parse("https://hooks.example.com/").unwrap();
    let connected = network.connect(&target, &Lookups::one(), WITHIN).await;
    assert!(matches!(connected, Err(ConnectError::NotAllowed)));
}

#[tokio::test(start_paused = true)]
async fn an_address_that_does_not_answer_is_passed_over_in_its_share_of_the_time() {
    let ok = || At::Answers(OK.to_owned());
    let check = async |at: &[At], expected: Attempt, tried: &[usize], seconds: u64| {
        let places = Places::new(at);
        let begun = Instant::now();
        let network = network("http://10.0.0.0/8", places.clone()).await;
        assert_eq!(post(network, "http://hooks.example.com/").await, expected);
        assert_eq!(*places.tried.lock().unwrap(), tried);
        assert_eq!(begun.elapsed().as_secs(), seconds, "{tried:?}");
    };
    check(&[ok()], Attempt::Taken, &[0], 0).await;
    check(&[At::Nothing, ok()], Attempt::Taken, &[0, 1], 4).await;
    check(&[At::Closed, At::Nothing, ok(), At::Nothing], Attempt::Taken, &[0, 1, 2], 2).await;
    // However many a name has, some are tried.
    check(&vec![At::Closed; 200], unavailable("no connection: it was refused"), &[0, 1, 2, 3], 0).await;
    assert_eq!(limits::WEBHOOK_ADDRESSES, 4);
    check(&[At::Closed, At::Broken], unavailable("no connection"), &[0, 1], 0).await;
    // Alone it has all of the time.
    check(&[At::Nothing], unavailable("no connection in time"), &[0], 8).await;
    check(&[At::Silence], unavailable("no answer within 8000 ms"), &[0], 8).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_beyond_its_bounds_is_not_read_on() {
    let check = async |answer: String, expected: Result<Attempt, &str>| {
        let told = answer.chars().take(60).collect::<String>();
        let network = network("http://10.0.0.0/8", Places::new(&[At::Answers(answer)])).await;
        match (post(network, "http://hooks.example.com/").await, expected) {
            (attempt, Ok(expected)) => assert_eq!(attempt, expected, "{told}"),
            (Attempt::Unavailable { why, .. }, Err(words)) => assert!(why.contains(words), "{told}: {why}"),
            (attempt, Err(_)) => panic!("{told}: {attempt:?}"),
        }
    };
    let head = |headers: &str| format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n");
    check(head(&"x: y\r\n".repeat(limits::WEBHOOK_ANSWER_HEADERS - 1)), Ok(Attempt::Taken)).await;
    check(head(&"x: y\r\n".repeat(limits::WEBHOOK_ANSWER_HEADERS)), Err("broke off")).await;
    check(head(&format!("x: {}\r\n", "y".repeat(limits::WEBHOOK_ANSWER_HEAD_BYTES))), Err("broke off")).await;
    check("SSH-2.0-OpenSSH_9.6\r\n".to_owned(), Err("broke off")).await;
    check(String::new(), Err("broke off")).await;
    // What the head says holds, whatever the body is.
    let body = |length: usize| format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
    let more = limits::WEBHOOK_ANSWER_BODY_BYTES + 1;
    check(body(more) + &"x".repeat(more), Ok(Attempt::Taken)).await;
    check(body(5), Ok(Attempt::Taken)).await;
}

/// A CA's file, and certificates that it has signed.
struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.distinguished_name.push(DnType::CommonName, name);
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        std::fs::write(folder.path().join("ca.pem"), ca.self_signed(&key).unwrap().pem()).unwrap();
        Self { folder, issuer: Issuer::new(ca, key) }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Something behind TLS that takes messages under this name, until this year.
    fn receiver(&self, name: &str, until: i32) -> At {
        let key = KeyPair::generate().unwrap();
        let mut leaf = CertificateParams::new(vec![name.to_owned()]).unwrap();
        leaf.not_after = date_time_ymd(until, 1, 1);
        let leaf = leaf.signed_by(&key, &self.issuer).unwrap().pem();
        let chain = vec![CertificateDer::from_pem_slice(leaf.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = config.with_no_client_auth().with_single_cert(chain, key).unwrap();
        At::Tls(TlsAcceptor::from(Arc::new(config)), OK)
    }
}

#[tokio::test]
async fn a_receiver_has_to_prove_its_name_to_a_ca_that_is_trusted() {
    let (own, other) = (Authority::new("own"), Authority::new("other"));
    let check = async |at: At, expected: Attempt| {
        let allowed: Allowed = "10.0.0.0/8".parse().unwrap();
        let network = Network::open(allowed, Some(own.file())).await.unwrap().over(Places::new(&[at]));
        assert_eq!(post(network, "https://hooks.example.com/").await, expected);
    };
    check(own.receiver("hooks.example.com", 4_000), Attempt::Taken).await;
    check(
        own.receiver("evil.example.com", 4_000),
        unavailable("no TLS: its certificate is for another name"),
    )
    .await;
    check(own.receiver("hooks.example.com", 2_000), unavailable("no TLS: its certificate has expired")).await;
    check(
        other.receiver("hooks.example.com", 4_000),
        unavailable("no TLS: its certificate is of a CA that is not trusted here"),
    )
    .await;
    let plain = At::Answers(OK.to_owned());
    let Attempt::Unavailable { why, .. } = attempt_at(&own, plain).await else {
        panic!("taken in the clear")
    };
    assert!(why.starts_with("no "), "{why}");
}

async fn attempt_at(authority: &Authority, at: At) -> Attempt {
    let allowed: Allowed = "10.0.0.0/8".parse().unwrap();
    let network = Network::open(allowed, Some(authority.file())).await.unwrap().over(Places::new(&[at]));
    let target = Target::parse("https://hooks.example.com/").unwrap();
    Receiver::new(Arc::new(network), target, Duration::from_millis(200)).post(&message()).await
}

/// A resolver that never answers.
#[derive(Clone, Default)]
pub(super) struct Mute(pub(super) Arc<AtomicUsize>);

#[async_trait]
impl Net for Mute {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Stream>> {
        panic!("connected to {address}")
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_up_that_hangs_is_not_begun_again_beside_itself() {
    let mute = Mute::default();
    let network = Arc::new(network("*", mute.clone()).await);
    let target = Target::parse("https://hooks.example.com/").unwrap();
    let mut receiver = Receiver::new(network, target, WITHIN);
    for _ in 0..5 {
        assert_eq!(receiver.post(&message()).await, unavailable("no answer within 8000 ms"));
    }
    assert_eq!(mute.0.load(Ordering::Relaxed), 1);
}
