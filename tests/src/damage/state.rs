//! What is in a journal, and what can be read of it.

use std::collections::BTreeMap;

use zetema_service::journal::{
    BotName, FinishedFilter, Journal, LadderName, LadderStore, MatchId, MetaKey, MetaValue, PagePosition,
    PageSize, ReadError, Reader, RequestKey, RequestState, ResultFilter, ResultNumber, ResultPage, ResultRow,
    SqliteJournal, StoredLadder, StoredMatch, StoredToken, UnixMillis,
};

/// All that can be asked for, as it has to be after a commit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// The matches that were created.
    pub matches: BTreeMap<[u8; 16], StoredMatch>,
    /// The results, in order.
    pub results: Vec<ResultRow>,
    /// What each of the bots is shown of them, the latest first.
    pub lists: Vec<Vec<ResultRow>>,
    /// The tokens.
    pub tokens: Vec<StoredToken>,
    /// The value of the service key.
    pub meta: Option<MetaValue>,
    /// What each of the requests was answered.
    pub requests: Vec<RequestState>,
    /// What is stored of the ladder.
    pub ladder: Option<StoredLadder>,
}

/// The same as it is read; an error where damage was found.
#[derive(Debug)]
pub struct Observed {
    matches: BTreeMap<[u8; 16], Result<Option<StoredMatch>, ReadError>>,
    unfinished: Result<Vec<MatchId>, ReadError>,
    results: Result<Vec<ResultRow>, ReadError>,
    lists: Vec<Result<Vec<ResultRow>, ReadError>>,
    /// What the start said of damage beside that of matches.
    stray: Vec<String>,
    tokens: Result<Vec<StoredToken>, ReadError>,
    meta: Result<Option<MetaValue>, ReadError>,
    requests: Vec<Result<RequestState, ReadError>>,
    ladder: Result<Option<StoredLadder>, ReadError>,
}

/// How what is read differs from a state.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// Not at all.
    None,
    /// Everything that differs is an error that says so.
    Told,
    /// This differs without a word.
    Silent(String),
}

impl Observed {
    /// Reads everything: these matches, the lists of these bots, and what is asked for by these names. `stray` is what the start said
    /// of damage beside that of matches.
    pub async fn read(
        journal: &SqliteJournal,
        ids: impl IntoIterator<Item = MatchId>,
        bots: impl IntoIterator<Item = BotName>,
        (key, requests, ladder): (MetaKey, Vec<RequestKey>, LadderName),
        stray: Vec<String>,
    ) -> Self {
        let mut matches = BTreeMap::new();
        for id in ids {
            matches.insert(*id.as_bytes(), journal.read(id).await);
        }
        let results = match PageSize::new(PageSize::MAX) {
            Ok(page) => results_of(journal, page).await,
            Err(_) => Ok(Vec::new()),
        };
        let mut lists = Vec::new();
        for bot in bots {
            lists.push(list_of(journal, bot).await);
        }
        let mut answers = Vec::new();
        for request in requests {
            answers.push(journal.request(request, UnixMillis::new(2)).await);
        }
        Self {
            lists,
            stray,
            matches,
            unfinished: journal.unfinished().await,
            results,
            tokens: journal.tokens().await,
            meta: journal.meta(key).await,
            requests: answers,
            ladder: journal.stored_ladder(ladder).await,
        }
    }

