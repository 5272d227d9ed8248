//! `zetema serve`.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use serde::Serialize;
use zetema_service::access::ADMIN_TOKEN_FILE;
use zetema_service::config::{Config, ConfigError, Flags, LogFormat, Plaintext, Setting, Source};
use zetema_service::server::{Hangups, Server, Terminations};

use crate::args::FormatArgs;
use crate::failure::Usage;
use crate::output::{self, Format};

/// Run a server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Settings come from these flags, then from variables (ZETEMA_LISTEN, ZETEMA_DATA, …), then from the
file (listen = \"…\", data = \"…\", …). At the first start the admin token is made and written to the file
admin-token in the data folder. On SIGHUP the files of TLS are read again: new connections are shown the new
certificate, open ones go on. On SIGTERM or Ctrl-C the server creates no more matches, and stops when none runs or
when drain_timeout_ms is over; what is not over goes on at the next start. A second one stops it at once.

Examples:
  zetema serve
  zetema serve --listen 127.0.0.1:7000 --data /var/lib/zetema
  zetema serve --listen 0.0.0.0:4680 --tls-cert chain.pem --tls-key key.pem
  zetema serve --config zetema.toml --check-config")]
pub(crate) struct Serve {
    /// Where to listen, an address and a port [default: 127.0.0.1:4680]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The folder of the journal and of the admin token [default: zetema-data]
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
    /// Where connections without TLS are taken: loopback or anywhere [default: loopback]
    #[arg(long, value_name = "WHERE")]
    plaintext: Option<String>,
    /// The PEM file of the server's certificate and those between it and its CA: every connection speaks TLS
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,
    /// The PEM file of the certificate's private key
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// A PEM file of CAs: every connection must show a certificate that one of them signed
    #[arg(long, value_name = "FILE")]
    tls_client_ca: Option<String>,
    /// Connections open at once
    #[arg(long, value_name = "N")]
    max_connections: Option<String>,
    /// Matches that are not over, at once
    #[arg(long, value_name = "N")]
    max_live_matches: Option<String>,
    /// How often a Play stream is pinged, in milliseconds
    #[arg(long, value_name = "MS")]
    ping_interval_ms: Option<String>,
    /// How long matches go on when the server is told to stop, in milliseconds
    #[arg(long, value_name = "MS")]
    drain_timeout_ms: Option<String>,
    /// What is logged: a level, or directives as in `info,zetema_service=debug` [default: info]
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
    /// How the log is written: text or json [default: text]
    #[arg(long, value_name = "FORM")]
    log_format: Option<String>,
    /// A TOML file with settings
    #[arg(long, env = "ZETEMA_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the settings that a server would start with, and don't start it
    #[arg(long)]
    check_config: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl Serve {
    pub(super) async fn run(self) -> Result<()> {
        let config = self.load()?;
        if self.check_config {
            return print(&config, self.format.format);
        }
        crate::log::start(&config.log, config.log_format)?;
        let token = config.data.join(ADMIN_TOKEN_FILE);
        // From here on SIGHUP does not end the program.
        let mut hangups = Hangups::listen().context("signals can't be had")?;
        let mut terminations = Terminations::listen().context("signals can't be had")?;
        let server = Server::start(config).await?;
        let (url, token) = (server.url(), token.display());
        let admin = match server.admin_token() {
            Some(_) => format!("the admin token is in {token}"),
            None => format!(
                "the admin token is the one made at the first start, which {token} does not hold any more"
            ),
        };
        output::note(format!("zetema serves at {url}; {admin}. Ctrl-C stops it."));
        loop {
            tokio::select! {
                () = terminations.next() => break,
                // The log says what came of it, and the server goes on either way.
                () = hangups.next() => drop(server.reload().await),
            }
        }
        output::note(
            "zetema stops when no match runs, or when drain_timeout_ms is over. Ctrl-C again stops it at once.",
        );
        server.shutdown_or_close(terminations.next()).await;
        Ok(())
    }

    fn load(&self) -> Result<Config> {
        let flags = Setting::ALL
            .into_iter()
            .filter_map(|setting| Some((setting, self.flag(setting)?.clone())))
            .fold(Flags::new(), |flags, (setting, value)| flags.with(setting, value));
        Config::load(&flags, std::env::vars_os(), self.config.as_deref()).map_err(|error| match error {
            ConfigError::Value { source_of_value: Source::Flag(_), .. }
            | ConfigError::PlaintextNotLoopback { .. }
            | ConfigError::PlaintextBesideTls
            | ConfigError::TlsIncomplete { .. } => Usage::new(error.to_string()).into(),
            _ => anyhow!(error),
        })
    }

    const fn flag(&self, setting: Setting) -> Option<&String> {
        match setting {
            Setting::Listen => self.listen.as_ref(),
            Setting::Data => self.data.as_ref(),
            Setting::Plaintext => self.plaintext.as_ref(),
            Setting::TlsCert => self.tls_cert.as_ref(),
            Setting::TlsKey => self.tls_key.as_ref(),
            Setting::TlsClientCa => self.tls_client_ca.as_ref(),
            Setting::MaxConnections => self.max_connections.as_ref(),
            Setting::MaxLiveMatches => self.max_live_matches.as_ref(),
            Setting::PingIntervalMs => self.ping_interval_ms.as_ref(),
            Setting::DrainTimeoutMs => self.drain_timeout_ms.as_ref(),
            Setting::Log => self.log.as_ref(),
            Setting::LogFormat => self.log_format.as_ref(),
        }
    }
}

/// The settings, by their keys in the file.
#[derive(Serialize)]
struct ConfigJson {
    listen: String,
    data: PathBuf,
    plaintext: &'static str,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    tls_client_ca: Option<PathBuf>,
    max_connections: u32,
    max_live_matches: u32,
    ping_interval_ms: u128,
    drain_timeout_ms: u128,
    log: String,
    log_format: &'static str,
}

impl ConfigJson {
    fn new(config: &Config) -> Self {
        let Config {
            listen,
            data,
            plaintext,
            tls,
            max_connections,
            max_live_matches,
            ping_interval,
            drain_timeout,
            log,
            log_format,
        } = config;
        Self {
            listen: listen.to_string(),
            data: data.clone(),
            plaintext: match plaintext {
                Plaintext::Loopback => "loopback",
                Plaintext::Anywhere => "anywhere",
            },
            tls_cert: tls.as_ref().map(|files| files.cert.clone()),
            tls_key: tls.as_ref().map(|files| files.key.clone()),
            tls_client_ca: tls.as_ref().and_then(|files| files.client_ca.clone()),
            max_connections: *max_connections,
            max_live_matches: *max_live_matches,
            ping_interval_ms: ping_interval.as_millis(),
            drain_timeout_ms: drain_timeout.as_millis(),
            log: log.clone(),
            log_format: match log_format {
                LogFormat::Text => "text",
                LogFormat::Json => "json",
            },
        }
    }
}

fn print(config: &Config, format: Format) -> Result<()> {
    let json = ConfigJson::new(config);
    match format {
        Format::Json => output::print_json(&json),
        Format::Table => {
            let mut table = output::table(["setting", "value"]);
            if let serde_json::Value::Object(settings) = serde_json::to_value(&json)? {
                for (key, value) in settings {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    table.add_row([key, value]);
                }
            }
            output::print(table)
        }
    }
}
