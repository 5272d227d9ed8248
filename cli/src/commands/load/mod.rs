//! `zetema load`.

mod credentials;
mod files;
mod joining;
mod ladder;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;
use zetema_load::join::{Generators, Meeting};
use zetema_load::outcome::{Client, Reading, Second, Via, Work};
use zetema_load::report::Report;
use zetema_load::slo::Slo;
use zetema_load::{
    Kind, Load as PlannedLoad, OpenRate, Plan, Rate, Resolution, Stage, Target, Think, json, live, table,
};
use zetema_rules::NamedTimeControl;

use self::credentials::Credentials;
use self::files::Files;
use crate::args::{AddressArgs, FormatArgs, RulesArgs, ServerArgs, TimeControlArgs, TlsArgs, from_one};
use crate::client;
use crate::failure::Usage;
use crate::output::{self, Format};
use crate::own_process::OwnProcess;
use crate::render::counted;

/// Matches that are live at once unless something else is asked for.
const MATCHES: NonZeroU32 = NonZeroU32::MIN.saturating_add(49);

/// The flags that a generator which joins has no use for, besides those of the load: the first one has them.
const OF_THE_FIRST: [&str; 11] = [
    "scenario",
    "slo",
    "find_limit",
    "resolution",
    "hdr",
    "html",
    "compare",
    "format",
    "generators",
    "listen",
    "plaintext",
];

/// The flags of what a scenario says itself.
const IN_SCENARIO: [&str; 27] = [
    "matches",
    "rate",
    "client",
    "via",
    "think",
    "ramp",
    "warmup",
    "duration",
    "connections",
    "drop_every",
    "rejoin_every",
    "spectators",
    "slow_readers",
    "seed",
    "preset",
    "players",
    "teams",
    "changes",
    "time_control",
    "budget",
    "first_budget",
    "bank",
    "increment",
    "network_credit",
    "network_credit_total",
    "on_time_out",
    "idle_timeout",
];

/// Load a server with matches, and measure it.
///
/// In a closed loop (--matches alone) the next match begins when one is over. With --rate matches or actions are due on a schedule,
/// whatever the server does, and times count from when they were due. All that comes back is checked: observations without a gap,
/// a receipt for each action, the same result for all. With --ladder bots are registered, wait on a ladder and play
/// what it gives them. Without --server a server is started in a process of its own, in a temporary
/// folder, and goes with the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zetema load --matches 1000 --duration 30s --warmup 5s
  zetema load --rate 50matches/s --think log-normal:200ms,0.8 --duration 60s
  zetema load --rate 5000actions/s --matches 500 --slo 'p99<20ms,errors<0.1%' --format json > run.json
  zetema load --rate 5000actions/s --matches 500 --compare run.json
  zetema load --rate 1000actions/s --matches 1000 --slo 'p99<20ms' --find-limit --html limit.html
  zetema load --scenario evening.toml --slo 'p99<50ms'
  zetema load --ladder quick-2 --bots 200 --think exponential:50ms --duration 30m \
      --slo 'wait.p99<30s,notices<1,memory.late_growth<500kB'
  zetema load --server https://zetema.example.com --via unary --matches 200
  zetema load --server https://zetema.example.com --rate 90000actions/s --matches 9000 --generators 3 --listen 10.0.0.5:4690 \
      --plaintext anywhere
  zetema load --server https://zetema.example.com --join 10.0.0.5:4690