    /// Holds it against a state.
    pub(super) fn differs_from(&self, state: &State) -> Difference {
        let mut told = false;
        for (id, read) in &self.matches {
            let has_to_be = state.matches.get(id);
            match (read, has_to_be) {
                (Ok(read), _) if read.as_ref() == has_to_be => {}
                (Err(ReadError::Damaged(_)), Some(_))
                | (Ok(Some(StoredMatch::Quarantined { .. })), Some(StoredMatch::Finished(_))) => told = true,
                (Ok(Some(StoredMatch::Quarantined { intact, .. })), Some(StoredMatch::Running(whole)))
                    if whole.records.starts_with(&intact.records) =>
                {
                    told = true;
                }
                _ => return Difference::Silent(format!("match {id:02x?} is read as {read:?}")),
            }
        }
        let told_of = |running: &MatchId| {
            !matches!(self.matches.get(running.as_bytes()), Some(Ok(Some(StoredMatch::Running(_)))))
        };
        match &self.unfinished {
            Ok(ids) => {
                let mut running: Vec<_> = ids.iter().map(|id| *id.as_bytes()).collect();
                running.sort_unstable();
                let has_to_be = state.matches.iter().filter(|(id, stored)| {
                    matches!(stored, StoredMatch::Running(_)) && !told_of(&MatchId::from_bytes(**id))
                });
                if !running.iter().eq(has_to_be.map(|(id, _)| id)) {
                    return Difference::Silent(format!("the unfinished matches are {ids:?}"));
                }
            }
            Err(error) => return Difference::Silent(format!("the unfinished matches: {error}")),
        }
        let none = Vec::new();
        for (bot, list) in self.lists.iter().enumerate() {
            match (list, state.lists.get(bot).unwrap_or(&none)) {
                (Ok(list), has_to_be) if list == has_to_be => {}
                (Err(ReadError::Damaged(_)), _) => told = true,
                // A match may be missing in it, and nothing else, if the start has said so.
                (Ok(list), has_to_be)
                    if !self.stray.is_empty() && list.iter().all(|row| has_to_be.contains(row)) =>
                {
                    told = true;
                }
                _ => return Difference::Silent(format!("the list of bot {bot} is {list:?}")),
            }
        }
        match (&self.ladder, &state.ladder) {
            (Ok(ladder), has_to_be) if ladder == has_to_be => {}
            (Err(ReadError::Damaged(_)), _) => told = true,
            // The start has said so, and the results say what it should be.
            (Ok(_), _) if !self.stray.is_empty() => told = true,
            (ladder, _) => return Difference::Silent(format!("the ladder is {ladder:?}")),
        }
        let requests = self.requests.iter().zip(&state.requests);
        let requests = requests.map(|(read, has_to_be)| same("request", read, has_to_be));
        let others = [
            same("results", &self.results, &state.results),
            same("tokens", &self.tokens, &state.tokens),
            same("meta", &self.meta, &state.meta),
        ];
        for other in others.into_iter().chain(requests) {
            match other {
                Difference::None => {}
                Difference::Told => told = true,
                silent @ Difference::Silent(_) => return silent,
            }
        }
        if told { Difference::Told } else { Difference::None }
    }
}

/// What a bot is shown of the finished matches, the latest first.
pub(super) async fn list_of(journal: &SqliteJournal, bot: BotName) -> Result<Vec<ResultRow>, ReadError> {
    let filter = FinishedFilter { reader: Reader::Bot(bot), client_reference: None };
    let Ok(page) = PageSize::new(PageSize::MAX) else { return Ok(Vec::new()) };
    let from = PagePosition::new(page.get().into());
    journal.list_finished(filter, Some(from), page).await.map(|page| page.matches)
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    read: &Result<T, ReadError>,
    has_to_be: &T,
) -> Difference {
    match read {
        Ok(read) if read == has_to_be => Difference::None,
        Err(ReadError::Damaged(_)) => Difference::Told,
        other => Difference::Silent(format!("{what}: {other:?}")),
    }
}

/// All results, page by page: one ends before a result that can't be read.
pub(super) async fn results_of(journal: &SqliteJournal, page: PageSize) -> Result<Vec<ResultRow>, ReadError> {
    let (mut results, mut after) = (Vec::new(), ResultNumber::new(0));
    loop {
        let ResultPage { rows, more_after } =
            journal.results_after(ResultFilter::default(), after, page).await?;
        results.extend(rows);
        match more_after {
            Some(number) => after = number,
            None => return Ok(results),
        }
    }
}
