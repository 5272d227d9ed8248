//! How far a file of lines is: kept beside it, so that what a run did not finish can be cut off.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::basis::{Basis, Settings};
use super::{Form, What};
use crate::beside::beside;
use crate::commands::ladder::filter::FilterJson;
use crate::failure::Usage;
use crate::render::counted;

/// What is exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subject {
    pub(super) what: What,
    pub(super) ladder: String,
    pub(super) format: Form,
    pub(super) filter: FilterJson,
    /// What its results are counted by.
    #[serde(flatten)]
    pub(super) basis: Basis,
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
    /// What of all up to that cursor is not in it.
    #[serde(flatten)]
    pub(super) lacks: Lacks,
}

/// What an export lacks, as the server could not give it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lacks {
    /// So many records.
    #[serde(default, rename = "left_out")]
    pub(super) records: usize,
    /// Results up to the one with this number. 0: none.
    #[serde(default, rename = "left_out_to", skip_serializing_if = "is_none")]
    pub(super) results_to: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_none(results_to: &u64) -> bool {
    *results_to == 0
}

impl Lacks {
    /// All that two parts lack.
    pub(super) const fn with(self, other: Self) -> Self {
        let results_to = if self.results_to > other.results_to { self.results_to } else { other.results_to };
        Self { records: self.records + other.records, results_to }
    }

    /// In words, for each kind. Empty: nothing.
    pub(super) fn told(self) -> String {
        let results = (self.results_to > 0).then(|| format!("results up to {}", self.results_to));
        let records = (self.records > 0).then(|| counted(self.records, "record"));
        results.into_iter().chain(records).collect::<Vec<_>>().join(" and ")
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, ladder, format, filter, basis: _ } = self;
        let filter = serde_json::to_string(filter).map_err(|_| fmt::Error)?;
        write!(f, "the {} of {ladder} as {}, filtered by {filter}", what.word(), format.word())
    }
}

