//! A small journal that is damaged: its files after it was closed and after it was killed, and what every commit made of it.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use prost::Message as _;
use zetema_proto::journal::v1::MatchSummary;
use zetema_service::journal::{
    Append, BodyHash, BotName, Caller, ClientReference, Created, Finish, Journal, LadderChange, LadderName,
    LadderStore, LaterRatings, Listing, MatchId, MetaKey, MetaValue, NewMatch, NewMatches, NewRecords,
    Options, OtherBots, Outcome, Owner, PageSize, Payload, RecordBytes, Request, RequestId, RequestKey,
    RequestState, Response, ResultNumber, Scope, SecretHash, SqliteJournal, StoredLadder, StoredMatch,
    StoredRating, StoredSettings, StoredToken, Summary, TokenChange, TokenId, TokenLabel, TokenNumber,
    UnixMillis, Version, Visibility,
};

use super::Verdict;
use super::case::{Case, Change, Target};
use super::state::{Difference, Observed, State, list_of, results_of};

const DATABASE: &str = "journal.sqlite3";
const WAL: &str = "journal.sqlite3-wal";
const LOCK: &str = "journal.lock";
const MATCHES: u8 = 7;
/// The first plays in every match, the second in some.
const BOTS: [&str; 2] = ["rex", "fido"];

/// A journal, its files, and its past.
#[derive(Debug)]
pub struct Scene {
    closed: Vec<u8>,
    closed_state: State,
    killed: Vec<u8>,
    wal: Vec<u8>,
    /// After each commit of the write-ahead log, and before the first.
    commits: Vec<State>,
}

/// Writes, and notes what is there after each commit.
struct Author {
    journal: SqliteJournal,
    commits: Vec<State>,
}

