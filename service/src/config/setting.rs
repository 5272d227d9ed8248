//! The names of the settings, as flags, variables and the file spell them.

use std::fmt;

use super::Number;

/// One thing that can be configured.
///
/// ```
/// use zetema_service::config::{Number, Setting};
///
/// let setting = Setting::Number(Number::MaxConnections);
/// assert_eq!(setting.key(), "max_connections");
/// assert_eq!(setting.flag(), "--max-connections");
/// assert_eq!(setting.variable(), "ZETEMA_MAX_CONNECTIONS");
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
    /// Whether whoever asks gets an owner's account: `on` or `off`.
    OpenRegistration,
    /// Where webhooks may send to: hosts and networks.
    WebhookAllow,
    /// The PEM file of the CAs that webhooks trust in the place of the system's.
    WebhookCa,
    /// What is logged: a level, or directives as in `info,zetema_service=debug`.
    Log,
    /// How the log is written: `text` or `json`.
    LogFormat,
    /// Where traces are sent: the URL of a collector that takes OTLP over gRPC.
    OtlpEndpoint,
    /// The house bots that the program plays on the ladders.
    HouseBots,
    /// A bound, or another number.
    Number(Number),
}

/// Those that are no numbers.
const TEXTS: [Setting; 13] = [
    Setting::Listen,
    Setting::Data,
    Setting::Plaintext,
    Setting::TlsCert,
    Setting::TlsKey,
    Setting::TlsClientCa,
    Setting::OpenRegistration,
    Setting::WebhookAllow,
    Setting::WebhookCa,
    Setting::Log,
    Setting::LogFormat,
    Setting::OtlpEndpoint,
    Setting::HouseBots,
];

/// What is known of a setting.
struct About {
    key: &'static str,
    /// What its value is.
    value: &'static str,
    default: &'static str,
    what: &'static str,
}

impl Setting {
    /// Every setting.
    pub fn all() -> impl Iterator<Item = Self> {
        TEXTS.into_iter().chain(Number::ALL.iter().copied().map(Self::Number))
    }

    const fn about(self) -> About {
        let (key, value, default, what) = match self {
            Self::Listen => ("listen", "address:port", "127.0.0.1:4680", "Where to listen"),
            Self::Data => ("data", "folder", "zetema-data", "Where the journal and the admin token are"),
            Self::Plaintext => {
                ("plaintext", "loopback or anywhere", "loopback", "Where connections without TLS are taken")
            }
            Self::TlsCert => (
                "tls_cert",
                "PEM file",
                "none",
                "The server's certificate and those between it and its CA: every connection speaks TLS",
            ),
            Self::TlsKey => ("tls_key", "PEM file", "none", "The certificate's private key"),
            Self::TlsClientCa => (
                "tls_client_ca",
                "PEM file",
                "none",
                "CAs: every connection must show a certificate that one of them signed",
            ),
            Self::OpenRegistration => {
                ("open_registration", "on or off", "off", "Whether whoever asks gets an owner's account")
            }
            Self::WebhookAllow => (
                "webhook_allow",
                "hosts and networks",
                "none",
                "Where webhooks may send to, as in hooks.example.com,10.1.0.0/16:8443",
            ),
            Self::WebhookCa => {
                ("webhook_ca", "PEM file", "none", "CAs that webhooks trust in the place of the system's")
            }
            Self::Log => {
                ("log", "level or directives", "info", "What is logged, as in info,zetema_service=debug")
            }
            Self::LogFormat => ("log_format", "text or json", "text", "How the log is written"),
            Self::OtlpEndpoint => (
                "otlp_endpoint",
                "URL",
                "none",
                "Where traces are sent, as OTLP over gRPC, for example http://127.0.0.1:4317",
            ),
            Self::HouseBots => (
                "house_bots",
                "names",
                "none",
                "House bots that play on the ladders, NAME or NAME:PLACES on each, as in greedy:2,random",
            ),
            Self::Number(number) => {
                let row = number.row();
                (row.key, row.unit, "", row.what)
            }
        };
        About { key, value, default, what }
    }

    /// Its key in the file.
    pub const fn key(self) -> &'static str {
        self.about().key
    }

    /// What its value is: a kind of thing, or a number's unit.
    pub const fn value(self) -> &'static str {
        self.about().value
    }

    /// What it is, in a few words.
    pub const fn what(self) -> &'static str {
        self.about().what.trim_ascii()
    }

    /// What it is unless it is set, as it would be written.
    pub fn default_text(self) -> String {
        match self {
            Self::Number(number) => number.default_value().to_string(),
            text => text.about().default.to_owned(),
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
        Self::all().find(|setting| setting.key() == key)
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
