//! A small journal that is damaged: its files after it was closed and after it was killed, with a redo log and without, and what every
//! commit made of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use prost::Message as _;
use zetema_proto::journal::v1::MatchSummary;
use zetema_service::journal::{
    Append, BodyHash, BotName, Caller, ClientReference, Created, Finish, Journal, LadderChange, LadderName,
    LadderStore, LaterRatings, Listing, LogStore, MatchId, MetaKey, MetaValue, NewMatch, NewMatches,
    NewRecords, Options, OtherBots, Outcome, Owner, PageSize, Payload, RecordBytes, Request, RequestId,
    RequestKey, Response, ResultNumber, Scope, SecretHash, SqliteJournal, StoredLadder, StoredMatch,
    StoredRating, StoredSettings, StoredToken, Summary, TokenChange, TokenId, TokenLabel, TokenNumber,
    UnixMillis, Version, Visibility,
};

use super::Verdict;
use super::case::{Case, Change, Target};
use super::state::{Difference, Observed, State, list_of, results_of};

const DATABASE: &str = "journal.sqlite3";
const WAL: &str = "journal.sqlite3-wal";
const LOCK: &str = "journal.lock";
const ANY_REDO: &str = "journal.redo-";
const REDO: &str = "journal.redo-1";
const NEXT_REDO: &str = "journal.redo-2";
/// A commit of the redo log begins with one.
const SECTOR_BYTES: usize = 512;
/// How often a journal is written with a redo log until that was quick enough.
const ATTEMPTS: usize = 20;
const MATCHES: u8 = 8;
/// The first plays in every match, the second in some.
const BOTS: [&str; 2] = ["rex", "fido"];
/// Each has created matches.
const REQUESTS: [&str; 2] = ["one", "two"];

/// A small journal, and what every commit made of it.
#[derive(Debug)]
pub struct Scene {
    closed: Files,
    killed: Files,
    /// After each commit of the write-ahead log, and before the first, when it was closed.
    states: Vec<State>,
    /// The same, killed with a redo log.
    redo: Files,
    /// After each commit of it that the database does not know, and before the first.
    redo_states: Vec<State>,
    /// What the redo log makes of each commit of the database, as far as that counts.
    redo_wal_states: Vec<State>,
}

/// The files of a journal, by their names.
type Files = BTreeMap<String, Vec<u8>>;

/// Writes, and notes what is there after each commit.
struct Author {
    journal: SqliteJournal,
    log: LogStore,
    states: Vec<State>,
}

