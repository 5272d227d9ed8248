//! Lists of very many finished matches: that a page has what is wanted, and how long it takes.

mod filed;
mod version_5;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use futures::future::join_all;
use prost::Message as _;
use tokio::task::unconstrained;
use zetema_proto::journal::v1::MatchSummary;
use zetema_service::journal::{
    Append, BotName, ClientReference, Finish, FinishedFilter, Journal, Listing, MatchId, NewMatch,
    NewMatches, Options, Outcome, Owner, PagePosition, PageSize, Payload, Reader, RecordBytes, ResultFilter,
    ResultNumber, SqliteJournal, Summary, UnixMillis, Version, Visibility,
};

pub use filed::Filed;
pub use version_5::to_version_5;

/// The matches on a page.
pub const PAGE: u16 = 100;
/// How many are created, and then ended, together.
const BATCH: u64 = 500;
/// About what the record of a short match has.
const RECORD_BYTES: usize = 1_500;
/// The one with a reference that no other has.
const RARE: u64 = 10;

/// A match, by its number alone: one in a thousand is public, a third is one owner's, a fifth a bot's, and half have the same
/// reference.
#[derive(Clone, Copy, Debug)]
struct Made(u64);

impl Made {
    const fn match_id(self) -> MatchId {
        MatchId::from_bytes((self.0 as u128).to_be_bytes())
    }

    const fn owner(self) -> Option<&'static str> {
        match self.0 % 3 {
            0 => Some("ann"),
            1 => Some("bob"),
            _ => None,
        }
    }

    const fn bot(self) -> Option<&'static str> {
        if self.0.is_multiple_of(5) { Some("rex") } else { None }
    }

    const fn is_public(self) -> bool {
        self.0.is_multiple_of(1_000)
    }

    const fn client_reference(self) -> Option<&'static str> {
        match self.0 {
            RARE => Some("rare"),
            number if number % 2 == 1 => Some("often"),
            _ => None,
        }
    }
}

/// Whose list.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    /// The results of an owner, or of all.
    Results(Option<&'static str>),
    /// What the admin sees.
    Admin,
    /// What an owner sees.
    Owner(&'static str),
    /// What a bot sees.
    Bot(&'static str),
    /// What the seat of the match with this number sees.
    Seat(u64),
    /// What everyone sees.
    Anyone,
}

/// A kind of list: whose, and with which reference.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Whose.
    pub asked: Asked,
    /// Only matches with this reference.
    pub client_reference: Option<&'static str>,
}

impl Kind {
    /// Every kind: with a reference that many have, with one that a single match has, and with none asked for.
    pub fn all() -> Vec<Self> {
        let asked = [
            Asked::Results(None),
            Asked::Results(Some("ann")),
            Asked::Admin,
            Asked::Owner("ann"),
            Asked::Owner("eve"),
            Asked::Bot("rex"),
            Asked::Bot("eve"),
            Asked::Seat(7),
            Asked::Anyone,
        ];
        let references = [None, Some("often"), Some("rare")];
        let kinds = |asked| references.map(|client_reference| Self { asked, client_reference });
        asked.into_iter().flat_map(kinds).collect()
    }

    fn wants(self, made: Made) -> bool {
        let seen = match self.asked {
            Asked::Results(owner) => owner.is_none() || made.owner() == owner,
            Asked::Admin => true,
            Asked::Owner(owner) => made.is_public() || made.owner() == Some(owner),
            Asked::Bot(bot) => made.is_public() || made.bot() == Some(bot),
            Asked::Seat(number) => made.is_public() || made.0 == number,
            Asked::Anyone => made.is_public(),
        };
        seen && (self.client_reference.is_none() || made.client_reference() == self.client_reference)
    }

    /// The numbers that a page has to have that begins here, of so many matches.
    pub fn page_from(self, from: u64, matches: u64) -> Vec<u64> {
        let wanted = |number: &u64| self.wants(Made(*number));
        match self.asked {
            Asked::Results(_) => (from..=matches).filter(wanted).take(PAGE.into()).collect(),
            _ => (1..=from.min(matches)).rev().filter(wanted).take(PAGE.into()).collect(),
        }
    }

    /// The first place, the one in the middle and one at the end.
    pub const fn places(self, matches: u64) -> [u64; 3] {
        match self.asked {
            Asked::Results(_) => [1, matches / 2, matches],
            _ => [matches, matches / 2, 1],
        }
    }
}

/// A journal of finished matches.
#[derive(Debug)]
pub struct Lists {
    journal: SqliteJournal,
    /// How many there are.
    pub matches: u64,
}

impl Lists {
    /// Makes one in a folder.
    ///
    /// # Errors
    /// When the journal does not take the matches.
    pub async fn fill(folder: &Path, matches: u64) -> anyhow::Result<Self> {
        let (journal, _) = SqliteJournal::open(folder, Options::default()).await?;
        file(&journal, matches, |number| finish(&journal, Made(number))).await?;
        Ok(Self { journal, matches })
    }

    /// Opens one that was filled with so many and closed, and says how long that start took.
    ///
    /// # Errors
    /// When the journal does not open.
    pub async fn open(folder: &Path, matches: u64) -> anyhow::Result<(Self, Duration)> {
        let begun = Instant::now();
        let (journal, recovery) = SqliteJournal::open(folder, Options::default()).await?;
        let took = begun.elapsed();
        ensure!(recovery.results == matches && recovery.stray.is_empty(), "{recovery:?}");
        Ok((Self { journal, matches }, took))
    }

    /// The numbers on a page that begins here, and how long it took.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub async fn page(&self, kind: Kind, from: u64) -> anyhow::Result<(Vec<u64>, Duration)> {
        let page = PageSize::new(PAGE)?;
        let client_reference = kind.client_reference.map(ClientReference::new).transpose()?;
        let reader = match kind.asked {
            Asked::Results(owner) => {
                let filter = ResultFilter { owner: owner.map(Owner::new).transpose()?, client_reference };
                let after = ResultNumber::new(from.saturating_sub(1));
                let begun = Instant::now();
                let read = self.journal.results_after(filter, after, page).await?;
                return Ok((read.rows.iter().map(|row| row.number.get()).collect(), begun.elapsed()));
            }
            Asked::Admin => Reader::Admin,
            Asked::Owner(owner) => Reader::Owner(Owner::new(owner)?),
            Asked::Bot(bot) => Reader::Bot(BotName::new(bot)?),
            Asked::Seat(number) => Reader::Seat(Made(number).match_id()),
            Asked::Anyone => Reader::Anyone,
        };
        let filter = FinishedFilter { reader, client_reference };
        let begun = Instant::now();
        let read = self.journal.list_finished(filter, Some(PagePosition::new(from)), page).await?;
        Ok((read.matches.iter().map(|row| row.number.get()).collect(), begun.elapsed()))
    }

    /// The median and the longest of so many pages that begin here, and how many matches are on it.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub async fn measure(&self, kind: Kind, from: u64, times: usize) -> anyhow::Result<Measured> {
        let mut took = Vec::with_capacity(times);
        let mut rows = 0;
        for _ in 0..times {
            let (page, time) = self.page(kind, from).await?;
            rows = page.len();
            took.push(time);
        }
        took.sort_unstable();
        let median = *took.get(times / 2).context("a page is read once at least")?;
        let longest = *took.last().context("a page is read once at least")?;
        Ok(Measured { rows, median, longest })
    }

    /// Closes the journal.
    pub async fn close(&self) {
        self.journal.close().await;
    }
}

