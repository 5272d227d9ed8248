//! Whether all that the players can swear to is so.

use std::collections::BTreeSet;

use zetema_proto::v1;

use super::Played;
use crate::fault_runs::{Ledger, Problem, Truth};
use crate::harness::{Clients, check_by_reference, soon};

/// What came of holding the ledgers against the server.
#[derive(Debug, Default)]
pub struct Audit {
    /// How many matches were played.
    pub matches: usize,
    /// How many actions were acknowledged in them.
    pub actions: usize,
    /// All that is wrong, each with its match.
    pub problems: Vec<String>,
}

impl Audit {
    /// Holds every ledger against the record, the record against the slow reference, and what was created against what
    /// the server lists.
    pub async fn of(clients: &Clients, played: &[Played]) -> Self {
        let mut audit = Self { matches: played.len(), ..Self::default() };
        for one in played {
            let found = check(clients, one).await;
            audit.actions += one.ledgers.iter().map(acknowledged).sum::<usize>();
            let id = one.created.id();
            audit.problems.extend(found.into_iter().map(|problem| format!("match {id}: {problem}")));
        }
        let created: BTreeSet<String> = played.iter().map(|one| one.created.id().to_owned()).collect();
        let listed = all_matches(clients).await;
        let strays = listed.symmetric_difference(&created);
        audit.problems.extend(strays.map(|id| {
            let wrong = if created.contains(id) {
                "was created, and is not listed"
            } else {
                "is listed, and nobody created it"
            };
            format!("match {id} {wrong}")
        }));
        audit
    }
}

/// How many actions were acknowledged to a player.
fn acknowledged(ledger: &Ledger) -> usize {
    let decisions: BTreeSet<u32> = ledger.receipts.iter().map(|receipt| receipt.decision_number).collect();
    decisions.len()
}

async fn check(clients: &Clients, played: &Played) -> Vec<String> {
    let Played { created, ledgers, problems } = played;
    let mut found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let (clients, of_match) = (clients.clone(), created.clone());
    // What the server shows is checked by panics too.
    let truths = tokio::spawn(async move { Truth::of_match(&clients, &of_match).await }).await;
    let truths = match truths.map_err(|error| Problem::Panicked(error.to_string())).flatten() {
        Ok(truths) => truths,
        Err(problem) => {
            found.push(problem.to_string());
            return found;
        }
    };
    for (seat, (truth, ledger)) in truths.iter().zip(ledgers).enumerate() {
        found.extend(truth.problems(ledger).iter().map(|problem| format!("seat {seat}: {problem}")));
    }
    if let Some(Truth { record, .. }) = truths.into_iter().next() {
        let judged = tokio::task::spawn_blocking(move || check_by_reference(&record)).await;
        found.extend(judged.err().map(|error| format!("the reference does not agree: {error}")));
    }
    found
}

async fn all_matches(clients: &Clients) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListMatchesRequest { filter: None, page_size: 1_000, page_token };
        let page = soon("ListMatches", clients.matches().list_matches(request)).await.unwrap().into_inner();
        all.extend(page.matches.into_iter().map(|one| one.match_id));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return all;
        }
    }
}
