//! The matches of a deal set wait for each other before the deal.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;
use zetema_rules::fair::{Nonce, NonceHash};
use zetema_rules::{AbortReason, Outcome};

use super::Matches;
use crate::journal::MatchId;
use crate::table::{Abort, Command, DealSet, Entrant, Rejection, Table};

/// What a match tells its deal set, each at most once in a run.
enum Report {
    Joined {
        match_id: MatchId,
        hashes: Vec<Option<NonceHash>>,
    },
    NoncesIn {
        match_id: MatchId,
        nonces: Vec<Nonce>,
    },
    Dealt {
        entrants: Arc<[Entrant]>,
    },
    Aborted(Abort),
    /// It does not run any more, and had said neither of these.
    Lost,
}

/// The reports of one match.
const REPORTS_PER_MATCH: usize = 4;

/// How long it waits at first, and at most, before it asks anew what is not known.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LAST_WAIT: Duration = Duration::from_secs(5);

/// A deal set that runs, for its matches to begin.
pub(super) struct RunningDealSet(mpsc::Sender<Report>);

impl RunningDealSet {
    /// The line of one of its matches.
    pub(super) fn member(&self) -> DealSetMember {
        DealSetMember { reports: self.0.clone(), told: Told::Nothing }
    }
}

/// A table's line to its deal set.
pub(super) struct DealSetMember {
    reports: mpsc::Sender<Report>,
    told: Told,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Nothing,
    Joined,
    NoncesIn,
    AllThereIs,
}

impl DealSetMember {
    /// Tells the deal set what is new in this match.
    pub(super) fn report(&mut self, table: &Table) {
        let match_id = table.match_id();
        if self.told < Told::AllThereIs && !table.entrants().is_empty() {
            self.tell(Told::AllThereIs, Report::Dealt { entrants: table.entrants() });
        }
        if let (true, Some(Outcome::Aborted { reason, .. })) = (self.told < Told::AllThereIs, table.outcome())
        {
            self.tell(Told::AllThereIs, Report::Aborted(Abort { reason: *reason, seats: Vec::new() }));
        }
        if self.told < Told::Joined && table.all_joined() {
            self.tell(Told::Joined, Report::Joined { match_id, hashes: table.nonce_hashes() });
        }
        if let (true, Some(nonces)) = (self.told == Told::Joined, table.nonces()) {
            self.tell(Told::NoncesIn, Report::NoncesIn { match_id, nonces });
        }
    }

    fn tell(&mut self, told: Told, report: Report) {
        self.told = told;
        // There is room for all that a match ever tells. A deal set that is gone has nothing left to decide.
        let _ = self.reports.try_send(report);
    }
}

impl Drop for DealSetMember {
    fn drop(&mut self) {
        if self.told < Told::AllThereIs {
            self.tell(Told::AllThereIs, Report::Lost);
        }
    }
}

/// Runs a deal set until its matches are dealt or aborted.
pub(super) fn start(matches: &Matches, set: DealSet) -> RunningDealSet {
    let (reports, inbox) = mpsc::channel(REPORTS_PER_MATCH * set.matches.len());
    matches.spawn(run(matches.clone(), set, inbox));
    RunningDealSet(reports)
}

