//! TLS: whom a client trusts, whom a server lets in, and a certificate that changes while matches go on.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use zetema_bots::House;
use zetema_proto::v1::Preset;
use zetema_sdk::{DealCheck, End, Error, Session, Settings, Tls, TlsProblem};
use zetema_service::config::{Config, Number, TlsFiles};
use zetema_service::server::Server;
use zetema_tests::harness::{
    Authority, Certificate, Clients, PlayStream, Process, StreamTable, check_by_reference, preset, soon,
};

/// The names of this machine.
const HERE: &[&str] = &["localhost", "127.0.0.1"];

/// A server in this process with a certificate.
struct Secure {
    server: Server,
    folder: TempDir,
}

impl Secure {
    async fn start(certificate: &Certificate, client_ca: Option<&Authority>) -> Self {
        Self::start_with(certificate, client_ca, |_| {}).await
    }

    async fn start_with(
        certificate: &Certificate,
        client_ca: Option<&Authority>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = certificate.write(folder.path());
        let client_ca = client_ca.map(|ca| write_ca(folder.path(), ca));
        let mut config = Config::embedded(folder.path().join("data"));
        config.tls = Some(TlsFiles { cert, key, client_ca });
        change(&mut config);
        Self { server: Server::start(config).await.unwrap(), folder }
    }

    fn url(&self) -> String {
        self.server.url()
    }
}

fn write_ca(folder: &Path, ca: &Authority) -> std::path::PathBuf {
    let path = folder.join("client-ca.pem");
    std::fs::write(&path, ca.pem()).unwrap();
    path
}

fn trusting(ca: &Authority) -> Tls {
    Tls::default().with_ca_pem(ca.pem()).unwrap()
}

fn showing(tls: Tls, Certificate { pem, key }: &Certificate) -> Tls {
    tls.with_client_certificate_pem(pem.as_bytes(), key.as_bytes()).unwrap()
}

