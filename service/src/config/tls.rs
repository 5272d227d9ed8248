//! The files of TLS.

use std::path::PathBuf;

use super::{ConfigError, Setting};

/// The PEM files that TLS is served from. They are read at the start and again on
/// [`Server::reload`](crate::server::Server::reload).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, and after it those between it and its CA.
    pub cert: PathBuf,
    /// The certificate's private key: PKCS#8, PKCS#1 or SEC1.
    pub key: PathBuf,
    /// Certificates of the CAs that sign clients' certificates. If there is one, every connection must show a
    /// certificate signed by one of them.
    pub client_ca: Option<PathBuf>,
}

/// The settings of TLS as they were given, one by one.
#[derive(Debug, Default)]
pub(super) struct TlsPaths {
    pub(super) cert: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    pub(super) client_ca: Option<PathBuf>,
}

impl TlsPaths {
    /// # Errors
    /// [`ConfigError::TlsIncomplete`] if one is there without those that it needs.
    pub(super) fn files(self) -> Result<Option<TlsFiles>, ConfigError> {
        let incomplete = |given, missing| Err(ConfigError::TlsIncomplete { given, missing });
        match (self.cert, self.key, self.client_ca) {
            (Some(cert), Some(key), client_ca) => Ok(Some(TlsFiles { cert, key, client_ca })),
            (Some(_), None, _) => incomplete(Setting::TlsCert, Setting::TlsKey),
            (None, Some(_), _) => incomplete(Setting::TlsKey, Setting::TlsCert),
            (None, None, Some(_)) => incomplete(Setting::TlsClientCa, Setting::TlsCert),
            (None, None, None) => Ok(None),
        }
    }
}
