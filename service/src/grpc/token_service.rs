//! `TokenService`: bearer tokens, for the admin alone.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};
use zetema_proto::{
    FieldError,
    v1::{self, token_scope::Kind, token_service_server::TokenService},
};

use super::{backend::Backend, caller::Caller, fault::Fault, lists, match_service::request_key, wire};
use crate::{
    access::{TokenFilter, TokenSpec, VoidTokens},
    journal::{BotName, Owner, Scope, StoredToken, TokenId, TokenLabel, TokenNumber},
};

/// The adapter of `TokenService`.
#[derive(Clone)]
pub(crate) struct TokenAdapter {
    backend: Arc<Backend>,
}

impl TokenAdapter {
    /// An adapter over these tokens.
    pub(crate) fn new(backend: Arc<Backend>) -> Self {
        Self { backend }
    }

    /// The admin who calls.
    async fn admin<T>(&self, request: &Request<T>) -> Result<Caller, Fault> {
        let caller = Caller::of(&self.backend, request.metadata()).await?;
        caller.admin_only()?;
        Ok(caller)
    }
}

#[async_trait]
impl TokenService for TokenAdapter {
    async fn create_token(
        &self,
        request: Request<v1::CreateTokenRequest>,
    ) -> Result<Response<v1::CreateTokenResponse>, Status> {
        let caller = self.admin(&request).await?;
        let v1::CreateTokenRequest { request_id, scope, label, expire_time, replaces_token_id } =
            request.into_inner();
        let body = v1::CreateTokenRequest {
            request_id: String::new(),
            scope: scope.clone(),
            label: label.clone(),
            expire_time,
            replaces_token_id: replaces_token_id.clone(),
        };
        let key = request_key(&caller, &request_id, "CreateToken", &body)?;
        let spec = TokenSpec {
            scope: scope.as_ref().map(scope_of).transpose().map_err(Fault::from)?,
            label: label_of(label).map_err(Fault::from)?,
            expires_at: expire_time
                .as_ref()
                .map(wire::millis)
                .transpose()
                .map_err(|error| Fault::from(error.within("expire_time")))?,
            replaces: match replaces_token_id.as_str() {
                "" => None,
                text => Some(token_id(text)?),
            },
        };
        let (token, secret) = self.backend.bots.create_token(spec, key).await.map_err(Fault::from)?;
        let secret = secret.expose().to_owned();
        Ok(Response::new(v1::CreateTokenResponse { token: Some(message(&token)), secret }))
    }

    async fn list_tokens(
        &self,
        request: Request<v1::ListTokensRequest>,
    ) -> Result<Response<v1::ListTokensResponse>, Status> {
        self.admin(&request).await?;
        let v1::ListTokensRequest { filter, page_size, page_token } = request.get_ref();
        let filter = filter_of(filter.as_ref()).map_err(|error| Fault::from(error.within("filter")))?;
        let size = usize::from(lists::page_size(*page_size)?.get());
        let before = lists::place(page_token)?.map(TokenNumber::new);
        let turn = lists::turn(&request).await?;
        let mut tokens = self.backend.access.tokens().list(&filter, before, size);
        let more = tokens.len() > size;
        tokens.truncate(size);
        let next = tokens.last().filter(|_| more).map(|last| last.number.get().to_string());
        let answer = v1::ListTokensResponse {
            tokens: tokens.iter().map(message).collect(),
            next_page_token: next.unwrap_or_default(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn revoke_token(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Result<Response<v1::RevokeTokenResponse>, Status> {
        self.admin(&request).await?;
        let v1::RevokeTokenRequest { token_id: id } = request.into_inner();
        if id.is_empty() {
            return Err(Fault::from(FieldError::missing("token_id")).into());
        }
        let token = self.backend.access.tokens().revoke(token_id(&id)?).await.map_err(Fault::from)?;
        Ok(Response::new(v1::RevokeTokenResponse { token: Some(message(&token)) }))
    }
}

fn token_id(text: &str) -> Result<TokenId, Fault> {
    // What is no id is the id of nothing.
    text.parse().map_err(|_| Fault::not_found("token"))
}

fn scope_of(scope: &v1::TokenScope) -> Result<Scope, FieldError> {
    let v1::TokenScope { kind } = scope;
    match kind {
        None => Err(FieldError::missing("scope.kind")),
        Some(Kind::Admin(v1::AdminScope {})) => Ok(Scope::Admin),
        Some(Kind::Owner(v1::OwnerScope { owner })) => Owner::new(owner)
            .map(Scope::Owner)
            .map_err(|error| FieldError::invalid("scope.owner.owner", error.to_string())),
        Some(Kind::Bot(v1::BotScope { bot })) => BotName::new(bot)
            .map(Scope::Bot)
            .map_err(|error| FieldError::invalid("scope.bot.bot", error.to_string())),
    }
}

fn label_of(label: String) -> Result<Option<TokenLabel>, FieldError> {
    if label.is_empty() {
        return Ok(None);
    }
    TokenLabel::new(label).map(Some).map_err(|error| FieldError::invalid("label", error.to_string()))
}

fn filter_of(filter: Option<&v1::TokenFilter>) -> Result<TokenFilter, FieldError> {
    let Some(v1::TokenFilter { scope, void_tokens }) = filter else {
        return Ok(TokenFilter { scope: None, void: VoidTokens::LeftOut });
    };
    let void = match void_tokens.map(v1::VoidTokens::try_from) {
        None | Some(Ok(v1::VoidTokens::LeftOut)) => VoidTokens::LeftOut,
        Some(Ok(v1::VoidTokens::Listed)) => VoidTokens::Listed,
        Some(Ok(v1::VoidTokens::Unspecified) | Err(_)) => {
            return Err(FieldError::invalid("void_tokens", "is no value that this version knows"));
        }
    };
    Ok(TokenFilter { scope: scope.as_ref().map(scope_of).transpose()?, void })
}

fn message(token: &StoredToken) -> v1::Token {
    let StoredToken { number: _, id, hash: _, scope, label, created_at, expires_at, revoked_at, rotated_at } =
        token;
    let kind = match scope {
        Scope::Admin => Kind::Admin(v1::AdminScope {}),
        Scope::Owner(owner) => Kind::Owner(v1::OwnerScope { owner: owner.to_string() }),
        Scope::Bot(bot) => Kind::Bot(v1::BotScope { bot: bot.to_string() }),
    };
    v1::Token {
        token_id: id.to_string(),
        scope: Some(v1::TokenScope { kind: Some(kind) }),
        label: label.as_ref().map(ToString::to_string).unwrap_or_default(),
        create_time: Some(wire::timestamp(*created_at)),
        expire_time: expires_at.map(wire::timestamp),
        revoke_time: revoked_at.map(wire::timestamp),
        rotate_time: rotated_at.map(wire::timestamp),
    }
}
