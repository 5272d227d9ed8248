//! A bot's account, and what is asked of accounts.

use zetema_ladder::quota::Quota;

use crate::journal::{
    BotDescription, BotName, BotNumber, BotVersion, FaultContact, Owner, StoredBot, UnixMillis,
};

/// A registered bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BotAccount {
    /// Its place in the order of registration, from 1: its own for good.
    pub(crate) number: u64,
    /// Its name.
    pub(crate) name: BotName,
    /// Whose it is.
    pub(crate) owner: Owner,
    /// What it is, if its owner says so.
    pub(crate) description: Option<BotDescription>,
    /// Its version, if its owner says so.
    pub(crate) version: Option<BotVersion>,
    /// Whom to tell of its faults, if its owner says so. For the owner and the admin alone.
    pub(crate) fault_contact: Option<FaultContact>,
    /// When it was registered.
    pub(crate) created_at: UnixMillis,
    /// Whether it plays.
    pub(crate) state: BotState,
    /// How many matches it may be paired for.
    pub(crate) quota: Quota,
}

/// Whether a bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BotState {
    /// It does.
    Active,
    /// Not since then.
    Retired(UnixMillis),
}

impl BotAccount {
    pub(super) fn new(stored: StoredBot, quota: Quota) -> Self {
        let StoredBot { number, name, owner, description, version, fault_contact, created_at, retired_at } =
            stored;
        let state = retired_at.map_or(BotState::Active, BotState::Retired);
        let number = number.get();
        Self { number, name, owner, description, version, fault_contact, created_at, state, quota }
    }

    /// As it is stored.
    pub(super) fn stored(&self) -> StoredBot {
        let Self { number, name, owner, description, version, fault_contact, created_at, state, quota: _ } =
            self.clone();
        let retired_at = match state {
            BotState::Active => None,
            BotState::Retired(at) => Some(at),
        };
        let number = BotNumber::new(number);
        StoredBot { number, name, owner, description, version, fault_contact, created_at, retired_at }
    }
}

/// A bot that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BotSpec {
    /// Its name.
    pub(crate) name: BotName,
    /// Whose it is to be; `None`: the caller's.
    pub(crate) owner: Option<Owner>,
    /// What it is.
    pub(crate) description: Option<BotDescription>,
    /// Its version.
    pub(crate) version: Option<BotVersion>,
    /// Whom to tell of its faults.
    pub(crate) fault_contact: Option<FaultContact>,
}

/// What becomes of something that is said of a bot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Said<T> {
    /// It stays as it is.
    #[default]
    AsBefore,
    /// It is this from now on, or nothing.
    Now(Option<T>),
}

impl<T> Said<T> {
    fn or(self, before: Option<T>) -> Option<T> {
        match self {
            Self::AsBefore => before,
            Self::Now(said) => said,
        }
    }
}

/// What is to be said of a bot from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BotChanges {
    /// What it is.
    pub(crate) description: Said<BotDescription>,
    /// Its version.
    pub(crate) version: Said<BotVersion>,
    /// Whom to tell of its faults.
    pub(crate) fault_contact: Said<FaultContact>,
}

impl BotChanges {
    pub(super) fn of(self, bot: StoredBot) -> StoredBot {
        let Self { description, version, fault_contact } = self;
        StoredBot {
            description: description.or(bot.description),
            version: version.or(bot.version),
            fault_contact: fault_contact.or(bot.fault_contact),
            ..bot
        }
    }
}

/// Which bots to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BotFilter {
    /// Of this owner, if one is given.
    pub(crate) owner: Option<Owner>,
    /// In this state, if one is given.
    pub(crate) state: Option<ListedState>,
}

/// A state that a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListedState {
    /// Those that play.
    Active,
    /// Those that are retired.
    Retired,
}

impl BotFilter {
    pub(super) fn wants(&self, bot: &BotAccount) -> bool {
        let Self { owner, state } = self;
        let is_in = |state| match (state, bot.state) {
            (ListedState::Active, BotState::Active) | (ListedState::Retired, BotState::Retired(_)) => true,
            (ListedState::Active, BotState::Retired(_)) | (ListedState::Retired, BotState::Active) => false,
        };
        owner.as_ref().is_none_or(|owner| bot.owner == *owner) && state.is_none_or(is_in)
    }
}
