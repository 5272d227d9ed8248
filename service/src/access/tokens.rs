//! The stored tokens: made, checked, listed and revoked.
//!
//! The journal has them, and so does memory: there are few, and each call is checked against them. A change is
//! durable before memory has it, and cuts what the token opened in the moment in which memory does.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard, watch};

use super::bearer_token::{BearerToken, id_of, is_of};
use super::pass::{Pass, Standing, Until};
use super::{AccessError, TokenError};
use crate::journal::{
    BotName, Journal, Outcome, Owner, ReadError, Request, RequestKey, RequestReused, RequestState, Response,
    Scope, StoredToken, TokenChange, TokenId, TokenLabel, TokenNumber, UnixMillis,
};
use crate::limits;
use crate::matches::Clock;
use crate::own_task::to_its_end;

/// A token that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSpec {
    /// What it is to allow. `None`: as the one that it replaces.
    pub scope: Option<Scope>,
    /// What it is for.
    pub label: Option<TokenLabel>,
    /// From when on it is to be void.
    pub expires_at: Option<UnixMillis>,
    /// The token that it replaces.
    pub replaces: Option<TokenId>,
}

/// Which tokens to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFilter {
    /// With exactly this scope, if one is given.
    pub scope: Option<Scope>,
    /// Whether those that are void are listed.
    pub void: VoidTokens,
}

/// Whether tokens that are void are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoidTokens {
    /// They are not.
    LeftOut,
    /// They are.
    Listed,
}

/// What a request that asks for a token has made before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MadeBefore {
    /// Nothing: it is new.
    Nothing,
    /// A token that was neither revoked nor rotated since.
    Held,
    /// A token that was.
    Revoked,
}

/// The stored tokens of one server.
pub struct Tokens {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    known: RwLock<HashMap<TokenId, Known>>,
    /// Held by whoever changes the tokens, so that memory has the changes in the journal's order.
    changing: Arc<Mutex<Memory>>,
}

#[derive(Clone)]
struct Known {
    token: StoredToken,
    /// Told to whom it let pass.
    standing: watch::Sender<Standing>,
}

impl Known {
    fn new(token: StoredToken) -> Self {
        let standing = watch::Sender::new(Standing::of(&token));
        Self { token, standing }
    }

    /// Tells how the token stands, now.
    fn tell(&self, wall: UnixMillis, steady: Duration) {
        let told = *self.standing.borrow();
        self.standing.send_replace(match (told, Standing::of(&self.token)) {
            (Standing::Rotated(_), Standing::Rotated(_)) => told,
            (_, Standing::Rotated(rotation)) => Standing::Rotated(rotation.told(wall, steady)),
            (_, stands) => stands,
        });
    }
}

/// Whether memory has what the journal has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    Fresh,
    /// The outcome of a change is not known, or it was not taken.
    Stale,
}

impl Tokens {
    /// Reads them from the journal.
    pub(super) async fn open(
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, AccessError> {
        let changing = Arc::new(Mutex::new(Memory::Fresh));
        let tokens = Arc::new(Self { journal, clock, known: RwLock::default(), changing });
        tokens.read().await?;
        Ok(tokens)
    }

    /// Who holds this token, if it is one of these and holds.
    pub(super) fn pass(&self, text: &str) -> Option<Pass> {
        let id = id_of(text)?;
        let Known { token, standing } = self.known(&id)?;
        let rotated_out = standing.borrow().rotation().and_then(|rotation| rotation.void_from());
        let is_void = token.is_void(self.clock.wall())
            || rotated_out.is_some_and(|void_from| void_from <= self.clock.since_start());
        if is_void || !is_of(&token.hash, text) {
            return None;
        }
        let (number, clock) = (token.number, Arc::clone(&self.clock));
        let until = Until { number, standing: standing.subscribe(), clock };
        Some(Pass::stored(token.scope.into(), until))
    }

    /// Whether a token was ever made for this bot.
    pub fn know_bot(&self, name: &BotName) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().any(|known| matches!(&known.token.scope, Scope::Bot(bot) if bot == name))
    }

