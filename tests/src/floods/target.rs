//! The server that is attacked, as an attacker sees it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Error};
use zetema_proto::v1;

use super::Host;
use crate::harness::{Clients, PlayStream, StreamTable, preset, unhurried};

/// Where one attacker comes from: another address than the honest clients'.
const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Bytes that the system takes in for an attacker that does not read: as few as it can be told.
const NO_BUFFER: u32 = 4 * 1024;

/// The server that is attacked.
#[derive(Clone)]
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// The PEM of the CA of its certificate, if it speaks TLS.
    pub ca: Option<String>,
    /// The token of an owner, who is the attacker.
    pub token: String,
    /// A public match that is played now.
    pub watched: watch::Receiver<Playing>,
    /// Where the attacker comes from.
    from: IpAddr,
}

/// A match that is played now, or was played for what is asked of matches that are over.
#[derive(Clone, Debug, Default)]
pub struct Playing {
    /// Its id.
    pub match_id: String,
    /// The token of its first seat.
    pub seat_token: String,
}

impl Playing {
    /// A public match of these clients' owner, played to its end.
    pub(super) async fn to_the_end(clients: &Clients) -> Self {
        let mut spec = unhurried(preset(v1::Preset::Sackson, 2));
        spec.set_visibility(v1::Visibility::Public);
        let created = clients.create(spec).await;
        let (mut stream, _) = PlayStream::open(clients).await;
        let mut table = StreamTable::join(&mut stream, &created.tokens).await;
        while table.decision(&mut stream).await.is_some() {
            table.act_at_random(&mut stream).await;
        }
        Self { match_id: created.id().to_owned(), seat_token: created.tokens[0].clone() }
    }
}

/// A connection's bytes, below HTTP.
pub(super) type Wire = Box<dyn Duplex>;

/// What can be read and written.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// How an attacker reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All that comes.
    All,
    /// A little now and then.
    Slowly,
    /// Nothing: what comes stays in the system's buffers.
    Nothing,
}

impl Target {
    /// A server, for an attacker with an owner's token.
    pub fn new(host: &Host, token: String, watched: watch::Receiver<Playing>) -> Self {
        Self { address: host.address(), ca: host.ca().map(str::to_owned), token, watched, from: ATTACKER }
    }

    /// The same for the attacker of this number, who comes from an address that no other one has.
    #[must_use]
    pub fn apart(mut self, number: u16) -> Self {
        let [high, low] = number.to_be_bytes();
        self.from = Ipv4Addr::new(127, 1, high, low).into();
        self
    }

    /// A connection by TCP.
    ///
    /// # Errors
    /// What the system says.
    pub async fn dial(&self, reading: Reading) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        if reading != Reading::All {
            socket.set_recv_buffer_size(NO_BUFFER)?;
        }
        socket.bind((self.from, 0).into())?;
        let stream = socket.connect(self.address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// A connection to what is above TCP, and TLS if there is.
    ///
    /// # Errors
    /// What the system or TLS says.
    pub async fn connect(&self, reading: Reading) -> io::Result<Wire> {
        let stream = self.dial(reading).await?;
        let Some(ca) = &self.ca else { return Ok(Box::new(stream)) };
        let name = ServerName::from(self.address.ip());
        Ok(Box::new(connector(ca).connect(name, stream).await?))
    }

    /// A client that keeps to the protocol.
    ///
    /// # Errors
    /// What is in the way.
    pub async fn channel(&self) -> Result<Channel, Error> {
        let scheme = if self.ca.is_some() { "https" } else { "http" };
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{}", self.address))?
            .tcp_nodelay(true)
            .local_address(Some(self.from));
        if let Some(ca) = &self.ca {
            endpoint =
                endpoint.tls_config(ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca)))?;
        }
        endpoint.connect().await
    }
}

fn connector(ca: &str) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let mut config = builder
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsConnector::from(Arc::new(config))
}
