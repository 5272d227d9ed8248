use futures::FutureExt;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, duplex},
    time::Instant,
};
use tokio_rustls::{TlsConnector, rustls::ClientConfig};

use super::*;

const TIMEOUT: Duration = Duration::from_secs(5);

/// A folder with a CA (`ca.pem`) and its certificate for localhost (`cert.pem`, `key.pem`).
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca_key = KeyPair::generate().unwrap();
        folder.write("ca.pem", &ca.self_signed(&ca_key).unwrap().pem());
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        folder.write("cert.pem", &leaf.signed_by(&key, &Issuer::new(ca, ca_key)).unwrap().pem());
        folder.write("key.pem", &key.serialize_pem());
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn files(&self) -> TlsFiles {
        TlsFiles { cert: self.path("cert.pem"), key: self.path("key.pem"), client_ca: None }
    }

    /// A client that trusts the CA.
    fn client(&self) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.path("ca.pem")).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap();
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        TlsConnector::from(Arc::new(config))
    }
}

/// Whether TLS is spoken with this client, which hears to the end, and how long it took.
async fn handshake(tls: &Tls, said: &[u8]) -> (bool, Duration) {
    let (mut client, host) = duplex(1024);
    let begun = Instant::now();
    let heard = async {
        client.write_all(said).await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        // It does not go away by itself.
        client
    };
    let (stream, _client) = tokio::join!(tls.handshake(host, Address::NONE), heard);
    (stream.is_some(), begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_finish_its_handshake_is_closed() {
    let folder = Folder::new();
    let tls = Tls::open(folder.files(), TIMEOUT).await.unwrap();
    // A record of 512 bytes that begins with a ClientHello, and the first of them.
    for said in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"] {
        let (spoken, took) = handshake(&tls, said).await;
        assert!(!spoken);
        assert!(took >= TIMEOUT && took < TIMEOUT * 2, "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_speaks_no_tls_is_told_and_closed() {
    let folder = Folder::new();
    let tls = Tls::open(folder.files(), TIMEOUT).await.unwrap();
    for said in [&b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[0; 512]] {
        let (spoken, took) = handshake(&tls, said).await;
        assert!(!spoken);
        assert!(took <= limits::TLS_ALERT_TIMEOUT * 2, "{took:?}");
    }
}

#[tokio::test]
async fn a_client_that_trusts_the_ca_is_served_http2() {
    let folder = Folder::new();
    let tls = Tls::open(folder.files(), TIMEOUT).await.unwrap();
    let (client, host) = duplex(1024);
    let connector = folder.client();
    let connecting = connector.connect("localhost".try_into().unwrap(), client);
    let (stream, connected) = tokio::join!(tls.handshake(host, Address::NONE), connecting);
    assert!(stream.is_some());
    assert_eq!(connected.unwrap().get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
}

#[tokio::test]
async fn what_is_written_for_a_client_that_does_not_read_fills_one_small_buffer() {
    let folder = Folder::new();
    let tls = Tls::open(folder.files(), TIMEOUT).await.unwrap();
    let room = 1024;
    let (client, host) = duplex(room);
    let connector = folder.client();
    let connecting = connector.connect("localhost".try_into().unwrap(), client);
    let (stream, client) = tokio::join!(tls.handshake(host, Address::NONE), connecting);
    let (mut stream, _client) = (stream.unwrap(), client.unwrap());
    let mut taken = 0;
    while let Some(written) = stream.write(&[0; 1024]).now_or_never() {
        taken += written.unwrap();
    }
    assert!((1..=limits::TLS_BUFFER_BYTES + room).contains(&taken), "{taken}");
}

#[tokio::test]
async fn files_that_are_of_no_use_are_named_and_change_nothing() {
    let folder = Folder::new();
    let tls = Tls::open(TlsFiles { client_ca: Some(folder.path("ca.pem")), ..folder.files() }, TIMEOUT)
        .await
        .unwrap();
    let (cert, key, ca) = (folder.read("cert.pem"), folder.read("key.pem"), folder.read("ca.pem"));
    let other = KeyPair::generate().unwrap().serialize_pem();
    let before = Arc::clone(&tls.current.borrow());
    let half = |text: &str| text[..text.len() / 2].to_owned();
    let cases = [
        ("cert.pem", None, "can't be read"),
        ("cert.pem", Some(String::new()), "no certificate in PEM form"),
        ("cert.pem", Some(key.clone()), "no certificate in PEM form"),
        ("cert.pem", Some(half(&cert)), "no certificate in PEM form"),
        ("cert.pem", Some(ca.clone()), "is not that of the certificate"),
        (
            "cert.pem",
            Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned()),
            "can't be used",
        ),
        ("key.pem", None, "can't be read"),
        ("key.pem", Some(String::new()), "no private key in PEM form"),
        ("key.pem", Some(half(&key)), "no private key in PEM form"),
        ("key.pem", Some(other), "is not that of the certificate"),
        (
            "key.pem",
            Some("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".to_owned()),
            "can't be used",
        ),
        ("ca.pem", None, "can't be read"),
        ("ca.pem", Some(key.clone()), "no certificate in PEM form"),
        (
            "ca.pem",
            Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned()),
            "can't be used",
        ),
    ];
    for (name, text, says) in cases {
        let good = folder.read(name);
        match &text {
            Some(text) => folder.write(name, text),
            None => fs::remove_file(folder.path(name)).unwrap(),
        }
        let error = tls.reload().await.unwrap_err().to_string();
        assert!(error.contains(says) && error.contains(name), "{name} {text:?}: {error}");
        let secret = key.lines().nth(1).unwrap();
        assert!(!error.contains(&secret[..16]), "{error}");
        folder.write(name, &good);
    }
    assert!(Arc::ptr_eq(&before, &tls.current.borrow()), "the first certificate is served on");
    tls.reload().await.unwrap();
    assert!(!Arc::ptr_eq(&before, &tls.current.borrow()), "what was mended is served");
}