impl Scene {
    /// Makes it.
    ///
    /// # Errors
    /// When the journal does not take what it is given.
    pub async fn make() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path();
        let mut author = Author::open(path, LogStore::Tables, State::default()).await?;
        author.first_part().await?;
        let state = author.last();
        author.journal.close().await;
        let closed = files_in(path, "made\n")?;
        let mut author = Author::open(path, LogStore::Tables, state).await?;
        author.second_part().await?;
        let settled = author.states.len() - 1;
        author.third_part().await?;
        let killed = files_in(path, "open\n")?;
        author.journal.close().await;
        let (states, redo) = (author.states, killed_with_redo(&closed).await?);
        let last = states.last().cloned().unwrap_or_default();
        // The second token came by the last commit of the database; all else of that day is in the redo log, if the database knows of it.
        let without_token = State { tokens: states[0].tokens.clone(), ..last.clone() };
        let redo_wal_states = vec![without_token, last];
        let redo_states = states[settled..].to_vec();
        let scene = Self { closed, killed, states, redo, redo_states, redo_wal_states };
        let unchanged = scene.bytes(Target::ClosedDatabase);
        for files in [&scene.killed, &scene.redo] {
            ensure!(
                files.get(DATABASE).is_some_and(|bytes| bytes == unchanged),
                "pages were copied into the database meanwhile"
            );
        }
        for target in [Target::Wal, Target::Redo, Target::NextRedo, Target::RedoWal] {
            ensure!(!scene.bytes(target).is_empty(), "{target:?} is not there");
        }
        Ok(scene)
    }

    /// How many bytes of a file are damaged: all, but of the zeros behind the commits of a redo log only some.
    pub fn length(&self, target: Target) -> usize {
        let bytes = self.bytes(target);
        if !matches!(target, Target::Redo | Target::NextRedo) {
            return bytes.len();
        }
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.len().min(end.next_multiple_of(SECTOR_BYTES) + 4 * SECTOR_BYTES)
    }

    /// The bytes of the closed database that are not zero in the first page of a table or an index.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn bytes_of(&self, name: &str) -> anyhow::Result<Vec<usize>> {
        let folder = tempfile::tempdir()?;
        let closed = self.bytes(Target::ClosedDatabase);
        fs::write(folder.path().join(DATABASE), closed)?;
        let database = rusqlite::Connection::open(folder.path().join(DATABASE))?;
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let page: u32 = database.query_row(sql, [name], |row| row.get(0))?;
        let bytes: u32 = database.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let [first, end] = [page - 1, page].map(|page| page as usize * bytes as usize);
        Ok((first..end).filter(|byte| closed.get(*byte).is_some_and(|byte| *byte != 0)).collect())
    }

    /// How many commits a log has that nothing else knows.
    pub fn commits(&self, target: Target) -> usize {
        self.states(target).len() - 1
    }

    /// What there may be after a change of this file, the last being what was committed.
    fn states(&self, target: Target) -> &[State] {
        match target {
            Target::ClosedDatabase => &self.states[..1],
            Target::Database | Target::Wal => &self.states,
            Target::Redo | Target::NextRedo => &self.redo_states,
            Target::RedoWal => &self.redo_wal_states,
        }
    }

    fn file(&self, target: Target) -> (&Files, &'static str) {
        match target {
            Target::ClosedDatabase => (&self.closed, DATABASE),
            Target::Database => (&self.killed, DATABASE),
            Target::Wal => (&self.killed, WAL),
            Target::Redo => (&self.redo, REDO),
            Target::NextRedo => (&self.redo, NEXT_REDO),
            Target::RedoWal => (&self.redo, WAL),
        }
    }

    fn bytes(&self, target: Target) -> &[u8] {
        let (files, name) = self.file(target);
        files.get(name).map_or(&[], Vec::as_slice)
    }

    /// Writes the files of a case into a folder that is not there yet.
    pub(super) fn write(&self, case: &Case, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir(folder)?;
        let (files, changed) = self.file(case.target);
        write_all(files, folder)?;
        let mut bytes = self.bytes(case.target).to_vec();
        match case.change {
            Change::Flip { byte, bit } => bytes[byte] ^= 1 << bit,
            Change::Cut { length } => bytes.truncate(length),
        }
        fs::write(folder.join(changed), bytes)?;
        Ok(())
    }

    /// Opens the files of a case, reads everything, and says what came of it.
    pub(super) async fn judge(&self, case: &Case, folder: &Path) -> Result<Verdict, String> {
        // So that no long files of a redo log are made for each case.
        let options = Options { segment_rows: 256, ..Options::default() };
        let (journal, recovery) = match SqliteJournal::open(folder, options).await {
            Ok(opened) => opened,
            // A panic while opening is among these, and names the thread.
            Err(error) if error.to_string().contains("panicked") => return Err(error.to_string()),
            Err(_) => return Ok(Verdict::Stopped),
        };
        let bots = bots().map_err(|error| error.to_string())?;
        let requests = REQUESTS.map(request_key).into_iter().collect::<Result<_, _>>()?;
        let (ids, names) = ((1..=MATCHES).map(id), (key(), requests, ladder()));
        let observed = Observed::read(&journal, ids, bots, names, recovery.stray.clone()).await;
        let verdict = self.verdict(case, &observed);
        let told = recovery.quarantined.len() + recovery.stray.len();
        let goes_on = self.goes_on(&journal).await;
        journal.close().await;
        match verdict? {
            // What is told at the start is found, whether anybody asks for it or not.
            Verdict::Harmless | Verdict::Earlier if told > 0 => Ok(Verdict::Told),
            verdict => goes_on.map(|()| verdict),
        }
    }

    fn verdict(&self, case: &Case, observed: &Observed) -> Result<Verdict, String> {
        let states = self.states(case.target);
        let last = states.last().ok_or("nothing was committed")?;
        let silent = match observed.differs_from(last) {
            Difference::None => return Ok(Verdict::Harmless),
            Difference::Told => return Ok(Verdict::Told),
            Difference::Silent(what) => what,
        };
        let earlier = states.iter().rposition(|state| observed.differs_from(state) == Difference::None);
        let is_log = matches!(case.target, Target::Wal | Target::Redo | Target::RedoWal);
        match (case.change, earlier) {
            (Change::Cut { .. }, Some(_)) if is_log => Ok(Verdict::Earlier),
            // The last commit alone can't be told from a torn one.
            (Change::Flip { .. }, Some(commit)) if is_log && commit + 2 == states.len() => {
                Ok(Verdict::Earlier)
            }
            (_, Some(commit)) => Err(format!("silently, only commit {commit} is left: {silent}")),
            (_, None) => Err(silent),
        }
    }

    /// What was not hit can be written on.
    async fn goes_on(&self, journal: &SqliteJournal) -> Result<(), String> {
        for number in 1..=MATCHES {
            let Ok(Some(StoredMatch::Running(history))) = journal.read(id(number)).await else { continue };
            let append = Append {
                match_id: id(number),
                expected: history.version(),
                epoch: journal.epoch(),
                records: payload("goes on").map_err(|error| error.to_string())?,
            };
            return match journal.append(append).await {
                Outcome::Done(_) => Ok(()),
                other => Err(format!("match {number} does not go on: {other:?}")),
            };
        }
        Ok(())
    }
}

