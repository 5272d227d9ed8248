//! Connections to receivers, to no address that is not allowed.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, CertificateError, ClientConfig, RootCertStore};
use tokio_util::task::AbortOnDropHandle;

use super::Allowed;
use super::lookups::Lookups;
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
    pub(super) allowed: Allowed,
    tls: TlsConnector,
    net: Arc<dyn Net>,
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

/// Why there is no connection, in words for whoever made the webhook. What the system said is for the log: it tells of the
/// server's own network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConnectError {
    /// None of the receiver's addresses may be connected to.
    #[error("webhook_allow has none of its addresses")]
    NotAllowed,
    /// Its name stands for nothing.
    #[error("its name can't be resolved")]
    Name,
    /// One of the two: which one is nobody's to know whose name the setting does not have itself, as it would tell what names the
    /// server's own network has.
    #[error("its name can't be resolved, or webhook_allow has none of its addresses")]
    NoAddress,
    /// Nobody listens there.
    #[error("no connection: it was refused")]
    Refused,
    /// Nothing came back in time.
    #[error("no connection in time")]
    Silent,
    /// There is no connection for another reason.
    #[error("no connection")]
    Unreachable,
    /// There is no secure connection.
    #[error("no TLS: {0}")]
    Tls(&'static str),
    /// It speaks no HTTP.
    #[error("no HTTP")]
    Http,
}

impl Network {
    /// A way to these addresses, trusting the CAs of a PEM file, or those of the system.
    ///
    /// # Errors
    /// A [`TrustError`].
    pub async fn open(allowed: Allowed, ca: Option<PathBuf>) -> Result<Self, TrustError> {
        let roots = match ca {
            Some(path) => in_file(path)?,
            None if allowed.is_empty() => RootCertStore::empty(),
            None => of_the_system().await,
        };
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { allowed, tls: TlsConnector::from(Arc::new(tls)), net: Arc::new(SystemNet) })
    }

    /// The same way over another net.
    #[cfg(test)]
    pub(super) fn over(self, net: impl Net) -> Self {
        Self { net: Arc::new(net), ..self }
    }

    /// The addresses of a receiver that may be connected to: one or more. A name is looked up when one of these permits is
    /// free, and keeps it until the system has answered, whether anyone still waits for that or not: a look-up takes a
    /// thread, and can't be stopped.
    pub(super) async fn addresses(
        &self,
        target: &Target,
        lookups: &Lookups,
    ) -> Result<Vec<SocketAddr>, ConnectError> {
        if !self.allowed.may_allow(target) {
            return Err(ConnectError::NotAllowed);
        }
        self.allowed_addresses(target, lookups).await.map_err(|error| match error {
            ConnectError::Name | ConnectError::NotAllowed if self.allowed.hides(target) => {
                ConnectError::NoAddress
            }
            error => error,
        })
    }

    async fn allowed_addresses(
        &self,
        target: &Target,
        lookups: &Lookups,
    ) -> Result<Vec<SocketAddr>, ConnectError> {
        let port = target.port;
        let mut addresses = match &target.host {
            Host::Ip(ip) => vec![SocketAddr::new(*ip, port)],
            Host::Name(name) => {
                let permit = lookups.next().await;
                let (net, name) = (Arc::clone(&self.net), name.clone());
                let lookup = tokio::spawn(async move {
                    let found = net.resolve(&name, port).await;
                    drop(permit);
                    found
                });
                lookup.await.map_err(io::Error::other).and_then(|found| found).map_err(|error| {
                    tracing::debug!(receiver = %target, %error, "the name of a webhook's receiver can't be resolved");
                    ConnectError::Name
                })?
            }
        };
        addresses.retain(|address| address.port() == port && self.allowed.allows(target, address.ip()));
        addresses.truncate(limits::WEBHOOK_ADDRESSES);
        if addresses.is_empty() { Err(ConnectError::NotAllowed) } else { Ok(addresses) }
    }

    /// Connects to a receiver: to an address of it that was just checked, and to no other. Each has its share of the time. No
    /// proxy is used.
    pub(super) async fn connect(
        &self,
        target: &Target,
        lookups: &Lookups,
        within: Duration,
    ) -> Result<Connection, ConnectError> {
        let addresses = self.addresses(target, lookups).await?;
        let share = within / u32::try_from(addresses.len()).unwrap_or(u32::MAX);
        let mut failed = ConnectError::NotAllowed;
        for address in addresses {
            match timeout(share, self.connect_to(address, target)).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(error)) => failed = error,
                Err(_) => failed = ConnectError::Silent,
            }
        }
        Err(failed)
    }

    async fn connect_to(&self, address: SocketAddr, target: &Target) -> Result<Connection, ConnectError> {
        let stream = self.net.connect(address).await.map_err(|error| {
            tracing::debug!(receiver = %target, %address, %error, "a webhook's receiver can't be connected to");
            match error.kind() {
                io::ErrorKind::ConnectionRefused => ConnectError::Refused,
                io::ErrorKind::TimedOut => ConnectError::Silent,
                _ => ConnectError::Unreachable,
            }
        })?;
        match target.scheme {
            Scheme::Http => handshake(stream).await,
            Scheme::Https => {
                let name = match &target.host {
                    Host::Ip(ip) => ServerName::IpAddress((*ip).into()),
                    Host::Name(name) => ServerName::try_from(name.clone())
                        .map_err(|_| ConnectError::Tls("its name can be in no certificate"))?,
                };
                let secure = self.tls.connect(name, stream).await.map_err(|error| {
                    tracing::debug!(receiver = %target, %address, %error, "a webhook's receiver speaks no TLS");
                    ConnectError::Tls(what_is_wrong(&error))
                })?;
                handshake(secure).await
            }
        }
    }
}

/// Why a TLS handshake failed, in words that say no more than the receiver's owner may know.
fn what_is_wrong(error: &io::Error) -> &'static str {
    let error = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    match error {
        Some(rustls::Error::InvalidCertificate(problem)) => match problem {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name"
            }
            CertificateError::UnknownIssuer => "its certificate is of a CA that is not trusted here",
            _ => "its certificate is not valid",
        },
        Some(_) => "the handshake failed",
        None => "the connection broke off",
    }
}

async fn handshake(stream: impl Stream + 'static) -> Result<Connection, ConnectError> {
    let (requests, connection) = http1::Builder::new()
        .max_buf_size(limits::WEBHOOK_ANSWER_HEAD_BYTES)
        .max_headers(limits::WEBHOOK_ANSWER_HEADERS)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| ConnectError::Http)?;
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