The exit code is 1 if anything that came was wrong, if --slo was not kept, if nothing was done, or if the run was stopped. docs/load.md and docs/load-report.md say what is
measured.")]
pub(crate) struct Load {
    /// The server's address, http://HOST:PORT or https://HOST:PORT; unless given, a server is started
    #[arg(long, env = "ZETEMA_SERVER", value_name = "URL")]
    server: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    credentials: Credentials,
    /// Matches that are live at once; unless given, 50, or with a rate of matches as many as it takes
    #[arg(long, value_name = "N", value_parser = from_one(NonZeroU32::MAX))]
    matches: Option<NonZeroU32>,
    /// What is due on a schedule, as in 50matches/s or 2000actions/s
    #[arg(long, value_name = "RATE")]
    rate: Option<OpenRate>,
    /// A TOML file with phases, each with its load and its mix of matches, instead of the flags for them
    #[arg(long, value_name = "FILE", conflicts_with_all = IN_SCENARIO)]
    scenario: Option<PathBuf>,
    /// What plays the seats: clients that do no more than they must, or sessions of the SDK
    #[arg(long, value_name = "WHICH", default_value = "lean", value_parser = client())]
    client: Client,
    /// How the seats are played: on Play streams, or by unary calls and an Observe stream for each match
    #[arg(long, value_name = "HOW", default_value = "play", value_parser = via())]
    via: Via,
    /// How long a player thinks: a time as in 200ms, exponential:MEAN or log-normal:MEDIAN,SIGMA
    #[arg(long, value_name = "TIME", default_value = "0s")]
    think: Think,
    /// How long it takes until the whole load has come; not measured
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = zetema_load::duration)]
    ramp: Duration,
    /// How long the whole load is there before it is measured
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = zetema_load::duration)]
    warmup: Duration,
    /// How long it is measured
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = zetema_load::duration)]
    duration: Duration,
    /// What must hold, as in 'p99<20ms,errors<0.1%'; if it does not, the exit code is 1
    #[arg(long, value_name = "CONDITIONS")]
    slo: Option<Slo>,
    /// Try one rate after the other, from --rate on, until the highest is found that keeps --slo
    #[arg(long, requires_all = ["slo", "rate"])]
    find_limit: bool,
    /// How near to the limit the search ends, as a part of the rate
    #[arg(long, value_name = "PERCENT", default_value = "5%", requires = "find_limit")]
    resolution: Resolution,
    #[command(flatten)]
    files: Files,
    /// Put the run beside one before, of which this is the JSON, with what their noise leaves open
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Connections to begin with; there are more when these carry no more
    #[arg(long, value_name = "N", default_value = "4", value_parser = from_one(NonZeroU32::MAX))]
    connections: NonZeroU32,
    /// Cut one of the connections so often, and come back
    #[arg(long, value_name = "TIME", value_parser = zetema_load::duration)]
    drop_every: Option<Duration>,
    /// Have the players of one of the matches leave it and join it again so often
    #[arg(long, value_name = "TIME", value_parser = zetema_load::duration)]
    rejoin_every: Option<Duration>,
    /// Who look on, each at any match that is live, and read all
    #[arg(long, value_name = "N", default_value = "0")]
    spectators: u32,
    /// Who look on and read a message a second, until the server cuts them
    #[arg(long, value_name = "N", default_value = "0")]
    slow_readers: u32,
    /// Generators that make the load together: this one waits at --listen until the others have joined it, and divides the load
    #[arg(long, value_name = "N", requires_all = ["listen", "server"], value_parser = from_one(NonZeroU32::MAX))]
    generators: Option<NonZeroU32>,
    /// Where this generator waits for the others
    #[arg(long, value_name = "ADDRESS", requires = "generators")]
    listen: Option<SocketAddr>,
    /// Where --listen may be, as what goes there is not encrypted
    #[arg(long, value_name = "WHERE", default_value = "loopback", requires = "listen", value_parser = ["loopback", "anywhere"])]
    plaintext: String,
    /// Join the generator that waits at this address, and make a part of its load on --server
    #[arg(long, value_name = "HOST:PORT", requires = "server", conflicts_with_all = IN_SCENARIO)]
    #[arg(conflicts_with_all = OF_THE_FIRST)]
    join: Option<String>,
    #[command(flatten)]
    ladder: ladder::LadderArgs,
    /// From what the players' choices and the moments of the schedule follow
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    time: TimeControlArgs,
    #[command(flatten)]
    format: FormatArgs,
}

fn client() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(["lean", "sdk"])
        .map(|name| if name == "sdk" { Client::Sdk } else { Client::Lean })
}

fn via() -> impl TypedValueParser<Value = Via> {
    PossibleValuesParser::new(["play", "unary"])
        .map(|name| if name == "unary" { Via::Unary } else { Via::Play })
}

