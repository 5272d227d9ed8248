//! Records that nothing is wrong with by themselves, and that were not held against the list of their ladder.

use serde::Serialize;

/// Why a record was not held against the list of its ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The ladder keeps no results that are so old.
    TooOld,
    /// The server has no such ladder any more.
    NoSuchLadder,
    /// The ladder has not counted it: it came while the audit ran, or the ladders stand still.
    NotCounted,
    /// It is in a folder, and a server alone knows what ladders list.
    NoServer,
}

/// How many, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Uncompared {
    too_old: u64,
    no_such_ladder: u64,
    not_counted: u64,
    no_server: u64,
}

impl Uncompared {
    /// Counts one more.
    pub(super) const fn add(&mut self, why: Why) {
        *match why {
            Why::TooOld => &mut self.too_old,
            Why::NoSuchLadder => &mut self.no_such_ladder,
            Why::NotCounted => &mut self.not_counted,
            Why::NoServer => &mut self.no_server,
        } += 1;
    }

    /// For people: those that there are.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let Self { too_old, no_such_ladder, not_counted, no_server } = *self;
        let rows = [
            ("not compared with its ladder: too old to be looked up", too_old),
            ("not compared with its ladder: that is not there any more", no_such_ladder),
            ("not compared with its ladder: not counted there yet", not_counted),
            ("not compared with its ladder: a server alone knows it", no_server),
        ];
        rows.into_iter().filter(|(_, count)| *count > 0)
    }
}