impl Author {
    async fn open(folder: &Path, log: LogStore, state: State) -> anyhow::Result<Self> {
        let options = Options { segment_rows: 8, log, ..Options::default() };
        let (journal, _) = SqliteJournal::open(folder, options).await?;
        Ok(Self { journal, log, states: vec![state] })
    }

    fn last(&self) -> State {
        self.states.last().cloned().unwrap_or_default()
    }

    /// Matches 1 to 5, of which 4 and 5 end, a token, the service key, a request, the ratings of a ladder.
    async fn first_part(&mut self) -> anyhow::Result<()> {
        self.create(1..=5, Some(REQUESTS[0])).await?;
        let kept = self.journal.meta_or_insert(key(), MetaValue::new(vec![7; 32])?).await;
        ensure!(matches!(kept, Outcome::Done(_)), "{kept:?}");
        self.token(1).await?;
        for version in 1..4 {
            for number in 1..=5 {
                self.append(number, version).await?;
            }
        }
        self.finish(4, 4).await?;
        self.finish(5, 4).await?;
        self.rate(2).await
    }

    /// They go on, 6 and 7 are created, a second token: with it a redo log is known to the database up to there.
    async fn second_part(&mut self) -> anyhow::Result<()> {
        self.create(6..=7, None).await?;
        for (number, version) in [(1, 4), (2, 4), (3, 4), (1, 5)] {
            self.append(number, version).await?;
        }
        self.token(2).await
    }

    /// Each commit is one of the redo log, if there is one: a request creates 8, 3 and 6 end, 7 goes on.
    async fn third_part(&mut self) -> anyhow::Result<()> {
        self.create(8..=8, Some(REQUESTS[1])).await?;
        self.finish(3, 5).await?;
        self.append(7, 1).await?;
        self.finish(6, 1).await
    }

