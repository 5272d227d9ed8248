//! `zetema serve`.

mod check;

use std::future::pending;
use std::path::PathBuf;
use std::pin::pin;

use anyhow::{Context, Result, anyhow};
use tokio_util::sync::CancellationToken;
use zetema_service::access::ADMIN_TOKEN_FILE;
use zetema_service::config::{Config, ConfigError, Flags, LogFormat, Setting};
use zetema_service::server::{Hangups, Server, Terminations};
use zetema_service::traces::Traces;

use crate::args::FormatArgs;
use crate::descriptors;
use crate::failure::{self, Usage};
use crate::house::HouseBots;
use crate::output::{self, Format};
use crate::supervisor;

/// Run a server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Settings come from these flags, then from variables (ZETEMA_LISTEN, ZETEMA_DATA, …), then from the
file (listen = \"…\", data = \"…\", …). At the first start the admin token is made and written to the file
admin-token in the data folder. On SIGHUP the files of TLS are read again: new connections are shown the new
certificate, open ones go on. On SIGTERM or Ctrl-C the server creates no more matches, and stops when none runs or
when drain_timeout_ms is over; what is not over goes on at the next start. A second one stops it at once, as does the end of
stdin with --until-stdin-ends, for a program that starts a server and keeps its stdin open: the server goes with it.

House bots play on the ladders from within the process, as bots of the owner `house`, against the bots of others, and accept
everyone's challenges; --house-bots \"\" is for none. Where the server speaks TLS they check it by the variables ZETEMA_CA,
ZETEMA_SERVER_NAME, ZETEMA_CLIENT_CERT and ZETEMA_CLIENT_KEY, whose files are read once: SIGHUP does not renew these.

Exit codes: 0 told to stop; 1 could not start or go on, and may the next time; 2 the settings are wrong; 5 the data can't be
opened until somebody does something about it: it is damaged, of another release, or a backup.

Examples:
  zetema serve
  zetema serve --listen 127.0.0.1:7000 --data /var/lib/zetema
  zetema serve --listen 0.0.0.0:4680 --tls-cert chain.pem --tls-key key.pem
  zetema serve --house-bots greedy:2,random
  zetema serve --config zetema.toml --check-config")]
pub(crate) struct Serve {
    #[command(flatten)]
    settings: SettingFlags,
    /// A TOML file with settings
    #[arg(long, env = "ZETEMA_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Stop at once when stdin ends, as it does when the program that has started the server is gone
    #[arg(long)]
    until_stdin_ends: bool,
    /// Print the settings that a server would start with, if it could read the files that they name, and don't start it
    #[arg(long)]
    check_config: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl Serve {
    pub(super) async fn run(self) -> Result<()> {
        let config = self.load()?;
        if self.check_config {
            check::check(&config)?;
            return print(&config, self.format.format);
        }
        let traces = config.otlp().map(|otlp| Traces::start(&otlp)).transpose()?;
        crate::log::start(&config.log, config.log_format, traces.as_ref())?;
        let format = config.log_format;
        let parent_gone = CancellationToken::new();
        if self.until_stdin_ends {
            cancel_at_the_end_of_stdin(parent_gone.clone());
        }
        let served = serve(config, traces, &parent_gone).await;
        // For programs what went wrong is a line of the log, as all else is.
        match format {
            LogFormat::Json => served.map_err(failure::logged),
            LogFormat::Text => served,
        }
    }

    fn load(&self) -> Result<Config> {
        let config = Config::load(&self.settings.0, std::env::vars_os(), self.config.as_deref());
        let config = config.map_err(|error| match error {
            // It may be there the next time.
            ConfigError::File { .. } => anyhow!(error),
            wrong => Usage::new(wrong.to_string()).into(),
        })?;
        HouseBots::wanted(&config)?;
        Ok(config)
    }
}

/// What comes on stdin says nothing. The thread ends with the process: a read that waits could not be ended.
fn cancel_at_the_end_of_stdin(ended: CancellationToken) {
    std::thread::spawn(move || {
        // An error is an end too.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        ended.cancel();
    });
}

/// Serves until it is told to stop, or who has started it is gone. The log has started.
async fn serve(config: Config, traces: Option<Traces>, parent_gone: &CancellationToken) -> Result<()> {
    // People are told beside the log, whatever that is of. Programs find the same in its events.
    let note: fn(String) = match config.log_format {
        LogFormat::Text => output::note,
        LogFormat::Json => drop,
    };
    descriptors::take_all(&config);
    let token = config.data.join(ADMIN_TOKEN_FILE);
    let data = std::path::absolute(&config.data).unwrap_or_else(|_| config.data.clone());
    let transport = match &config.tls {
        Some(files) if files.client_ca.is_some() => "TLS, with a certificate of the client",
        Some(_) => "TLS",
        None => "plaintext",
    };
    let house_bots = HouseBots::of(&config)?;
    // From here on SIGHUP does not end the program.
    let mut hangups = Hangups::listen().context("signals can't be had")?;
    let mut terminations = Terminations::listen().context("signals can't be had")?;
    // Opening a large journal may take minutes. What is cut off then is as after a crash: nothing is lost.
    let server = tokio::select! {
        started = Server::start(config) => started?,
        () = terminations.next() => {
            tracing::info!("told to stop before it served");
            return Ok(());
        }
        () = parent_gone.cancelled() => {
            tracing::info!("stdin ended before it served");
            return Ok(());
        }
    };
    let (url, token) = (server.url(), token.display());
    let admin = match server.admin_token() {
        Some(_) => format!("the admin token is in {token}"),
        None => format!(
            "the admin token is the one made at the first start, which {token} does not hold any more"
        ),
    };
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        %url,
        transport,
        data = %data.display(),
        admin_token_file = %data.join(ADMIN_TOKEN_FILE).display(),
        metrics = %format_args!("{url}/metrics"),
        "zetema serves"
    );
    note(format!("zetema serves at {url}; {admin}. Ctrl-C stops it."));
    supervisor::serving(&url);
    {
        // Beside all else, as they wait until the ladders have counted what was played before.
        let mut coming = pin!(async {
            if let Some(house_bots) = &house_bots {
                house_bots.come(&server).await;
            }
            pending::<()>().await;
        });
        loop {
            tokio::select! {
                () = terminations.next() => break,
                () = parent_gone.cancelled() => {
                    tracing::info!("stdin ended: who has started the server is gone, and it stops at once");
                    break;
                }
                // The log says what came of it, and the server goes on either way.
                () = hangups.next() => drop(server.reload().await),
                () = &mut coming => {}
            }
        }
    }
    supervisor::stopping();
    note(
        "zetema stops when no match runs, or when drain_timeout_ms is over. Ctrl-C again stops it at once."
            .to_owned(),
    );
    let mut at_once = false;
    if let Some(house_bots) = &house_bots {
        // Before it drains, so that they are given no match that they could not play.
        tokio::select! {
            () = house_bots.leave() => {}
            () = terminations.next() => at_once = true,
            () = parent_gone.cancelled() => at_once = true,
        }
    }
    let told_again = async {
        if !at_once {
            tokio::select! {
                () = terminations.next() => {}
                () = parent_gone.cancelled() => {}
            }
        }
    };
    server.shutdown_or_close(told_again).await;
    if let Some(traces) = traces {
        traces.stop().await;
    }
    Ok(())
}

/// Every setting as a flag.
#[derive(Debug)]
struct SettingFlags(Flags);

impl clap::Args for SettingFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        Setting::all().fold(command, |command, setting| {
            let flag = setting.flag();
            let help = match setting {
                Setting::Number(number) => {
                    let range = number.range();
                    format!(
                        "{}: {}, {} to {} [default: {}]",
                        setting.what(),
                        setting.value(),
                        range.start(),
                        range.end(),
                        setting.default_text()
                    )
                }
                _ => format!("{} [default: {}]", setting.what(), setting.default_text()),
            };
            let value = match setting {
                Setting::Listen => "ADDR",
                Setting::Data => "DIR",
                Setting::Plaintext => "WHERE",
                Setting::OpenRegistration => "ON-OR-OFF",
                Setting::TlsCert | Setting::TlsKey | Setting::TlsClientCa | Setting::WebhookCa => "FILE",
                Setting::WebhookAllow => "PLACES",
                Setting::Log => "FILTER",
                Setting::LogFormat => "FORM",
                Setting::OtlpEndpoint => "URL",
                Setting::HouseBots => "BOTS",
                Setting::Number(_) => "N",
            };
            let arg = clap::Arg::new(setting.key()).long(flag.trim_start_matches('-').to_owned());
            command.arg(arg.value_name(value).help(help))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let given = Setting::all()
            .filter_map(|setting| Some((setting, matches.get_one::<String>(setting.key())?.clone())));
        Ok(Self(given.fold(Flags::new(), |flags, (setting, value)| flags.with(setting, value))))
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The settings, by their keys in the file.
fn shown(config: &Config) -> serde_json::Map<String, serde_json::Value> {
    let value = |setting| match setting {
        Setting::Number(number) => config.numbers.get(number).into(),
        _ => config.text(setting).into(),
    };
    Setting::all().map(|setting| (setting.key().to_owned(), value(setting))).collect()
}

fn print(config: &Config, format: Format) -> Result<()> {
    let settings = shown(config);
    match format {
        Format::Json => output::print_json(&settings),
        Format::Table => {
            let mut table = output::table(["setting", "value"]);
            for (key, value) in settings {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                table.add_row([key, value]);
            }
            output::print(table)
        }
    }
}