/// How long a page took.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The matches on it.
    pub rows: usize,
    /// The median.
    pub median: Duration,
    /// The longest.
    pub longest: Duration,
}

/// Creates and ends so many matches in a journal that has no result.
async fn file(
    journal: &SqliteJournal,
    matches: u64,
    finish: impl Fn(u64) -> anyhow::Result<Finish>,
) -> anyhow::Result<()> {
    let mut first = 1;
    while first <= matches {
        let end = matches.min(first + BATCH - 1);
        create(journal, first..=end).await?;
        let mut numbers = Vec::new();
        for number in first..=end {
            numbers.push(journal.finish(finish(number)?));
        }
        // They are written in the order in which they are handed in: none of them may let others go first.
        for (number, outcome) in (first..).zip(unconstrained(join_all(numbers)).await) {
            ensure!(outcome == Outcome::Done(ResultNumber::new(number)), "match {number}: {outcome:?}");
        }
        first = end + 1;
    }
    Ok(())
}

async fn create(journal: &SqliteJournal, numbers: impl Iterator<Item = u64>) -> anyhow::Result<()> {
    let new = |number| {
        anyhow::Ok(NewMatch {
            match_id: Made(number).match_id(),
            records: Payload::new("it is created")?.into(),
        })
    };
    let matches = numbers.map(new).collect::<Result<_, _>>()?;
    let created = journal.create(NewMatches::new(matches, journal.epoch(), UnixMillis::new(0), None)?).await;
    ensure!(matches!(created, Outcome::Done(_)), "{created:?}");
    Ok(())
}

fn finish(journal: &SqliteJournal, made: Made) -> anyhow::Result<Finish> {
    let seat_bots = vec![made.bot().unwrap_or_default().to_owned(), String::new()];
    let summary = MatchSummary { seat_bots, ..MatchSummary::default() };
    Ok(Finish {
        last: Append {
            match_id: made.match_id(),
            expected: Version::new(1),
            epoch: journal.epoch(),
            records: Payload::new("it is over")?.into(),
        },
        listing: Listing {
            owner: made.owner().map(Owner::new).transpose()?,
            visibility: if made.is_public() { Visibility::Public } else { Visibility::Private },
            client_reference: made.client_reference().map(ClientReference::new).transpose()?,
        },
        finished_at: UnixMillis::new(made.0),
        summary: Summary::new(summary.encode_to_vec())?,
        record: RecordBytes::new(vec![7; RECORD_BYTES])?,
    })
}
