//! Why there is no secure connection, as far as the errors below tell.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError};
use thiserror::Error;

/// Why there is no secure connection to a server.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TlsProblem {
    /// No CA that is trusted has signed the server's certificate.
    #[error(
        "its certificate is signed by no CA that is trusted here: give the right CA (ZETEMA_CA, --ca, or \
         Tls::with_ca_file)"
    )]
    UnknownCa,
    /// The server's certificate is another host's.
    #[error(
        "its certificate is for another name ({0}): connect by a name that it is for, or say which to expect \
         (ZETEMA_SERVER_NAME, --server-name, or Tls::with_server_name)"
    )]
    WrongName(String),
    /// The server's certificate is of no use for another reason, such as that it has expired.
    #[error("its certificate is not valid ({0}): it needs another one, or the clock here is wrong")]
    BadCertificate(String),
    /// The server demands a certificate of its clients.
    #[error(
        "it demands a client certificate: give yours and its key (ZETEMA_CLIENT_CERT and ZETEMA_CLIENT_KEY, \
         --client-cert and --client-key, or Tls::with_client_certificate_files)"
    )]
    ClientCertificateMissing,
    /// The server does not accept the certificate of this client.
    #[error("it does not accept this client's certificate ({0}): give one that is signed by its client CA")]
    ClientCertificateRefused(String),
    /// The server has an `https://` address and does not speak TLS.
    #[error("it does not speak TLS: give its address with http://, or turn TLS on there")]
    ServerIsPlaintext,
    /// The server has an `http://` address and answers in something else than plain HTTP/2.
    #[error("it does not answer in plain HTTP/2: if it speaks TLS, give its address with https://")]
    AddressIsPlaintext,
    /// The two could not agree for another reason.
    #[error("the TLS handshake failed: {0}")]
    Handshake(String),
}

impl TlsProblem {
    /// The problem that an error of a connection came from, if it was one of TLS.
    pub fn find(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            let found = match error.downcast_ref::<io::Error>() {
                // What is in an I/O error is not its source.
                Some(error) => error.get_ref().and_then(|inner| inner.downcast_ref()).map(of_tls),
                None => error.downcast_ref().map(of_tls),
            };
            if found.is_some() {
                return found;
            }
            next = error.source();
        }
        None
    }
}

fn of_tls(error: &rustls::Error) -> TlsProblem {
    match error {
        rustls::Error::InvalidCertificate(error) => of_certificate(error),
        // Whatever it is that was read, it is no TLS.
        rustls::Error::InvalidMessage(_) => TlsProblem::ServerIsPlaintext,
        rustls::Error::AlertReceived(alert) => of_alert(*alert),
        error => TlsProblem::Handshake(error.to_string()),
    }
}

fn of_certificate(error: &CertificateError) -> TlsProblem {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsProblem::UnknownCa,
        CertificateError::NotValidForName => TlsProblem::WrongName("it has no names".to_owned()),
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<_> = presented.iter().map(|name| bare(name)).collect();
            TlsProblem::WrongName(names.join(", "))
        }
        error => TlsProblem::BadCertificate(error.to_string()),
    }
}

/// The name in `DnsName("localhost")` or `IpAddress(::1)`.
fn bare(presented: &str) -> &str {
    let inner = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(presented).trim_matches('"')
}

fn of_alert(alert: AlertDescription) -> TlsProblem {
    match alert {
        AlertDescription::CertificateRequired => TlsProblem::ClientCertificateMissing,
        AlertDescription::UnknownCA
        | AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::AccessDenied
        | AlertDescription::DecryptError => TlsProblem::ClientCertificateRefused(format!("{alert:?}")),
        alert => TlsProblem::Handshake(format!("the server answered {alert:?}")),
    }
}
