//! A match that nobody plays any more.

use crate::check::Ending;

/// A match that nobody plays any more.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    /// Its id.
    pub(crate) match_id: String,
    /// What its seats were told of its end. `None`: it was given up.
    pub(crate) ending: Option<Ending>,
    /// The bot of a ladder that has played it. `None`: all of its seats were played.
    pub(crate) bot: Option<usize>,
}
