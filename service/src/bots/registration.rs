//! How accounts are made.

use std::sync::{Arc, PoisonError};

use super::known::BotCount;
use super::{BotAccount, BotError, BotSpec, BotState, Bots, Shared};
use crate::access::{AccountTokens, BearerToken, MadeBefore};
use crate::config::{HouseBots, OpenRegistration};
use crate::journal::{Account, BotName, BotNumber, Owner, RequestKey, Scope, StoredBot, StoredOwner};
use crate::limits;
use crate::matches::InLiveMatches;
use crate::own_task::to_its_end;

impl Bots {
    /// Registers a bot and gives its token. When the same request comes again, the bot has another token, and the one before is void.
    /// `live` tells of the bot's name.
    ///
    /// # Errors
    /// [`BotError`] says why not.
    pub(crate) async fn register(
        &self,
        caller: Option<&Owner>,
        spec: BotSpec,
        live: InLiveMatches,
        request: Option<RequestKey>,
    ) -> Result<(Arc<BotAccount>, BearerToken), BotError> {
        let owner = match (caller, &spec.owner) {
            (Some(own), Some(other)) if own != other => return Err(BotError::OtherOwner),
            (Some(own), _) => own.clone(),
            (None, Some(owner)) => owner.clone(),
            (None, None) => return Err(BotError::NoOwner),
        };
        // A name that has played, or may have, is given by the admin alone, who can say whose it is. The matches are asked before the
        // turn, as nobody else is to wait for that: what plays later has a token, which memory knows.
        let has_played = caller.is_some() && self.may_have_played(&spec.name, live).await?;
        let mut memory = self.turn().await?;
        let bot = match self.registered_before(caller, &spec, request.as_ref()).await? {
            Some(bot) => bot,
            None if caller.is_some() && (has_played || self.has_token(&spec.name)) => {
                return Err(BotError::NameTaken { name: spec.name.to_string() });
            }
            None => self.new_bot(caller, owner, spec)?,
        };
        let bots = self.clone();
        to_its_end(async move {
            let tokens = AccountTokens::Given(Scope::Bot(bot.name.clone()));
            let (bot, changed) = bots.change(&mut memory, bot, tokens, request).await?;
            tracing::info!(bot = %bot.name, owner = %bot.owner, "a bot was registered");
            Ok((bot, changed.secret.ok_or(BotError::NoSecret)?))
        })
        .await
    }

    /// Makes an owner and gives its token, to whoever asks, if that is open. `live` tells of the owner's name.
    ///
    /// # Errors
    /// [`BotError`] says why not.
    pub(crate) async fn register_owner(
        &self,
        name: Owner,
        live: InLiveMatches,
    ) -> Result<BearerToken, BotError> {
        let Shared { settings, store, clock, .. } = &*self.shared;
        if settings.open_registration == OpenRegistration::Off {
            return Err(BotError::Closed);
        }
        // Anybody may ask, so memory refuses what it can, and nobody else waits while the journal is read. Whoever is an owner by
        // then has a token, which memory knows.
        self.check_owner(&name)?;
        if live == InLiveMatches::Yes || store.has_left_traces(name.clone()).await? {
            return Err(BotError::NameTaken { name: name.to_string() });
        }
        let mut memory = self.turn().await?;
        self.check_owner(&name)?;
        let owner = StoredOwner { name: name.clone(), created_at: clock.wall() };
        let bots = self.clone();
        to_its_end(async move {
            let tokens = AccountTokens::Given(Scope::Owner(name.clone()));
            let changed = bots.store(&mut memory, Account::Owner(owner), tokens, None).await?;
            tracing::info!(owner = %name, "an owner has registered");
            bots.shared.known.write().unwrap_or_else(PoisonError::into_inner).put_owner(name);
            changed.secret.ok_or(BotError::NoSecret)
        })
        .await
    }

