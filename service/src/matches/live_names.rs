//! The names that matches that are not over go by.

use super::Matches;
use crate::journal::{BotName, Owner};

/// Whether a match that is not over has a seat for a bot of some name, or is of an owner of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLiveMatches {
    /// One at least has, or is.
    Yes,
    /// None has, or is.
    No,
}

impl InLiveMatches {
    const fn of(count: usize) -> Self {
        if count == 0 { Self::No } else { Self::Yes }
    }
}

impl Matches {
    /// Whether a match that runs has a seat for a bot of this name. Nothing is kept of a name that is asked about.
    pub(crate) fn has_live_bot(&self, bot: &BotName) -> InLiveMatches {
        InLiveMatches::of(self.shared.bot_seats.count(bot))
    }

    /// Whether a match that is not over is of this owner, one that can't go on here too.
    pub(crate) fn has_live_owner(&self, owner: &Owner) -> InLiveMatches {
        InLiveMatches::of(self.shared.places.count(owner))
    }
}
