//! Which bots were put back by their owners, and when: what no result says, so it is stored.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::journal::{
    BotName, Cause, Journal, JournalValueError, LadderName, MetaKey, MetaValue, Outcome, ReadError,
    UnixMillis,
};

/// When each bot of a ladder was put back last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reinstated(BTreeMap<BotName, UnixMillis>);

impl Reinstated {
    /// Those of a ladder.
    ///
    /// # Errors
    /// If the journal can't be read, or what it has is no such list.
    pub(super) async fn read(journal: &dyn Journal, ladder: &LadderName) -> Result<Self, ReadError> {
        let value = journal.meta(key(ladder).map_err(damaged)?).await?;
        let text = value.as_ref().map_or(&b""[..], |value| value.as_bytes());
        let text = str::from_utf8(text).map_err(damaged)?;
        let line = |line: &str| {
            let (bot, at) = line.split_once(' ')?;
            Some((BotName::new(bot).ok()?, UnixMillis::new(at.parse().ok()?)))
        };
        let lines: Option<_> = text.lines().map(line).collect();
        lines.map(Self).ok_or_else(|| damaged("a line is no bot and time"))
    }

    /// The same with one more.
    pub(super) fn with(&self, bot: &BotName, at: UnixMillis) -> Self {
        let mut all = self.0.clone();
        all.insert(bot.clone(), at);
        Self(all)
    }

    /// Stores them. `false`: it is not known that they are.
    pub(super) async fn store(&self, journal: &dyn Journal, ladder: &LadderName) -> bool {
        let mut text = String::new();
        for (bot, at) in &self.0 {
            // A string takes all that is written to it.
            let _ = writeln!(text, "{bot} {}", at.get());
        }
        let (Ok(key), Ok(value)) = (key(ladder), MetaValue::new(text.into_bytes())) else {
            tracing::error!(%ladder, "too many bots were put back on one ladder");
            return false;
        };
        matches!(journal.replace_meta(key, value).await, Outcome::Done(()))
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&BotName, UnixMillis)> {
        self.0.iter().map(|(bot, at)| (bot, *at))
    }
}

/// A ladder's name may be as long as a key.
fn key(ladder: &LadderName) -> Result<MetaKey, JournalValueError> {
    let hash = Sha256::digest(ladder.as_str());
    let mut key = "reinstated-".to_owned();
    for byte in &hash[..16] {
        // As above.
        let _ = write!(key, "{byte:02x}");
    }
    MetaKey::new(key)
}

fn damaged(cause: impl std::fmt::Display) -> ReadError {
    ReadError::Damaged(Cause::new(format_args!("the list of bots that were put back: {cause}")))
}
