//! `WebhookService`: where results are sent, for the admin and for owners.

use std::{collections::BTreeSet, sync::Arc};

use tonic::{Request, Response, Status, async_trait};
use zetema_proto::{
    FieldError,
    v1::{self, create_webhook_request::From as Begin, webhook_service_server::WebhookService},
};

use super::{
    backend::Backend,
    caller::{Caller, count_change},
    fault::Fault,
    lists,
    match_service::request_key,
    result_streams, wire,
};
use crate::{
    admission::Share,
    journal::{
        DeadLetter, DeadLetterState, Owner, Resend, ResultNumber, StoredWebhook, WebhookId, WebhookNumber,
        WebhookUrl,
    },
    limits,
    matches::ResultsFrom,
    webhooks::{Trouble, WebhookInfo, WebhookSpec, Webhooks},
};

/// The adapter of `WebhookService`.
#[derive(Clone)]
pub(crate) struct WebhookAdapter {
    backend: Arc<Backend>,
    webhooks: Webhooks,
}

impl WebhookAdapter {
    /// An adapter over these webhooks.
    pub(crate) fn new(backend: Arc<Backend>, webhooks: Webhooks) -> Self {
        Self { backend, webhooks }
    }

    /// Who calls: someone who has results of its own.
    async fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Fault> {
        let caller = Caller::of(&self.backend, request.metadata()).await?;
        caller.creator()?;
        Ok(caller)
    }
}

#[async_trait]
impl WebhookService for WebhookAdapter {
    async fn create_webhook(
        &self,
        request: Request<v1::CreateWebhookRequest>,
    ) -> Result<Response<v1::CreateWebhookResponse>, Status> {
        let caller = self.caller(&request).await?;
        caller.creator()?;
        count_change(&request)?;
        let request = request.into_inner();
        let body = v1::CreateWebhookRequest { request_id: String::new(), ..request.clone() };
        let key = request_key(&caller, &request.request_id, "CreateWebhook", &body)?;
        let v1::CreateWebhookRequest { request_id: _, url, owner, from } = request;
        if url.is_empty() {
            return Err(Fault::from(FieldError::missing("url")).into());
        }
        let spec = WebhookSpec {
            url: WebhookUrl::new(url).map_err(|error| Fault::field("url", error.to_string()))?,
            owner: match owner.as_str() {
                "" => None,
                name => Some(Owner::new(name).map_err(|error| Fault::field("owner", error.to_string()))?),
            },
            from: match from {
                None => ResultsFrom::Now,
                Some(Begin::First(v1::FromFirst {})) => ResultsFrom::First,
                Some(Begin::After(text)) => ResultsFrom::After(result_streams::cursor(&text)?),
            },
        };
        let made = self.webhooks.create(caller.creator()?, spec, key).await;
        let (info, secret) = made.map_err(Fault::from)?;
        let secret = secrecy::ExposeSecret::expose_secret(&secret.text()).to_owned();
        Ok(Response::new(v1::CreateWebhookResponse { webhook: Some(message(&info)), secret }))
    }