    async fn create(
        &mut self,
        numbers: impl IntoIterator<Item = u8>,
        request: Option<&str>,
    ) -> anyhow::Result<()> {
        let records = |number| payload(&format!("match {number} is created"));
        let new = |number| anyhow::Ok(NewMatch { match_id: id(number), records: records(number)? });
        let matches = numbers.into_iter().map(new).collect::<Result<_, _>>()?;
        let response = Response::new("the seats' tokens follow from the service key")?;
        let key = request.map(request_key).transpose().map_err(anyhow::Error::msg)?;
        let request = key.map(|key| Request { key, response });
        let new = NewMatches::new(matches, self.journal.epoch(), UnixMillis::new(1), request)?;
        let created = self.journal.create(new).await;
        ensure!(created == Outcome::Done(Created::New), "{created:?}");
        self.note().await
    }

    async fn append(&mut self, number: u8, version: u32) -> anyhow::Result<()> {
        let append = self.to_append(number, version)?;
        let appended = self.journal.append(append).await;
        ensure!(matches!(appended, Outcome::Done(_)), "{appended:?}");
        self.note().await
    }

    fn to_append(&self, number: u8, version: u32) -> anyhow::Result<Append> {
        Ok(Append {
            match_id: id(number),
            expected: Version::new(version),
            epoch: self.journal.epoch(),
            records: payload(&format!("record {} of match {number}", version + 1))?,
        })
    }

    async fn finish(&mut self, number: u8, version: u32) -> anyhow::Result<()> {
        // The rows of bots with a reference are in an index of their own too, those without are not.
        let reference = number.is_multiple_of(2).then(|| format!("order {number}"));
        let [rex, fido] = BOTS.map(str::to_owned);
        let seat_bots = vec![rex, if number < 5 { fido } else { String::new() }];
        let summary = MatchSummary { seat_bots, ..MatchSummary::default() };
        let finish = Finish {
            last: self.to_append(number, version)?,
            listing: Listing {
                owner: Some(Owner::new("shop")?),
                visibility: if number == 4 { Visibility::Public } else { Visibility::Private },
                client_reference: reference.map(ClientReference::new).transpose()?,
            },
            finished_at: UnixMillis::new(1_000 + u64::from(number)),
            summary: Summary::new(summary.encode_to_vec())?,
            // Longer than a page.
            record: RecordBytes::new(format!("record of match {number}; ").repeat(250))?,
        };
        let finished = self.journal.finish(finish).await;
        ensure!(matches!(finished, Outcome::Done(_)), "{finished:?}");
        self.note().await
    }

    async fn rate(&mut self, after: u64) -> anyhow::Result<()> {
        let rating = |bot: BotName| StoredRating {
            bot,
            mu: 25.0 + 1.0 / 3.0,
            sigma: 7.5,
            matches: after,
            wins: 1,
            draws: 0,
            forfeits: 0,
            opponents: after,
            margin: -7,
        };
        let settings = StoredSettings {
            mu: 25.0,
            sigma: 25.0 / 3.0,
            beta: 10.0,
            kappa: 0.0001,
            tau: 25.0 / 600.0,
            provisional_sigma: 4.5,
        };
        let bots = bots()?.into_iter().map(rating).collect();
        let stored = StoredLadder { after: ResultNumber::new(after), settings, bots };
        let change =
            LadderChange { ladder: ladder(), stored, others: OtherBots::Go, later: LaterRatings::Stay };
        let changed = self.journal.change_ladder(change).await;
        ensure!(changed == Outcome::Done(()), "{changed:?}");
        self.note().await
    }

    async fn token(&mut self, number: u8) -> anyhow::Result<()> {
        let token = StoredToken {
            number: TokenNumber::new(number.into()),
            id: TokenId::from_bytes([number; 16]),
            hash: SecretHash([number; 32]),
            scope: Scope::Owner(Owner::new("shop")?),
            label: Some(TokenLabel::new("backend")?),
            created_at: UnixMillis::new(1),
            expires_at: Some(UnixMillis::new(1 << 40)),
            revoked_at: None,
            rotated_at: None,
        };
        let change = TokenChange { made: Some(token), ..TokenChange::at(UnixMillis::new(1)) };
        let changed = self.journal.change_tokens(change).await;
        ensure!(changed == Outcome::Done(()), "{changed:?}");
        self.note().await
    }

