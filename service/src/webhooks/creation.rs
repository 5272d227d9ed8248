//! How a webhook is made, or is found that the same request has made before.

use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use crate::access::{AccessError, WebhookSecret};
use crate::journal::{
    Owner, Request, RequestKey, RequestState, Response, ResultFilter, StoredWebhook, WebhookChange,
    WebhookId, WebhookNumber,
};
use crate::limits;
use crate::own_task::to_its_end;

use super::connect::ConnectError;
use super::worker::Memory;
use super::{Shared, Target, WebhookError, WebhookInfo, WebhookSpec, Webhooks};

/// A webhook with its secret.
type Made = (WebhookInfo, WebhookSecret);

/// What becomes of a request.
enum Admission {
    /// It was answered before, with this.
    MadeBefore(Made),
    /// There is room, and this number.
    Room(WebhookNumber),
}

impl Webhooks {
    /// Makes a webhook. When the same request comes again, the answer is the webhook that it made before.
    ///
    /// # Errors
    /// [`WebhookError`] says why not.
    pub async fn create(
        &self,
        caller: Option<&Owner>,
        spec: WebhookSpec,
        request: Option<RequestKey>,
    ) -> Result<Made, WebhookError> {
        let WebhookSpec { url, owner, from } = spec;
        let owner = match (caller, owner) {
            (Some(own), Some(other)) if *own != other => return Err(WebhookError::OtherOwner),
            (Some(own), _) => Some(own.clone()),
            (None, owner) => owner,
        };
        let target = Target::parse(url.as_str())?;
        // Nobody's host is looked up for what is not made, or was made before.
        if let Admission::MadeBefore(made) = self.admit(owner.as_ref(), request.as_ref()).await?.0 {
            return Ok(made);
        }
        self.check(caller, &target).await?;

        let (number, memory) = match self.admit(owner.as_ref(), request.as_ref()).await? {
            (Admission::MadeBefore(made), _) => return Ok(made),
            (Admission::Room(number), memory) => (number, memory),
        };
        let now = self.shared.config.clock.wall();
        let settled = self.shared.config.matches.results(ResultFilter::default(), from)?.cursor().number;
        let id = self.shared.config.access.draw_webhook_id()?;
        let webhook = StoredWebhook { number, id, owner, url, created_at: now, settled };
        let answer = |key| Response::new(id.as_bytes().to_vec()).map(|response| Request { key, response });
        let request = request.map(answer).transpose().map_err(|_| AccessError::Damaged("request"))?;
        let change = WebhookChange::Made { webhook: webhook.clone(), request };
        let (webhooks, mut memory) = (self.clone(), memory);
        to_its_end(async move {
            webhooks.change(&mut memory, change).await?;
            tracing::info!(webhook = %id, receiver = %target, "a webhook was made");
            let running = webhooks.start(webhook, 0);
            Ok((webhooks.info(&running), webhooks.shared.config.access.webhook_secret(id)))
        })
        .await
    }

    /// Whether the same request has made a webhook before, or else there is room for one, as long as nothing else changes.
    async fn admit(
        &self,
        owner: Option<&Owner>,
        request: Option<&RequestKey>,
    ) -> Result<(Admission, OwnedMutexGuard<Memory>), WebhookError> {
        let memory = self.changing().await?;
        if let Some(key) = request
            && let Some(id) = self.made_before(key.clone()).await?
        {
            let running = self.find(owner, id).ok_or(WebhookError::NotFound)?;
            let made = (self.info(&running), self.shared.config.access.webhook_secret(id));
            return Ok((Admission::MadeBefore(made), memory));
        }
        let number = self.room(owner)?;
        Ok((Admission::Room(number), memory))
    }

    /// Whether anything may be sent to a receiver, as far as can be told now.
    async fn check(&self, caller: Option<&Owner>, target: &Target) -> Result<(), WebhookError> {
        let Shared { config, lookups, .. } = &*self.shared;
        let lookups = lookups.of(caller);
        let found = timeout(config.settings.timeout, config.network.addresses(target, &lookups)).await;
        match found {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(ConnectError::NoAddress)) => Err(WebhookError::NoAddress),
            Err(_) if config.network.allowed.hides(target) => Err(WebhookError::NoAddress),
            Ok(Err(ConnectError::Name)) | Err(_) => Err(WebhookError::Unresolved),
            Ok(Err(_)) if config.network.allowed.is_empty() => {
                Err(WebhookError::NotAllowed { entries: "none yet" })
            }
            Ok(Err(_)) => Err(WebhookError::NotAllowed { entries: "none of the addresses of this host" }),
        }
    }

    async fn made_before(&self, key: RequestKey) -> Result<Option<WebhookId>, WebhookError> {
        let now = self.shared.config.clock.wall();
        match self.shared.config.journal.request(key, now).await? {
            RequestState::New => Ok(None),
            RequestState::Reused => Err(WebhookError::RequestReused),
            RequestState::Answered(response) => {
                let id = response.as_bytes().as_ref().try_into();
                id.map(WebhookId::from_bytes).map(Some).map_err(|_| AccessError::Damaged("request").into())
            }
        }
    }

    /// The number of the next webhook, if there is room for it.
    fn room(&self, owner: Option<&Owner>) -> Result<WebhookNumber, WebhookError> {
        let running = self.running();
        let own = running.values().filter(|running| running.webhook.owner.as_ref() == owner).count();
        if own >= limits::MAX_WEBHOOKS_PER_OWNER {
            let limit = limits::MAX_WEBHOOKS_PER_OWNER;
            return Err(WebhookError::TooMany { limit, whose: " for the same matches" });
        }
        let limit = match owner {
            Some(_) => limits::MAX_WEBHOOKS - limits::MAX_WEBHOOKS_PER_OWNER,
            None => limits::MAX_WEBHOOKS,
        };
        if running.len() >= limit {
            return Err(WebhookError::TooMany { limit, whose: " on this server" });
        }
        let last = running.keys().next_back().map_or(0, |number| number.get());
        Ok(WebhookNumber::new(last + 1))
    }
}
