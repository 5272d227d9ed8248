//! That bots were put back by their owners: what no result says, so it is stored, for each bot of a ladder by itself.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::journal::{
    BotName, Cause, Journal, JournalValueError, LadderName, MetaKey, MetaValue, Outcome, ReadError,
    ResultNumber, UnixMillis,
};

/// That a bot was put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reinstatement {
    /// The last result of the server before it.
    pub(super) after: ResultNumber,
    /// When it was.
    pub(super) at: UnixMillis,
}

/// How often a bot was put back on a ladder, the first time first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reinstatements(Vec<Reinstatement>);

/// Why one can't be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotStored {
    /// There is room for no more.
    TooMany,
    /// Whether it is stored is not known.
    NotKnown,
}

impl Reinstatements {
    /// Those of a bot.
    ///
    /// # Errors
    /// If the journal can't be read, or what it has is no such list.
    pub(super) async fn read(
        journal: &dyn Journal,
        ladder: &LadderName,
        bot: &BotName,
    ) -> Result<Self, ReadError> {
        let value = journal.meta(key(ladder, bot).map_err(damaged)?).await?;
        let text = value.as_ref().map_or(&b""[..], |value| value.as_bytes());
        let text = str::from_utf8(text).map_err(damaged)?;
        let line = |line: &str| {
            let (after, at) = line.split_once(' ')?;
            let (after, at) = (after.parse().ok()?, at.parse().ok()?);
            Some(Reinstatement { after: ResultNumber::new(after), at: UnixMillis::new(at) })
        };
        let lines: Option<_> = text.lines().map(line).collect();
        lines.map(Self).ok_or_else(|| damaged("a line is no result's number and time"))
    }

    /// The first that came with or after a result.
    pub(super) fn next(&self, result: ResultNumber) -> Option<Reinstatement> {
        self.0.iter().find(|reinstatement| reinstatement.after >= result).copied()
    }

    /// Stores these and one more.
    ///
    /// # Errors
    /// [`NotStored`].
    pub(super) async fn store_with(
        mut self,
        more: Reinstatement,
        journal: &dyn Journal,
        ladder: &LadderName,
        bot: &BotName,
    ) -> Result<(), NotStored> {
        self.0.push(more);
        let mut text = String::new();
        for Reinstatement { after, at } in &self.0 {
            // A string takes all that is written to it.
            let _ = writeln!(text, "{} {}", after.get(), at.get());
        }
        let (Ok(key), Ok(value)) = (key(ladder, bot), MetaValue::new(text.into_bytes())) else {
            return Err(NotStored::TooMany);
        };
        match journal.replace_meta(key, value).await {
            Outcome::Done(()) => Ok(()),
            _ => Err(NotStored::NotKnown),
        }
    }
}

/// The names may be as long as a key.
fn key(ladder: &LadderName, bot: &BotName) -> Result<MetaKey, JournalValueError> {
    let hash = Sha256::digest(format!("{ladder} {bot}"));
    let mut key = "reinstated-".to_owned();
    for byte in &hash[..16] {
        // As above.
        let _ = write!(key, "{byte:02x}");
    }
    MetaKey::new(key)
}

fn damaged(cause: impl std::fmt::Display) -> ReadError {
    ReadError::Damaged(Cause::new(format_args!("when a bot was put back: {cause}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;
    use crate::matches::tests::fake::FakeJournal;

    fn at(after: u64) -> Reinstatement {
        Reinstatement { after: ResultNumber::new(after), at: UnixMillis::new(1_700_000_000_000 - after) }
    }

    #[tokio::test]
    async fn each_time_that_a_bot_was_put_back_is_kept_for_that_bot_and_ladder() {
        let journal = FakeJournal::new();
        let (ladder, other) = (LadderName::new("quick-2").unwrap(), LadderName::new("quick-3").unwrap());
        let (ann, bob) = (BotName::new("ann").unwrap(), BotName::new("bob").unwrap());
        // The clock of the server may go back; the numbers of results don't.
        for after in [3, 3, 8] {
            let before = Reinstatements::read(&journal, &ladder, &ann).await.unwrap();
            before.store_with(at(after), &journal, &ladder, &ann).await.unwrap();
        }
        let read = Reinstatements::read(&journal, &ladder, &ann).await.unwrap();
        assert_eq!(read, Reinstatements(vec![at(3), at(3), at(8)]));
        for (benched_by, put_back) in [(1, Some(3)), (3, Some(3)), (4, Some(8)), (8, Some(8)), (9, None)] {
            assert_eq!(read.next(ResultNumber::new(benched_by)), put_back.map(at), "{benched_by}");
        }
        for (ladder, bot) in [(&other, &ann), (&ladder, &bob)] {
            assert_eq!(Reinstatements::read(&journal, ladder, bot).await, Ok(Reinstatements::default()));
        }
    }

    #[tokio::test]
    async fn one_for_which_there_is_no_room_is_refused_and_what_is_stored_stays() {
        let journal = FakeJournal::new();
        let (ladder, ann) = (LadderName::new("quick-2").unwrap(), BotName::new("ann").unwrap());
        Reinstatements::default().store_with(at(1), &journal, &ladder, &ann).await.unwrap();
        let many = Reinstatements(vec![at(1); 10_000]);
        assert_eq!(many.store_with(at(2), &journal, &ladder, &ann).await, Err(NotStored::TooMany));
        assert_eq!(Reinstatements::read(&journal, &ladder, &ann).await, Ok(Reinstatements(vec![at(1)])));
    }
}
