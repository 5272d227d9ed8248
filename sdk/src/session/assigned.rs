//! The seats that matches have for the bot of a session.

use std::collections::BTreeSet;

use crate::claim::Claim;
use crate::end::End;
use crate::error::Error;

/// Of what a stream carries, the part that must be free before a new stream is opened for seats that the welcome had
/// no room for: a quarter. Each new stream resumes all seats that go on.
const FREE_PART: usize = 4;

/// The seats that matches have for the bot of a session.
pub(crate) struct AssignedSeats {
    pub(crate) taking: Taking,
    playing: BTreeSet<Claim>,
    /// Seats that another program has taken, or that could not be played on: they are not taken again unasked.
    given_up: BTreeSet<Claim>,
    /// How many live seats the last welcome had no room for.
    unlisted: usize,
    /// How many seats were over since then.
    over: usize,
}

/// Whether a session takes the seats that it hears of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    All,
    /// The bot has another token: those alone that a welcome lists, as long as one has no room for all.
    Listed {
        because: Error,
    },
    /// It ends when those that it has are over.
    NoMore {
        because: Option<Error>,
    },
    /// It has ended.
    Ended,
}

impl AssignedSeats {
    pub(crate) const fn new() -> Self {
        Self {
            taking: Taking::All,
            playing: BTreeSet::new(),
            given_up: BTreeSet::new(),
            unlisted: 0,
            over: 0,
        }
    }

    /// Whether it takes seats that it hears of, at least those that a welcome lists.
    pub(crate) const fn takes(&self) -> bool {
        matches!(self.taking, Taking::All | Taking::Listed { .. })
    }

    /// Whether the seat is to be taken: it is new.
    pub(crate) fn take(&mut self, claim: &Claim) -> bool {
        self.takes() && !self.given_up.contains(claim) && self.playing.insert(claim.clone())
    }

    /// A welcome listed these seats, of so many.
    pub(crate) fn listed(&mut self, claims: &[Claim], count: usize) {
        self.over = 0;
        self.unlisted = count.saturating_sub(claims.len());
        // What is not live any more can't come again.
        if self.unlisted == 0 {
            self.given_up.retain(|claim| claims.contains(claim));
        }
    }

    /// The session is done with a seat.
    pub(crate) fn over(&mut self, claim: &Claim, end: &End) {
        if self.playing.remove(claim) {
            if matches!(end, End::Result(_) | End::Aborted { .. }) {
                self.over += 1;
            } else {
                self.given_up.insert(claim.clone());
            }
        }
    }

    /// Whether another welcome would have seats to take, and room for them is worth it, on a stream for so many seats.
    pub(crate) fn wants_welcome(&self, most_seats: usize) -> bool {
        let enough = self.unlisted.min(most_seats / FREE_PART).max(1);
        self.takes() && self.unlisted > 0 && (self.over >= enough || self.playing.is_empty() && self.over > 0)
    }

    /// Takes no more seats. The first reason counts.
    pub(crate) fn take_no_more(&mut self, because: Option<Error>) {
        let because = match &self.taking {
            Taking::All => because,
            Taking::Listed { because } => Some(because.clone()),
            Taking::NoMore { .. } | Taking::Ended => return,
        };
        self.taking = Taking::NoMore { because };
    }

    /// The bot has another token, and gets no new seats by this one: those that it had are still to be listed, if there was no room.
    pub(crate) fn take_listed(&mut self, because: Error) {
        match self.taking {
            Taking::All | Taking::Listed { .. } if self.unlisted == 0 => self.take_no_more(Some(because)),
            Taking::All => self.taking = Taking::Listed { because },
            Taking::Listed { .. } | Taking::NoMore { .. } | Taking::Ended => {}
        }
    }

    /// Nothing is played, and no welcome is wanted: whatever else is listed was given up.
    pub(crate) fn nothing_is_left(&mut self) {
        if let Taking::Listed { .. } = self.taking {
            self.take_no_more(None);
        }
    }
}
