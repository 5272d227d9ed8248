//! Why there is no secure connection, as far as the errors below tell.

use std::error::Error;
use std::io;

use rustls::CertificateError;
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
            let found = if let Some(error) = error.downcast_ref::<io::Error>() {
                of_io(error)
            } else if let Some(error) = error.downcast_ref::<h2::Error>() {
                of_http2(error)
            } else {
                error.downcast_ref().map(of_tls)
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
        rustls::Error::AlertReceived(_) => of_alert(&error.to_string()),
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

/// TLS 1.3 tells a client of what is wrong with its certificate when the handshake is over for it: then the
/// error has gone through HTTP/2, which leaves its text.
const ALERT: &str = "received fatal alert: ";

fn of_http2(error: &h2::Error) -> Option<TlsProblem> {
    // What is no HTTP/2, such as an alert of TLS, looks like a frame of a size that there can't be.
    if error.is_library() && error.reason() == Some(h2::Reason::FRAME_SIZE_ERROR) {
        return Some(TlsProblem::AddressIsPlaintext);
    }
    of_io(error.get_io()?)
}

fn of_io(error: &io::Error) -> Option<TlsProblem> {
    // What is in an I/O error is not its source.
    if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return Some(of_tls(error));
    }
    let text = error.to_string();
    text.contains(ALERT).then(|| of_alert(&text))
}

fn of_alert(text: &str) -> TlsProblem {
    let alert = text.split_once(ALERT).map_or(text, |(_, alert)| alert);
    match alert {
        "CertificateRequired" => TlsProblem::ClientCertificateMissing,
        "UnknownCA"
        | "BadCertificate"
        | "UnsupportedCertificate"
        | "CertificateRevoked"
        | "CertificateExpired"
        | "CertificateUnknown"
        | "AccessDenied"
        | "DecryptError" => TlsProblem::ClientCertificateRefused(alert.to_owned()),
        alert => TlsProblem::Handshake(format!("the server answered {alert}")),
    }
}
