//! What the ladders of a server list, beside its records: both from the latest result on.

use std::collections::{BTreeMap, VecDeque};

use anyhow::Result;
use zetema_proto::v1;

use crate::client::{Client, patiently};

/// Results of a page, unless told otherwise: as many as the server allows.
const AT_ONCE: u32 = 1_000;

/// The lists of all ladders, each read as far as the records are.
pub(super) struct Lists {
    client: Client,
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
    /// Nothing, as it keeps no results that are so old, has not looked at it yet, or is not there any more.
    NotKept,
}

impl Lists {
    /// Those of a server.
    pub(super) async fn of(client: &Client, page_size: Option<u16>) -> Result<Self> {
        let answer = patiently(async || client.list_ladders(v1::ListLaddersRequest {}).await).await?;
        let mut ladders = BTreeMap::new();
        for ladder in answer.ladders {
            let list = List {
                page: VecDeque::new(),
                token: Some(String::new()),
                left_out_to: left_out_to(client, &ladder.name).await?,
                looked_to: ladder.result_number,
            };
            ladders.insert(ladder.name, list);
        }
        Ok(Self { client: client.clone(), page_size: page_size.map_or(AT_ONCE, u32::from), ladders })
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
        let Some(list) = self.ladders.get_mut(ladder) else { return Ok((Listed::NotKept, Vec::new())) };
        let mut above = Vec::new();
        while let Some(next) = list.next(&self.client, ladder, self.page_size).await? {
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
        Ok((list.absent(&self.client, ladder, number).await?, above))
    }

    /// What the ladders list below all records, and each one's name.
    pub(super) async fn below(&mut self, latest: u64) -> Result<Vec<(String, v1::LadderResult)>> {
        let mut below = Vec::new();
        for (name, list) in &mut self.ladders {
            while let Some(next) = list.next(&self.client, name, self.page_size).await? {
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
    async fn absent(&mut self, client: &Client, ladder: &str, number: u64) -> Result<Listed> {
        let is_kept = |left_out_to| number > left_out_to && number <= self.looked_to;
        if !is_kept(self.left_out_to) {
            return Ok(Listed::NotKept);
        }
        let left_out_to = left_out_to(client, ladder).await?;
        let absent = if is_kept(left_out_to) { Listed::Nothing } else { Listed::NotKept };
        self.left_out_to = left_out_to;
        Ok(absent)
    }

    async fn next(
        &mut self,
        client: &Client,
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
            let answer = patiently(async || client.list_results(request.clone()).await).await?;
            self.page.extend(answer.results);
            self.token = Some(answer.next_page_token).filter(|token| !token.is_empty());
        }
        Ok(self.page.pop_front())
    }
}

/// Up to which number a ladder keeps no results.
async fn left_out_to(client: &Client, ladder: &str) -> Result<u64> {
    let request = v1::ListResultsRequest {
        ladder: ladder.to_owned(),
        page_size: 1,
        oldest_first: Some(v1::OldestFirst::default()),
        ..v1::ListResultsRequest::default()
    };
    Ok(patiently(async || client.list_results(request.clone()).await).await?.left_out_to)
}
