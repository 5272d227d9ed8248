//! `zetema ladder audit`.

mod finding;
mod lists;
mod numbers;
mod place;
mod source;
mod uncompared;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Error, Result, bail};
use futures::{StreamExt, stream};
use indicatif::{ProgressBar, ProgressStyle};
use secrecy::SecretString;
use serde::Serialize;
use zetema_proto::v1::{self, ErrorReason};

use self::finding::{Finding, Kind};
use self::lists::{Listed, Lists};
use self::numbers::Numbers;
use self::place::Place;
use self::source::{Entry, Said, Sight, Source};
use self::uncompared::{Uncompared, Why};
use crate::args::{AddressArgs, FormatArgs, ServerArgs, TlsArgs};
use crate::client::{reason_of, said_no};
use crate::failure::nobody_reads;
use crate::output::{self, Format};
use crate::render::counted;

/// Records that are fetched and checked at the same time.
const IN_FLIGHT: usize = 8;

/// Check every record of a server in one go.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Checked are, of every match that is over: the record, as `zetema record verify` does (seed and nonces, dealer, decks,
steps, points, ledger of the clocks, result), that the list of results, the match and the ladder say the same, and
that the numbers of results have no gap. With the admin's token these are all matches, else those that the token may
see. With --data and no --server on the command line it reads the folder of a server that does not run, and changes
nothing there; what ladders list and what is held for other matches a server alone knows: that is then left out.
Each record that fails is named; the exit code is 1 if there is one. The JSON is an object: records, sound, held,
unseen, not_compared (too_old, no_such_ladder, not_counted, no_server: records that were not held against the list of
their ladder, and why), findings (result_number, match_id, kind, problem).

Examples:
  zetema ladder audit --server https://zetema.example:4680
  zetema ladder audit --data /var/lib/zetema --format json")]
pub(crate) struct Audit {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    tls: TlsArgs,
    /// The admin token; unless given, it is read from the file in the server's data folder
    #[arg(long, env = "ZETEMA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<SecretString>,
    /// Results of a page, for tests
    #[arg(long, hide = true, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    page_size: Option<u16>,
    #[command(flatten)]
    format: FormatArgs,
}

impl Audit {
    pub(super) async fn run(self) -> Result<()> {
        let Self { place, tls, token, page_size, format } = self;
        output::note(format!("What is audited is {place}."));
        let source = match place {
            Place::Folder(data) => Source::folder(&data)?,
            Place::Server { server, data } => {
                let address = AddressArgs { server, tls };
                Source::server(&ServerArgs { address, token, data }).await?
            }
        };
        let audited = Auditing::new(&source, format.format, page_size).await?.all().await?;
        let printed = match format.format {
            Format::Json => output::print_json(&audited),
            Format::Table => print(&audited, source.sight()),
        };
        // Whether somebody reads it or not.
        if audited.failed > 0 {
            bail!("{} found wrong", counted(audited.failed, "thing"));
        }
        printed
    }
}

/// What was found.
#[derive(Debug, Default, Serialize)]
struct AuditJson {
    /// Matches that were looked at.
    records: u64,
    /// Of them, those with which nothing is wrong.
    sound: u64,
    /// Of them, those whose cards other matches still play with.
    held: u64,
    /// Results of matches that the token may not see.
    unseen: u64,
    /// Of those that were read, those that were not held against the list of their ladder.
    not_compared: Uncompared,
    findings: Vec<Finding>,
    #[serde(skip)]
    kinds: BTreeMap<Kind, usize>,
    #[serde(skip)]
    failed: usize,
}

/// An audit that goes on.
struct Auditing<'a> {
    source: &'a Source,
    format: Format,
    page_size: Option<u16>,
    lists: Option<Lists>,
    numbers: Numbers,
    /// Results of which the list tells, and no record was read: whether their ladders should list them is not known.
    unread: BTreeSet<u64>,
    found: AuditJson,
    progress: ProgressBar,
    reader: Reader,
}

/// Whether somebody reads stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    There,
    Gone,
}

/// What came of one record.
enum Read {
    Held,
    Unreadable(Error),
    /// The record, and what is wrong with it by itself.
    Checked(Box<v1::Record>, Vec<(Kind, String)>),
}

