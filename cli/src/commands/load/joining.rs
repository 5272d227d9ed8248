//! Several generators of one load.

use anyhow::{Result, bail};
use tokio_util::sync::CancellationToken;
use zetema_load::join::{Arrival, Meeting, Met, Progress};
use zetema_load::{Target, live};
use zetema_service::server::termination;

use super::Live;
use crate::output::{self, note, plain};

/// Waits for the other generators, and says on stderr who comes.
pub(super) async fn wait(meeting: Meeting) -> Result<Met> {
    let (address, program) = (meeting.local_addr()?, output::program());
    note(format!(
        "this generator waits at {address}; start each other one by `{program} load --join {address} --server URL`"
    ));
    let told = |arrival| match arrival {
        Arrival::Joined { from, missing } => {
            note(format!("a generator has joined from {from}, {missing} missing"));
        }
        Arrival::Refused { from, problem } => note(format!("{from} may not join: {}", plain(&problem))),
        Arrival::Left { from, problem } => {
            let problem = plain(&problem);
            note(format!("the generator that had joined from {from} {problem}: another is waited for"));
        }
    };
    tokio::select! {
        met = meeting.wait(told) => Ok(met?),
        signal = termination() => {
            signal?;
            bail!("it was stopped before all generators had joined");
        }
    }
}

/// Makes a part of the load of the generator at this address.
pub(super) async fn join(address: &str, target: &Target) -> Result<()> {
    let live = Live::new()?;
    let stop = CancellationToken::new();
    let told = |progress: Progress<'_>| match progress {
        Progress::Joined(generators) => {
            note(format!(
                "joined the generator at {address}; the run begins when all {generators} are there"
            ));
        }
        Progress::Second { elapsed, second, server } => {
            live.show(&live::lines("its part", elapsed, second, server));
        }
    };
    let joined = until_stopped(&stop, zetema_load::join::join(address, target, stop.clone(), told)).await;
    live.end();
    joined?;
    note(format!("the run is over: the generator at {address} has the report"));
    Ok(())
}

/// Waits for this, which ends in order when the program is told to stop.
pub(super) async fn until_stopped<T, E>(
    stop: &CancellationToken,
    running: impl Future<Output = Result<T, E>>,
) -> Result<T>
where
    anyhow::Error: From<E>,
{
    tokio::pin!(running);
    tokio::select! {
        done = &mut running => Ok(done?),
        signal = termination() => {
            signal?;
            stop.cancel();
            Ok(running.await?)
        }
    }
}
