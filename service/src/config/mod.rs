//! The server's configuration: flags before `ZETEMA_*` variables before a TOML file before defaults.
//!
//! Nothing is ignored: a key or variable that the server does not know is an error that names the nearest one.
//!
//! ```
//! use zetema_service::config::{Config, Flags, Setting};
//!
//! let flags = Flags::new().with(Setting::Listen, "127.0.0.1:0");
//! let variables = [("ZETEMA_LISTEN".into(), "127.0.0.1:1".into()), ("ZETEMA_LOG".into(), "debug".into())];
//! let config = Config::load(&flags, variables, None)?;
//! assert_eq!(config.listen.port(), 0);
//! assert_eq!(config.log, "debug");
//! # Ok::<(), zetema_service::config::ConfigError>(())
//! ```

mod error;
mod house_bots;
mod ladder;
mod number;
mod otlp;
mod setting;
#[cfg(test)]
mod tests;
mod tls;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

pub use error::{ConfigError, Suggestion};
pub use house_bots::{HouseBot, HouseBots, NoHouseBots};
pub use number::{Number, Numbers};
pub use otlp::{NoOtlpEndpoint, Otlp, OtlpEndpoint};
pub use setting::{Setting, Source};
pub use tls::TlsFiles;
use tls::TlsPaths;

use zetema_ladder::quota::{Quota, QuotaError};

use crate::bots;
use crate::journal::Owner;
use crate::ladders::{Entry, LadderSpecs};
use crate::webhooks::{self, Allowed};

/// The key of the tables of ladders.
const LADDERS: &str = "ladder";

/// What every variable of the program begins with.
pub const VARIABLE_PREFIX: &str = "ZETEMA_";

/// Variables with the prefix that other commands of the program read, so that they are no mistake here: the
/// path of the file, and a client's server, token and settings of TLS.
pub const OTHER_VARIABLES: [&str; 7] = [
    "ZETEMA_CONFIG",
    "ZETEMA_SERVER",
    "ZETEMA_TOKEN",
    "ZETEMA_CA",
    "ZETEMA_SERVER_NAME",
    "ZETEMA_CLIENT_CERT",
    "ZETEMA_CLIENT_KEY",
];

/// Where connections without TLS are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plaintext {
    /// From this machine alone.
    Loopback,
    /// From everywhere: whoever sets this has TLS in front of the server, or a network that it trusts.
    Anywhere,
}

/// Whether whoever asks gets an owner's account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenRegistration {
    /// Nobody does: the admin makes owners.
    Off,
    /// Up to [`Number::MaxRegisteredOwners`] do.
    On,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What a server is started with.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The folder of the journal and of the admin token. It is made when it is not there.
    pub data: PathBuf,
    /// Where connections without TLS are taken.
    pub plaintext: Plaintext,
    /// The files of TLS. If there are any, every connection speaks TLS.
    pub tls: Option<TlsFiles>,
    /// Whether whoever asks gets an owner's account.
    pub open_registration: OpenRegistration,
    /// Where webhooks may send to.
    pub webhook_allow: Allowed,
    /// The PEM file of the CAs that webhooks trust in the place of the system's.
    pub webhook_ca: Option<PathBuf>,
    /// The bounds, and other numbers.
    pub numbers: Numbers,
    /// What is logged, in the syntax of tracing's filters.
    pub log: String,
    /// How the log is written.
    pub log_format: LogFormat,
    /// Where the program sends traces, if anywhere. Who embeds a server starts [`Traces`](crate::traces::Traces) with
    /// what [`Config::otlp`] gives, and adds their layer to the subscriber.
    pub otlp_endpoint: Option<OtlpEndpoint>,
    /// The house bots that the program plays on the ladders, as clients of the server. The server itself plays none.
    pub house_bots: HouseBots,
    /// The ladders, which only a file can name.
    pub ladders: LadderSpecs,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4680)),
            data: PathBuf::from("zetema-data"),
            plaintext: Plaintext::Loopback,
            tls: None,
            open_registration: OpenRegistration::Off,
            webhook_allow: Allowed::default(),
            webhook_ca: None,
            numbers: Numbers::default(),
            log: "info".to_owned(),
            log_format: LogFormat::Text,
            otlp_endpoint: None,
            house_bots: HouseBots::default(),
            ladders: ladder::usual(),
        }
    }
}

