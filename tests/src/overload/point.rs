//! One rate of arrivals on a server of its own.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use serde::Serialize;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use zetema_load::outcome::{Client, Count, Measure, Phase, Recorder, Via};
use zetema_load::{Kind, Load, Plan, SERVER_FLAGS, Stage, Target, Think, run};
use zetema_rules::{MatchEnd, NamedTimeControl, Options, Preset, Rules, TimeControl};
use zetema_sdk::Tls;

use crate::floods::{Effort, Host, Setup, Transport};

/// Connections of the clients, each with a Play stream.
const CONNECTIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(31);
/// What came of one rate of arrivals.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Matches that were asked for, a second.
    pub asked_per_second: f64,
    /// Those that were created.
    pub created_per_second: f64,
    /// Those that were refused since the server was late.
    pub shed_per_second: f64,
    /// Joins that were refused since the server was late.
    pub joins_shed_per_second: f64,
    /// Matches that came to their end, a second.
    pub finished_per_second: f64,
    /// Actions that were acknowledged, a second.
    pub actions_per_second: f64,
    /// Matches that were broken off.
    pub broken: u64,
    /// Why one of them was.
    pub problem: Option<String>,
    /// From an action to its receipt, in milliseconds.
    pub p50_ms: f64,
    /// The same.
    pub p99_ms: f64,
    /// Processors that the server kept busy.
    pub server_processors: f64,
    /// Bytes of memory that the server had at the end.
    pub server_bytes: u64,
}

impl Point {
    /// Starts a server, lets matches come, and measures after `warm_up`.
    ///
    /// # Errors
    /// If there is no server, or it does what it must not.
    pub async fn measure(
        program: Option<PathBuf>,
        flags: &[OsString],
        load: Load,
        warm_up: Duration,
        lasts: Duration,
    ) -> anyhow::Result<Self> {
        let flags = SERVER_FLAGS.iter().map(OsString::from).chain(flags.iter().cloned()).collect();
        let setup =
            Setup { program, transport: Transport::Plaintext, flags, shell: Some(Setup::ON_ONE_PROCESSOR) };
        let host = Host::start(&setup, tempfile::tempdir()?).await?;
        let token = host.admin().await.admin_token().to_owned();
        let target = Target::new(host.url(), Endpoint::from_shared(host.url())?, Tls::default(), &token)?;
        let plan = plan(load, warm_up, lasts)?;
        let recorder = Recorder::start(plan.description("overload"), Phase::warm_up());
        let running = Box::pin(run(target, &plan, recorder, CancellationToken::new(), |_, _| {}));
        let watching = async {
            sleep(warm_up).await;
            let effort = Effort::of(&host);
            sleep(lasts).await;
            (effort.processors(&host), host.memory().now)
        };
        let (outcome, (server_processors, server_bytes)) = tokio::join!(running, watching);
        let outcome = outcome?;
        let faults = outcome.faults().first();
        ensure!(faults.is_empty(), "what came was wrong: {faults:?}");
        let totals = outcome.totals();
        let receipts = totals.latencies(Measure::ActionToReceipt);
        let wait_ms =
            |quantile| receipts.map_or(0.0, |times| times.quantile(quantile).as_secs_f64() * 1000.0);
        let of = |count| totals.per_second(count);
        #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
        let shed = totals.failures().shed() as f64 / totals.lasted().as_secs_f64();
        let broken = totals.failures().iter().find(|(failure, _)| !failure.is_shed());
        Ok(Self {
            asked_per_second: of(Count::MatchAsked),
            created_per_second: of(Count::MatchCreated),
            shed_per_second: (shed - of(Count::JoinRefused)).max(0.0),
            joins_shed_per_second: of(Count::JoinRefused),
            finished_per_second: of(Count::MatchFinished),
            actions_per_second: of(Count::ActionAcknowledged),
            broken: totals.counts().of(Count::MatchBrokenOff),
            p50_ms: wait_ms(0.5),
            p99_ms: wait_ms(0.99),
            problem: broken
                .and_then(|(failure, _)| Some(format!("{failure}: {}", outcome.example(failure)?))),
            server_processors,
            server_bytes,
        })
    }
}

fn plan(load: Load, warm_up: Duration, lasts: Duration) -> anyhow::Result<Plan> {
    let kind = Kind {
        weight: NonZeroU32::MIN,
        preset: Preset::Sackson.to_string(),
        rules: short_rules()?,
        time_control: TimeControl::new(
            TimeControl::DEFAULT_JOIN_TIMEOUT_MS,
            NamedTimeControl::None.decisions(),
        )?,
        client: Client::Lean,
        via: Via::Play,
        think: Think::default(),
    };
    let stage = Stage {
        name: "point".to_owned(),
        load,
        kinds: vec![kind],
        ramp: Duration::ZERO,
        duration: lasts,
        drop_every: None,
        rejoin_every: None,
        spectators: 0,
        slow_readers: 0,
    };
    let mut plan = Plan::new(warm_up, vec![stage])?;
    plan.connections = CONNECTIONS;
    Ok(plan)
}

/// So short that as many come as go before long.
fn short_rules() -> anyhow::Result<Rules> {
    let sackson: Options = *Preset::Sackson.rules(2, None)?;
    Ok(Rules::new(Options { target: Some(30), match_end: MatchEnd::AtOnce, ..sackson })?)
}
