//! What the ladders of a server list, beside its records: both from the latest result on.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;
use zetema_proto::v1;

use super::uncompared::Why;
use crate::client::{Client, patiently};

/// Results of a page, unless told otherwise: as many as the server allows.
const AT_ONCE: u32 = 1_000;
/// How often the ladders are asked whether they have counted the latest result: they do within a second or so, unless they stand
/// still.
const ASKED: u32 = 20;
/// How long it is waited between two times.
pub(super) const UNTIL_COUNTED: Duration = Duration::from_millis(500);

/// Whose ladders they are.
pub(super) trait Asked {
    /// All of them, as they are, which may be before what there was at the server's start is counted.
    async fn ladders(&self) -> Result<Vec<v1::Ladder>>;
    /// A page of results. It is there when all that there was at the server's start is counted.
    async fn results(&self, request: v1::ListResultsRequest) -> Result<v1::ListResultsResponse>;
    /// The number of the latest record; 0 if there is none.
    async fn latest(&self) -> Result<u64>;
}

impl Asked for Client {
    async fn ladders(&self) -> Result<Vec<v1::Ladder>> {
        Ok(patiently(async || self.list_ladders(v1::ListLaddersRequest {}).await).await?.ladders)
    }

    async fn results(&self, request: v1::ListResultsRequest) -> Result<v1::ListResultsResponse> {
        patiently(async || self.list_results(request.clone()).await).await
    }

    async fn latest(&self) -> Result<u64> {
        let request = v1::ListRecordsRequest { page_size: 1, ..v1::ListRecordsRequest::default() };
        let answer = patiently(async || self.list_records(request.clone()).await).await?;
        Ok(answer.records.first().map_or(0, |record| record.result_number))
    }
}

/// The lists of all ladders, each read as far as the records are.
pub(super) struct Lists<A = Client> {
    server: A,
    page_size: u32,
    ladders: BTreeMap<String, List>,
}

/// One ladder's.
struct List {
    /// What was read and not yet compared.
    page: VecDeque<v1::LadderResult>,
    /// Where it goes on; `None` at its end.
    token: Option<String>,
    /// The ladder keeps no result up to this one, when it was last asked.
    left_out_to: u64,
    /// It has looked at results up to this one.
    looked_to: u64,
}

/// What a ladder lists at a number.
pub(super) enum Listed {
    /// This.
    Result(Box<v1::LadderResult>),
    /// Nothing, where it should.
    Nothing,
    /// Nothing, and that says nothing.
    NotKept(Why),
}

impl<A: Asked> Lists<A> {
    /// Those of a server, when they have counted all that there is, or after some time.
    pub(super) async fn of(server: A, page_size: Option<u16>, wait: Duration) -> Result<Self> {
        let latest = server.latest().await?;
        let mut ladders = BTreeMap::new();
        for ladder in server.ladders().await? {
            // Only after this answer is it known what the ladder has looked at.
            let left_out_to = left_out_to(&server, &ladder.name).await?;
            let list = List { page: VecDeque::new(), token: Some(String::new()), left_out_to, looked_to: 0 };
            ladders.insert(ladder.name, list);
        }
        let mut lists = Self { server, page_size: page_size.map_or(AT_ONCE, u32::from), ladders };
        for _ in 0..ASKED {
            for ladder in lists.server.ladders().await? {
                if let Some(list) = lists.ladders.get_mut(&ladder.name) {
                    list.looked_to = ladder.result_number;
                }
            }
            if lists.ladders.values().all(|list| list.looked_to >= latest) {
                break;
            }
            sleep(wait).await;
        }
        Ok(lists)
    }

    /// The latest result that a ladder has looked at, whichever it is of.
    pub(super) fn latest(&self) -> u64 {
        self.ladders.values().map(|list| list.looked_to).max().unwrap_or(0)
    }

    /// What a ladder lists at this number, and what it lists above, from the latest result that is audited on: there is no
    /// record of that.
    pub(super) async fn at(
        &mut self,
        ladder: &str,
        number: u64,
        latest: u64,
    ) -> Result<(Listed, Vec<v1::LadderResult>)> {
        let Some(list) = self.ladders.get_mut(ladder) else {
            return Ok((Listed::NotKept(Why::NoSuchLadder), Vec::new()));
        };
        let mut above = Vec::new();
        while let Some(next) = list.next(&self.server, ladder, self.page_size).await? {
            if next.result_number < number {
                list.page.push_front(next);
                break;
            }
            if next.result_number == number {
                return Ok((Listed::Result(Box::new(next)), above));
            }
            // What came after the audit began is not looked at.
            if next.result_number <= latest {
                above.push(next);
            }
        }
        Ok((list.absent(&self.server, ladder, number).await?, above))
    }

    /// What the ladders list below all records, and each one's name.
    pub(super) async fn below(&mut self, latest: u64) -> Result<Vec<(String, v1::LadderResult)>> {
        let mut below = Vec::new();
        for (name, list) in &mut self.ladders {
            while let Some(next) = list.next(&self.server, name, self.page_size).await? {
                if next.result_number <= latest {
                    below.push((name.clone(), next));
                }
            }
        }
        Ok(below)
    }
}

