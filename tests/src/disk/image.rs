//! All files of a disk, and what is left of them when the power is lost.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::{fs, io};

use rand::RngExt;
use rand::rngs::StdRng;

use super::Survival;
use super::contents::Contents;

/// The number of a file.
pub(super) type Number = u64;

/// The first number of a file: 1 is the folder's.
const FIRST: Number = 2;

/// A file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) contents: Contents,
    pub(super) mode: u16,
}

/// A change of the folder.
#[derive(Clone, Debug)]
enum Renamed {
    Added(OsString, Number),
    Removed(OsString),
    Moved(OsString, OsString),
}

type Names = BTreeMap<OsString, Number>;

/// One folder of files.
#[derive(Clone, Debug)]
pub(super) struct Image {
    files: BTreeMap<Number, File>,
    next: Number,
    names: Names,
    durable_names: Names,
    unsynced: Vec<Renamed>,
}

impl Image {
    pub(super) fn empty() -> Self {
        Self {
            files: BTreeMap::new(),
            next: FIRST,
            names: Names::new(),
            durable_names: Names::new(),
            unsynced: Vec::new(),
        }
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    pub(super) fn find(&self, name: &OsStr) -> Option<Number> {
        self.names.get(name).copied()
    }

    pub(super) fn file(&self, number: Number) -> Option<&File> {
        self.files.get(&number)
    }

    pub(super) fn file_mut(&mut self, number: Number) -> Option<&mut File> {
        self.files.get_mut(&number)
    }

    pub(super) fn create(&mut self, name: &OsStr, mode: u16) -> Number {
        let number = self.next;
        self.next += 1;
        self.files.insert(number, File { contents: Contents::default(), mode });
        self.change(Renamed::Added(name.to_owned(), number));
        number
    }

    pub(super) fn remove(&mut self, name: &OsStr) {
        self.change(Renamed::Removed(name.to_owned()));
    }

    pub(super) fn rename(&mut self, from: &OsStr, to: &OsStr) {
        self.change(Renamed::Moved(from.to_owned(), to.to_owned()));
    }

    fn change(&mut self, change: Renamed) {
        change.apply(&mut self.names);
        self.unsynced.push(change);
    }

    /// Makes the names durable.
    pub(super) fn sync_names(&mut self) {
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.durable_names);
        }
    }

    /// What is there after a loss of power. The changes of the folder get to the disk in order, as on all file systems
    /// with a journal, and independently of what is in the files.
    pub(super) fn survive(self, survival: Survival, random: &mut StdRng) -> Self {
        let Self { mut files, next, durable_names: mut names, unsynced, names: _ } = self;
        let kept = match survival {
            Survival::Nothing => 0,
            Survival::Everything => unsynced.len(),
            Survival::Torn | Survival::Reordered => random.random_range(0..=unsynced.len()),
        };
        for change in &unsynced[..kept] {
            change.apply(&mut names);
        }
        files.retain(|number, _| names.values().any(|named| named == number));
        let files = files.into_iter().map(|(number, File { contents, mode })| {
            (number, File { contents: contents.survive(survival, random), mode })
        });
        Self { files: files.collect(), next, durable_names: names.clone(), names, unsynced: Vec::new() }
    }

    /// Writes all files, as programs see them, into a folder.
    pub(super) fn write_to(&self, folder: &Path) -> io::Result<()> {
        for (name, number) in &self.names {
            let bytes = self.files.get(number).map_or(&[][..], |file| file.contents.live());
            fs::write(folder.join(name), bytes)?;
        }
        Ok(())
    }
}

impl Renamed {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Added(name, number) => {
                names.insert(name.clone(), *number);
            }
            Self::Removed(name) => {
                names.remove(name);
            }
            Self::Moved(from, to) => {
                if let Some(number) = names.remove(from) {
                    names.insert(to.clone(), number);
                }
            }
        }
    }
}
