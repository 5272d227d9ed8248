//! What is in the way of a connection, found by making one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::codegen::http::Uri;

use super::{ClientCertificate, Tls, TlsProblem};

/// Longer than an answer takes that is worth waiting for.
const WITHIN: Duration = Duration::from_secs(5);
/// What a client of HTTP/2 says first: its preface and settings, here none.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// Where the head of the first frame has its type, and the type that it must have: settings.
const FRAME_TYPE: (usize, u8) = (3, 4);

impl Tls {
    /// Looks for what is in the way of a connection to this server: makes one, and hears what the server says
    /// first. `None` if that is as it should be, and for what TLS has no part in, such as that nothing
    /// listens there.
    ///
    /// A session does this by itself. It is for other clients, whose libraries often say no more than that
    /// a connection was closed.
    ///
    /// ```no_run
    /// # async fn connect() -> Result<(), zetema_sdk::TlsProblem> {
    /// match zetema_sdk::Tls::default().diagnose("https://zetema.example.org:4680").await {
    ///     Some(problem) => Err(problem),
    ///     None => Ok(()),
    /// }
    /// # }
    /// ```
    pub async fn diagnose(&self, server: &str) -> Option<TlsProblem> {
        let error = match tokio::time::timeout(WITHIN, self.try_connection(server)).await {
            Ok(Ok(problem)) => return problem,
            Ok(Err(error)) => error,
            Err(_) => return None,
        };
        TlsProblem::find(&error)
    }

    async fn try_connection(&self, server: &str) -> io::Result<Option<TlsProblem>> {
        let uri: Uri = server.parse().map_err(io::Error::other)?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        if uri.scheme_str() != Some("https") {
            let mut stream = TcpStream::connect((host, uri.port_u16().unwrap_or(80))).await?;
            let (place, settings) = FRAME_TYPE;
            let words = first_words(&mut stream).await?;
            // One that says nothing may be a server that is on its way out.
            let is_other = words.get(place).is_some_and(|kind| *kind != settings);
            return Ok(is_other.then_some(TlsProblem::AddressIsPlaintext));
        }
        let stream = TcpStream::connect((host, uri.port_u16().unwrap_or(443))).await?;
        let name = self.server_name.as_deref().unwrap_or(host).to_owned();
        let name = ServerName::try_from(name).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::new(self.client_config()?));
        let mut stream = connector.connect(name, stream).await?;
        // What the server has against the client's certificate it says only now.
        first_words(&mut stream).await?;
        Ok(None)
    }

    fn client_config(&self) -> io::Result<ClientConfig> {
        let mut roots = RootCertStore::empty();
        match &self.ca {
            Some(pem) => {
                roots.add_parsable_certificates(CertificateDer::pem_slice_iter(pem).filter_map(Result::ok))
            }
            None => roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots);
        let mut config = match &self.client {
            Some(ClientCertificate { chain, key }) => {
                let chain = CertificateDer::pem_slice_iter(chain).filter_map(Result::ok).collect();
                let key = PrivateKeyDer::from_pem_slice(key).map_err(io::Error::other)?;
                config.with_client_auth_cert(chain, key).map_err(io::Error::other)?
            }
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }
}

/// The head of the first frame that the server sends, or what it sends instead, up to its end.
async fn first_words(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<Vec<u8>> {
    stream.write_all(PREFACE).await?;
    stream.flush().await?;
    let mut words = Vec::new();
    while words.len() <= FRAME_TYPE.0 && stream.read_buf(&mut words).await? > 0 {}
    Ok(words)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// What a client is told of a server at an `http://` address that answers so, and closes.
    async fn check(answer: &'static [u8], expected: Option<TlsProblem>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let answering = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = vec![0; PREFACE.len()];
            stream.read_exact(&mut asked).await.unwrap();
            stream.write_all(answer).await.unwrap();
        };
        let (problem, ()) = tokio::join!(async { Tls::default().diagnose(&server).await }, answering);
        assert_eq!(problem, expected, "{answer:?}");
    }

    #[tokio::test]
    async fn a_server_that_answers_in_something_else_is_told_from_one_that_is_gone() {
        check(b"\0\0\0\x04\0\0\0\0\0", None).await;
        check(b"\x15\x03\x03\0\x02\x02\x0a", Some(TlsProblem::AddressIsPlaintext)).await;
        check(b"HTTP/1.1 400 Bad Request\r\n\r\n", Some(TlsProblem::AddressIsPlaintext)).await;
        check(b"", None).await;
        check(b"\0\0\0", None).await;
    }
}
