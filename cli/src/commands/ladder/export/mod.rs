//! `zetema ladder export`.

mod basis;
mod destination;
mod item;
mod parquet_file;
mod progress;
mod sink;
mod table;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use zetema_proto::v1;
use zetema_service::server::Terminations;

use self::basis::Basis;
use self::item::{ExportedRecord, Item};
use self::progress::{Lacks, Progress, Subject};
use self::sink::{Place, Sink};
use super::check_bots;
use super::filter::FilterArgs;
use crate::args::AddressArgs;
use crate::client::{Client, patiently, record_of, said_no};
use crate::commands::record::Found;
use crate::output;
use crate::render::counted;

/// Results of a page at most, as the server allows.
const RESULTS_AT_ONCE: u32 = 1_000;
/// Records of a page: they are in memory together.
const RECORDS_AT_ONCE: u32 = 100;
/// Records that are asked for at the same time.
const RECORDS_IN_FLIGHT: usize = 8;

/// Write the results or the records of a ladder for other programs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No token is needed. Results come in the order of their numbers, each once; docs/exports.md has the columns, their
types and their units. At the end, and when it is cut short, stderr has the cursor to go on from: what was
written up to there is whole. A file of CSV or JSON Lines goes on when it is called again, also after a kill:
FILE.cursor beside it says from where, and what was not finished is cut off. Of Parquet each run makes a file
of its own.

Examples:
  zetema ladder export results sackson-2 --format parquet --output results.parquet
  zetema ladder export results sackson-2 --bot greedy --since 2026-11-21 > greedy.csv
  zetema ladder export records sackson-2 --format jsonl --output records.jsonl
  zetema ladder export results sackson-2 --after CURSOR > rest.csv")]
pub(crate) struct Export {
    /// What to write
    #[arg(value_enum, value_name = "WHAT")]
    what: What,
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// The form to write it in
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// The file to write; unless given, stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Begin after this cursor; unless given, with the first result, or where the file ends
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Results of a page, for tests
    #[arg(long, hide = true, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    page_size: Option<u32>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    address: AddressArgs,
}

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum What {
    /// The results: in a table a row for each seat, with the ratings before and after
    Results,
    /// The records, whole: in a table a row for each match
    Records,
}

/// The form of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    /// A table as text, with a line of headings
    #[default]
    Csv,
    /// A line of JSON for each match
    Jsonl,
    /// A table as Apache Parquet
    Parquet,
}

impl What {
    /// The word for it.
    const fn word(self) -> &'static str {
        match self {
            Self::Results => "results",
            Self::Records => "records",
        }
    }
}

impl Form {
    /// The word for it.
    const fn word(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Jsonl => "JSON Lines",
            Self::Parquet => "Parquet",
        }
    }
}

impl Export {
    pub(super) async fn run(self) -> Result<()> {
        self.filter.check()?;
        let mut signals = Terminations::listen().context("signals can't be had")?;
        let client = Client::connect_as_anyone(&self.address).await?;
        // Before anything is written: of a bot that is not there the export would be empty, and look like an answer.
        patiently(async || check_bots(&client, self.filter.bots()).await).await?;
        let mut exporting = Exporting::new(&self, &client).await?;
        let done = exporting.all(&mut signals).await;
        exporting.end(done, &mut signals).await
    }
}

/// An export as far as it is.
struct Exporting<'a> {
    export: &'a Export,
    client: &'a Client,
    subject: Subject,
    place: Place,
    /// Opened with the first page.
    sink: Option<Sink>,
    /// After what the next page comes. `None`: it is the first one.
    after: Option<String>,
    /// After what was written.
    cursor: Option<String>,
    matches: usize,
    /// What the server could not give: to this run, or of the whole file that goes on.
    lacks: Lacks,
}

/// What is written at once.
struct Page {
    items: Vec<Item>,
    /// What is not among them, as the server can't give it.
    lacks: Lacks,
    /// After it.
    cursor: String,
    rest: Rest,
}

/// Whether more comes after a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Some,
    Nothing,
}

/// Whether the program was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Stop,
}

