//! Who may do what: bearer tokens of admins, owners and bots, and a token for each seat.
//!
//! Of a bearer token only the SHA-256 is stored; whoever makes it is told the secret, once. What it opened ends when it
//! is revoked, replaced or expired ([`Pass::voided`]); a bot's token that was rotated plays on the seats that the bot had. The first admin token is made at the first start.
//!
//! A seat's token is an HMAC of the service key over match, seat and generation: nothing is stored for it, a
//! retried creation returns the same one, and whoever has the key can check it. The first admin token
//! itself goes to a file that its owner alone can read, never to a log.

mod account_tokens;
mod admin_token;
mod bearer;
mod bearer_token;
mod error;
mod pass;
mod presented;
mod seat_token;
mod service_key;
#[cfg(test)]
mod tests;
mod tokens;
mod webhook_secret;

pub(crate) use account_tokens::{AccountTokens, Changed};
pub use admin_token::{ADMIN_TOKEN_FILE, AdminToken};
pub use bearer::Bearer;
pub use bearer_token::BearerToken;
pub use error::{AccessError, ResetError, TokenError};
pub use pass::Pass;
pub(crate) use presented::presented;
pub use seat_token::{SeatGrant, SeatToken};
pub use service_key::ServiceKey;
pub(crate) use tokens::MadeBefore;
pub use tokens::{TokenFilter, TokenSpec, Tokens, VoidTokens};
pub use webhook_secret::WebhookSecret;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::journal::{Journal, Options, SqliteJournal, WebhookId};
use crate::matches::Clock;

/// Makes another first admin token for a server that does not run, whose data is in `folder`, and says in which file it
/// is. The one before is void; all other tokens hold.
///
/// # Errors
/// A [`ResetError`] says what is in the way, such as the server itself.
pub async fn reset_admin_token(folder: &Path) -> Result<PathBuf, ResetError> {
    if !SqliteJournal::is_in(folder) {
        return Err(ResetError::NoJournal { folder: folder.to_owned() });
    }
    let (journal, _) = SqliteJournal::open(folder, Options::default()).await?;
    let reset = admin_token::reset(&journal, folder).await;
    journal.close().await;
    Ok(reset?)
}

/// The keys of one server, from its journal.
#[derive(Debug)]
pub struct Access {
    service_key: ServiceKey,
    admin_hash: admin_token::AdminHash,
    admin_token: Option<AdminToken>,
    tokens: Arc<Tokens>,
}

impl Access {
    /// Reads the keys from the journal. At the first start it makes them, and writes the admin token to
    /// [`ADMIN_TOKEN_FILE`] in `folder`, with mode 0600.
    ///
    /// # Errors
    /// An [`AccessError`] when the journal, the file or the system's randomness fails.
    pub async fn open(
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
        folder: &Path,
    ) -> Result<Self, AccessError> {
        let service_key = ServiceKey::open(&*journal).await?;
        let (admin_hash, admin_token) = admin_token::open(&*journal, folder).await?;
        let tokens = Tokens::open(journal, clock).await?;
        Ok(Self { service_key, admin_hash, admin_token, tokens })
    }

    /// The admin token, when its file still holds it: an operator may have moved it elsewhere.
    pub fn admin_token(&self) -> Option<&AdminToken> {
        self.admin_token.as_ref()
    }

    /// The stored tokens.
    pub const fn tokens(&self) -> &Arc<Tokens> {
        &self.tokens
    }

    /// The token of a seat.
    pub fn seat_token(&self, grant: &SeatGrant) -> SeatToken {
        self.service_key.seat_token(grant)
    }

    /// What a seat's token grants. `None`: this server never made it. Whether its generation is still the
    /// seat's, the match knows.
    pub fn seat_grant(&self, token: &str) -> Option<SeatGrant> {
        self.service_key.seat_grant(token)
    }

    /// The name of a new webhook.
    ///
    /// # Errors
    /// [`AccessError::Randomness`].
    pub fn draw_webhook_id(&self) -> Result<WebhookId, AccessError> {
        service_key::random().map(WebhookId::from_bytes)
    }

    /// What the messages of a webhook are signed by.
    pub fn webhook_secret(&self, id: WebhookId) -> WebhookSecret {
        self.service_key.webhook_secret(id)
    }

    /// Who calls, by the token of the request's metadata. Whether a seat's token was replaced, its match knows.
    ///
    /// # Errors
    /// [`AccessError::UnknownToken`] for a token that is none of this server's, or void.
    pub fn pass(&self, token: Option<&str>) -> Result<Pass, AccessError> {
        let Some(token) = token else { return Ok(Pass::without_end(Bearer::Anonymous)) };
        if self.admin_hash.is_of(token) {
            return Ok(Pass::without_end(Bearer::Admin));
        }
        if let Some(pass) = self.tokens.pass(token) {
            return Ok(pass);
        }
        let seat = self.seat_grant(token).ok_or(AccessError::UnknownToken)?;
        Ok(Pass::without_end(Bearer::Seat(seat)))
    }
}