    /// Notes what is there now. It was read from an undamaged journal, whose own tests say that this is what was written.
    async fn note(&mut self) -> anyhow::Result<()> {
        if self.log == LogStore::Redo {
            // To read would put what has ended into the database. The same was noted where there is no redo log.
            return Ok(());
        }
        let mut state = State::default();
        for number in 1..=MATCHES {
            if let Some(stored) = self.journal.read(id(number)).await? {
                state.matches.insert(*id(number).as_bytes(), stored);
            }
        }
        let page = PageSize::new(100)?;
        state.results = results_of(&self.journal, page).await?;
        for bot in bots()? {
            state.lists.push(list_of(&self.journal, bot).await?);
        }
        state.tokens = self.journal.tokens().await?;
        state.meta = self.journal.meta(key()).await?;
        state.ladder = self.journal.stored_ladder(ladder()).await?;
        for request in REQUESTS {
            let key = request_key(request).map_err(anyhow::Error::msg)?;
            state.requests.push(self.journal.request(key, UnixMillis::new(2)).await?);
        }
        self.states.push(state);
        Ok(())
    }
}

/// Goes on from a journal that was closed, with a redo log. What ends goes into the database a second later at most, and is to be in the
/// redo log alone when the journal is killed.
async fn killed_with_redo(closed: &Files) -> anyhow::Result<Files> {
    for _ in 0..ATTEMPTS {
        let folder = tempfile::tempdir()?;
        let path = folder.path();
        write_all(closed, path)?;
        let mut author = Author::open(path, LogStore::Redo, State::default()).await?;
        author.second_part().await?;
        let wal = fs::read(path.join(WAL))?;
        author.third_part().await?;
        let killed = files_in(path, "open\n")?;
        let is_in_time = fs::read(path.join(WAL))? == wal;
        author.journal.close().await;
        if is_in_time {
            return Ok(killed);
        }
    }
    bail!("it always took so long that what had ended went into the database")
}

/// The files of a journal that are part of it, as they are, but for the lock.
fn files_in(folder: &Path, lock: &str) -> anyhow::Result<Files> {
    let mut files = Files::from([(LOCK.to_owned(), lock.into())]);
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if [DATABASE, WAL].contains(&name.as_str()) || name.starts_with(ANY_REDO) {
            let bytes = fs::read(folder.join(&name))?;
            files.insert(name, bytes);
        }
    }
    Ok(files)
}

fn write_all(files: &Files, folder: &Path) -> std::io::Result<()> {
    files.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
}

fn id(number: u8) -> MatchId {
    MatchId::from_bytes([number.wrapping_mul(37); 16])
}

fn bots() -> anyhow::Result<Vec<BotName>> {
    BOTS.iter().map(|bot| Ok(BotName::new(*bot)?)).collect()
}

fn payload(text: &str) -> anyhow::Result<NewRecords> {
    Ok(Payload::new(text.to_owned()).context("a payload")?.into())
}

#[allow(clippy::expect_used, reason = "a constant")]
fn key() -> MetaKey {
    MetaKey::new("service key").expect("a short text")
}

#[allow(clippy::expect_used, reason = "a constant")]
fn ladder() -> LadderName {
    LadderName::new("quick-2").expect("a short name")
}

fn request_key(request: &str) -> Result<RequestKey, String> {
    let caller = Caller::new("admin").map_err(|error| error.to_string())?;
    let request_id = RequestId::new(request).map_err(|error| error.to_string())?;
    Ok(RequestKey { caller, request_id, body_hash: BodyHash([9; 32]) })
}
