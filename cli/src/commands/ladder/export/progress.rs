//! How far a file of lines is: kept beside it, so that what a run did not finish can be cut off.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::beside::beside;
use super::{Form, What};
use crate::commands::ladder::filter::FilterJson;
use crate::failure::Usage;

/// What is exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subject {
    pub(super) what: What,
    pub(super) ladder: String,
    pub(super) format: Form,
    pub(super) filter: FilterJson,
    /// By which settings the ladder rates, if its ratings are exported.
    #[serde(default)]
    pub(super) rating: Option<String>,
}

/// How far a file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Of what it is.
    #[serde(flatten)]
    pub(super) subject: Subject,
    /// After which cursor it was begun; empty: with the first result.
    #[serde(default)]
    pub(super) began_after: String,
    /// After which cursor it goes on; empty: with the first result.
    pub(super) cursor: String,
    /// So many bytes of it are of whole pages up to that cursor, and on the disk.
    pub(super) bytes: u64,
    /// So many records up to that cursor are not in it, as the server could not give them.
    #[serde(default)]
    pub(super) left_out: usize,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, ladder, format, filter, rating: _ } = self;
        let filter = serde_json::to_string(filter).map_err(|_| fmt::Error)?;
        write!(f, "the {} of {ladder} as {}, filtered by {filter}", what.word(), format.word())
    }
}

impl Progress {
    /// Where a file goes on, or begins: by what is kept beside it, with which a given cursor has to agree.
    pub(super) fn of(file: &Path, subject: Subject, after: Option<String>) -> Result<Self> {
        let is_there = fs::exists(file).with_context(|| unreadable(file))?;
        let (path, kept) = (Self::path(file), Self::read(file)?);
        let (file, path) = (file.display(), path.display());
        let Some(kept) = kept else {
            if is_there {
                bail!(Usage::new(format!(
                    "{file} is there, and {path}, which would say how far it is, is not: give another file"
                )));
            }
            let began_after = after.unwrap_or_default();
            return Ok(Self { subject, cursor: began_after.clone(), began_after, bytes: 0, left_out: 0 });
        };
        if kept.subject.rating != subject.rating
            && (Subject { rating: subject.rating.clone(), ..kept.subject.clone() }) == subject
        {
            let settings = |of: Option<String>| of.unwrap_or_else(|| "none".to_owned());
            bail!(Usage::new(format!(
                "{file} has ratings by other settings: {path} says {}, and {} rates by {} now, so that all its ratings were made \
                 anew. Give another file, which begins with the first result",
                settings(kept.subject.rating),
                subject.ladder,
                settings(subject.rating),
            )));
        }
        if kept.subject != subject {
            bail!(Usage::new(format!(
                "{file} is another export: {path} says that it has {}. Give another file",
                kept.subject
            )));
        }
        if kept.bytes > 0 && !is_there {
            bail!(Usage::new(format!(
                "{file} is not there any more, and {path} says how far it is: put it back, or remove that too to begin anew"
            )));
        }
        if after.is_some_and(|after| after != kept.cursor && after != kept.began_after) {
            bail!(Usage::new(format!(
                "{file} goes on after another cursor, {:?}, as {path} says: leave out --after, or give another file",
                kept.cursor
            )));
        }
        Ok(kept)
    }

    /// Where it is kept.
    pub(super) fn path(file: &Path) -> PathBuf {
        let mut path = file.as_os_str().to_owned();
        path.push(".cursor");
        path.into()
    }

    /// What is kept beside a file.
    pub(super) fn read(file: &Path) -> Result<Option<Self>> {
        let path = Self::path(file);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| unreadable(&path)),
        };
        let kept = serde_json::from_slice(&text).map_err(|error| {
            let (path, file) = (path.display(), file.display());
            Usage::new(format!("{path} does not say how far {file} is ({error}): give another file"))
        })?;
        Ok(Some(kept))
    }

    /// Keeps it, in one step.
    pub(super) fn keep(&self, file: &Path) -> Result<()> {
        let path = Self::path(file);
        let written = || -> Result<()> {
            let mut new = beside(&path)?;
            serde_json::to_writer(&mut new, self)?;
            new.write_all(b"\n")?;
            new.as_file().sync_all()?;
            new.persist(&path)?;
            Ok(())
        };
        written().with_context(|| format!("{} can't be written", path.display()))
    }
}

pub(super) fn unreadable(path: &Path) -> String {
    format!("{} can't be read", path.display())
}
