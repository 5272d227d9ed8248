//! What takes what is exported, in one of the forms.

use std::path::PathBuf;

use anyhow::{Result, anyhow};

use super::destination::{Destination, Lines};
use super::item::{Item, RECORDS, RESULTS};
use super::parquet_file::ParquetFile;
use super::progress::{Lacks, Progress, Subject};
use super::table::{Cell, Column};
use super::{Form, What};

/// Where an export goes.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Stdout,
    /// A file of one run.
    Whole(PathBuf),
    /// A file that goes on from there.
    Onward(PathBuf, Box<Progress>),
}

/// What takes what is exported.
pub(super) enum Sink {
    Csv(Destination),
    JsonLines(Destination),
    Parquet(Box<ParquetFile>),
}

impl Sink {
    /// Opens it.
    pub(super) fn open(subject: &Subject, place: &Place) -> Result<Self> {
        let (name, columns, line): (_, &[Column], &[u8]) = match subject.what {
            What::Results => ("zetema_results", &RESULTS, b"{\"result_number\":"),
            What::Records => ("zetema_records", &RECORDS, b"{\"match\":{\"match_id\":"),
        };
        let lines = |header: &[u8]| match place {
            Place::Stdout => Destination::stdout(header),
            Place::Whole(path) => Err(anyhow!("{} would be of one run", path.display())),
            Place::Onward(path, progress) => {
                Ok(Destination::File(Box::new(Lines::open(path, Progress::clone(progress), header, line)?)))
            }
        };
        Ok(match subject.format {
            Form::Csv => {
                let mut header = csv::Writer::from_writer(Vec::new());
                header.write_record(columns.iter().map(|column| column.name))?;
                Self::Csv(lines(&header.into_inner()?)?)
            }
            Form::Jsonl => Self::JsonLines(lines(b"")?),
            Form::Parquet => {
                let path = match place {
                    Place::Stdout => None,
                    Place::Whole(path) | Place::Onward(path, _) => Some(path.as_path()),
                };
                Self::Parquet(Box::new(ParquetFile::create(path, name, columns)?))
            }
        })
    }

    /// Takes a page, whole or not at all, where it ends, and what it lacks.
    pub(super) fn write(&mut self, ladder: &str, page: &[Item], cursor: &str, lacks: Lacks) -> Result<()> {
        match self {
            Self::Csv(to) => {
                let mut text = csv::Writer::from_writer(Vec::new());
                for row in page.iter().map(|item| item.rows(ladder)) {
                    for row in row? {
                        text.write_record(row.iter().map(Cell::text))?;
                    }
                }
                to.write(&text.into_inner()?, cursor, lacks)
            }
            Self::JsonLines(to) => {
                let mut text = String::new();
                for line in page.iter().map(Item::json) {
                    text.push_str(&line?);
                    text.push('\n');
                }
                to.write(text.as_bytes(), cursor, lacks)
            }
            Self::Parquet(file) => {
                let rows = page.iter().map(|item| item.rows(ladder)).collect::<Result<Vec<_>>>()?;
                rows.into_iter().flatten().try_for_each(|row| file.push(row))
            }
        }
    }

    /// Ends it. Of Parquet nothing is there before.
    pub(super) fn close(self) -> Result<()> {
        match self {
            Self::Csv(_) | Self::JsonLines(_) => Ok(()),
            Self::Parquet(file) => file.close(),
        }
    }
}
