//! How all is measured.

use std::path::PathBuf;
use std::time::Duration;

/// How much there is of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As much as the rows say.
    Full,
    /// So little that all is over at once: that it works is seen, and nothing else.
    Smoke,
}

/// How all is measured.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How long each subject runs before it is measured.
    pub warm_up: Duration,
    /// How long it is measured.
    pub lasts: Duration,
    /// How much there is of all.
    pub scale: Scale,
    /// The folder that has the data of the servers, and what is written beside them.
    pub folder: PathBuf,
    /// The program `zetema`, where that is measured. `None`: that of this build.
    pub program: Option<PathBuf>,
}

impl Setting {
    /// The most of anything in a smoke test.
    const SMOKE: usize = 4;

    /// So many, or fewer if it is but a smoke test.
    pub(super) fn many(&self, wanted: usize) -> usize {
        match self.scale {
            Scale::Full => wanted,
            Scale::Smoke => wanted.min(Self::SMOKE),
        }
    }
}
