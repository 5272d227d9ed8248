//! TLS: the certificate that new connections are shown, and its change while the server runs.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use metrics::counter;
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, sink},
    sync::watch,
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{
            CertificateDer, PrivateKeyDer,
            pem::{self, PemObject},
        },
        server::{VerifierBuilderError, WebPkiClientVerifier, danger::ClientCertVerifier},
    },
    server::TlsStream,
};

use crate::{admission::Address, config::TlsFiles, limits, metrics::TLS_FAILURES};

/// What a client may choose: HTTP/1.1 is for gRPC-Web and the metrics.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Why TLS can't be served from the files that are there. No message shows what is in a file.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file can't be read.
    #[error("{} can't be read: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A file is not PEM, or not whole.
    #[error("{} has no {expected} in PEM form that can be read: {cause}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What should be in it.
        expected: &'static str,
        /// What is wrong.
        #[source]
        cause: pem::Error,
    },
    /// A certificate or a key is of no use.
    #[error("the {what} in {} can't be used: {cause}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is in it.
        what: &'static str,
        /// What is wrong.
        #[source]
        cause: rustls::Error,
    },
    /// The key is another certificate's.
    #[error("the key in {} is not that of the certificate in {}: give the two that were made together", key.display(), cert.display())]
    Mismatch {
        /// The certificate's file.
        cert: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
    /// The CAs of clients can't be used.
    #[error("the CA certificates in {} can't be used: {cause}", path.display())]
    ClientCa {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        cause: VerifierBuilderError,
    },
}

/// TLS as it is served to new connections. Those that are open keep what they began with.
#[derive(Debug)]
pub(super) struct Tls {
    files: TlsFiles,
    handshake_timeout: Duration,
    current: watch::Sender<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// A [`TlsError`] that names the file.
    pub(super) async fn open(files: TlsFiles, handshake_timeout: Duration) -> Result<Self, TlsError> {
        let (config, fingerprint) = read(files.clone()).await?;
        let tls = Self { files, handshake_timeout, current: watch::Sender::new(config) };
        tls.tell(&fingerprint);
        Ok(tls)
    }

    /// Reads the files again. What can't be used changes nothing.
    ///
    /// # Errors
    /// A [`TlsError`] that names the file.
    pub(super) async fn reload(&self) -> Result<(), TlsError> {
        let (config, fingerprint) = read(self.files.clone()).await?;
        self.current.send_replace(config);
        self.tell(&fingerprint);
        Ok(())
    }

    /// Whoever reads this meets the certificate: it is said when it is served.
    fn tell(&self, sha256: &str) {
        let TlsFiles { cert, key, client_ca: _ } = &self.files;
        tracing::info!(cert = %cert.display(), key = %key.display(), sha256, "TLS is served by this certificate");
    }

    /// The stream inside the TLS of a new connection, unless the client can't or won't speak it in time.
    pub(super) async fn handshake<S>(&self, stream: S, from: Address) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let acceptor = TlsAcceptor::from(Arc::clone(&self.current.borrow()));
        let accepted = acceptor.accept(stream).into_fallible();
        match timeout(self.handshake_timeout, accepted).await {
            Ok(Ok(mut stream)) => {
                // By itself it is 64 KiB.
                stream.get_mut().1.set_buffer_limit(Some(limits::TLS_BUFFER_BYTES));
                return Some(stream);
            }
            Ok(Err((error, stream))) => {
                tracing::debug!(%from, %error, "a TLS handshake failed");
                counter!(TLS_FAILURES).increment(1);
                // What it was refused for is read or not, but not waited for longer.
                let _ = timeout(limits::TLS_ALERT_TIMEOUT, part(stream)).await;
            }
            Err(_) => {
                tracing::debug!(%from, "a TLS handshake took too long");
                counter!(TLS_FAILURES).increment(1);
            }
        }
        None
    }
}

/// Says no more, and listens until the client has gone.
async fn part(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    stream.shutdown().await?;
    copy(&mut stream, &mut sink()).await.map(drop)
}

async fn read(files: TlsFiles) -> Result<(Arc<ServerConfig>, String), TlsError> {
    let cert = files.cert.clone();
    // A disk may be slow, and a runtime's thread must not wait for it.
    let Ok(read) = tokio::task::spawn_blocking(move || server_config(&files)).await else {
        let cause = io::Error::other("reading was stopped");
        return Err(TlsError::File { path: cert, cause });
    };
    read
}

/// The configuration, and the SHA-256 of the certificate as `openssl x509 -fingerprint -sha256` shows it.
fn server_config(files: &TlsFiles) -> Result<(Arc<ServerConfig>, String), TlsError> {
    let TlsFiles { cert, key, client_ca } = files;
    let chain = certificates(cert)?;
    let private_key = PrivateKeyDer::from_pem_slice(&bytes(key)?).map_err(|cause| TlsError::Pem {
        path: key.clone(),
        expected: "private key",
        cause,
    })?;
    let fingerprint = chain.first().map(fingerprint).unwrap_or_default();
    let unusable = |path: &Path, what| {
        let path = path.to_owned();
        move |cause| TlsError::Unusable { path, what, cause }
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable(cert, "certificate"))?;
    let builder = match client_ca {
        Some(path) => builder.with_client_cert_verifier(client_verifier(path)?),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, private_key).map_err(|cause| match cause {
        rustls::Error::InconsistentKeys(_) => TlsError::Mismatch { cert: cert.clone(), key: key.clone() },
        cause @ rustls::Error::InvalidCertificate(_) => unusable(cert, "certificate")(cause),
        cause => unusable(key, "private key")(cause),
    })?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok((Arc::new(config), fingerprint))
}

fn client_verifier(path: &Path) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|cause| TlsError::Unusable {
            path: path.to_owned(),
            what: "CA certificate",
            cause,
        })?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()))
        .build()
        .map_err(|cause| TlsError::ClientCa { path: path.to_owned(), cause })
}

/// The certificates in a file, one or more.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = bytes(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    found
        .and_then(|found| if found.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(found) })
        .map_err(|cause| TlsError::Pem { path: path.to_owned(), expected: "certificate", cause })
}

fn bytes(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|cause| TlsError::File { path: path.to_owned(), cause })
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let mut text = String::new();
    for (i, byte) in Sha256::digest(certificate).iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(text, "{}{byte:02X}", if i == 0 { "" } else { ":" });
    }
    text
}

#[cfg(test)]
mod tests;
