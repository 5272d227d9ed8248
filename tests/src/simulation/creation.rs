//! How the matches of a run are created, while the journal may fail.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::sleep;
use zetema_service::journal::{BodyHash, Caller, MatchId, RequestId, RequestKey};
use zetema_service::matches::CreateError;
use zetema_service::table::{MatchInfo, MatchSpec};

use super::disk::Disk;
use super::fault::Fate;
use super::random::Random;
use super::server::Server;
use super::truth::Truth;

/// How often a creation is sent, at most.
const ATTEMPTS: usize = 10;

/// How long a client waits before it sends the same again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Creates matches, by a request that is sent again until its answer comes, and then once more. There must be the
/// matches that it was answered, and no others.
pub(super) async fn create(
    specs: Vec<MatchSpec>,
    server: &Server,
    disk: &Disk,
    truth: &Truth,
    mut random: Random,
) -> Result<Vec<MatchInfo>, String> {
    if random.percent(40) {
        for _ in 0..random.within(1, 3) {
            let (fate, name) = random.pick(&[
                (Fate::Fails, "creation fails"),
                (Fate::UnknownAndIsStored, "creation unknown, stored"),
                (Fate::UnknownAndIsLost, "creation unknown, lost"),
            ]);
            disk.fail_next(fate, 1);
            truth.tally(|tally| *tally.faults.entry(name).or_default() += 1);
        }
    }
    let infos = send(&specs, server).await?;
    let again = send(&specs, server).await?;
    let (told, told_again) = (ids(&infos), ids(&again));
    if told != told_again {
        return Err(format!("the same creation gives matches {told:?}, and then {told_again:?} (I2)"));
    }
    let stored = disk.matches();
    if stored != told.iter().copied().collect::<BTreeSet<_>>() {
        return Err(format!("matches {told:?} were created, and {stored:?} are stored"));
    }
    Ok(infos)
}

/// Sends a creation until its answer comes.
async fn send(specs: &[MatchSpec], server: &Server) -> Result<Vec<MatchInfo>, String> {
    for _ in 0..ATTEMPTS {
        match server.up().await.matches.create(specs.to_vec(), Some(key())).await {
            Ok(infos) => return Ok(infos),
            Err(CreateError::OutcomeUnknown) => sleep(RETRY_AFTER).await,
            Err(error) => return Err(format!("no match: {error}")),
        }
    }
    Err(format!("no match: whether there is one is not known after {ATTEMPTS} attempts"))
}

fn ids(infos: &[MatchInfo]) -> Vec<MatchId> {
    infos.iter().map(|info| info.match_id).collect()
}

fn key() -> RequestKey {
    RequestKey {
        caller: Caller::new("admin").unwrap(),
        request_id: RequestId::new("the matches of this run").unwrap(),
        body_hash: BodyHash([1; 32]),
    }
}