impl<'a> Auditing<'a> {
    async fn new(source: &'a Source, format: Format, page_size: Option<u16>) -> Result<Self> {
        // Before the first record: what comes meanwhile may be missing above the first one, and nothing else.
        let (lists, latest) = match source {
            Source::Server(client, _) => {
                let lists = Lists::of((**client).clone(), page_size, lists::UNTIL_COUNTED).await?;
                let latest = lists.latest();
                (Some(lists), latest)
            }
            Source::Folder(journal) => (None, journal.latest_result()?.get()),
        };
        // Shown on stderr, and only if that is a terminal.
        let style = ProgressStyle::with_template("{bar:40.green/dim} {pos} of {len} results in {elapsed}")?;
        let progress = ProgressBar::new(0).with_style(style);
        Ok(Self {
            source,
            format,
            page_size,
            lists,
            numbers: Numbers::up_to(latest),
            unread: BTreeSet::new(),
            found: AuditJson::default(),
            progress,
            reader: Reader::There,
        })
    }

    async fn all(mut self) -> Result<AuditJson> {
        let mut from = None;
        loop {
            let page = self.source.page(from, self.page_size).await?;
            let source = self.source;
            let mut read = stream::iter(page.entries)
                .map(async |Entry { number, match_id, said }| {
                    let read = match said {
                        Ok(said) => read(source, said).await?,
                        Err(error) => Read::Unreadable(error),
                    };
                    anyhow::Ok((number, match_id, read))
                })
                .buffered(IN_FLIGHT);
            while let Some(read) = read.next().await {
                let (number, match_id, read) = read?;
                self.one(number, match_id, read).await?;
            }
            from = page.next;
            if from.is_none() {
                return self.end().await;
            }
        }
    }

    /// Takes the next match, which ended before the one before.
    async fn one(&mut self, number: u64, match_id: Option<String>, read: Read) -> Result<()> {
        let (missing, again) = self.numbers.next(number);
        self.missing(missing)?;
        self.progress.set_length(self.numbers.latest());
        self.progress.set_position(self.numbers.latest() - number.min(self.numbers.latest()) + 1);
        self.found.records += 1;
        let mut wrong = Vec::new();
        if again {
            wrong.push((
                Kind::Number,
                "the list of results has its number twice, or in the wrong order".to_owned(),
            ));
        }
        match read {
            Read::Held => {
                self.unread.insert(number);
                self.found.held += 1;
            }
            Read::Unreadable(error) => {
                self.unread.insert(number);
                wrong.push((Kind::Unreadable, format!("{error:#}")));
            }
            Read::Checked(record, by_itself) => {
                wrong.extend(by_itself);
                wrong.extend(self.on_ladder(&record, number).await?.map(|problem| (Kind::Result, problem)));
                self.found.sound += u64::from(wrong.is_empty());
            }
        }
        for (kind, problem) in wrong {
            self.tell(number, match_id.clone(), kind, problem)?;
        }
        Ok(())
    }

    /// What a ladder says of a match of its own.
    async fn on_ladder(&mut self, record: &v1::Record, number: u64) -> Result<Option<String>> {
        if record.ladder.is_empty() {
            return Ok(None);
        }
        let Some(lists) = self.lists.as_mut() else {
            self.found.not_compared.add(Why::NoServer);
            return Ok(None);
        };
        let (listed, above) = lists.at(&record.ladder, number, self.numbers.latest()).await?;
        for result in above {
            self.without_record(&record.ladder, &result)?;
        }
        Ok(match listed {
            Listed::Result(listed) => finding::on_ladder(record, &listed),
            Listed::Nothing => Some(format!("the ladder {} does not list it", record.ladder)),
            Listed::NotKept(why) => {
                self.found.not_compared.add(why);
                None
            }
        })
    }

    async fn end(mut self) -> Result<AuditJson> {
        let missing = self.numbers.end();
        self.missing(missing)?;
        if let Some(mut lists) = self.lists.take() {
            for (ladder, result) in lists.below(self.numbers.latest()).await? {
                self.without_record(&ladder, &result)?;
            }
        }
        self.progress.finish_and_clear();
        Ok(self.found)
    }

