//! The tokens of an account, changed together with it: both, or neither, are durable.

use super::tokens::Tokens;
use super::{AccessError, BearerToken, TokenError};
use crate::journal::{
    Account, AccountChange, AccountStore, Request, RequestKey, Response, Scope, StoredToken, TokenChange,
    UnixMillis,
};

/// What becomes of the tokens of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AccountTokens {
    /// They stay as they are.
    Kept,
    /// It gets one, beside those that it has.
    Given(Scope),
    /// It gets one, and all that it had are void.
    Renewed(Scope),
    /// It gets one, and those that it had only play on the seats that it has. Those that did so already are void.
    Rotated(Scope),
    /// All that it had are void.
    Voided(Scope),
}

/// What a change of an account has made.
#[derive(Debug)]
pub(crate) struct Changed {
    /// The token that it got, if it got one.
    pub(crate) secret: Option<BearerToken>,
    /// From when on the last of its tokens that were rotated by this is void. `None`: none plays on.
    pub(crate) plays_on_until: Option<UnixMillis>,
}

impl AccountTokens {
    /// For what one is made, of what all others are void, and of what they are rotated.
    fn parts(self) -> (Option<Scope>, Option<Scope>, Option<Scope>) {
        match self {
            Self::Kept => (None, None, None),
            Self::Given(scope) => (Some(scope), None, None),
            Self::Renewed(scope) => (Some(scope.clone()), Some(scope), None),
            Self::Rotated(scope) => (Some(scope.clone()), None, Some(scope)),
            Self::Voided(scope) => (None, Some(scope), None),
        }
    }
}

impl Tokens {
    /// Changes an account and its tokens. When the same request comes again, the token that it made before is void. Whoever calls sees
    /// to it that it comes to its end.
    pub(crate) async fn change_account(
        &self,
        store: &dyn AccountStore,
        account: Account,
        tokens: AccountTokens,
        request: Option<RequestKey>,
    ) -> Result<Changed, TokenError> {
        let mut memory = self.turn().await?;
        let now = self.wall();
        let before = match &request {
            Some(key) => self.made_before(key, now).await?,
            None => None,
        };
        let (given, voided, rotated) = tokens.parts();
        let (current, playing_on) = voided.map(|scope| self.not_revoked(&scope)).unwrap_or_default();
        let (mut rotated, playing_on_before) =
            rotated.map(|scope| self.not_revoked(&scope)).unwrap_or_default();
        let voided = current.into_iter().chain(playing_on).chain(playing_on_before);
        let mut revoked: Vec<_> = voided.chain(before).collect();
        if !self.may_play_on(now) {
            revoked.append(&mut rotated);
        }
        let mut change = TokenChange { revoked, rotated, ..TokenChange::at(now) };
        let mut secret = None;
        if let Some(scope) = given {
            let (number, forgotten) = self.room(&scope, &change.revoked, now)?;
            let (id, token) = BearerToken::draw(&scope)?;
            let answer =
                |key| Response::new(id.as_bytes().to_vec()).map(|response| Request { key, response });
            change.request = request.map(answer).transpose().map_err(|_| AccessError::Damaged("request"))?;
            change.forgotten = forgotten;
            change.made = Some(StoredToken {
                number,
                id,
                hash: token.hash(),
                scope,
                label: None,
                created_at: now,
                expires_at: None,
                revoked_at: None,
                rotated_at: None,
            });
            secret = Some(token);
        }
        let outcome = store.change_account(AccountChange { account, tokens: change.clone() }).await;
        let rotated = change.rotated.clone();
        self.settle(&mut memory, change, outcome).await?;
        Ok(Changed { secret, plays_on_until: self.play_on_until(&rotated) })
    }
}