    /// Whether a token was ever made for this owner.
    pub fn know_owner(&self, name: &Owner) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().any(|known| matches!(&known.token.scope, Scope::Owner(owner) if owner == name))
    }

    /// What a token allows, also one that is void.
    pub(crate) fn scope(&self, id: &TokenId) -> Option<Scope> {
        self.known(id).map(|known| known.token.scope)
    }

    /// Makes a token. When the same request comes again, the token that it made before is void.
    ///
    /// # Errors
    /// [`TokenError`] says why not.
    pub async fn create(
        self: &Arc<Self>,
        spec: TokenSpec,
        request: Option<RequestKey>,
    ) -> Result<(StoredToken, BearerToken), TokenError> {
        let (tokens, memory) = (Arc::clone(self), Arc::clone(&self.changing).lock_owned().await);
        to_its_end(async move { tokens.make(memory, spec, request).await }).await
    }

    async fn make(
        &self,
        mut memory: OwnedMutexGuard<Memory>,
        spec: TokenSpec,
        request: Option<RequestKey>,
    ) -> Result<(StoredToken, BearerToken), TokenError> {
        self.refresh(&mut memory).await?;
        let now = self.clock.wall();
        let TokenSpec { scope, label, expires_at, replaces } = spec;
        let replaced = replaces.map(|id| self.known(&id).ok_or(TokenError::NotFound)).transpose()?;
        let scope = match (scope, replaced) {
            (None, None) => return Err(TokenError::NoScope),
            (Some(scope), Some(old)) if scope != old.token.scope => return Err(TokenError::OtherScope),
            (Some(scope), _) => scope,
            (None, Some(old)) => old.token.scope,
        };
        if expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(TokenError::Expired);
        }
        let before = match &request {
            Some(key) => self.made_before(key, now).await?,
            None => None,
        };
        let revoked: Vec<TokenId> = replaces.into_iter().chain(before).collect();
        let (number, forgotten) = self.room(&scope, &revoked, now)?;
        let (id, secret) = BearerToken::draw(&scope)?;
        let hash = secret.hash();
        let token = StoredToken {
            number,
            id,
            hash,
            scope,
            label,
            created_at: now,
            expires_at,
            revoked_at: None,
            rotated_at: None,
        };
        let answer = |key| Response::new(id.as_bytes().to_vec()).map(|response| Request { key, response });
        let request = request.map(answer).transpose().map_err(|_| AccessError::Damaged("request"))?;
        let made = Some(token.clone());
        let change = TokenChange { made, revoked, forgotten, request, ..TokenChange::at(now) };
        self.change(&mut memory, change).await?;
        tracing::info!(token_id = %id, scope = ?token.scope, "a token was made");
        Ok((token, secret))
    }

    /// Voids a token: what it opened ends at once. Once revoked, revoking again changes nothing.
    ///
    /// # Errors
    /// [`TokenError::NotFound`], [`TokenError::OutcomeUnknown`].
    pub async fn revoke(self: &Arc<Self>, id: TokenId) -> Result<StoredToken, TokenError> {
        let (tokens, memory) = (Arc::clone(self), Arc::clone(&self.changing).lock_owned().await);
        to_its_end(async move { tokens.void(memory, id).await }).await
    }

    async fn void(
        &self,
        mut memory: OwnedMutexGuard<Memory>,
        id: TokenId,
    ) -> Result<StoredToken, TokenError> {
        self.refresh(&mut memory).await?;
        let known = self.known(&id).ok_or(TokenError::NotFound)?;
        if known.token.revoked_at.is_none() {
            let now = self.clock.wall();
            let change = TokenChange { revoked: vec![id], ..TokenChange::at(now) };
            self.change(&mut memory, change).await?;
            tracing::info!(token_id = %id, "a token was revoked");
        }
        self.known(&id).map(|known| known.token).ok_or(TokenError::NotFound)
    }

    /// Tokens that were made before the one with this number, the latest first, one more than `most` if there are.
    pub fn list(&self, filter: &TokenFilter, before: Option<TokenNumber>, most: usize) -> Vec<StoredToken> {
        let now = self.clock.wall();
        let TokenFilter { scope, void } = filter;
        let wanted = |token: &StoredToken| {
            before.is_none_or(|before| token.number < before)
                && scope.as_ref().is_none_or(|scope| token.scope == *scope)
                && (*void == VoidTokens::Listed || !token.is_void(now))
        };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut tokens: Vec<&StoredToken> =
            known.values().map(|known| &known.token).filter(|token| wanted(token)).collect();
        tokens.sort_unstable_by_key(|token| std::cmp::Reverse(token.number));
        tokens.into_iter().take(most.saturating_add(1)).cloned().collect()
    }

    fn known(&self, id: &TokenId) -> Option<Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Those that are made for this and were not revoked: first those that were not rotated either, then those that were. One that has
    /// expired is of them, as the wall clock may go back.
    pub(super) fn not_revoked(&self, scope: &Scope) -> (Vec<TokenId>, Vec<TokenId>) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let tokens = known.values().map(|known| &known.token);
        let tokens = tokens.filter(|token| token.scope == *scope && token.revoked_at.is_none());
        let (rotated, current): (Vec<&StoredToken>, Vec<&StoredToken>) =
            tokens.partition(|token| token.rotated_at.is_some());
        let ids = |tokens: Vec<&StoredToken>| tokens.into_iter().map(|token| token.id).collect();
        (ids(current), ids(rotated))
    }

    /// The turn of one change, when memory has what the journal has.
    pub(super) async fn turn(&self) -> Result<OwnedMutexGuard<Memory>, TokenError> {
        let mut memory = Arc::clone(&self.changing).lock_owned().await;
        self.refresh(&mut memory).await?;
        Ok(memory)
    }

    /// What time it is for tokens.
    pub(super) fn wall(&self) -> UnixMillis {
        self.clock.wall()
    }

    /// What this request has made, if it came before.
    pub(crate) async fn before(&self, request: &RequestKey) -> Result<MadeBefore, TokenError> {
        let _turn = self.turn().await?;
        let Some(id) = self.made_before(request, self.clock.wall()).await? else {
            return Ok(MadeBefore::Nothing);
        };
        let holds = |token: &StoredToken| token.revoked_at.is_none() && token.rotated_at.is_none();
        let is_held = self.known(&id).is_some_and(|known| holds(&known.token));
        Ok(if is_held { MadeBefore::Held } else { MadeBefore::Revoked })
    }

    /// The token that this request made when it came before.
    pub(super) async fn made_before(
        &self,
        key: &RequestKey,
        now: UnixMillis,
    ) -> Result<Option<TokenId>, TokenError> {
        match self.journal.request(key.clone(), now).await {
            Ok(RequestState::New) => Ok(None),
            Ok(RequestState::Reused) => Err(TokenError::RequestReused),
            Ok(RequestState::Answered(response)) => {
                let id = response.as_bytes().as_ref().try_into();
                id.map(TokenId::from_bytes).map(Some).map_err(|_| AccessError::Damaged("request").into())
            }
            Err(error) => {
                tracing::warn!(%error, "a request can't be looked up");
                Err(match error {
                    damaged @ ReadError::Damaged(_) => AccessError::from(damaged).into(),
                    ReadError::Unavailable(_) => TokenError::OutcomeUnknown,
                })
            }
        }
    }

    /// Whether there is room for a token that only plays on: not in the last places, which are for tokens that do more. Void ones that
    /// may be forgotten for it take none.
    pub(super) fn may_play_on(&self, now: UnixMillis) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut held: HashMap<&Scope, usize> = HashMap::new();
        for Known { token, .. } in known.values() {
            *held.entry(&token.scope).or_default() += usize::from(!token.is_void(now));
        }
        // The last one of a name stays, void or not.
        let stay = |(scope, held): (&Scope, usize)| if *scope == Scope::Admin { held } else { held.max(1) };
        let taken: usize = held.into_iter().map(stay).sum();
        taken < limits::MAX_TOKENS - limits::TOKENS_LEFT_BY_ROTATIONS
    }

    /// From when on the last of these is void that were rotated and play on. `None`: none does.
    pub(super) fn play_on_until(&self, rotated: &[TokenId]) -> Option<UnixMillis> {
        let now = self.clock.wall();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let tokens = rotated.iter().filter_map(|id| known.get(id)).map(|known| &known.token);
        tokens.filter(|token| !token.is_void(now)).filter_map(StoredToken::void_from).max()
    }

    /// The number of the next token, which is for `scope`, and the void tokens that make room for it: the oldest, when there are as
    /// many as may be. Those that are revoked for it are void too. The last token of an owner or a bot stays: while it is known,
    /// nobody else registers by the name.
    pub(super) fn room(
        &self,
        scope: &Scope,
        revoked: &[TokenId],
        now: UnixMillis,
    ) -> Result<(TokenNumber, Vec<TokenId>), TokenError> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let last = known.values().map(|known| known.token.number.get()).max().unwrap_or(0);
        let number = TokenNumber::new(last + 1);
        let surplus = (known.len() + 1).saturating_sub(limits::MAX_TOKENS);
        if surplus == 0 {
            return Ok((number, Vec::new()));
        }
        // The new one counts.
        let mut left: HashMap<&Scope, usize> = HashMap::from([(scope, 1)]);
        for known in known.values() {
            *left.entry(&known.token.scope).or_default() += 1;
        }
        let revoked: HashSet<&TokenId> = revoked.iter().collect();
        let is_void = |token: &StoredToken| token.is_void(now) || revoked.contains(&token.id);
        let mut old: Vec<&StoredToken> = known.values().map(|known| &known.token).collect();
        old.retain(|token| is_void(token));
        old.sort_unstable_by_key(|token| token.number);
        let may_go = |token: &&StoredToken| match left.get_mut(&token.scope) {
            _ if token.scope == Scope::Admin => true,
            Some(left) if *left > 1 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        let forgotten: Vec<TokenId> =
            old.into_iter().filter(may_go).take(surplus).map(|token| token.id).collect();
        if forgotten.len() < surplus {
            return Err(TokenError::TooMany { limit: limits::MAX_TOKENS });
        }
        Ok((number, forgotten))
    }

    /// Makes a change durable, then takes it over.
    async fn change(&self, memory: &mut Memory, change: TokenChange) -> Result<(), TokenError> {
        let outcome = self.journal.change_tokens(change.clone()).await;
        self.settle(memory, change, outcome).await
    }

    /// Takes a change over, if the journal has.
    pub(super) async fn settle(
        &self,
        memory: &mut Memory,
        change: TokenChange,
        outcome: Outcome<(), RequestReused>,
    ) -> Result<(), TokenError> {
        match outcome {
            Outcome::Done(()) => {
                self.apply(change);
                Ok(())
            }
            Outcome::Refused(RequestReused) => Err(TokenError::RequestReused),
            Outcome::Damaged(cause) => Err(AccessError::from(ReadError::Damaged(cause)).into()),
            Outcome::Failed(cause) => {
                tracing::warn!(%cause, "a change of the tokens could not be stored");
                *memory = Memory::Stale;
                Err(TokenError::OutcomeUnknown)
            }
            Outcome::Unknown(cause) => {
                tracing::warn!(%cause, "a change of the tokens may not have been stored");
                *memory = Memory::Stale;
                // If it can't be read back now, whoever sends the same again will.
                self.refresh(memory).await?;
                Err(TokenError::OutcomeUnknown)
            }
        }
    }

    fn apply(&self, change: TokenChange) {
        let TokenChange { now, made, revoked, rotated, forgotten, request: _ } = change;
        let (wall, steady) = (self.clock.wall(), self.clock.since_start());
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for id in revoked {
            if let Some(known) = known.get_mut(&id) {
                known.token.revoked_at.get_or_insert(now);
                known.tell(wall, steady);
            }
        }
        for id in rotated {
            if let Some(known) = known.get_mut(&id) {
                known.token.rotated_at.get_or_insert(now);
                known.tell(wall, steady);
            }
        }
        for id in forgotten {
            if let Some(known) = known.remove(&id) {
                known.standing.send_replace(Standing::Void);
            }
        }
        if let Some(token) = made {
            known.insert(token.id, Known::new(token));
        }
    }

    async fn refresh(&self, memory: &mut Memory) -> Result<(), TokenError> {
        if *memory == Memory::Stale {
            self.read().await.map_err(|error| {
                tracing::warn!(%error, "the tokens can't be read back yet");
                TokenError::OutcomeUnknown
            })?;
            *memory = Memory::Fresh;
        }
        Ok(())
    }

    /// Takes over what the journal has.
    async fn read(&self) -> Result<(), AccessError> {
        let stored = self.journal.tokens().await?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let (wall, steady) = (self.clock.wall(), self.clock.since_start());
        let mut before = std::mem::take(&mut *known);
        for token in stored {
            let now = match before.remove(&token.id) {
                Some(known) => Known { token, ..known },
                None => Known::new(token),
            };
            now.tell(wall, steady);
            known.insert(now.token.id, now);
        }
        for gone in before.into_values() {
            gone.standing.send_replace(Standing::Void);
        }
        Ok(())
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens")
    }
}
