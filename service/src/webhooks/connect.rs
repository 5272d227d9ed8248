//! Connections to receivers, to no address that is not allowed.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use tokio_util::task::AbortOnDropHandle;

use super::Allowed;
use super::url::{Host, Scheme, Target};
use crate::limits;

/// Why receivers with TLS can't be checked.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file of the CAs is of no use.
    #[error("webhook_ca: {} has no certificates in PEM form that can be read: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        cause: pem::Error,
    },
    /// TLS can't be set up.
    #[error("TLS of webhooks can't be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// A connection as the system gives it.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What knows the addresses of names, and connects to them.
#[async_trait]
pub(super) trait Net: Send + Sync + 'static {
    /// The addresses of a name, which are asked for each time: they may change.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// A connection to an address.
    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Stream>>;
}

/// That of the system.
struct SystemNet;

#[async_trait]
impl Net for SystemNet {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(lookup_host((name, port)).await?.collect())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Stream>> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }
}

/// The way to receivers: to where it leads, and whom it trusts.
pub struct Network {
    allowed: Allowed,
    tls: TlsConnector,
    net: Box<dyn Net>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({})", self.allowed)
    }
}

/// A connection on which requests can be made, one after the other. Dropped, it is closed.
pub(super) struct Connection {
    pub(super) requests: SendRequest<Full<Bytes>>,
    _driver: AbortOnDropHandle<()>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    /// None of the receiver's addresses may be connected to.
    #[error("webhook_allow has none of its addresses")]
    NotAllowed,
    /// Its name stands for nothing.
    #[error("its name can't be resolved")]
    Name,
    /// The system says no.
    #[error("no connection: {0}")]
    Connect(io::Error),
    /// There is no secure connection.
    #[error("no TLS: {0}")]
    Tls(io::Error),
    /// It speaks no HTTP.
    #[error("no HTTP: {0}")]
    Http(hyper::Error),
}

impl Network {
    /// A way to these addresses, trusting the CAs of a PEM file, or those of the system.
    ///
    /// # Errors
    /// A [`TrustError`].
    pub async fn open(allowed: Allowed, ca: Option<PathBuf>) -> Result<Self, TrustError> {
        let roots = match ca {
            _ if allowed.is_empty() => RootCertStore::empty(),
            Some(path) => in_file(path)?,
            None => of_the_system().await,
        };
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { allowed, tls: TlsConnector::from(Arc::new(tls)), net: Box::new(SystemNet) })
    }

    /// A way to these addresses over this net, trusting nobody.
    #[cfg(test)]
    pub(super) async fn to(allowed: &str, net: impl Net) -> Self {
        let nowhere = Self::open(Allowed::default(), None).await.unwrap();
        Self { allowed: allowed.parse().unwrap(), net: Box::new(net), ..nowhere }
    }

    pub(super) const fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// The addresses of a receiver that may be connected to: one or more.
    pub(super) async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, ConnectError> {
        if !self.allowed.may_allow(target) {
            return Err(ConnectError::NotAllowed);
        }
        let mut addresses = match &target.host {
            Host::Ip(ip) => vec![SocketAddr::new(*ip, target.port)],
            Host::Name(name) => {
                let found = self.net.resolve(name, target.port).await;
                // Who made the webhook learns no more of the server's own network.
                found.map_err(|_| ConnectError::Name)?
            }
        };
        addresses
            .retain(|address| address.port() == target.port && self.allowed.allows(target, address.ip()));
        if addresses.is_empty() { Err(ConnectError::NotAllowed) } else { Ok(addresses) }
    }

    /// Connects to a receiver: to an address of it that was just checked, and to no other. No proxy is used.
    pub(super) async fn connect(&self, target: &Target) -> Result<Connection, ConnectError> {
        let mut refused = None;
        for address in self.addresses(target).await? {
            match self.net.connect(address).await {
                Ok(stream) => return self.converse(stream, target).await,
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.map_or(ConnectError::NotAllowed, ConnectError::Connect))
    }

    async fn converse(&self, stream: Box<dyn Stream>, target: &Target) -> Result<Connection, ConnectError> {
        match target.scheme {
            Scheme::Http => handshake(stream).await,
            Scheme::Https => {
                let name = match &target.host {
                    Host::Ip(ip) => ServerName::IpAddress((*ip).into()),
                    Host::Name(name) => ServerName::try_from(name.clone())
                        .map_err(|error| ConnectError::Tls(io::Error::other(error)))?,
                };
                handshake(self.tls.connect(name, stream).await.map_err(ConnectError::Tls)?).await
            }
        }
    }
}

async fn handshake(stream: impl Stream + 'static) -> Result<Connection, ConnectError> {
    let (requests, connection) = http1::Builder::new()
        .max_buf_size(limits::WEBHOOK_ANSWER_HEAD_BYTES)
        .max_headers(limits::WEBHOOK_ANSWER_HEADERS)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(ConnectError::Http)?;
    let driver = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to a webhook's receiver ended");
        }
    });
    Ok(Connection { requests, _driver: AbortOnDropHandle::new(driver) })
}

fn in_file(path: PathBuf) -> Result<RootCertStore, TrustError> {
    let read = CertificateDer::pem_file_iter(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found =
        read.and_then(|found| if found.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(found) });
    let mut roots = RootCertStore::empty();
    for certificate in found.map_err(|cause| TrustError::File { path, cause })? {
        roots.add(certificate)?;
    }
    Ok(roots)
}

/// The CAs that the system trusts. Without any no https receiver is reached, which the log says.
async fn of_the_system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let Ok(found) = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await else {
        return roots;
    };
    for error in &found.errors {
        tracing::warn!(%error, "CAs of the system can't be read");
    }
    let (taken, _) = roots.add_parsable_certificates(found.certs);
    if taken == 0 {
        tracing::warn!(
            "the system has no CAs: webhooks reach no https receiver, unless webhook_ca names some"
        );
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

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

    async fn network(allowed: &str, says: &'static [&'static str]) -> Network {
        Network::to(allowed, Says(says)).await
    }

    /// Names that stand for what they should not are those of an attacker, or of a mistake.
    #[tokio::test]
    async fn a_name_leads_to_no_address_that_is_not_allowed() {
        let check = async |allowed, url, says, expected: &[&str]| {
            let network = network(allowed, says).await;
            let found = network.addresses(&Target::parse(url).unwrap()).await;
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

    #[tokio::test]
    async fn a_name_that_changes_what_it_stands_for_is_not_connected_to() {
        let network = network("hooks.example.com", &["127.0.0.1"]).await;
        let connected = network.connect(&Target::parse("https://hooks.example.com/").unwrap()).await;
        assert!(matches!(connected, Err(ConnectError::NotAllowed)));
    }
}