impl Load {
    pub(super) async fn run(self) -> Result<()> {
        if let Some(address) = &self.join {
            return self.join(address).await;
        }
        if let Some(plan) = self.ladder.plan(&self)? {
            return Box::pin(self.run_on_ladder(&plan)).await;
        }
        let plan = self.plan()?;
        self.files.check()?;
        let meeting = self.meeting(&plan).await?;
        let before = self.before()?;
        crate::log::start_quietly("error")?;
        let (mut own, server) = self.server().await?;
        let name = if own.is_some() { "embedded" } else { &server.address.server };
        let target = target(&server)?;
        let mut generators = match meeting {
            None => Generators::alone(target),
            Some(meeting) => Generators::joined(target, joining::wait(meeting).await?),
        };
        let stop = CancellationToken::new();
        let measuring = async {
            let report = self.measure(&mut generators, name, &plan, stop.clone()).await;
            // They hear why, if the run has failed.
            generators.end().await;
            report
        };
        let report = joining::until_stopped(&stop, own.as_mut(), measuring).await?;
        self.conclude(report, before.as_ref())
    }

    /// Writes what was measured, beside the run before if there is one, and judges it.
    fn conclude(&self, report: Report, before: Option<&Report>) -> Result<()> {
        let report = match before {
            Some(before) => report.compared_with(before),
            None => report,
        };
        let written = self.write(&report);
        let judged = judge(&report);
        match (written, judged) {
            // Whoever asked for a file hears of it too, and what came of the run is the exit code either way.
            (Err(unwritten), Err(judged)) => Err(judged.context(format!("{unwritten:#}"))),
            (written, judged) => written.and(judged),
        }
    }

    /// Runs the plan once, or at one rate after the other.
    async fn measure(
        &self,
        generators: &mut Generators,
        name: &str,
        plan: &Plan,
        stop: CancellationToken,
    ) -> Result<Report> {
        let live = Live::new()?;
        let report = if let (true, Some(slo)) = (self.find_limit, &self.slo) {
            let told = |rate: Rate, elapsed: Duration, second: &Second, server: Option<&Reading>| {
                live.show(&live::lines(&format!("at {rate}/s"), elapsed, second, server));
            };
            zetema_load::find_limit(generators, name, plan, slo, self.resolution, stop, told).await?
        } else {
            let told = |elapsed: Duration, second: &Second, server: Option<&Reading>| {
                let phase = second.phase().checked_sub(1).and_then(|number| plan.stages().get(number));
                let phase = phase.map_or("warm-up", |stage| stage.name.as_str());
                live.show(&live::lines(phase, elapsed, second, server));
            };
            let outcome = generators.run(plan, name, stop, told).await?;
            Report::new(outcome, self.slo.as_ref())
        };
        live.end();
        Ok(report)
    }

    /// The run that it is put beside, if it is.
    fn before(&self) -> Result<Option<Report>> {
        self.compare.as_deref().map(earlier).transpose()
    }

    /// What was measured comes first: it is there whatever can't be written, as is each of the files.
    fn write(&self, report: &Report) -> Result<()> {
        match self.format.format {
            Format::Json => output::print(json::write(report)?)?,
            Format::Table => output::print(table::text(report).trim_end())?,
        }
        self.files.write(report)
    }

    /// The server that is started, if none is given, and how to reach the one that is loaded.
    async fn server(&self) -> Result<(Option<OwnProcess>, ServerArgs)> {
        let Some(server) = self.server.clone() else {
            if !self.tls.is_default() {
                return Err(
                    Usage::new("the flags of TLS are for a server: give --server https://HOST:PORT").into()
                );
            }
            self.credentials.check_unused()?;
            let own = OwnProcess::start()?;
            let args = own.args();
            return Ok((Some(own), args));
        };
        let address = AddressArgs { server, tls: self.tls.clone() };
        // Whether it is there: of its own accord the load says less.
        client::channel(&address).await?;
        let Credentials { token, data, .. } = self.credentials.clone();
        Ok((None, ServerArgs { address, token, data }))
    }

