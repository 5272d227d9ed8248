//! Whose records are audited: a server's, over the wire, or those of a data folder.

use std::cmp::Reverse;
use std::path::Path;

use anyhow::{Context, Error, Result, anyhow, bail};
use prost::Message;
use zetema_proto::v1;
use zetema_service::encoding::{decode_summary, match_of_owner};
use zetema_service::journal::{
    ClosedJournal, ClosedPage, MatchId, OpenError, PagePosition, PageSize, ResultRow, SqliteJournal,
};

use crate::args::ServerArgs;
use crate::client::{Client, patiently, reason_of, record_of};

/// Records of a page, unless told otherwise.
const AT_ONCE: u16 = 100;

/// Whose records are audited.
pub(super) enum Source {
    /// A server that runs.
    Server(Box<Client>, Sight),
    /// The data folder of one that does not. It stays as it is.
    Folder(Box<ClosedJournal>),
}

/// Which matches are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// All that there are.
    All,
    /// Those that the token may see, or everybody.
    Some,
}

/// A page of what there is, the latest result first.
pub(super) struct Page {
    pub(super) entries: Vec<Entry>,
    /// Where the next one begins; `None` if this was the last.
    pub(super) next: Option<String>,
}

/// A result in the list.
pub(super) struct Entry {
    pub(super) number: u64,
    /// `None`: that can't be read.
    pub(super) match_id: Option<String>,
    /// What the list says, or why that can't be read.
    pub(super) said: Result<Said>,
}

/// What is said of a match that is over.
pub(super) struct Said {
    pub(super) summary: v1::RecordSummary,
    /// `None`: the server is to be asked for it.
    info: Option<v1::Match>,
}

impl Source {
    /// A server, with the token that is given or in its data folder, or without any.
    pub(super) async fn server(args: &ServerArgs) -> Result<Self> {
        let client = Client::connect_with_any_token(args).await?;
        let request = v1::ListTokensRequest { page_size: 1, ..v1::ListTokensRequest::default() };
        // The admin alone may list tokens.
        let sight = match patiently(async || client.list_tokens(request.clone()).await).await {
            Ok(_) => Sight::All,
            Err(error) => match reason_of(&error) {
                Some(v1::ErrorReason::Unauthenticated) => Sight::Some,
                _ => return Err(error),
            },
        };
        Ok(Self::Server(Box::new(client), sight))
    }

    /// The folder of a server that does not run.
    pub(super) fn folder(data: &Path) -> Result<Self> {
        if !SqliteJournal::is_in(data) {
            bail!("{} holds no journal of a server: give its data folder by --data", data.display());
        }
        let opened = ClosedJournal::open(data).map_err(|error| match error {
            OpenError::InUse { .. } => anyhow!(error)
                .context("the data can't be read without its server: give --server URL for one that runs"),
            error => anyhow!(error),
        });
        Ok(Self::Folder(Box::new(opened?)))
    }

    /// Which of the matches are seen.
    pub(super) const fn sight(&self) -> Sight {
        match self {
            Self::Server(_, sight) => *sight,
            Self::Folder(_) => Sight::All,
        }
    }

    /// A page of what there is.
    pub(super) async fn page(&self, from: Option<String>, page_size: Option<u16>) -> Result<Page> {
        let page_size = page_size.unwrap_or(AT_ONCE);
        match self {
            Self::Server(client, _) => {
                let request = v1::ListRecordsRequest {
                    filter: None,
                    page_size: page_size.into(),
                    page_token: from.unwrap_or_default(),
                };
                let answer = patiently(async || client.list_records(request.clone()).await).await?;
                let next = Some(answer.next_page_token).filter(|token| !token.is_empty());
                Ok(Page { entries: answer.records.into_iter().map(Entry::of_server).collect(), next })
            }
            Self::Folder(journal) => {
                let from = from.map(|text| text.parse()).transpose()?.map(PagePosition::new);
                let page = journal.list_finished(from, PageSize::new(page_size)?)?;
                let ClosedPage { matches, unreadable, next } = page;
                let mut entries: Vec<Entry> = matches.iter().map(Entry::of_folder).collect();
                entries.extend(unreadable.into_iter().map(|(number, cause)| Entry {
                    number: number.get(),
                    match_id: None,
                    said: Err(anyhow!("{cause}")),
                }));
                entries.sort_by_key(|entry| Reverse(entry.number));
                Ok(Page { entries, next: next.map(|next| next.get().to_string()) })
            }
        }
    }

    /// The record of a match.
    pub(super) async fn record(&self, match_id: &str) -> Result<v1::Record> {
        match self {
            Self::Server(client, _) => record_of(client, match_id).await,
            Self::Folder(journal) => {
                let match_id: MatchId = match_id.parse()?;
                let finished = journal.finished(match_id)?;
                let finished =
                    finished.context("it is among the results, and the journal has no record of it")?;
                Ok(v1::Record::decode(finished.record.into_bytes())?)
            }
        }
    }

    /// The match, as it is shown beside its record.
    pub(super) async fn info(&self, said: &mut Said) -> Result<v1::Match> {
        match (said.info.take(), self) {
            (Some(info), _) => Ok(info),
            (None, Self::Server(client, _)) => {
                let request = v1::GetMatchRequest { match_id: said.summary.match_id.clone() };
                let answer = patiently(async || client.get_match(request.clone()).await).await?;
                answer.r#match.context("the server sent no match")
            }
            (None, Self::Folder(_)) => bail!("the journal does not say of which match it is"),
        }
    }
}

impl Entry {
    fn of_server(summary: v1::RecordSummary) -> Self {
        let (number, match_id) = (summary.result_number, Some(summary.match_id.clone()));
        Self { number, match_id, said: Ok(Said { summary, info: None }) }
    }

    /// A result of a journal, as a server lists it.
    fn of_folder(row: &ResultRow) -> Self {
        let (number, match_id) = (row.number.get(), Some(row.match_id.to_string()));
        let said = decode_summary(row.summary.as_bytes())
            .map_err(|error| Error::new(error).context("what is stored of it beside its record"));
        let said = said.map(|info| {
            let info = match_of_owner(&info);
            let summary = v1::RecordSummary {
                match_id: info.match_id.clone(),
                rules: info.rules,
                client_reference: info.client_reference.clone(),
                create_time: info.create_time,
                end_time: info.end_time,
                outcome: info.outcome.clone(),
                revealed: true,
                result_number: number,
            };
            Said { summary, info: Some(info) }
        });
        Self { number, match_id, said }
    }
}
