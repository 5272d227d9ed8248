//! TLS as a client sets it up.

mod diagnosis;
mod problem;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

pub use problem::TlsProblem;

use crate::error::Error;

const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);
const CA: &str = "ZETEMA_CA";
const SERVER_NAME: &str = "ZETEMA_SERVER_NAME";
const CLIENT_CERT: &str = "ZETEMA_CLIENT_CERT";
const CLIENT_KEY: &str = "ZETEMA_CLIENT_KEY";

/// How a server with an `https://` address is checked, and what it is shown of the client.
///
/// By default the server's certificate must be signed by a CA that the system trusts, and be for the host
/// of the address.
///
/// ```no_run
/// use zetema_sdk::{Error, Settings, Tls};
///
/// # fn settings() -> Result<Settings, Error> {
/// let tls = Tls::default()
///     .with_ca_file("ca.pem")?
///     .with_server_name("zetema.example.org")?
///     .with_client_certificate_files("bot.pem", "bot-key.pem")?;
/// Ok(Settings { tls, ..Settings::default() })
/// # }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// PEM; `None` for the system's.
    ca: Option<Vec<u8>>,
    /// `None` for the host of the address.
    server_name: Option<String>,
    client: Option<ClientCertificate>,
}

/// In PEM form.
#[derive(Clone, PartialEq, Eq)]
struct ClientCertificate {
    chain: Vec<u8>,
    key: Vec<u8>,
}

impl Tls {
    /// Trusts these CAs instead of the system's: `pem` holds one certificate or more.
    ///
    /// # Errors
    /// [`Error::TlsOption`] if there is none in it.
    pub fn with_ca_pem(self, pem: impl Into<Vec<u8>>) -> Result<Self, Error> {
        self.with_ca("the CA certificate", pem.into())
    }

    /// Trusts the CAs in this file instead of the system's: PEM, one certificate or more.
    ///
    /// # Errors
    /// [`Error::TlsOption`] if the file can't be read or there is none in it.
    pub fn with_ca_file(self, path: impl AsRef<Path>) -> Result<Self, Error> {
        let what = format!("the CA file {}", path.as_ref().display());
        let pem = read(&what, path.as_ref())?;
        self.with_ca(&what, pem)
    }

    fn with_ca(self, what: &str, pem: Vec<u8>) -> Result<Self, Error> {
        check_certificates(what, &pem)?;
        Ok(Self { ca: Some(pem), ..self })
    }

    /// Expects a certificate for this name or IP address instead of the host of the address.
    ///
    /// # Errors
    /// [`Error::TlsOption`] if it is neither.
    pub fn with_server_name(self, name: impl Into<String>) -> Result<Self, Error> {
        let name = name.into();
        match ServerName::try_from(name.as_str()) {
            Ok(_) => Ok(Self { server_name: Some(name), ..self }),
            Err(_) => Err(Error::TlsOption {
                option: format!("the server name {name:?}"),
                problem: "it is neither a host's name nor an IP address, without a port".to_owned(),
            }),
        }
    }