async fn run(matches: Matches, set: DealSet, mut inbox: mpsc::Receiver<Report>) {
    let mut hashes = HashMap::new();
    let mut nonces = HashMap::new();
    // A match that does not run since a restart says nothing: its record does.
    for match_id in set.matches.iter() {
        if let Some(command) = without_running(&matches, *match_id).await {
            if let Command::DealSetComplete { .. } = command {
                // Its setup was complete, so that of the others was too.
                tell_all(&matches, &set, &Command::DealSetJoined).await;
            }
            return tell_all(&matches, &set, &command).await;
        }
    }
    let stop = matches.stopping();
    loop {
        let report = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            report = inbox.recv() => match report {
                Some(report) => report,
                None => return,
            },
        };
        match report {
            Report::Joined { match_id, hashes: of_match } => {
                hashes.insert(match_id, of_match);
                if hashes.len() == set.matches.len() {
                    tell_all(&matches, &set, &Command::DealSetJoined).await;
                }
            }
            Report::NoncesIn { match_id, nonces: of_match } => {
                nonces.insert(match_id, of_match);
                if nonces.len() == set.matches.len() {
                    let entrants = entrants(&set, &hashes, &nonces);
                    return tell_all(&matches, &set, &Command::DealSetComplete { entrants }).await;
                }
            }
            Report::Dealt { entrants } => {
                tell_all(&matches, &set, &Command::DealSetJoined).await;
                return tell_all(&matches, &set, &Command::DealSetComplete { entrants }).await;
            }
            Report::Aborted(abort) => {
                return tell_all(&matches, &set, &Command::DealSetAborted(abort)).await;
            }
            Report::Lost => return tell_all(&matches, &set, &lost()).await,
        }
    }
}

/// What a match that does not run has to say to its set; `None` if it runs, or the server stops.
async fn without_running(matches: &Matches, match_id: MatchId) -> Option<Command> {
    let stop = matches.stopping();
    let mut wait = FIRST_WAIT;
    while matches.handle(match_id).is_none() && !stop.is_cancelled() {
        match matches.past(match_id).await {
            Ok(past) if !past.table().entrants().is_empty() => {
                return Some(Command::DealSetComplete { entrants: past.table().entrants() });
            }
            Ok(past) => {
                let Some(Outcome::Aborted { reason, .. }) = past.table().outcome() else {
                    return Some(lost());
                };
                return Some(Command::DealSetAborted(Abort { reason: *reason, seats: Vec::new() }));
            }
            Err(Rejection::OutcomeUnknown | Rejection::Stopping) => {}
            Err(_) => return Some(lost()),
        }
        // It can't be read now. The wait is over early if the server stops.
        let _ = timeout(wait, stop.cancelled()).await;
        wait = (wait * 2).min(LAST_WAIT);
    }
    None
}

/// What ends a set before the deal of which a match can't go on: its seats would wait for nothing.
fn lost() -> Command {
    Command::DealSetAborted(Abort { reason: AbortReason::Cancelled, seats: Vec::new() })
}

/// All seats of all matches, in the order of the set: the order of the nonces in the seed.
fn entrants(
    set: &DealSet,
    hashes: &HashMap<MatchId, Vec<Option<NonceHash>>>,
    nonces: &HashMap<MatchId, Vec<Nonce>>,
) -> Arc<[Entrant]> {
    let of_match = |match_id: &MatchId| {
        let match_id = *match_id;
        let hashes = hashes.get(&match_id).into_iter().flatten();
        let nonces = nonces.get(&match_id).into_iter().flatten();
        let seats = (0..).map_while(zetema_rules::Seat::new);
        let entrant = move |(seat, (nonce_hash, nonce)): (_, (&Option<NonceHash>, &Nonce))| Entrant {
            match_id,
            seat,
            nonce_hash: *nonce_hash,
            nonce: nonce.clone(),
        };
        seats.zip(hashes.zip(nonces)).map(entrant).collect::<Vec<_>>()
    };
    set.matches.iter().flat_map(of_match).collect()
}

/// Tells every match of the set, each until it has heard, or until the server stops.
async fn tell_all(matches: &Matches, set: &DealSet, command: &Command) {
    let stop = matches.stopping();
    for match_id in set.matches.iter() {
        let mut wait = FIRST_WAIT;
        while let Err(Rejection::OutcomeUnknown) =
            matches.command(*match_id, command.clone(), matches.arrival(None)).await
        {
            // A set that is not told by then is at the next start, by the records of its matches.
            if timeout(wait, stop.cancelled()).await.is_ok() {
                return;
            }
            wait = (wait * 2).min(LAST_WAIT);
        }
    }
}