    /// Where the other generators are waited for, if there are to be any.
    async fn meeting(&self, plan: &Plan) -> Result<Option<Meeting>> {
        let (Some(generators), Some(address)) = (self.generators, self.listen) else { return Ok(None) };
        plan.divided(generators).map_err(|error| Usage::new(error.to_string()))?;
        if !address.ip().is_loopback() && self.plaintext == "loopback" {
            return Err(Usage::new(format!(
                "what generators tell each other at {address} would not be encrypted, and whoever reaches it could join: give a \
                 loopback address, or allow it by --plaintext anywhere"
            ))
            .into());
        }
        Ok(Some(Meeting::open(address, generators).await?))
    }

    /// Makes a part of another generator's load.
    async fn join(&self, address: &str) -> Result<()> {
        crate::log::start_quietly("error")?;
        let (_, server) = self.server().await?;
        joining::join(address, &target(&server)?).await
    }

    fn plan(&self) -> Result<Plan> {
        let usage = |error: zetema_load::PlanError| Usage::new(error.to_string());
        if let Some(file) = &self.scenario {
            let text =
                std::fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))?;
            let plan = zetema_load::scenario(&text);
            return plan.map_err(|error| Usage::new(format!("{}: {error}", file.display())).into());
        }
        let load = match (self.rate, self.matches) {
            (None, matches) => PlannedLoad::Closed(matches.unwrap_or(MATCHES)),
            (Some(OpenRate { rate, of: Work::Actions }), matches) => {
                PlannedLoad::Actions(rate, matches.unwrap_or(MATCHES))
            }
            (Some(OpenRate { rate, of: Work::Matches }), None) => PlannedLoad::Matches(rate),
            (Some(OpenRate { of: Work::Matches, .. }), Some(_)) => {
                return Err(Usage::new(
                    "--matches says how many are live, which with --rate Nmatches/s follows from how long they last: leave \
                     one of them out",
                )
                .into());
            }
        };
        let kind = Kind {
            weight: NonZeroU32::MIN,
            preset: self.rules.preset().to_string(),
            rules: self.rules.rules()?,
            time_control: self.time.control(None, NamedTimeControl::Standard)?,
            client: self.client,
            via: self.via,
            think: self.think,
        };
        let stage = Stage {
            name: "measured".to_owned(),
            load,
            kinds: vec![kind],
            ramp: self.ramp,
            duration: self.duration,
            drop_every: self.drop_every,
            rejoin_every: self.rejoin_every,
            spectators: self.spectators,
            slow_readers: self.slow_readers,
        };
        let mut plan = Plan::new(self.ramp.saturating_add(self.warmup), vec![stage]).map_err(usage)?;
        plan.connections = self.connections;
        plan.seed = self.seed;
        Ok(plan)
    }
}

/// A run before, from its JSON.
fn earlier(file: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))?;
    json::read(&text).with_context(|| format!("{} can't be compared with", file.display()))
}

fn target(server: &ServerArgs) -> Result<Target> {
    let token = client::token(server)?;
    let endpoint = client::endpoint(&server.address)?;
    let tls = server.address.tls.settings()?;
    Target::new(&server.address.server, endpoint, tls, token.expose_secret())
        .context("the token has characters that no token has: copy it again")
}

/// What was wrong, or not kept, makes the command fail.
fn judge(report: &Report) -> Result<()> {
    let faults = report.outcome.faults();
    if let Some(first) = faults.first().first() {
        let all = counted(usize::try_from(faults.all())?, "thing");
        bail!("the server did {all} that it must not; the first: {}", output::plain(&first.text));
    }
    let problems: Vec<String> = report.problems().map(|problem| problem.to_string()).collect();
    if !problems.is_empty() {
        bail!("{}", problems.join("; "));
    }
    Ok(())
}

/// What goes on, on stderr and only if that is a terminal.
struct Live(ProgressBar);

impl Live {
    fn new() -> Result<Self> {
        let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{msg}")?);
        bar.tick();
        Ok(Self(bar))
    }

    fn show(&self, lines: &str) {
        self.0.set_message(lines.to_owned());
        self.0.tick();
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}
