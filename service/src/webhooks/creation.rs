//! How a webhook is made, or is found that the same request has made before.

use crate::access::{AccessError, WebhookSecret};
use crate::journal::{
    Owner, Request, RequestKey, RequestState, Response, ResultFilter, StoredWebhook, UnixMillis,
    WebhookChange, WebhookId, WebhookNumber,
};
use crate::limits;

use super::{Target, WebhookError, WebhookInfo, WebhookSpec, Webhooks};

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
    ) -> Result<(WebhookInfo, WebhookSecret), WebhookError> {
        let WebhookSpec { url, owner, from } = spec;
        let owner = match (caller, owner) {
            (Some(own), Some(other)) if *own != other => return Err(WebhookError::OtherOwner),
            (Some(own), _) => Some(own.clone()),
            (None, owner) => owner,
        };
        let target = Target::parse(url.as_str())?;
        self.check(&target).await?;

        let mut memory = self.shared.changing.lock().await;
        self.refresh(&mut memory).await?;
        let now = self.shared.config.clock.wall();
        if let Some(key) = &request
            && let Some(id) = self.made_before(key.clone(), now).await?
        {
            let running = self.find(caller, id).ok_or(WebhookError::NotFound)?;
            return Ok((self.info(&running), self.shared.config.access.webhook_secret(id)));
        }
        let number = self.room(owner.as_ref())?;
        let settled = self.shared.config.matches.results(ResultFilter::default(), from)?.cursor().number;
        let id = self.shared.config.access.draw_webhook_id()?;
        let webhook = StoredWebhook { number, id, owner, url, created_at: now, settled };
        let answer = |key| Response::new(id.as_bytes().to_vec()).map(|response| Request { key, response });
        let request = request.map(answer).transpose().map_err(|_| AccessError::Damaged("request"))?;
        self.change(&mut memory, WebhookChange::Made { webhook: webhook.clone(), request }).await?;
        tracing::info!(webhook = %id, receiver = %target, "a webhook was made");
        let running = self.start(webhook, 0);
        Ok((self.info(&running), self.shared.config.access.webhook_secret(id)))
    }

    /// Whether anything may be sent to a receiver, as far as can be told now.
    async fn check(&self, target: &Target) -> Result<(), WebhookError> {
        let network = &self.shared.config.network;
        let found =
            tokio::time::timeout(self.shared.config.settings.timeout, network.addresses(target)).await;
        if matches!(found, Ok(Ok(_))) {
            return Ok(());
        }
        let entries =
            if network.allowed().is_empty() { "none yet" } else { "none of the addresses of this host" };
        Err(WebhookError::NotAllowed { entries })
    }

    async fn made_before(&self, key: RequestKey, now: UnixMillis) -> Result<Option<WebhookId>, WebhookError> {
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
        if running.len() >= limits::MAX_WEBHOOKS {
            return Err(WebhookError::TooMany { limit: limits::MAX_WEBHOOKS, whose: "" });
        }
        let last = running.keys().next_back().map_or(0, |number| number.get());
        Ok(WebhookNumber::new(last + 1))
    }
}
