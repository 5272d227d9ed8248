//! Several generators of one load.

use anyhow::{Result, bail};
use tokio_util::sync::CancellationToken;
use zetema_load::join::{Arrival, Meeting, Met, Progress};
use zetema_load::{Target, live};
use zetema_service::server::{Terminations, termination};

use super::Live;
use crate::output::{self, note, plain};
use crate::own_process::OwnProcess;

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
    let joining = zetema_load::join::join(address, target, stop.clone(), told);
    let joined = until_stopped(&stop, None, joining).await;
    live.end();
    joined?;
    note(format!("the run is over: the generator at {address} has the report"));
    Ok(())
}

/// Waits for this, which ends in order when the program is told to stop. When it is told again nothing is waited for, as a server that hangs
/// holds up all that comes in order; one that was started for the run is killed.
pub(super) async fn until_stopped<T, E>(
    stop: &CancellationToken,
    own: Option<&mut OwnProcess>,
    running: impl Future<Output = Result<T, E>>,
) -> Result<T>
where
    anyhow::Error: From<E>,
{
    let mut signals = Terminations::listen()?;
    tokio::pin!(running);
    tokio::select! {
        done = &mut running => return Ok(done?),
        () = signals.next() => stop.cancel(),
    }
    note("it is told to stop, and waits for what is under way: tell it again, and it ends at once");
    tokio::select! {
        done = running => Ok(done?),
        () = signals.next() => {
            if let Some(own) = own {
                own.kill();
            }
            bail!("it was told to stop twice: what was under way was not waited for, and nothing is reported");
        }
    }
}
