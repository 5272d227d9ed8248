//! Accounts: the bots that their owners registered, and how owners register themselves.
//!
//! The journal has them, and so does memory, as there are few. A change is durable before memory has it, together with that of the
//! tokens that belong to it. A bot is never forgotten, so its name is never another's.
//!
//! A name that only tokens were made for is no account: it plays seats, and has no owner.

mod account;
mod error;
mod known;
mod registration;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tokio::sync::{Mutex, OwnedMutexGuard};
use zetema_ladder::quota::Quota;

pub(crate) use account::{BotAccount, BotChanges, BotFilter, BotSpec, BotState, ListedState, Said};
pub(crate) use error::BotError;

use crate::access::{Access, AccountTokens, BearerToken, Changed, TokenError, TokenSpec};
use crate::config::OpenRegistration;
use crate::journal::{
    Account, AccountStore, BotName, Owner, ReadError, RequestKey, Scope, StoredBot, StoredToken, UnixMillis,
};
use crate::matches::Clock;
use crate::own_task::to_its_end;
use known::Known;

/// How many accounts there may be, and what they may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Whether whoever asks gets an owner's account.
    pub(crate) open_registration: OpenRegistration,
    /// Owners that may register themselves.
    pub(crate) max_registered_owners: usize,
    /// Owners that the configuration means by their names, which nobody gets by registering, beside those of house bots.
    pub(crate) named_owners: BTreeSet<Owner>,
    /// Bots of one owner that are not retired.
    pub(crate) max_bots_per_owner: usize,
    /// How many matches each bot may be paired for.
    pub(crate) quota: Quota,
}

/// All accounts. A clone is another handle to the same.
///
/// Whoever calls is an owner, who has its own bots, or with `None` the admin, who has all.
#[derive(Clone)]
pub(crate) struct Bots {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn AccountStore>,
    access: Arc<Access>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    known: RwLock<Known>,
    /// Held by whoever changes accounts, or makes a token, so that memory has the changes in the journal's order.
    changing: Arc<Mutex<Memory>>,
}

/// What becomes of the tokens that a bot had before it got another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OldTokens {
    /// They play the seats that the bot has to their end, for a while. Those that did so already are void.
    PlayOn,
    /// All of them are void at once.
    Void,
}

/// A bot that got another token.
#[derive(Debug)]
pub(crate) struct Rotated {
    /// The bot.
    pub(crate) bot: Arc<BotAccount>,
    /// Its token from now on.
    pub(crate) secret: BearerToken,
    /// From when on the last of those that it had is void. `None`: they are void already.
    pub(crate) plays_on_until: Option<UnixMillis>,
}

/// Whether memory has what the journal has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Fresh,
    /// The outcome of a change is not known, or it was not taken.
    Stale,
}

