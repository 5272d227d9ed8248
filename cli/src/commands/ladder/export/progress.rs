//! How far a file of lines is: kept beside it, so that what a run did not finish can be cut off.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

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
    pub(super) rating: Settings,
}

/// By which settings a ladder rates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<String>", into = "Option<String>")]
pub(super) enum Settings {
    /// They were not kept, as by earlier versions.
    #[default]
    NotKept,
    /// Its ratings are not exported, or the server does not tell.
    Nothing,
    By(String),
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

impl From<Option<String>> for Settings {
    fn from(settings: Option<String>) -> Self {
        settings.map_or(Self::Nothing, Self::By)
    }
}

impl From<Settings> for Option<String> {
    fn from(settings: Settings) -> Self {
        match settings {
            Settings::NotKept | Settings::Nothing => None,
            Settings::By(settings) => Some(settings),
        }
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotKept | Self::Nothing => "none",
            Self::By(settings) => settings,
        })
    }
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
        let kept = kept.with_settings(&subject.rating);
        if kept.subject.rating != subject.rating
            && (Subject { rating: subject.rating.clone(), ..kept.subject.clone() }) == subject
        {
            if kept.subject.rating == Settings::NotKept {
                bail!(Usage::new(format!(
                    "{file} is of an earlier version, whose lines have adjusted_score, and those of this version don't: give another \
                     file, which begins with the first result"
                )));
            }
            bail!(Usage::new(format!(
                "{file} has ratings by other settings: {path} says {}, and {} rates by {} now, so that all its ratings were made \
                 anew. Give another file, which begins with the first result",
                kept.subject.rating, subject.ladder, subject.rating
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

    /// The same with these settings where an earlier version kept none, if its lines are as those of this version: all are but results in
    /// JSON Lines, which had `adjusted_score`.
    fn with_settings(mut self, settings: &Settings) -> Self {
        let Subject { what, format, rating, .. } = &mut self.subject;
        let is_other = *what == What::Results && *format == Form::Jsonl && self.bytes > 0;
        if *rating == Settings::NotKept && !is_other {
            *rating = settings.clone();
        }
        self
    }

    /// What is kept beside a file, if it is still this: another run may have gone on with it.
    pub(super) fn still(&self, file: &Path) -> Result<Self> {
        match Self::read(file)? {
            Some(kept) if kept.clone().with_settings(&self.subject.rating) == *self => Ok(kept),
            _ => bail!("{} was gone on with meanwhile: call it again", file.display()),
        }
    }

    /// Keeps it, in one step.
    pub(super) fn keep(&self, file: &Path) -> Result<()> {
        let path = Self::path(file);
        let kept = self.written(&path).and_then(|new| Ok(new.persist(&path)?));
        kept.map(drop).with_context(|| unwritable(&path))
    }

    /// Keeps it, in one step, if nothing is kept there.
    pub(super) fn keep_new(&self, file: &Path) -> Result<()> {
        let path = Self::path(file);
        let new = self.written(&path).with_context(|| unwritable(&path))?;
        match new.persist_noclobber(&path) {
            Err(failed) if failed.error.kind() != io::ErrorKind::AlreadyExists => {
                Err(failed).with_context(|| unwritable(&path))
            }
            _ => Ok(()),
        }
    }

    /// It as a file that has no name yet, on the disk.
    fn written(&self, path: &Path) -> Result<NamedTempFile> {
        let mut new = beside(path)?;
        serde_json::to_writer(&mut new, self)?;
        new.write_all(b"\n")?;
        new.as_file().sync_all()?;
        Ok(new)
    }
}

fn unwritable(path: &Path) -> String {
    format!("{} can't be written", path.display())
}

pub(super) fn unreadable(path: &Path) -> String {
    format!("{} can't be read", path.display())
}
