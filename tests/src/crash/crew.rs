//! Bots that play match after match, whatever becomes of the server.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use zetema_proto::{Wire, v1};
use zetema_rules::fair::Nonce;
use zetema_rules::{MatchEnd, Options, Preset, Rules};
use zetema_sdk::Records;

use crate::fault_runs::{Backend, Dealing, Ledger, Problem, Receipted, play};
use crate::harness::{Clients, Created, joint, own, preset, unhurried};
use crate::proxy::{Proxy, calls};

/// How long to wait before a match is asked for again.
const PAUSE: Duration = Duration::from_millis(20);
/// How long an answer may take before it is asked for again.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// A match that was played to its end, and what its players can swear to, seat 0 first.
pub struct Played {
    /// The match.
    pub created: Created,
    /// Their ledgers.
    pub ledgers: Vec<Ledger>,
    /// What they felt beside lost connections.
    pub problems: Vec<Problem>,
}

/// Bots at tables of their own. They go when it is dropped.
pub struct Crew {
    tables: Vec<AbortOnDropHandle<Vec<Played>>>,
    enough: CancellationToken,
    begun: Begun,
}

/// The matches that were begun, and what seat 0 was sent.
type Begun = Arc<Mutex<Vec<(Created, Arc<Proxy>)>>>;

impl Crew {
    /// Bots at so many tables, on a server that is at this address whenever it runs.
    pub fn start(server: SocketAddr, admin_token: &str, tables: usize) -> Self {
        let enough = CancellationToken::new();
        let begun = Begun::default();
        let start = |table| {
            let place = Place { server, clients: Clients::lazy(server, admin_token), begun: begun.clone() };
            AbortOnDropHandle::new(tokio::spawn(place.play_on(table, enough.clone())))
        };
        Self { tables: (0..tables).map(start).collect(), enough, begun }
    }

    /// Sends the bots away, and gives the matches with what seat 0 of each had acknowledged.
    pub fn dismiss(self) -> Vec<(Created, Vec<Receipted>)> {
        drop(self.tables);
        let begun = self.begun.lock().unwrap();
        let receipts = |(created, proxy): &(Created, Arc<Proxy>)| {
            let mut ledger = Ledger::default();
            ledger.read_play(&calls(&proxy.passed()));
            (created.clone(), ledger.receipts)
        };
        begun.iter().map(receipts).collect()
    }

    /// Begins no more matches, but one at each table that has begun none, and waits until these are over: all that were
    /// played.
    ///
    /// # Errors
    /// If a player panics, or a match goes on for longer than `within`.
    pub async fn finish(self, within: Duration) -> Result<Vec<Played>, Problem> {
        self.enough.cancel();
        let tables = timeout(within, join_all(self.tables)).await;
        let tables = tables.map_err(|_| Problem::NotOver { after_s: within.as_secs() })?;
        let played: Result<Vec<_>, _> = tables.into_iter().collect();
        let played = played.map_err(|error| Problem::Panicked(error.to_string()))?;
        Ok(played.into_iter().flatten().collect())
    }
}

/// Where a table is.
struct Place {
    server: SocketAddr,
    clients: Clients,
    begun: Begun,
}

impl Place {
    async fn play_on(self, table: usize, enough: CancellationToken) -> Vec<Played> {
        let mut all = Vec::new();
        loop {
            let request_id = format!("table-{table}-match-{}", all.len());
            let created = create(&self.clients, spec(table), request_id).await;
            all.push(self.play(created).await);
            if enough.is_cancelled() {
                return all;
            }
        }
    }

    /// Plays seat 0 by the SDK, behind a proxy that notes what it is sent, and the others by unary calls.
    async fn play(&self, created: Created) -> Played {
        let others = created.tokens[1..].iter().enumerate().map(|(i, token)| {
            let nonce = Nonce::new(format!("seat {}", i + 1).as_bytes()).unwrap();
            let mut backend = Backend::new(&self.clients.url(), token, Some(nonce));
            AbortOnDropHandle::new(tokio::spawn(async move {
                backend.join().await;
                backend.play().await
            }))
        });
        let others: Vec<_> = others.collect();
        let proxy = Arc::new(Proxy::start(self.server, None).await);
        self.begun.lock().unwrap().push((created.clone(), Arc::clone(&proxy)));
        let mut problems = Vec::new();
        let token = created.tokens[0].as_str().into();
        let mut ledgers = vec![play(&proxy, token, Dealing::Joint, Records::Checked, &mut problems).await];
        // Against a player who has given up nobody's match ends.
        let others = if problems.is_empty() { others } else { Vec::new() };
        for other in others {
            match other.await {
                Ok(ledger) => ledgers.push(ledger),
                Err(error) => problems.push(Problem::Panicked(error.to_string())),
            }
        }
        Played { created, ledgers, problems }
    }
}

/// Asks for a match until it is there. By the request's name it is made once.
async fn create(clients: &Clients, spec: v1::MatchSpec, request_id: String) -> Created {
    let request = v1::CreateMatchRequest { request_id, r#match: Some(spec) };
    loop {
        let answer = timeout(ANSWER_WITHIN, clients.matches().create_match(request.clone())).await;
        match answer {
            Ok(Ok(answer)) => return answer.into_inner().into(),
            Ok(Err(status)) if v1::Error::from_status(&status).is_some_and(|error| is_final(&error)) => {
                panic!("a match is refused: {status}")
            }
            Ok(Err(_)) | Err(_) => sleep(PAUSE).await,
        }
    }
}

fn is_final(error: &v1::Error) -> bool {
    use v1::ErrorReason::{Draining, LimitExceeded, OutcomeUnknown, Overloaded};
    !matches!(error.reason(), Draining | LimitExceeded | OutcomeUnknown | Overloaded)
}

/// Matches of two lengths and two numbers of players. None has a clock, so that none is lost on a busy machine.
fn spec(table: usize) -> v1::MatchSpec {
    let short = || {
        let sackson: Options = *Preset::Sackson.rules(2, None).unwrap();
        let options = Options { target: Some(30), match_end: MatchEnd::AtOnce, ..sackson };
        own(Rules::new(options).unwrap().to_wire())
    };
    let spec = match table % 4 {
        0 | 2 => short(),
        1 => preset(v1::Preset::Sackson, 2),
        _ => preset(v1::Preset::Sackson, 3),
    };
    unhurried(joint(spec))
}
