//! Runs a plan against a server.

use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tonic::Status;

use crate::control::Control;
use crate::ladder::LadderPlanError;
use crate::lanes::Lanes;
use crate::onlookers::Onlookers;
use crate::outcome::{NotOneRun, Outcome, Phase, Reading, Recorder, Second};
use crate::plan::{Plan, PlanError, Stage};
use crate::results::Watch;
use crate::scrape::Page;
use crate::target::{Matches, Target};

/// Why a run could not begin.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no connection.
    #[error("no connection to {url}")]
    Connect {
        /// The server's address.
        url: String,
        /// What is in the way.
        source: tonic::transport::Error,
    },
    /// There is a connection, and no answer.
    #[error("the server at {url} has not answered within {within_s} s")]
    Late {
        /// The server's address.
        url: String,
        /// How long it was waited, in seconds.
        within_s: u64,
    },
    /// The server refuses what is needed before the first match.
    #[error("the server does not tell results ({code:?}): {message}. The token must be an admin's or an owner's", code = .0.code(), message = .0.message())]
    Refused(Box<Status>),
    /// The server does not say which ladders it has.
    #[error("the server does not tell its ladders ({code:?}): {message}", code = .0.code(), message = .0.message())]
    Ladders(Box<Status>),
    /// It has no ladder of this name.
    #[error("the server has no ladder {name:?}: it has {there}")]
    NoLadder {
        /// The name.
        name: String,
        /// Those that it has.
        there: String,
    },
    /// A bot can't be registered.
    #[error(
        "bot {name} can't be registered ({code:?}): {message}. The token must be an admin's",
        code = .status.code(),
        message = .status.message()
    )]
    Bot {
        /// Its name.
        name: String,
        /// What the server says.
        status: Box<Status>,
    },
    /// The plan can't be run on the ladder.
    #[error(transparent)]
    Ladder(#[from] LadderPlanError),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(getrandom::Error),
    /// The plan can't be run by so many generators.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Another generator of the run can't go on.
    #[error("{name} {problem}")]
    Generator {
        /// Which: `generator 2 of 3 (10.0.0.7:40312)`.
        name: String,
        /// What became of it.
        problem: String,
    },
    /// What the generators have measured does not belong together.
    #[error(transparent)]
    NotOne(#[from] NotOneRun),
    /// It was stopped before all generators were ready.
    #[error("it was stopped before it began")]
    Stopped,
}

/// Runs a plan against a server, tells each second that is over, with what the server's page of metrics says where it can be read, and
/// gives what was measured. `stop` ends it before its time.
///
/// # Errors
/// If it can't begin. What goes wrong later is in the outcome.
pub async fn run(
    target: Target,
    plan: &Plan,
    recorder: Recorder,
    stop: CancellationToken,
    told: impl FnMut(&Second, Option<&Reading>),
) -> Result<Outcome, RunError> {
    Ok(Ready::connect(target).await?.run(plan, recorder, stop, told).await)
}

/// All is there for a run to begin at once.
pub(crate) struct Ready {
    target: Target,
    matches: Matches,
    /// The name of all its matches.
    reference: String,
    watch: Watch,
}

impl Ready {
    /// Connects to the server, and follows its results.
    ///
    /// # Errors
    /// If it can't.
    pub(crate) async fn connect(target: Target) -> Result<Self, RunError> {
        let connected = target.matches().await;
        let matches = connected.map_err(|source| RunError::Connect { url: target.url.clone(), source })?;
        let reference = reference()?;
        let watch = Watch::open(matches.clone(), Some(reference.clone())).await;
        let watch = watch.map_err(|status| RunError::Refused(Box::new(status)))?;
        Ok(Self { target, matches, reference, watch })
    }

    /// Runs a plan, as [`run`] does.
    pub(crate) async fn run(
        self,
        plan: &Plan,
        recorder: Recorder,
        stop: CancellationToken,
        mut told: impl FnMut(&Second, Option<&Reading>),
    ) -> Outcome {
        let Self { target, matches, reference, watch } = self;
        let (results_sender, results) = unbounded_channel();
        let _watching = AbortOnDropHandle::new(tokio::spawn(watch.run(recorder.clone(), results_sender)));
        let (finished_sender, finished) = unbounded_channel();
        let (reading_sender, reading) = watch::channel(None);
        let page = Page::new(target.endpoint.connect_lazy());
        let _reading = AbortOnDropHandle::new(tokio::spawn(read(page, recorder.clone(), reading_sender)));
        let onlookers = Onlookers::new(target.clone(), recorder.clone(), plan.seed);
        let lanes = Lanes::new(target, recorder.clone(), finished_sender);
        let mut control =
            Control::new(matches, recorder.clone(), lanes, onlookers, reference, finished, results, plan);
        let is_stopped = {
            let stages = run_stages(&mut control, plan, &recorder);
            tokio::pin!(stages);
            let second = Duration::from_secs(1);
            let mut seconds = interval_at(Instant::now() + second, second);
            seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    () = &mut stages => break false,
                    () = stop.cancelled() => break true,
                    _ = seconds.tick() => {
                        if let Some(second) = recorder.tick() {
                            told(&second, reading.borrow().as_ref());
                        }
                    }
                }
            }
        };
        if is_stopped {
            recorder.stopped();
        }
        control.rest().await;
        recorder.enter(Phase::drain());
        control.settle().await;
        recorder.finish()
    }
}

async fn run_stages(control: &mut Control, plan: &Plan, recorder: &Recorder) {
    let mut until = Instant::now();
    let mut stages = plan.stages().iter();
    if !plan.warm_up().is_zero()
        && let Some(first) = plan.stages().first()
    {
        until += plan.warm_up();
        let warm_up = Stage { duration: plan.warm_up(), ..first.clone() };
        control.begin(&warm_up).await;
        control.run(&warm_up, until).await;
    }
    for stage in &mut stages {
        control.begin(stage).await;
        recorder.enter(Phase::measured(&stage.name));
        until += stage.duration;
        control.run(stage, until).await;
    }
}

/// Reads the server's metrics each second, where it can.
pub(crate) async fn read(page: Page, recorder: Recorder, told: watch::Sender<Option<Reading>>) {
    let mut seconds = interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        seconds.tick().await;
        // A server that does not show them is measured without.
        let Ok(scrape) = page.read().await else { continue };
        if let Some(version) = scrape.version() {
            recorder.server_version(version);
        }
        let reading = scrape.reading();
        recorder.server_reading(reading);
        // Whoever shows it may be gone.
        let _ = told.send(Some(reading));
    }
}

/// A name for what belongs to a run, which nobody else has.
pub(crate) fn reference() -> Result<String, RunError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(RunError::Random)?;
    Ok(format!("load-{:016x}", u64::from_be_bytes(bytes)))
}
