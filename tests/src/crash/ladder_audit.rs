//! Whether every match of a ladder is there, rated once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::{sleep, timeout};
use tonic::transport::Channel;
use zetema_proto::record_from_wire;
use zetema_proto::v1::ladder_service_client::LadderServiceClient;
use zetema_proto::v1::{self, LadderResultReason, MatchState};
use zetema_rules::Outcome;

use super::shown::{Recorded, Recount, Standings};
use crate::harness::{Clients, soon};

/// How long the last results may take to be counted.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);
/// How long to wait before something is looked at again.
const PAUSE: Duration = Duration::from_millis(50);

/// The ladder that bots wait on.
pub(super) const LADDER: &str = "quick-2";

/// What came of holding the ladder against the records.
#[derive(Debug, Default)]
pub struct LadderAudit {
    /// The results of the server, which all are of the ladder.
    pub results: u64,
    /// Those that are rated.
    pub rated: u64,
    /// How many bots are rated.
    pub bots: usize,
    /// All that is wrong.
    pub problems: Vec<String>,
}

/// What a bot did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Done {
    matches: u64,
    wins: u64,
    draws: u64,
    margin: i64,
}

impl LadderAudit {
    /// Holds the results of the ladder against the numbers that they have, the matches of the server and their records; its standings
    /// against what the records count to, and those that were shown before, in the order in which they were, against the ratings that
    /// the records give; and what each bot was told of against all of it.
    pub(super) async fn of(clients: &Clients, told: &[Vec<String>], before: &[Standings]) -> Self {
        let mut problems = Vec::new();
        if timeout(SETTLED_WITHIN, settled(clients)).await.is_err() {
            problems.push(format!("matches go on, or have no result, after {} s", SETTLED_WITHIN.as_secs()));
        }
        let results = results(clients).await;
        let (standings, last) = standings(clients).await;
        let mut check = |holds: bool, what: String| {
            if !holds {
                problems.push(what);
            }
        };
        let numbers: Vec<u64> = results.iter().rev().map(|result| result.result_number).collect();
        check(numbers.iter().copied().eq(1..=last), format!("the numbers are not 1 to {last}: {numbers:?}"));
        let ids: BTreeSet<&str> = results.iter().map(|result| result.match_id.as_str()).collect();
        check(ids.len() == results.len(), "a match has two results".to_owned());
        let matches = matches(clients).await;
        let listed: BTreeSet<&str> = matches.iter().map(|info| info.match_id.as_str()).collect();
        check(listed == ids, format!("matches and results: {:?}", listed.symmetric_difference(&ids)));

        let (mut rated, mut done) = (0, BTreeMap::<String, Done>::new());
        let mut recorded = Vec::new();
        for result in results.iter().rev() {
            let id = &result.match_id;
            let message = clients.get_record(id).await;
            let Some((record, header)) = message.ok().and_then(|message| record_from_wire(&message).ok())
            else {
                check(false, format!("match {id} has no record"));
                continue;
            };
            check(record.verify().is_ok(), format!("the record of match {id} is not right"));
            check(header.ladder.as_deref() == Some(LADDER), format!("match {id} is of {:?}", header.ladder));
            let aborted = result.reason() == LadderResultReason::Aborted;
            let bots: Vec<String> = header.bots.into_iter().flatten().collect();
            match Recorded::new(result.result_number, &record, bots.clone()) {
                Ok(result) => recorded.push(result),
                Err(problem) => check(false, problem),
            }
            match (&record.outcome, aborted, &bots[..]) {
                (Outcome::Aborted { .. }, true, _) => {}
                (Outcome::Result(outcome), false, [first, second]) => {
                    rated += 1;
                    for (bot, side, other) in [(first, 0, 1), (second, 1, 0)] {
                        let done = done.entry(bot.clone()).or_default();
                        done.matches += 1;
                        done.wins += u64::from(outcome.ranks[side] < outcome.ranks[other]);
                        done.draws += u64::from(outcome.ranks[side] == outcome.ranks[other]);
                        done.margin += i64::from(outcome.totals[side]) - i64::from(outcome.totals[other]);
                    }
                }
                _ => check(false, format!("match {id}: the record and the result don't say the same")),
            }
        }
        let shown: BTreeMap<String, Done> = standings.into_iter().map(shown).collect();
        check(shown == done, format!("the standings count {shown:?}, and the records {done:?}"));
        let mut recount = Recount::new(recorded);
        for shown in before {
            if let Some(problem) = recount.problem(shown) {
                check(false, problem);
            }
        }
        for match_id in told.iter().flatten() {
            check(
                ids.contains(match_id.as_str()),
                format!("match {match_id} ended for a bot, and has no result"),
            );
        }
        Self { results: last, rated, bots: done.len(), problems }
    }
}

fn shown(standing: v1::Standing) -> (String, Done) {
    let v1::Tally { matches, wins, draws, margin, .. } = standing.tally.unwrap_or_default();
    (standing.bot_name, Done { matches, wins, draws, margin })
}

fn ladders(clients: &Clients) -> LadderServiceClient<Channel> {
    LadderServiceClient::new(clients.channel().clone())
}

/// All results of the ladder, the latest first.
async fn results(clients: &Clients) -> Vec<v1::LadderResult> {
    let (mut all, mut page_token) = (Vec::new(), String::new());
    loop {
        let ladder = LADDER.to_owned();
        let request =
            v1::ListResultsRequest { ladder, filter: None, page_size: 1_000, page_token, oldest_first: None };
        let page = soon("ListResults", ladders(clients).list_results(request)).await.unwrap().into_inner();
        all.extend(page.results);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return all;
        }
    }
}

/// The standings once they are after the last result, and its number.
async fn standings(clients: &Clients) -> (Vec<v1::Standing>, u64) {
    let last = results(clients).await.first().map_or(0, |result| result.result_number);
    let reached = async {
        loop {
            let ladder = LADDER.to_owned();
            let request = v1::GetStandingsRequest { ladder, page_size: 1_000, page_token: String::new() };
            let page = soon("GetStandings", ladders(clients).get_standings(request)).await.unwrap();
            let page = page.into_inner();
            if page.result_number >= last {
                return (page.standings, page.result_number);
            }
            sleep(PAUSE).await;
        }
    };
    soon("standings after the last result", reached).await
}

/// Waits until every match is over and counted.
async fn settled(clients: &Clients) {
    let is_over = |info: &v1::Match| matches!(info.state(), MatchState::Finished | MatchState::Aborted);
    loop {
        let all = matches(clients).await;
        if all.iter().all(is_over) && results(clients).await.len() == all.len() {
            return;
        }
        sleep(PAUSE).await;
    }
}

/// All matches that are over or not.
async fn matches(clients: &Clients) -> Vec<v1::Match> {
    let (mut all, mut page_token) = (Vec::new(), String::new());
    loop {
        let request = v1::ListMatchesRequest { filter: None, page_size: 1_000, page_token };
        let page = soon("ListMatches", clients.matches().list_matches(request)).await.unwrap().into_inner();
        all.extend(page.matches);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return all;
        }
    }
}