impl List {
    /// Why it has no result of this number. What the ladder keeps is asked anew: it drops its oldest while others come.
    async fn absent(&mut self, server: &impl Asked, ladder: &str, number: u64) -> Result<Listed> {
        if number > self.looked_to {
            return Ok(Listed::NotKept(Why::NotCounted));
        }
        if number > self.left_out_to {
            self.left_out_to = left_out_to(server, ladder).await?;
        }
        let is_kept = number > self.left_out_to;
        Ok(if is_kept { Listed::Nothing } else { Listed::NotKept(Why::TooOld) })
    }

    async fn next(
        &mut self,
        server: &impl Asked,
        ladder: &str,
        page_size: u32,
    ) -> Result<Option<v1::LadderResult>> {
        while self.page.is_empty()
            && let Some(page_token) = self.token.clone()
        {
            let request = v1::ListResultsRequest {
                ladder: ladder.to_owned(),
                page_size,
                page_token,
                ..v1::ListResultsRequest::default()
            };
            let answer = server.results(request).await?;
            self.page.extend(answer.results);
            self.token = Some(answer.next_page_token).filter(|token| !token.is_empty());
        }
        Ok(self.page.pop_front())
    }
}

/// Up to which number a ladder keeps no results.
async fn left_out_to(server: &impl Asked, ladder: &str) -> Result<u64> {
    let request = v1::ListResultsRequest {
        ladder: ladder.to_owned(),
        page_size: 1,
        oldest_first: Some(v1::OldestFirst::default()),
        ..v1::ListResultsRequest::default()
    };
    Ok(server.results(request).await?.left_out_to)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A server that is still starting: its one ladder has looked at nothing until results were asked for, and then at one result
    /// less than there are, as often as this says.
    struct Starting {
        results: Vec<u64>,
        left_out_to: u64,
        latest: u64,
        behind: Cell<u32>,
        waited_for: Cell<bool>,
    }

    impl Starting {
        fn new(latest: u64, behind: u32) -> Self {
            let (behind, waited_for) = (Cell::new(behind), Cell::new(false));
            Self { results: vec![9, 7, 5], left_out_to: 3, latest, behind, waited_for }
        }
    }

    impl Asked for Starting {
        async fn ladders(&self) -> Result<Vec<v1::Ladder>> {
            let behind = self.behind.get();
            let result_number = match (self.waited_for.get(), behind) {
                (false, _) => 0,
                (true, 0) => self.latest,
                (true, _) => self.latest - 1,
            };
            self.behind.set(behind.saturating_sub(u32::from(self.waited_for.get())));
            Ok(vec![v1::Ladder { name: "here".to_owned(), result_number, ..v1::Ladder::default() }])
        }

        async fn results(&self, request: v1::ListResultsRequest) -> Result<v1::ListResultsResponse> {
            self.waited_for.set(true);
            let results = self.results.iter();
            let result = |&result_number| v1::LadderResult { result_number, ..v1::LadderResult::default() };
            Ok(match request.oldest_first {
                Some(_) => v1::ListResultsResponse {
                    left_out_to: self.left_out_to,
                    ..v1::ListResultsResponse::default()
                },
                None => v1::ListResultsResponse {
                    results: results.map(result).collect(),
                    ..v1::ListResultsResponse::default()
                },
            })
        }

        async fn latest(&self) -> Result<u64> {
            Ok(self.latest)
        }
    }

    #[tokio::test]
    async fn what_a_ladder_has_looked_at_is_asked_when_it_has_counted_what_was_there() {
        for (behind, latest) in [(0, 10), (1, 10), (ASKED - 1, 10), (u32::MAX, 9)] {
            let lists = Lists::of(Starting::new(10, behind), None, Duration::ZERO).await.unwrap();
            assert_eq!(lists.latest(), latest, "behind {behind} times");
        }
    }

    #[tokio::test]
    async fn a_result_that_is_not_listed_is_missing_unless_there_is_a_reason() {
        let told = |listed: &Listed| match listed {
            Listed::Result(result) => format!("{}", result.result_number),
            Listed::Nothing => "nothing".to_owned(),
            Listed::NotKept(why) => format!("{why:?}"),
        };
        let mut lists = Lists::of(Starting::new(10, 0), None, Duration::ZERO).await.unwrap();
        for (ladder, number, expected, above) in [
            ("here", 11, "NotCounted", &[][..]),
            ("here", 10, "nothing", &[]),
            ("here", 9, "9", &[]),
            ("gone", 8, "NoSuchLadder", &[]),
            ("here", 6, "nothing", &[7]),
            ("here", 4, "nothing", &[5]),
            ("here", 3, "TooOld", &[]),
            ("here", 1, "TooOld", &[]),
        ] {
            let (listed, more) = lists.at(ladder, number, 11).await.unwrap();
            let more: Vec<u64> = more.iter().map(|result| result.result_number).collect();
            assert_eq!((told(&listed).as_str(), more.as_slice()), (expected, above), "{number}");
        }
    }
}
