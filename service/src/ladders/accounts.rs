//! Whose bots there are, as far as ladders have to know.

use zetema_ladder::quota::Quota;

use crate::bots::{BotState, Bots};
use crate::journal::{BotName, Owner};

/// Whose bots there are.
pub trait Accounts: Send + Sync + 'static {
    /// The account of a bot; `None` if it is not registered.
    fn account(&self, bot: &BotName) -> Option<Account>;
}

/// What a ladder has to know of a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Whose it is.
    pub owner: Owner,
    /// How much it may play, as far as it has room for that.
    pub quota: Quota,
    /// Whether it plays any more.
    pub standing: Standing,
}

/// Whether a bot plays any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Active,
    /// It is retired.
    Retired,
}

impl Accounts for Bots {
    fn account(&self, bot: &BotName) -> Option<Account> {
        let account = self.get(bot)?;
        let standing = match account.state {
            BotState::Active => Standing::Active,
            BotState::Retired(_) => Standing::Retired,
        };
        Some(Account { owner: account.owner.clone(), quota: account.quota, standing })
    }
}