/// The settings that were given as flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags(Vec<(Setting, String)>);

impl Flags {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// These, and one more.
    #[must_use]
    pub fn with(mut self, setting: Setting, value: impl Into<String>) -> Self {
        self.0.push((setting, value.into()));
        self
    }
}

impl Config {
    /// An embedded server: on a free loopback port, with its data in `data`. It stops without draining, since
    /// those who play on it are mostly gone by then.
    pub fn embedded(data: impl Into<PathBuf>) -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let defaults = Self::default();
        // Its players are the program's own: it drains for nobody, and refuses nothing to be in time for others.
        let changes = [(Number::DrainTimeoutMs, 0), (Number::MaxLateMs, *Number::MaxLateMs.range().end())];
        let change = |numbers: Numbers, (number, value)| numbers.with(number, value).unwrap_or(numbers);
        let numbers = changes.into_iter().fold(defaults.numbers, change);
        // Nobody waits on its ladders, unless the program says so.
        Self { listen, data: data.into(), numbers, ladders: LadderSpecs::none(), ..defaults }
    }

    /// The same, but for one number.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub fn with(self, number: Number, value: u64) -> Result<Self, ConfigError> {
        let numbers = self.numbers.with(number, value)?;
        Ok(Self { numbers, ..self })
    }

    /// How many accounts there may be, and what they may do.
    pub(crate) fn account_settings(&self) -> Result<bots::Settings, QuotaError> {
        let numbers = &self.numbers;
        let quota =
            Quota::new(numbers.small(Number::BotMatchesAtOnce), numbers.small(Number::BotMatchesADay))?;
        Ok(bots::Settings {
            open_registration: self.open_registration,
            max_registered_owners: numbers.count(Number::MaxRegisteredOwners),
            max_bots_per_owner: numbers.count(Number::MaxBotsPerOwner),
            named_owners: self.named_owners(),
            quota,
        })
    }

    /// The owners that this means by their names: those whose bots alone may enter a ladder.
    fn named_owners(&self) -> BTreeSet<Owner> {
        let of_ladders = self.ladders.iter().filter_map(|ladder| match &ladder.entry {
            Entry::Owners(owners) => Some(owners),
            Entry::Registered => None,
        });
        of_ladders.flatten().cloned().collect()
    }

    /// How webhooks are delivered.
    pub(crate) fn webhook_settings(&self) -> webhooks::Settings {
        webhooks::Settings {
            timeout: self.numbers.millis(Number::WebhookTimeoutMs),
            first_retry: self.numbers.millis(Number::WebhookFirstRetryMs),
            last_retry: self.numbers.millis(Number::WebhookLastRetryMs),
            give_up: Duration::from_secs(self.numbers.get(Number::WebhookGiveUpS)),
        }
    }

    /// Where traces are sent and how many, if they are.
    pub fn otlp(&self) -> Option<Otlp> {
        let share = f64::from(self.numbers.small(Number::OtlpSampledPerMillion)) / 1e6;
        self.otlp_endpoint.clone().map(|endpoint| Otlp { endpoint, share })
    }

    /// What a setting is, as it would be written. `None`: it is not set, and has no default.
    pub fn text(&self, setting: Setting) -> Option<String> {
        let path = |path: &Path| path.display().to_string();
        let tls = self.tls.as_ref();
        match setting {
            Setting::Listen => Some(self.listen.to_string()),
            Setting::Data => Some(path(&self.data)),
            Setting::Plaintext => Some(match self.plaintext {
                Plaintext::Loopback => "loopback".to_owned(),
                Plaintext::Anywhere => "anywhere".to_owned(),
            }),
            Setting::TlsCert => tls.map(|files| path(&files.cert)),
            Setting::TlsKey => tls.map(|files| path(&files.key)),
            Setting::TlsClientCa => tls.and_then(|files| files.client_ca.as_deref()).map(path),
            Setting::OpenRegistration => Some(match self.open_registration {
                OpenRegistration::Off => "off".to_owned(),
                OpenRegistration::On => "on".to_owned(),
            }),
            Setting::WebhookAllow => {
                Some(self.webhook_allow.to_string()).filter(|_| !self.webhook_allow.is_empty())
            }
            Setting::WebhookCa => self.webhook_ca.as_deref().map(path),
            Setting::Log => Some(self.log.clone()),
            Setting::LogFormat => Some(match self.log_format {
                LogFormat::Text => "text".to_owned(),
                LogFormat::Json => "json".to_owned(),
            }),
            Setting::OtlpEndpoint => self.otlp_endpoint.as_ref().map(ToString::to_string),
            Setting::HouseBots => Some(self.house_bots.to_string()).filter(|_| !self.house_bots.is_empty()),
            Setting::Number(number) => Some(self.numbers.get(number).to_string()),
        }
    }

    /// Puts a configuration together: `flags` win over `variables` (all of the environment: those without
    /// the prefix are left alone), those over `file`, that over the defaults.
    ///
    /// # Errors
    /// A [`ConfigError`] for a value, a key or a variable that is not valid, and for a file that can't be read.
    pub fn load(
        flags: &Flags,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        file: Option<&Path>,
    ) -> Result<Self, ConfigError> {
        let mut given = Given::default();
        if let Some(path) = file {
            given.read_file(path)?;
        }
        given.read_variables(variables)?;
        for (setting, value) in &flags.0 {
            given.set(*setting, value, Source::Flag)?;
        }
        let Given { mut config, tls } = given;
        config.tls = tls.files()?;
        match (&config.tls, config.plaintext) {
            (Some(_), Plaintext::Anywhere) => Err(ConfigError::PlaintextBesideTls),
            (None, Plaintext::Loopback) if !config.listen.ip().is_loopback() => {
                Err(ConfigError::PlaintextNotLoopback { listen: config.listen })
            }
            _ => Ok(config),
        }
    }
}

