//! The names of the settings, as flags, variables and the file spell them.

use std::fmt;

/// One thing that can be configured.
///
/// ```
/// use zetema_service::config::Setting;
///
/// assert_eq!(Setting::MaxConnections.key(), "max_connections");
/// assert_eq!(Setting::MaxConnections.flag(), "--max-connections");
/// assert_eq!(Setting::MaxConnections.variable(), "ZETEMA_MAX_CONNECTIONS");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Setting {
    /// Where the server listens: an address and a port, port 0 for a free one.
    Listen,
    /// The folder of the journal and of the admin token.
    Data,
    /// Where connections without TLS are taken: `loopback` or `anywhere`.
    Plaintext,
    /// The PEM file of the server's certificate and those between it and its CA.
    TlsCert,
    /// The PEM file of the certificate's private key.
    TlsKey,
    /// The PEM file of the CAs that sign clients' certificates, which are then demanded of every connection.
    TlsClientCa,
    /// Connections open at once.
    MaxConnections,
    /// Matches that are not over, at once.
    MaxLiveMatches,
    /// How often a Play stream is pinged, in milliseconds.
    PingIntervalMs,
    /// How long streams get to end by themselves when the server stops, in milliseconds.
    DrainTimeoutMs,
    /// What is logged: a level, or directives as in `info,zetema_service=debug`.
    Log,
    /// How the log is written: `text` or `json`.
    LogFormat,
}

impl Setting {
    /// Every setting.
    pub const ALL: [Self; 12] = [
        Self::Listen,
        Self::Data,
        Self::Plaintext,
        Self::TlsCert,
        Self::TlsKey,
        Self::TlsClientCa,
        Self::MaxConnections,
        Self::MaxLiveMatches,
        Self::PingIntervalMs,
        Self::DrainTimeoutMs,
        Self::Log,
        Self::LogFormat,
    ];

    /// Its key in the file.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Listen => "listen",
            Self::Data => "data",
            Self::Plaintext => "plaintext",
            Self::TlsCert => "tls_cert",
            Self::TlsKey => "tls_key",
            Self::TlsClientCa => "tls_client_ca",
            Self::MaxConnections => "max_connections",
            Self::MaxLiveMatches => "max_live_matches",
            Self::PingIntervalMs => "ping_interval_ms",
            Self::DrainTimeoutMs => "drain_timeout_ms",
            Self::Log => "log",
            Self::LogFormat => "log_format",
        }
    }

    /// Its flag.
    pub fn flag(self) -> String {
        format!("--{}", self.key().replace('_', "-"))
    }

    /// Its environment variable.
    pub fn variable(self) -> String {
        format!("{}{}", super::VARIABLE_PREFIX, self.key().to_ascii_uppercase())
    }

    pub(super) fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.key() == key)
    }
}

/// Where a setting's value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A flag.
    Flag(Setting),
    /// An environment variable.
    Variable(Setting),
    /// A key of the file.
    File(Setting),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(setting) => write!(f, "the flag {}", setting.flag()),
            Self::Variable(setting) => write!(f, "the variable {}", setting.variable()),
            Self::File(setting) => write!(f, "the file's key {}", setting.key()),
        }
    }
}
