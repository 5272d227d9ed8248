//! What a seat was asked and what it chose, as two hashes.

use std::hash::{Hash, Hasher};

use zetema_rules::{Action, Seat, Seats, View};

use super::finished::Choice;

impl Choice {
    /// What a seat that saw this chose.
    ///
    /// The question is all that the seat sees of the deal, and so its legal actions too. What another match has otherwise although
    /// the same is asked is left out: which deal of the match it is, how many decisions there were, the totals of the match, and
    /// who forfeited. So the same question comes again where the same cards do, and hardly elsewhere.
    ///
    /// The numbers are for comparing what one build has calculated; another may have others.
    pub fn of(view: &View, action: &Action) -> Self {
        let mut view = *view;
        let public = &mut view.public;
        (public.deal, public.decision, public.totals) = (0, 0, [0; Seat::MAX]);
        public.forfeited = Seats::EMPTY;
        Self { context: hash(&(view.rules, view.public, view.hand)), action: hash(action) }
    }
}

fn hash(what: &impl Hash) -> u64 {
    let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
    what.hash(&mut fnv);
    fnv.finish()
}

/// FNV-1a: the hasher of the standard library may be another in its next version.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