    /// A ladder lists a result that has not come. One that could not be read has, and is told of already.
    fn without_record(&mut self, ladder: &str, result: &v1::LadderResult) -> Result<()> {
        if self.unread.remove(&result.result_number) {
            return Ok(());
        }
        let problem = format!("the ladder {ladder} lists it, and there is no such record");
        self.tell(result.result_number, Some(result.match_id.clone()), Kind::Result, problem)
    }

    /// Takes the numbers that were passed over.
    fn missing(&mut self, missing: Option<(u64, u64)>) -> Result<()> {
        let Some((first, last)) = missing else { return Ok(()) };
        if self.source.sight() == Sight::Some {
            self.found.unseen += last - first + 1;
            return Ok(());
        }
        let problem = if first == last {
            format!("there is no result {first}")
        } else {
            format!("there are no results {first} to {last}")
        };
        self.tell(first, None, Kind::Number, problem)
    }

    fn tell(
        &mut self,
        result_number: u64,
        match_id: Option<String>,
        kind: Kind,
        problem: String,
    ) -> Result<()> {
        self.found.failed += 1;
        *self.found.kinds.entry(kind).or_default() += 1;
        let finding = Finding { result_number, match_id, kind, problem };
        match self.format {
            Format::Json => self.found.findings.push(finding),
            // As it is found: there may be very many. They are counted though nobody reads them any more, as `head` does.
            Format::Table if self.reader == Reader::There => {
                match self.progress.suspend(|| output::print(line(&finding))) {
                    Err(error) if nobody_reads(&error) => self.reader = Reader::Gone,
                    printed => printed?,
                }
            }
            Format::Table => {}
        }
        Ok(())
    }
}

/// Reads a record and checks it by itself, beside others.
async fn read(source: &Source, mut said: Said) -> Result<Read> {
    if !said.summary.revealed {
        return Ok(Read::Held);
    }
    let asked = async {
        let record = source.record(&said.summary.match_id).await?;
        anyhow::Ok((record, source.info(&mut said).await?))
    };
    let (record, info) = match asked.await {
        Ok(both) => both,
        Err(error) => {
            return match said_no(&error) {
                Some(ErrorReason::HeldUntilReveal) => Ok(Read::Held),
                // It has been asked for long enough.
                None if reason_of(&error) == Some(ErrorReason::NotRevealed) => Ok(Read::Unreadable(error)),
                // The server is gone, or does not let itself be asked: that says nothing of the record.
                None if matches!(source, Source::Server(..)) => Err(error),
                _ => Ok(Read::Unreadable(error)),
            };
        }
    };
    let checked = tokio::task::spawn_blocking(move || {
        let wrong = finding::in_record(&said.summary, &info, &record);
        Read::Checked(Box::new(record), wrong)
    });
    checked.await.context("a check was cut short")
}

fn line(finding: &Finding) -> String {
    let Finding { result_number, match_id, kind, problem } = finding;
    let which = match match_id {
        Some(match_id) => format!("result {result_number}, match {match_id}"),
        None => format!("result {result_number}"),
    };
    let mark = console::style("DIFFERS").red().bold();
    format!("{mark} {which}: {}: {}", kind.word(), output::plain(problem))
}

fn print(audited: &AuditJson, sight: Sight) -> Result<()> {
    let AuditJson { records, sound, held, unseen, not_compared, kinds, .. } = audited;
    let mut table = output::table(["records", "count"]);
    table.add_row(["sound".to_owned(), sound.to_string()]);
    if *held > 0 {
        table.add_row(["held until their deal set is over".to_owned(), held.to_string()]);
    }
    for (kind, count) in kinds {
        table.add_row([format!("wrong: {}", kind.word()), count.to_string()]);
    }
    for (what, count) in not_compared.rows() {
        table.add_row([what.to_owned(), count.to_string()]);
    }
    if *unseen > 0 {
        table.add_row(["not seen with this token".to_owned(), unseen.to_string()]);
    }
    table.add_row(["looked at".to_owned(), records.to_string()]);
    output::align_right(&mut table, [1]);
    output::print(table)?;
    if sight == Sight::Some {
        output::note(
            "These are the matches that everybody or this token may see: for all of them give the admin's token by --token, or \
             the server's data folder by --data. Without it nobody can say whether a number is missing.",
        );
    }
    Ok(())
}