impl<'a> Exporting<'a> {
    async fn new(export: &'a Export, client: &'a Client) -> Result<Self> {
        let Export { what, ladder, format, output, after, filter, .. } = export;
        let basis = basis(export, client).await?;
        let (ladder, filter) = (ladder.clone(), filter.to_json());
        let subject = Subject { what: *what, ladder, format: *format, filter, basis };
        let (place, after, lacks) = match output {
            None => (Place::Stdout, after.clone(), Lacks::default()),
            Some(path) if *format == Form::Parquet => {
                (Place::Whole(path.clone()), after.clone(), Lacks::default())
            }
            Some(path) => {
                let progress = Progress::of(path, subject.clone(), after.clone())?;
                let after = Some(progress.cursor.clone()).filter(|cursor| !cursor.is_empty());
                let lacks = progress.lacks;
                (Place::Onward(path.clone(), Box::new(progress)), after, lacks)
            }
        };
        Ok(Self { export, client, subject, place, sink: None, after, cursor: None, matches: 0, lacks })
    }

    /// Writes all that there is now, page by page. It ends between two pages.
    async fn all(&mut self, signals: &mut Terminations) -> Result<()> {
        const STOPPED: &str = "it was told to stop";
        loop {
            let page = tokio::select! {
                biased;
                () = signals.next() => bail!(STOPPED),
                page = self.page() => page?,
            };
            let rest = page.rest;
            match (self.write(page, signals).await?, rest) {
                (_, Rest::Nothing) => return Ok(()),
                (Told::Stop, Rest::Some) => bail!(STOPPED),
                (Told::Nothing, Rest::Some) => {}
            }
        }
    }

    /// The next page. It may be dropped where it waits.
    async fn page(&mut self) -> Result<Page> {
        let Export { what, ladder, filter, page_size, .. } = self.export;
        let at_once = match what {
            What::Results => RESULTS_AT_ONCE,
            What::Records => RECORDS_AT_ONCE,
        };
        let request = v1::ListResultsRequest {
            ladder: ladder.clone(),
            filter: Some(filter.to_wire()),
            page_size: page_size.unwrap_or(at_once),
            page_token: String::new(),
            oldest_first: Some(v1::OldestFirst { after: self.after.clone().unwrap_or_default() }),
        };
        let answer = patiently(async || self.client.list_results(request.clone()).await).await?;
        let v1::ListResultsResponse { results, next_page_token, cursor, left_out_to } = answer;
        ensure!(
            !cursor.is_empty(),
            "the server is of an earlier version, which lists the latest results first: \
             `zetema ladder results` shows them"
        );
        if left_out_to > 0 {
            left_out(left_out_to, self.after.is_some())?;
        }
        // Settings change with a restart of the server, which may have been between two pages.
        if let Some(changed) = self.subject.basis.changed(&basis(self.export, self.client).await?) {
            bail!("what was written so far has {changed}: begin anew, in another file");
        }
        let (items, records) = match what {
            What::Results => (results.into_iter().map(Item::Result).collect(), 0),
            What::Records => self.records(results).await?,
        };
        let rest = if next_page_token.is_empty() { Rest::Nothing } else { Rest::Some };
        let lacks = Lacks { records, results_to: left_out_to };
        Ok(Page { items, lacks, cursor, rest })
    }

    /// Writes a page, whole, whatever comes.
    async fn write(&mut self, page: Page, signals: &mut Terminations) -> Result<Told> {
        let Page { items, lacks, cursor, rest: _ } = page;
        let (matches, after) = (items.len(), cursor.clone());
        let (sink, subject, place) = (self.sink.take(), self.subject.clone(), self.place.clone());
        let work = move || {
            let opened = match sink {
                Some(sink) => Ok(sink),
                None => Sink::open(&subject, &place),
            };
            match opened {
                Ok(mut sink) => {
                    let done = sink.write(&subject.ladder, &items, &cursor, lacks);
                    (Some(sink), done)
                }
                Err(error) => (None, Err(error)),
            }
        };
        let ((sink, done), told) = apart(signals, work).await?;
        self.sink = sink;
        done?;
        self.matches += matches;
        self.lacks = self.lacks.with(lacks);
        (self.after, self.cursor) = (Some(after.clone()), Some(after));
        Ok(told)
    }