    /// Shows the server this certificate, if it asks for one: the client's own, then those between it and
    /// its CA; and its private key. Both are PEM.
    ///
    /// # Errors
    /// [`Error::TlsOption`] if either is not there.
    pub fn with_client_certificate_pem(
        self,
        chain: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Result<Self, Error> {
        let client = ClientCertificate { chain: chain.into(), key: key.into() };
        self.with_client("the client certificate", "the client's key", client)
    }

    /// The same from two files.
    ///
    /// # Errors
    /// [`Error::TlsOption`] if one of them can't be read or does not hold what it should.
    pub fn with_client_certificate_files(
        self,
        chain: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, Error> {
        let what_chain = format!("the client certificate {}", chain.as_ref().display());
        let what_key = format!("the client's key {}", key.as_ref().display());
        let client = ClientCertificate {
            chain: read(&what_chain, chain.as_ref())?,
            key: read(&what_key, key.as_ref())?,
        };
        self.with_client(&what_chain, &what_key, client)
    }

    fn with_client(self, chain: &str, key: &str, client: ClientCertificate) -> Result<Self, Error> {
        check_certificates(chain, &client.chain)?;
        let certificates = CertificateDer::pem_slice_iter(&client.chain).filter_map(Result::ok).collect();
        let private = PrivateKeyDer::from_pem_slice(&client.key)
            .map_err(|cause| option(key, format!("there is no private key in PEM form in it ({cause})")))?;
        CertifiedKey::from_der(certificates, private, &ring::default_provider()).map_err(
            |cause| match cause {
                rustls::Error::InconsistentKeys(_) => option(key, format!("it is not the key of {chain}")),
                cause => option(key, format!("it can't be used: {cause}")),
            },
        )?;
        Ok(Self { client: Some(client), ..self })
    }

    /// What the environment says: `ZETEMA_CA`, `ZETEMA_CLIENT_CERT` and `ZETEMA_CLIENT_KEY` are paths of files,
    /// `ZETEMA_SERVER_NAME` is a name. What is not set stays as it is by default.
    ///
    /// # Errors
    /// [`Error::TlsOption`] if a file can't be read or does not hold what it should, or of a certificate and
    /// its key only one is set.
    pub fn from_environment() -> Result<Self, Error> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let mut tls = Self::default();
        if let Some(path) = variable(CA) {
            tls = tls.with_ca_file(Path::new(&path))?;
        }
        if let Some(name) = variable(SERVER_NAME) {
            tls = tls.with_server_name(name.to_string_lossy())?;
        }
        match (variable(CLIENT_CERT), variable(CLIENT_KEY)) {
            (None, None) => Ok(tls),
            (Some(cert), Some(key)) => tls.with_client_certificate_files(Path::new(&cert), Path::new(&key)),
            (Some(_), None) => Err(option(CLIENT_CERT, format!("{CLIENT_KEY} is not set: set both or none"))),
            (None, Some(_)) => Err(option(CLIENT_KEY, format!("{CLIENT_CERT} is not set: set both or none"))),
        }
    }

    /// # Errors
    /// [`Error::Address`] if the address is not one of TLS, and this says more than the default.
    pub(crate) fn check_plaintext(&self, address: &str) -> Result<(), Error> {
        if *self == Self::default() {
            return Ok(());
        }
        Err(Error::Address {
            address: address.to_owned(),
            problem: "with a CA, a server name or a client certificate it must begin with https://"
                .to_owned(),
        })
    }

    pub(crate) fn config(&self) -> ClientTlsConfig {
        let config = ClientTlsConfig::new().timeout(HANDSHAKE_WITHIN);
        let config = match &self.ca {
            Some(pem) => config.ca_certificate(Certificate::from_pem(pem)),
            None => config.with_native_roots(),
        };
        let config = match &self.server_name {
            Some(name) => config.domain_name(name),
            None => config,
        };
        match &self.client {
            Some(ClientCertificate { chain, key }) => config.identity(Identity::from_pem(chain, key)),
            None => config,
        }
    }
}

impl fmt::Debug for Tls {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("own_ca", &self.ca.is_some())
            .field("server_name", &self.server_name)
            .field("client_certificate", &self.client.is_some())
            .finish()
    }
}

fn option(option: &str, problem: String) -> Error {
    Error::TlsOption { option: option.to_owned(), problem }
}

fn read(what: &str, path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|cause| option(what, format!("it can't be read: {cause}")))
}

fn check_certificates(what: &str, pem: &[u8]) -> Result<(), Error> {
    let mut roots = rustls::RootCertStore::empty();
    let mut found = 0;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        certificate
            .map_err(|cause| cause.to_string())
            .and_then(|certificate| roots.add(certificate).map_err(|cause| cause.to_string()))
            .map_err(|cause| option(what, format!("a certificate in it can't be used: {cause}")))?;
        found += 1;
    }
    if found == 0 {
        return Err(option(what, "there is no certificate in PEM form in it".to_owned()));
    }
    Ok(())
}