impl Scene {
    /// Makes it.
    ///
    /// # Errors
    /// When the journal does not take what it is given.
    pub async fn make() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path();
        let mut author = Author::open(path, State::default()).await?;
        author.first_part().await?;
        let state = author.last();
        author.journal.close().await;
        let closed = fs::read(path.join(DATABASE))?;
        let mut author = Author::open(path, state.clone()).await?;
        author.second_part().await?;
        let (killed, wal) = (fs::read(path.join(DATABASE))?, fs::read(path.join(WAL))?);
        ensure!(killed == closed, "pages were copied into the database meanwhile");
        author.journal.close().await;
        Ok(Self { closed, closed_state: state, killed, wal, commits: author.commits })
    }

    /// How many bytes a file has.
    pub fn length(&self, target: Target) -> usize {
        self.bytes(target).len()
    }

    /// The bytes of the closed database that are not zero in the first page of a table or an index.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn bytes_of(&self, name: &str) -> anyhow::Result<Vec<usize>> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join(DATABASE), &self.closed)?;
        let database = rusqlite::Connection::open(folder.path().join(DATABASE))?;
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let page: u32 = database.query_row(sql, [name], |row| row.get(0))?;
        let bytes: u32 = database.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let [first, end] = [page - 1, page].map(|page| page as usize * bytes as usize);
        Ok((first..end).filter(|byte| self.closed.get(*byte).is_some_and(|byte| *byte != 0)).collect())
    }

    /// How many commits the write-ahead log has.
    pub fn commits(&self) -> usize {
        self.commits.len() - 1
    }

    fn bytes(&self, target: Target) -> &[u8] {
        match target {
            Target::ClosedDatabase => &self.closed,
            Target::Database => &self.killed,
            Target::Wal => &self.wal,
        }
    }

    /// Writes the files of a case into a folder that is not there yet.
    pub(super) fn write(&self, case: &Case, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir(folder)?;
        let put = |target, name: &str| {
            let mut bytes = self.bytes(target).to_vec();
            if case.target == target {
                match case.change {
                    Change::Flip { byte, bit } => bytes[byte] ^= 1 << bit,
                    Change::Cut { length } => bytes.truncate(length),
                }
            }
            fs::write(folder.join(name), bytes)
        };
        match case.target {
            Target::ClosedDatabase => {
                fs::write(folder.join(LOCK), "made\n")?;
                put(Target::ClosedDatabase, DATABASE)?;
            }
            Target::Database | Target::Wal => {
                fs::write(folder.join(LOCK), "open\n")?;
                put(Target::Database, DATABASE)?;
                put(Target::Wal, WAL)?;
            }
        }
        Ok(())
    }

    /// Opens the files of a case, reads everything, and says what came of it.
    pub(super) async fn judge(&self, case: &Case, folder: &Path) -> Result<Verdict, String> {
        let (journal, recovery) = match SqliteJournal::open(folder, Options::default()).await {
            Ok(opened) => opened,
            // A panic while opening is among these, and names the thread.
            Err(error) if error.to_string().contains("panicked") => return Err(error.to_string()),
            Err(_) => return Ok(Verdict::Stopped),
        };
        let bots = bots().map_err(|error| error.to_string())?;
        let (ids, names) = ((1..=MATCHES).map(id), (key(), request_key()?, ladder()));
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
        let last = match case.target {
            Target::ClosedDatabase => &self.closed_state,
            Target::Database | Target::Wal => self.commits.last().unwrap_or(&self.closed_state),
        };
        let silent = match observed.differs_from(last) {
            Difference::None => return Ok(Verdict::Harmless),
            Difference::Told => return Ok(Verdict::Told),
            Difference::Silent(what) => what,
        };
        let earlier = self.commits.iter().rposition(|state| observed.differs_from(state) == Difference::None);
        match (case.target, case.change, earlier) {
            (Target::Wal, Change::Cut { .. }, Some(_)) => Ok(Verdict::Earlier),
            // The last transaction alone can't be told from a torn one.
            (Target::Wal, Change::Flip { .. }, Some(commit)) if commit + 2 == self.commits.len() => {
                Ok(Verdict::Earlier)
            }
            (_, _, Some(commit)) => Err(format!("silently, only commit {commit} is left: {silent}")),
            (_, _, None) => Err(silent),
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
    async fn open(folder: &Path, state: State) -> anyhow::Result<Self> {
        let options = Options { segment_rows: 8, ..Options::default() };
        let (journal, _) = SqliteJournal::open(folder, options).await?;
        Ok(Self { journal, commits: vec![state] })
    }

    fn last(&self) -> State {
        self.commits.last().cloned().unwrap_or_default()
    }

    /// Matches 1 to 5, of which 4 and 5 end, a token, the service key, a request, the ratings of a ladder.
    async fn first_part(&mut self) -> anyhow::Result<()> {
        self.create(1..=5, true).await?;
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

    /// They go on, 6 and 7 are created, 3 and 6 end, a second token.
    async fn second_part(&mut self) -> anyhow::Result<()> {
        self.create(6..=7, false).await?;
        for number in [1, 2, 3, 1] {
            let version = if self.commits.len() > 4 { 5 } else { 4 };
            self.append(number, version).await?;
        }
        self.token(2).await?;
        self.finish(3, 5).await?;
        self.finish(6, 1).await?;
        self.append(7, 1).await
    }

    async fn create(&mut self, numbers: impl IntoIterator<Item = u8>, named: bool) -> anyhow::Result<()> {
        let records = |number| payload(&format!("match {number} is created"));
        let new = |number| anyhow::Ok(NewMatch { match_id: id(number), records: records(number)? });
        let matches = numbers.into_iter().map(new).collect::<Result<_, _>>()?;
        let response = Response::new("the seats' tokens follow from the service key")?;
        let request =
            named.then(|| anyhow::Ok(Request { key: request_key().map_err(anyhow::Error::msg)?, response }));
        let new = NewMatches::new(matches, self.journal.epoch(), UnixMillis::new(1), request.transpose()?)?;
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
        let request = request_key().map_err(anyhow::Error::msg)?;
        state.request = match self.journal.request(request, UnixMillis::new(2)).await? {
            RequestState::New => None,
            other => Some(other),
        };
        self.commits.push(state);
        Ok(())
    }
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

fn request_key() -> Result<RequestKey, String> {
    let caller = Caller::new("admin").map_err(|error| error.to_string())?;
    let request_id = RequestId::new("one").map_err(|error| error.to_string())?;
    Ok(RequestKey { caller, request_id, body_hash: BodyHash([9; 32]) })
}