    /// The records of these results, in their order, without those that the server can't give for good, and how many these are.
    async fn records(&self, results: Vec<v1::LadderResult>) -> Result<(Vec<Item>, usize)> {
        let mut found = stream::iter(results)
            .map(async |result| {
                let answer = record_of(self.client, &result.match_id).await;
                (result, answer)
            })
            .buffered(RECORDS_IN_FLIGHT);
        let mut page = Vec::new();
        let mut left_out = 0;
        while let Some((result, answer)) = found.next().await {
            let message = match answer {
                Err(error) if said_no(&error).is_none() => return Err(error),
                told => told,
            };
            let read = message.and_then(|message| Ok((Found::from_wire(&message)?, message)));
            match read {
                Ok((found, message)) => {
                    page.push(Item::Record(Box::new(ExportedRecord { result, message, found })));
                }
                Err(error) => {
                    left_out += 1;
                    let number = result.result_number;
                    output::note(format!(
                        "left out: the record of {}, result {number}: {error:#}",
                        result.match_id
                    ));
                }
            }
        }
        Ok((page, left_out))
    }

    /// Closes what was written, and says where to go on.
    async fn end(self, done: Result<()>, signals: &mut Terminations) -> Result<()> {
        let Self { export, sink, mut cursor, mut matches, lacks, place, .. } = self;
        let was_open = sink.is_some();
        let closed = apart(signals, || sink.map_or(Ok(()), Sink::close)).await;
        let closed = closed.and_then(|(closed, _)| closed);
        if export.format == Form::Parquet && (closed.is_err() || !was_open) {
            // Nothing of it is there.
            (cursor, matches) = (None, 0);
        }
        if let Some(cursor) = &cursor {
            let written = counted(matches, "match");
            output::note(format!("{written} written; to go on from here: --after {cursor}"));
        }
        done.and(closed).map_err(|error| match cursor {
            Some(_) => error.context("the export was cut short"),
            None => error,
        })?;
        let lacks = lacks.told();
        match place {
            _ if lacks.is_empty() => Ok(()),
            Place::Onward(path, _) => bail!(
                "{} lacks {lacks}, which the server could not give when it came to them: `zetema ladder audit` names what is \
                 damaged now. Once the server can, export to another file",
                path.display()
            ),
            Place::Stdout | Place::Whole(_) => bail!("{lacks} left out, as said above"),
        }
    }
}

/// What the results of the ladder are counted by now.
async fn basis(export: &Export, client: &Client) -> Result<Basis> {
    // It is answered when all results are counted, and only then is it told how many are lost: the server may have started again since the
    // last page.
    let standings = v1::GetStandingsRequest {
        ladder: export.ladder.clone(),
        page_size: 1,
        ..v1::GetStandingsRequest::default()
    };
    patiently(async || client.get_standings(standings.clone()).await).await?;
    let answer = patiently(async || client.list_ladders(v1::ListLaddersRequest {}).await).await?;
    let ladder = answer.ladders.into_iter().find(|ladder| ladder.name == export.ladder);
    Ok(Basis::of(export.what, ladder.as_ref()))
}

/// Does what may take long, as where nobody reads stdout, beside the task that hears when the program is told to stop. Told once, it
/// ends after that; told again, at once.
async fn apart<T: Send + 'static>(
    signals: &mut Terminations,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<(T, Told)> {
    const CUT: &str = "the writing was cut short";
    let mut work = spawn_blocking(work);
    tokio::select! {
        biased;
        done = &mut work => return Ok((done.context(CUT)?, Told::Nothing)),
        () = signals.next() => {}
    }
    output::note("It stops when what is being written is written. Ctrl-C again stops it at once.");
    tokio::select! {
        biased;
        done = &mut work => Ok((done.context(CUT)?, Told::Stop)),
        () = signals.next() => bail!("it was told to stop at once: a part of a page may have been written"),
    }
}

/// What is not kept can't be passed over in the middle of a file.
fn left_out(to: u64, goes_on: bool) -> Result<()> {
    let which = format!("results of this ladder up to {to} can't be looked up any more");
    if goes_on {
        bail!(
            "{which}, and some of them come after this cursor. Begin anew without --after, in another file; \
             older matches are in `zetema match results`, and their records in `zetema record export`"
        );
    }
    output::note(format!(
        "left out: {which}; those matches are in `zetema match results`, and their records in `zetema record export`"
    ));
    Ok(())
}