/// What has been read so far.
#[derive(Debug, Default)]
struct Given {
    config: Config,
    tls: TlsPaths,
}

impl Given {
    fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text =
            fs::read_to_string(path).map_err(|cause| ConfigError::File { path: path.to_owned(), cause })?;
        let table = text
            .parse::<toml::Table>()
            .map_err(|cause| ConfigError::Syntax { path: path.to_owned(), cause: Box::new(cause) })?;
        for (key, value) in table {
            if key == LADDERS {
                let wrong = |problem| ConfigError::Ladder { path: path.to_owned(), problem };
                self.config.ladders = ladder::read(value).map_err(wrong)?;
                continue;
            }
            let Some(setting) = Setting::from_key(&key) else {
                let keys = Setting::all().map(|setting| setting.key().to_owned()).chain([LADDERS.to_owned()]);
                let suggestion = Suggestion::nearest(&key, keys);
                return Err(ConfigError::UnknownKey { path: path.to_owned(), key, suggestion });
            };
            match value {
                toml::Value::String(value) => self.set(setting, &value, Source::File)?,
                other => self.set(setting, &other.to_string(), Source::File)?,
            }
        }
        Ok(())
    }

    fn read_variables(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigError> {
        for (name, value) in variables {
            // A name that is not text can't begin with the prefix and be ours.
            let Some(name) = name.to_str().filter(|name| name.starts_with(VARIABLE_PREFIX)) else { continue };
            if OTHER_VARIABLES.contains(&name) {
                continue;
            }
            let Some(setting) = Setting::all().find(|setting| setting.variable() == name) else {
                let names = Setting::all().map(Setting::variable);
                let names = names.chain(OTHER_VARIABLES.map(str::to_owned));
                let suggestion = Suggestion::nearest(name, names);
                return Err(ConfigError::UnknownVariable { name: name.to_owned(), suggestion });
            };
            let Some(value) = value.to_str() else {
                return Err(ConfigError::VariableNotText { name: name.to_owned() });
            };
            self.set(setting, value, Source::Variable)?;
        }
        Ok(())
    }

    fn set(
        &mut self,
        setting: Setting,
        value: &str,
        source: fn(Setting) -> Source,
    ) -> Result<(), ConfigError> {
        let wrong = |expected| ConfigError::Value {
            source_of_value: source(setting),
            value: value.to_owned(),
            expected,
        };
        let Self { config, tls } = self;
        match setting {
            Setting::Listen => {
                config.listen =
                    value.parse().map_err(|_| wrong("an IP address and a port, as in 127.0.0.1:4680"))?;
            }
            Setting::Data if value.is_empty() => return Err(wrong("a path")),
            Setting::Data => config.data = PathBuf::from(value),
            Setting::Plaintext => {
                config.plaintext = match value {
                    "loopback" => Plaintext::Loopback,
                    "anywhere" => Plaintext::Anywhere,
                    _ => return Err(wrong("`loopback` or `anywhere`")),
                }
            }
            Setting::TlsCert | Setting::TlsKey | Setting::TlsClientCa if value.is_empty() => {
                return Err(wrong("the path of a PEM file"));
            }
            Setting::TlsCert => tls.cert = Some(PathBuf::from(value)),
            Setting::TlsKey => tls.key = Some(PathBuf::from(value)),
            Setting::TlsClientCa => tls.client_ca = Some(PathBuf::from(value)),
            Setting::OpenRegistration => {
                config.open_registration = match value {
                    "off" => OpenRegistration::Off,
                    "on" => OpenRegistration::On,
                    _ => return Err(wrong("`on` or `off`")),
                }
            }
            Setting::WebhookAllow => {
                config.webhook_allow = value.parse().map_err(|_| {
                    wrong(
                        "hosts and networks, as in hooks.example.com,*.example.org:8443,http://10.0.0.0/8:*",
                    )
                })?;
            }
            Setting::WebhookCa if value.is_empty() => return Err(wrong("the path of a PEM file")),
            Setting::WebhookCa => config.webhook_ca = Some(PathBuf::from(value)),
            Setting::Number(number) => {
                let set = value.parse().ok().and_then(|value| config.numbers.with(number, value).ok());
                config.numbers = set.ok_or_else(|| wrong_number(source(setting), value, number))?;
            }
            Setting::OtlpEndpoint => {
                let endpoint = value.parse().map_err(|_: NoOtlpEndpoint| {
                    wrong("the URL of a collector, as in http://127.0.0.1:4317")
                })?;
                config.otlp_endpoint = Some(endpoint);
            }
            Setting::HouseBots => {
                config.house_bots = value.parse().map_err(|_: NoHouseBots| {
                    wrong("house bots, each once, as in greedy:2,random, with at most 100 places")
                })?;
            }
            Setting::Log if value.is_empty() => {
                return Err(wrong(
                    "a level such as `info`, or directives such as `info,zetema_service=debug`",
                ));
            }
            Setting::Log => value.clone_into(&mut config.log),
            Setting::LogFormat => {
                config.log_format = match value {
                    "text" => LogFormat::Text,
                    "json" => LogFormat::Json,
                    _ => return Err(wrong("`text` or `json`")),
                }
            }
        }
        Ok(())
    }
}

fn wrong_number(source_of_value: Source, value: &str, number: Number) -> ConfigError {
    ConfigError::Number { source_of_value, value: value.to_owned(), number }
}