    /// The bot that the same request has registered before.
    async fn registered_before(
        &self,
        caller: Option<&Owner>,
        spec: &BotSpec,
        request: Option<&RequestKey>,
    ) -> Result<Option<StoredBot>, BotError> {
        let Some(key) = request else { return Ok(None) };
        let before = self.shared.access.tokens().before(key).await?;
        if before == MadeBefore::Nothing {
            return Ok(None);
        }
        let bot = self.own(caller, &spec.name).ok_or(BotError::NotFound)?;
        match (bot.state, before) {
            (BotState::Retired(_), _) => Err(BotError::Retired(bot.name.clone())),
            (BotState::Active, MadeBefore::Held) => Ok(Some(bot.stored())),
            // It would have two: the one of its rotation holds.
            (BotState::Active, _) => Err(BotError::NameTaken { name: bot.name.to_string() }),
        }
    }

    /// A bot that there is room for, by a name that is nobody's.
    fn new_bot(&self, caller: Option<&Owner>, owner: Owner, spec: BotSpec) -> Result<StoredBot, BotError> {
        let Shared { settings, clock, .. } = &*self.shared;
        let BotSpec { name, owner: _, description, version, fault_contact } = spec;
        let known = self.known();
        if known.bot(&name).is_some() {
            return Err(BotError::NameTaken { name: name.to_string() });
        }
        let too_many = |limit, what, instead| Err(BotError::TooMany { limit, what, instead });
        let BotCount { active, ever } = known.count(&owner);
        if active >= settings.max_bots_per_owner {
            return too_many(settings.max_bots_per_owner, "bots of this owner", "retire one");
        }
        let instead = "go on with one that there is, by UpdateBot";
        if ever >= limits::MAX_BOTS_EVER_PER_OWNER {
            return too_many(
                limits::MAX_BOTS_EVER_PER_OWNER,
                "bots of this owner, retired ones counted",
                instead,
            );
        }
        if known.bots() >= limits::MAX_BOTS {
            return too_many(limits::MAX_BOTS, "bots on this server, retired ones counted", instead);
        }
        if caller.is_some_and(|caller| !known.has_room_for_one_of(caller)) {
            let what = "bots of owners that registered themselves, retired ones counted";
            return too_many(limits::MAX_BOTS_OF_REGISTERED_OWNERS, what, instead);
        }
        let number = BotNumber::new(known.last_number() + 1);
        let created_at = clock.wall();
        Ok(StoredBot {
            number,
            name,
            owner,
            description,
            version,
            fault_contact,
            created_at,
            retired_at: None,
        })
    }

    /// Whether a token was ever made for a bot of this name.
    fn has_token(&self, name: &BotName) -> bool {
        self.shared.access.tokens().know_bot(name)
    }

    /// Whether tokens were made for a bot of this name, or matches have a seat for it.
    async fn may_have_played(&self, name: &BotName, live: InLiveMatches) -> Result<bool, BotError> {
        if live == InLiveMatches::Yes || self.has_token(name) {
            return Ok(true);
        }
        Ok(self.shared.store.has_played(name.clone()).await?)
    }

    /// Whether memory has room for another owner, and knows of none of this name, nor the configuration: who registers by it would have
    /// what is that one's.
    fn check_owner(&self, name: &Owner) -> Result<(), BotError> {
        let Shared { settings, access, .. } = &*self.shared;
        // Whoever had it could enter where its owner alone may, or would own house bots.
        if settings.named_owners.contains(name) || HouseBots::is_owner(name.as_str()) {
            return Err(BotError::NameKept(name.clone()));
        }
        let limit = settings.max_registered_owners;
        if self.known().registered_owners() >= limit {
            let instead = "ask whoever runs this server for an owner's token";
            return Err(BotError::TooMany { limit, what: "owners that registered themselves", instead });
        }
        if access.tokens().know_owner(name) || self.known().knows_owner(name) {
            return Err(BotError::NameTaken { name: name.to_string() });
        }
        Ok(())
    }
}
