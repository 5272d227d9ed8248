//! Bearer tokens.

use serde::Serialize;
use zetema_proto::v1;
use zetema_proto::v1::token_scope::Kind;

/// A token, without its secret.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TokenJson {
    pub(crate) token_id: String,
    /// `admin`, `owner` or `bot`.
    pub(crate) scope: &'static str,
    /// The owner's or the bot's name.
    pub(crate) account: Option<String>,
    pub(crate) label: String,
    /// As in 2026-11-21T03:04:01.250Z, as are the next.
    pub(crate) create_time: Option<String>,
    pub(crate) expire_time: Option<String>,
    pub(crate) revoke_time: Option<String>,
    pub(crate) rotate_time: Option<String>,
}

/// A token that was made, with its secret.
#[derive(Clone, Serialize)]
pub(crate) struct CreatedTokenJson {
    pub(crate) token: TokenJson,
    pub(crate) secret: String,
}

impl std::fmt::Debug for CreatedTokenJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CreatedTokenJson({})", self.token.token_id)
    }
}

impl TokenJson {
    /// The JSON form of a token.
    pub(crate) fn new(message: &v1::Token) -> Self {
        let kind = message.scope.as_ref().and_then(|scope| scope.kind.as_ref());
        let (scope, account) = match kind {
            Some(Kind::Admin(v1::AdminScope {})) => ("admin", None),
            Some(Kind::Owner(v1::OwnerScope { owner })) => ("owner", Some(owner.clone())),
            Some(Kind::Bot(v1::BotScope { bot })) => ("bot", Some(bot.clone())),
            // Of a later version.
            None => ("unknown", None),
        };
        Self {
            token_id: message.token_id.clone(),
            scope,
            account,
            label: message.label.clone(),
            create_time: message.create_time.as_ref().map(ToString::to_string),
            expire_time: message.expire_time.as_ref().map(ToString::to_string),
            revoke_time: message.revoke_time.as_ref().map(ToString::to_string),
            rotate_time: message.rotate_time.as_ref().map(ToString::to_string),
        }
    }
}