impl Bots {
    /// Reads the accounts from the journal.
    ///
    /// # Errors
    /// They can't be read.
    pub(crate) async fn open(
        store: Arc<dyn AccountStore>,
        access: Arc<Access>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, ReadError> {
        let (known, changing) = (RwLock::default(), Arc::new(Mutex::new(Memory::Fresh)));
        let bots = Self { shared: Arc::new(Shared { store, access, clock, settings, known, changing }) };
        bots.read().await?;
        Ok(bots)
    }

    /// The registered bot of this name, retired or not.
    pub(crate) fn get(&self, name: &BotName) -> Option<Arc<BotAccount>> {
        self.known().bot(name)
    }

    /// The same, if it is the caller's.
    pub(crate) fn own(&self, caller: Option<&Owner>, name: &BotName) -> Option<Arc<BotAccount>> {
        self.get(name).filter(|bot| caller.is_none_or(|owner| bot.owner == *owner))
    }

    /// Bots that were registered before the one with this number, the latest first, one more than `most` if there are.
    pub(crate) fn list(&self, filter: &BotFilter, before: Option<u64>, most: usize) -> Vec<Arc<BotAccount>> {
        let known = self.known();
        let wanted = known.before(before).filter(|bot| filter.wants(bot));
        wanted.take(most.saturating_add(1)).cloned().collect()
    }

    /// Changes what is said of a bot.
    ///
    /// # Errors
    /// [`BotError`] says why not.
    pub(crate) async fn update(
        &self,
        caller: Option<&Owner>,
        name: &BotName,
        changes: BotChanges,
    ) -> Result<Arc<BotAccount>, BotError> {
        let (mut memory, bot) = self.active(caller, name).await?;
        let bots = self.clone();
        to_its_end(async move {
            let updated = changes.of(bot.stored());
            if updated == bot.stored() {
                return Ok(bot);
            }
            let (bot, _) = bots.change(&mut memory, updated, AccountTokens::Kept, None).await?;
            tracing::debug!(bot = %bot.name, "what is said of a bot was changed");
            Ok(bot)
        })
        .await
    }

    /// Gives a bot another token, and says what has become of those that it had: there may be no place for any to play on.
    ///
    /// # Errors
    /// [`BotError`] says why not.
    pub(crate) async fn rotate(
        &self,
        caller: Option<&Owner>,
        name: &BotName,
        old: OldTokens,
    ) -> Result<Rotated, BotError> {
        let (mut memory, bot) = self.active(caller, name).await?;
        let bots = self.clone();
        to_its_end(async move {
            let scope = Scope::Bot(bot.name.clone());
            let tokens = match old {
                OldTokens::PlayOn => AccountTokens::Rotated(scope),
                OldTokens::Void => AccountTokens::Renewed(scope),
            };
            let (bot, changed) = bots.change(&mut memory, bot.stored(), tokens, None).await?;
            let Changed { secret, plays_on_until } = changed;
            let until = plays_on_until.map(UnixMillis::get);
            tracing::info!(bot = %bot.name, ?old, plays_on_until_ms = until, "a bot has another token");
            Ok(Rotated { bot, secret: secret.ok_or(BotError::NoSecret)?, plays_on_until })
        })
        .await
    }

    /// Ends a bot: its tokens are void. Once retired, retiring again changes nothing.
    ///
    /// # Errors
    /// [`BotError`] says why not.
    pub(crate) async fn retire(
        &self,
        caller: Option<&Owner>,
        name: &BotName,
    ) -> Result<Arc<BotAccount>, BotError> {
        let mut memory = self.turn().await?;
        let bot = self.own(caller, name).ok_or(BotError::NotFound)?;
        if matches!(bot.state, BotState::Retired(_)) {
            return Ok(bot);
        }
        let bots = self.clone();
        to_its_end(async move {
            let retired = StoredBot { retired_at: Some(bots.shared.clock.wall()), ..bot.stored() };
            let tokens = AccountTokens::Voided(Scope::Bot(bot.name.clone()));
            let (bot, _) = bots.change(&mut memory, retired, tokens, None).await?;
            tracing::info!(bot = %bot.name, "a bot was retired");
            Ok(bot)
        })
        .await
    }

    /// Makes a token that is none of an account's alone, as the admin asks for it: for a bot that is retired there is none.
    ///
    /// # Errors
    /// [`TokenError`] says why not.
    pub(crate) async fn create_token(
        &self,
        spec: TokenSpec,
        request: Option<RequestKey>,
    ) -> Result<(StoredToken, BearerToken), TokenError> {
        let memory = self.turn().await.map_err(|error| {
            tracing::warn!(%error, "the accounts can't be read back yet");
            TokenError::OutcomeUnknown
        })?;
        let tokens = Arc::clone(self.shared.access.tokens());
        let replaced = spec.replaces.as_ref().and_then(|id| tokens.scope(id));
        if let Some(Scope::Bot(name)) = spec.scope.as_ref().or(replaced.as_ref())
            && self.get(name).is_some_and(|bot| matches!(bot.state, BotState::Retired(_)))
        {
            return Err(TokenError::BotRetired(name.clone()));
        }
        to_its_end(async move {
            let made = tokens.create(spec, request).await;
            drop(memory);
            made
        })
        .await
    }

    /// The turn of one change of a bot that is not retired.
    async fn active(
        &self,
        caller: Option<&Owner>,
        name: &BotName,
    ) -> Result<(OwnedMutexGuard<Memory>, Arc<BotAccount>), BotError> {
        let memory = self.turn().await?;
        let bot = self.own(caller, name).ok_or(BotError::NotFound)?;
        match bot.state {
            BotState::Active => Ok((memory, bot)),
            BotState::Retired(_) => Err(BotError::Retired(name.clone())),
        }
    }

    /// Makes a bot durable as it is from now on, with what becomes of its tokens.
    async fn change(
        &self,
        memory: &mut Memory,
        bot: StoredBot,
        tokens: AccountTokens,
        request: Option<RequestKey>,
    ) -> Result<(Arc<BotAccount>, Changed), BotError> {
        let changed = self.store(memory, Account::Bot(bot.clone()), tokens, request).await?;
        let account = Arc::new(BotAccount::new(bot, self.shared.settings.quota));
        self.shared.known.write().unwrap_or_else(PoisonError::into_inner).put_bot(Arc::clone(&account));
        Ok((account, changed))
    }

    async fn store(
        &self,
        memory: &mut Memory,
        account: Account,
        tokens: AccountTokens,
        request: Option<RequestKey>,
    ) -> Result<Changed, BotError> {
        let Shared { store, access, .. } = &*self.shared;
        let stored = access.tokens().change_account(&**store, account, tokens, request).await;
        if let Err(error) = &stored
            && matches!(error, TokenError::OutcomeUnknown)
        {
            *memory = Memory::Stale;
            // If it can't be read back now, whoever sends the same again will.
            self.refresh(memory).await?;
        }
        Ok(stored?)
    }

    /// The turn of one change, when memory has what the journal has.
    async fn turn(&self) -> Result<OwnedMutexGuard<Memory>, BotError> {
        let mut memory = Arc::clone(&self.shared.changing).lock_owned().await;
        self.refresh(&mut memory).await?;
        Ok(memory)
    }

    async fn refresh(&self, memory: &mut Memory) -> Result<(), BotError> {
        if *memory == Memory::Stale {
            self.read().await?;
            *memory = Memory::Fresh;
        }
        Ok(())
    }

    /// Takes over what the journal has.
    async fn read(&self) -> Result<(), ReadError> {
        let known = Known::new(self.shared.store.accounts().await?, self.shared.settings.quota);
        *self.shared.known.write().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(())
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.shared.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Bots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bots")
    }
}