impl Subject {
    /// Whether it is the same export, on whichever basis.
    fn is_as(&self, other: &Self) -> bool {
        let Self { what, ladder, format, filter, basis: _ } = self;
        (what, ladder, format, filter) == (&other.what, &other.ladder, &other.format, &other.filter)
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
            return Ok(Self {
                subject,
                cursor: began_after.clone(),
                began_after,
                bytes: 0,
                lacks: Lacks::default(),
            });
        };
        let kept = kept.with_basis(&subject.basis);
        if !kept.subject.is_as(&subject) {
            bail!(Usage::new(format!(
                "{file} is another export: {path} says that it has {}. Give another file",
                kept.subject
            )));
        }
        if kept.subject.basis.rating == Settings::NotKept {
            bail!(Usage::new(format!(
                "{file} is of an earlier version, whose lines have adjusted_score, and those of this version don't: give another \
                 file, which begins with the first result"
            )));
        }
        if let Some(changed) = kept.subject.basis.changed(&subject.basis) {
            bail!(Usage::new(format!(
                "{file} has {changed}, as {path} says. Give another file, which begins with the first result"
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

    /// The same on this basis where an earlier version kept none, if its lines are as those of this version: all are but results in
    /// JSON Lines of versions that did not keep the settings, which had `adjusted_score`.
    fn with_basis(mut self, now: &Basis) -> Self {
        let Subject { what, format, basis, .. } = &mut self.subject;
        let is_other = *what == What::Results
            && *format == Form::Jsonl
            && self.bytes > 0
            && basis.rating == Settings::NotKept;
        if !is_other {
            *basis = basis.clone().filled_by(now);
        }
        self
    }

    /// What is kept beside a file, if it is still this: another run may have gone on with it.
    pub(super) fn still(&self, file: &Path) -> Result<Self> {
        match Self::read(file)? {
            Some(kept) if kept.clone().with_basis(&self.subject.basis) == *self => Ok(kept),
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use zetema_proto::v1;

    use super::*;

    /// What an export of results has, on this basis.
    fn subject(basis: &Value) -> Subject {
        let filter = json!({"bot": null, "opponent": null, "since": null, "before": null, "reasons": []});
        let mut what = json!({"what": "results", "ladder": "quick-2", "format": "csv", "filter": filter});
        what.as_object_mut().unwrap().extend(basis.as_object().unwrap().clone());
        serde_json::from_value(what).unwrap()
    }

    /// A file of which a page is written, on this basis.
    fn begun(folder: &Path, basis: &Value) -> PathBuf {
        let file = folder.join("results.csv");
        fs::write(&file, "a\n1\n").unwrap();
        let progress = Progress {
            subject: subject(basis),
            began_after: String::new(),
            cursor: "r-1".to_owned(),
            bytes: 4,
            lacks: Lacks::default(),
        };
        progress.keep(&file).unwrap();
        file
    }

    #[test]
    fn what_a_file_lacks_is_kept_beside_it_and_an_earlier_version_kept_the_records_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = begun(folder.path(), &json!({"rating": "mu 25", "rates": "rated", "lost_results": 3}));
        let kept = Progress::read(&file).unwrap().unwrap();
        assert_eq!(kept.lacks.told(), "");
        let lacks = kept.lacks.with(Lacks { records: 2, results_to: 0 });
        assert_eq!(lacks.told(), "2 records");
        let lacks =
            lacks.with(Lacks { records: 0, results_to: 70 }).with(Lacks { records: 1, results_to: 7 });
        Progress { lacks, ..kept }.keep(&file).unwrap();
        let read = Progress::read(&file).unwrap().unwrap();
        assert_eq!((read.lacks, read.lacks.told().as_str()), (lacks, "results up to 70 and 3 records"));
        let beside = Progress::path(&file);
        let mut kept: Value = serde_json::from_str(&fs::read_to_string(&beside).unwrap()).unwrap();
        kept.as_object_mut().unwrap().remove("left_out_to");
        fs::write(&beside, kept.to_string()).unwrap();
        assert_eq!(Progress::read(&file).unwrap().unwrap().lacks, Lacks { records: 3, results_to: 0 });
    }

    #[test]
    fn a_file_is_not_gone_on_with_once_results_are_counted_otherwise_or_were_lost() {
        let basis = json!({"rating": "mu 25", "rates": "rated", "lost_results": 3});
        let folder = tempfile::tempdir().unwrap();
        let file = begun(folder.path(), &basis);
        let kept = fs::read(Progress::path(&file)).unwrap();
        assert_eq!(Progress::of(&file, subject(&basis), None).unwrap().cursor, "r-1");
        for (setting, other, says) in [
            ("rating", json!("mu 26"), &["other settings: they were mu 25, and are mu 26 now"][..]),
            ("rates", json!("unrated"), &["same_owner", "was rated", "is not rated (anywhere) now"]),
            ("rates", json!(null), &["same_owner", "not told"]),
            ("lost_results", json!(4), &["lost_results of the server was 3, and is 4 now"]),
            ("lost_results", json!(0), &["lost_results of the server was 3, and is 0 now"]),
        ] {
            let mut now = basis.clone();
            now[setting] = other;
            let told = Progress::of(&file, subject(&now), None).unwrap_err().to_string();
            for says in says.iter().chain(&["Give another file", "results.csv.cursor"]) {
                assert!(told.contains(says), "{says}: {told}");
            }
            assert_eq!(fs::read(Progress::path(&file)).unwrap(), kept);
        }
    }

    #[test]
    fn what_an_earlier_version_did_not_keep_is_taken_to_be_as_the_first_run_finds_it() {
        let basis = json!({"rating": "mu 25", "rates": "rated", "lost_results": 3});
        for left_out in [&["rates", "lost_results"][..], &["rating", "rates", "lost_results"]] {
            let folder = tempfile::tempdir().unwrap();
            let file = begun(folder.path(), &basis);
            let path = Progress::path(&file);
            let mut said: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            for setting in left_out {
                said.as_object_mut().unwrap().remove(*setting).expect("it is kept");
            }
            fs::write(&path, said.to_string()).unwrap();
            let progress = Progress::of(&file, subject(&basis), None).unwrap();
            assert_eq!(progress.subject, subject(&basis));
            progress.still(&file).unwrap();
            // From then on it is kept.
            progress.keep(&file).unwrap();
            let mut now = basis.clone();
            now["lost_results"] = json!(4);
            let told = Progress::of(&file, subject(&now), None).unwrap_err().to_string();
            assert!(told.contains("lost_results"), "{told}");
        }
    }

    #[test]
    fn of_records_the_ratings_do_not_count_and_a_loss_does() {
        let ladder = |same_owner: v1::SameOwner, lost_results| v1::Ladder {
            same_owner: same_owner.into(),
            lost_results,
            rating: Some(v1::RatingSettings::default()),
            ..v1::Ladder::default()
        };
        let [rated, near, unrated, lost] = [
            ladder(v1::SameOwner::Apart, 0),
            ladder(v1::SameOwner::Opponents, 0),
            ladder(v1::SameOwner::Anywhere, 0),
            ladder(v1::SameOwner::Apart, 1),
        ];
        for (what, other, is_other) in [
            (What::Results, &near, false),
            (What::Results, &unrated, true),
            (What::Results, &lost, true),
            (What::Records, &unrated, false),
            (What::Records, &lost, true),
        ] {
            let changed = Basis::of(what, Some(&rated)).changed(&Basis::of(what, Some(other)));
            assert_eq!(changed.is_some(), is_other, "{what:?}: {changed:?}");
        }
    }
}