    async fn list_webhooks(
        &self,
        request: Request<v1::ListWebhooksRequest>,
    ) -> Result<Response<v1::ListWebhooksResponse>, Status> {
        let caller = self.caller(&request).await?;
        let v1::ListWebhooksRequest { page_size, page_token } = request.get_ref();
        let size = usize::from(lists::page_size(*page_size)?.get());
        let before = lists::place(page_token)?.map(WebhookNumber::new);
        let turn = lists::turn(&request).await?;
        let mut webhooks = self.webhooks.list(caller.creator()?, before, size);
        let more = webhooks.len() > size;
        webhooks.truncate(size);
        let next = webhooks.last().filter(|_| more).map(|last| last.webhook.number.get().to_string());
        let answer = v1::ListWebhooksResponse {
            webhooks: webhooks.iter().map(message).collect(),
            next_page_token: next.unwrap_or_default(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn delete_webhook(
        &self,
        request: Request<v1::DeleteWebhookRequest>,
    ) -> Result<Response<v1::DeleteWebhookResponse>, Status> {
        let caller = self.caller(&request).await?;
        caller.creator()?;
        count_change(&request)?;
        let id = webhook_id(&request.get_ref().webhook_id)?;
        self.webhooks.delete(caller.creator()?, id).await.map_err(Fault::from)?;
        Ok(Response::new(v1::DeleteWebhookResponse {}))
    }

    async fn list_dead_letters(
        &self,
        request: Request<v1::ListDeadLettersRequest>,
    ) -> Result<Response<v1::ListDeadLettersResponse>, Status> {
        let caller = self.caller(&request).await?;
        let v1::ListDeadLettersRequest { webhook_id: id, page_size, page_token } = request.get_ref();
        let id = webhook_id(id)?;
        let size = usize::from(lists::page_size(*page_size)?.get());
        let after = lists::place(page_token)?.map_or(ResultNumber::ZERO, ResultNumber::new);
        let turn = lists::turn(&request).await?;
        let found = self.webhooks.dead_letters(caller.creator()?, id, after, size).await;
        let mut dead = found.map_err(Fault::from)?;
        let more = dead.len() > size;
        dead.truncate(size);
        let next = dead.last().filter(|_| more).map(|last| last.result.get().to_string());
        let answer = v1::ListDeadLettersResponse {
            dead_letters: dead.iter().map(dead_letter).collect(),
            next_page_token: next.unwrap_or_default(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn resend_dead_letters(
        &self,
        request: Request<v1::ResendDeadLettersRequest>,
    ) -> Result<Response<v1::ResendDeadLettersResponse>, Status> {
        let caller = self.caller(&request).await?;
        let share = request.extensions().get::<Share>().cloned();
        let v1::ResendDeadLettersRequest { webhook_id: id, result_numbers } = request.into_inner();
        let id = webhook_id(&id)?;
        if result_numbers.len() > usize::from(limits::MAX_DEAD_LETTERS) {
            let problem =
                format!("has {} entries: give at most {}", result_numbers.len(), limits::MAX_DEAD_LETTERS);
            return Err(Fault::field("result_numbers", problem).into());
        }
        let numbers: BTreeSet<u64> = result_numbers.into_iter().collect();
        if let Some(share) = share {
            // Each that is named is looked for in the journal while the matches wait, as when one is created; without a name all
            // are changed by one statement.
            share.create(numbers.len().max(1)).map_err(Fault::from)?;
        }
        let which = if numbers.is_empty() {
            Resend::All
        } else {
            Resend::These(numbers.into_iter().map(ResultNumber::new).collect())
        };
        let due = self.webhooks.resend(caller.creator()?, id, which).await.map_err(Fault::from)?;
        Ok(Response::new(v1::ResendDeadLettersResponse { due: u32::try_from(due).unwrap_or(u32::MAX) }))
    }
}

fn webhook_id(text: &str) -> Result<WebhookId, Fault> {
    if text.is_empty() {
        return Err(FieldError::missing("webhook_id").into());
    }
    // What is no id is the id of nothing.
    text.parse().map_err(|_| Fault::not_found("webhook"))
}

fn message(info: &WebhookInfo) -> v1::Webhook {
    let WebhookInfo { webhook, behind, dead_letters, trouble } = info;
    let StoredWebhook { number: _, id, owner, url, created_at, settled } = webhook;
    v1::Webhook {
        webhook_id: id.to_string(),
        owner: owner.as_ref().map(Owner::to_string).unwrap_or_default(),
        url: url.as_str().to_owned(),
        create_time: Some(wire::timestamp(*created_at)),
        settled_result_number: settled.get(),
        results_behind: *behind,
        dead_letters: *dead_letters,
        trouble: trouble.as_ref().map(|trouble| {
            let Trouble { result, attempts, error, next_attempt_at } = trouble;
            v1::DeliveryTrouble {
                result_number: result.get(),
                attempts: *attempts,
                error: error.clone(),
                next_attempt_time: Some(wire::timestamp(*next_attempt_at)),
            }
        }),
    }
}

fn dead_letter(dead: &DeadLetter) -> v1::DeadLetter {
    let DeadLetter { result, attempts, error, died_at, state } = dead;
    let state = match state {
        DeadLetterState::Kept => v1::DeadLetterState::Kept,
        DeadLetterState::Due => v1::DeadLetterState::Due,
    };
    v1::DeadLetter {
        result_number: result.get(),
        attempts: *attempts,
        error: error.clone(),
        create_time: Some(wire::timestamp(*died_at)),
        state: state.into(),
    }
}
