//! A match that nobody plays any more.

use crate::check::Ending;

/// A match that nobody plays any more.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    /// Its id.
    pub(crate) match_id: String,
    /// Why.
    pub(crate) why: Why,
    /// The bot of a ladder that has played it. `None`: all of its seats were played.
    pub(crate) bot: Option<usize>,
}

/// Why nobody plays a match any more.
#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// Its seats were told that it is over.
    Told(Ending),
    /// It can't be played on.
    GivenUp,
    /// The server does not know a seat that it has given.
    Unknown {
        /// What it says, for people.
        said: String,
    },
}

impl Why {
    /// What its seats were told of its end, if they were.
    pub(crate) fn ending(self) -> Option<Ending> {
        match self {
            Self::Told(ending) => Some(ending),
            Self::GivenUp | Self::Unknown { .. } => None,
        }
    }
}