/// What is in the way of a session, if anything is.
async fn problem(url: &str, tls: Tls) -> Option<TlsProblem> {
    let settings = Settings { tls, ..Settings::default() };
    let mut session = Session::open(url, settings, |info| House::Random.make(info, 0)).unwrap();
    // What the server says of it shows that the server was reached.
    session.play("no token".into()).unwrap();
    match soon("an outcome", session.next()).await.unwrap().end {
        End::Failed(Error::Refused { asked: "join", .. }) => None,
        End::Failed(Error::Insecure { server, problem }) => {
            assert_eq!(server, url);
            Some(problem)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_is_told_why_there_is_no_secure_connection() {
    let (ca, other, client_ca) = (Authority::new(), Authority::new(), Authority::new());
    let here = Secure::start(&ca.server(HERE), None).await;
    let elsewhere = Secure::start(&ca.server(&["zetema.example"]), None).await;
    let closed = Secure::start(&ca.server(HERE), Some(&client_ca)).await;
    let folder = tempfile::tempdir().unwrap();
    let plaintext = Server::start(Config::embedded(folder.path().join("data"))).await.unwrap();
    let with_scheme = |url: String, scheme: &str| format!("{scheme}{}", url.split_once(':').unwrap().1);
    let with_host = |url: String| url.replace("127.0.0.1", "localhost");

    let named = |name: &str| trusting(&ca).with_server_name(name).unwrap();
    let wrong_name = |name: &str| Some(TlsProblem::WrongName(name.to_owned()));
    let refused = |alert: &str| Some(TlsProblem::ClientCertificateRefused(alert.to_owned()));
    let cases = [
        ("the right CA", here.url(), trusting(&ca), None),
        ("the right CA, and a name", with_host(here.url()), trusting(&ca), None),
        ("another CA", here.url(), trusting(&other), Some(TlsProblem::UnknownCa)),
        ("the CAs of the system", here.url(), Tls::default(), Some(TlsProblem::UnknownCa)),
        ("another name", elsewhere.url(), trusting(&ca), wrong_name("zetema.example")),
        ("that name given", elsewhere.url(), named("zetema.example"), None),
        ("a wrong name given", here.url(), named("zetema.example"), wrong_name("localhost, 127.0.0.1")),
        ("no certificate", closed.url(), trusting(&ca), Some(TlsProblem::ClientCertificateMissing)),
        ("a certificate", closed.url(), showing(trusting(&ca), &client_ca.client()), None),
        (
            "a certificate by another CA",
            closed.url(),
            showing(trusting(&ca), &other.client()),
            refused("UnknownCA"),
        ),
        (
            "a server's certificate for a client's",
            closed.url(),
            showing(trusting(&ca), &client_ca.server(HERE)),
            refused("UnsupportedCertificate"),
        ),
        ("a certificate that is not asked for", here.url(), showing(trusting(&ca), &other.client()), None),
        (
            "a plaintext client, a server with TLS",
            with_scheme(here.url(), "http:"),
            Tls::default(),
            Some(TlsProblem::AddressIsPlaintext),
        ),
        (
            "a client with TLS, a plaintext server",
            with_scheme(plaintext.url(), "https:"),
            trusting(&ca),
            Some(TlsProblem::ServerIsPlaintext),
        ),
        ("both plaintext", plaintext.url(), Tls::default(), None),
    ];
    for (case, url, tls, expected) in cases {
        assert_eq!(problem(&url, tls).await, expected, "{case}");
    }
    for server in [here.server, elsewhere.server, closed.server, plaintext] {
        soon("the server to stop", server.shutdown()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_is_played_over_tls() {
    let ca = Authority::new();
    let secure = Secure::start(&ca.server(HERE), None).await;
    let admin = secure.server.admin_token().unwrap().expose().to_owned();
    let clients = Clients::connect_securely(&secure.url(), ca.pem(), &admin).await.unwrap();
    let created = clients.create(preset(Preset::Sackson, 3)).await;

    let settings = Settings { tls: trusting(&ca), ..Settings::default() };
    let mut session = Session::open(&secure.url(), settings, |info| House::Greedy.make(info, 0)).unwrap();
    for token in &created.tokens {
        session.play(token.as_str().into()).unwrap();
    }
    while let Some(outcome) = soon("an outcome", session.next()).await {
        assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
        assert_eq!(outcome.deal, DealCheck::Verified, "{outcome}");
        assert_eq!(outcome.faults, [], "{outcome}");
    }
    check_by_reference(&clients.verified_record(created.id()).await);
    soon("the server to stop", secure.server.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hang_up_changes_the_certificate_while_a_stream_goes_on() {
    let (before, after) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = before.server(HERE).write(folder.path());
    let files = folder.path().to_owned();
    let flags = [OsStr::new("--tls-cert"), cert.as_os_str(), OsStr::new("--tls-key"), key.as_os_str()];
    let process = Process::start_with(folder, &flags).await;
    let connect = async |ca: &Authority| {
        Clients::connect_securely(process.url(), ca.pem(), &process.admin_token()).await
    };

    let clients = connect(&before).await.unwrap();
    let created = clients.create(preset(Preset::Sackson, 2)).await;
    let (mut stream, _) = PlayStream::open(&clients).await;
    let mut table = StreamTable::join(&mut stream, &created.tokens).await;
    table.play_to(&mut stream, 3).await;

    let renewed = after.server(HERE);
    renewed.write(&files);
    process.hang_up();
    process.logs("TLS is served by this certificate", 2).await;
    connect(&after).await.unwrap();
    assert!(connect(&before).await.is_err(), "the old certificate is not shown any more");
    table.play_to(&mut stream, 6).await;

    std::fs::write(&cert, &renewed.pem[..renewed.pem.len() / 2]).unwrap();
    process.hang_up();
    process.logs("the certificate is the same as before", 1).await;
    connect(&after).await.unwrap();
    before.server(HERE).write(&files);
    std::fs::write(&key, &renewed.key).unwrap();
    process.hang_up();
    process.logs("the certificate is the same as before", 2).await;
    connect(&after).await.unwrap();

    table.play_out(&mut stream).await;
    check_by_reference(&clients.verified_record(created.id()).await);
    let (_folder, log) = process.kill();
    assert!(log.contains(&format!("{} has no certificate in PEM form", cert.display())), "{log}");
    assert!(log.contains(&format!("the key in {} is not that of", key.display())), "{log}");
    let secret = renewed.key.lines().nth(1).unwrap();
    assert!(!log.contains(secret), "a key is in the log");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hang_up_without_tls_is_noted() {
    let (process, clients) = Process::start().await;
    process.hang_up();
    process.logs("there is nothing to read again", 1).await;
    clients.create(preset(Preset::Sackson, 2)).await;
    process.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reload_changes_who_may_connect() {
    let (ca, old, new) = (Authority::new(), Authority::new(), Authority::new());
    let secure = Secure::start(&ca.server(HERE), Some(&old)).await;
    let (of_old, of_new) = (old.client(), new.client());
    let as_client = |certificate| showing(trusting(&ca), certificate);
    let refused = Some(TlsProblem::ClientCertificateRefused("UnknownCA".to_owned()));

    assert_eq!(problem(&secure.url(), as_client(&of_old)).await, None);
    assert_eq!(problem(&secure.url(), as_client(&of_new)).await, refused);
    write_ca(secure.folder.path(), &new);
    secure.server.reload().await.unwrap();
    assert_eq!(problem(&secure.url(), as_client(&of_old)).await, refused);
    assert_eq!(problem(&secure.url(), as_client(&of_new)).await, None);
    soon("the server to stop", secure.server.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_do_not_finish_their_handshake_hold_up_no_other() {
    let ca = Authority::new();
    let secure = Secure::start_with(&ca.server(HERE), None, |config| {
        config.numbers = config.numbers.with(Number::MaxConnections, 3).unwrap();
    })
    .await;
    let address = secure.server.local_addr();
    let mut idle = Vec::new();
    for said in [&b""[..], b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(said).await.unwrap();
        idle.push(stream);
    }
    let mut third = securely(&ca, TcpStream::connect(address).await.unwrap()).await;
    assert!(get_metrics(&mut third).await.starts_with("HTTP/1.1 200 OK\r\n"), "others are served meanwhile");

    // All three count, so that there is no room for a fourth until one has gone.
    let mut fourth = TcpStream::connect(address).await.unwrap();
    assert_eq!(soon("the fourth to be closed", fourth.read(&mut [0])).await.unwrap_or(0), 0);
    drop(idle.pop());
    let again = async {
        while problem_of_connecting(&ca, &secure.url()).await {
            tokio::task::yield_now().await;
        }
    };
    soon("room for another", again).await;
    soon("the server to stop", secure.server.shutdown()).await;
}

async fn problem_of_connecting(ca: &Authority, url: &str) -> bool {
    Clients::connect_securely(url, ca.pem(), "").await.is_err()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_fails_is_counted() {
    let ca = Authority::new();
    let secure = Secure::start(&ca.server(HERE), None).await;
    let address = secure.server.local_addr();
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    soon("the end", plain.read_to_end(&mut answer)).await.unwrap();
    assert_eq!(answer[..2], [0x15, 3], "an alert of TLS");

    let mut stream = securely(&ca, TcpStream::connect(address).await.unwrap()).await;
    let page = get_metrics(&mut stream).await;
    let line = page.lines().find_map(|line| line.strip_prefix("zetema_tls_failures_total ")).unwrap();
    assert!(line.parse::<u64>().unwrap() > 0, "{line}");
    soon("the server to stop", secure.server.shutdown()).await;
}

/// TLS for HTTP/1.1, as a browser has it.
async fn securely(ca: &Authority, stream: TcpStream) -> impl AsyncRead + AsyncWrite + Unpin {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.pem().as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let connector = TlsConnector::from(Arc::new(config));
    let stream =
        soon("a handshake", connector.connect("localhost".try_into().unwrap(), stream)).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    stream
}

async fn get_metrics(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> String {
    let request = b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    while !String::from_utf8_lossy(&answer).contains("zetema_tls_failures_total ") || !answer.ends_with(b"\n")
    {
        assert_ne!(soon("an answer", stream.read_buf(&mut answer)).await.unwrap(), 0, "no metrics");
    }
    String::from_utf8(answer).unwrap()
}
