//! Webhooks and their dead letters.

use serde::Serialize;
use zetema_proto::v1;

/// A webhook, without its secret.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct WebhookJson {
    pub(crate) webhook_id: String,
    /// Null: the results of all matches.
    pub(crate) owner: Option<String>,
    pub(crate) url: String,
    /// As in 2026-11-21T03:04:01.250Z.
    pub(crate) create_time: Option<String>,
    pub(crate) settled_result_number: u64,
    pub(crate) results_behind: u64,
    pub(crate) dead_letters: u32,
    /// Null: nothing is in the way.
    pub(crate) trouble: Option<TroubleJson>,
}

/// What is in the way of a webhook.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TroubleJson {
    pub(crate) result_number: u64,
    pub(crate) attempts: u32,
    pub(crate) error: String,
    pub(crate) next_attempt_time: Option<String>,
}

/// A webhook that was made, with its secret.
#[derive(Clone, Serialize)]
pub(crate) struct CreatedWebhookJson {
    pub(crate) webhook: WebhookJson,
    pub(crate) secret: String,
}

impl std::fmt::Debug for CreatedWebhookJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CreatedWebhookJson({})", self.webhook.webhook_id)
    }
}

/// A result that a webhook gave up.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DeadLetterJson {
    pub(crate) result_number: u64,
    pub(crate) attempts: u32,
    pub(crate) error: String,
    pub(crate) create_time: Option<String>,
    /// `kept` or `due`.
    pub(crate) state: &'static str,
}

impl WebhookJson {
    /// The JSON form of a webhook.
    pub(crate) fn new(message: &v1::Webhook) -> Self {
        Self {
            webhook_id: message.webhook_id.clone(),
            owner: Some(message.owner.clone()).filter(|owner| !owner.is_empty()),
            url: message.url.clone(),
            create_time: message.create_time.as_ref().map(ToString::to_string),
            settled_result_number: message.settled_result_number,
            results_behind: message.results_behind,
            dead_letters: message.dead_letters,
            trouble: message.trouble.as_ref().map(|trouble| TroubleJson {
                result_number: trouble.result_number,
                attempts: trouble.attempts,
                error: trouble.error.clone(),
                next_attempt_time: trouble.next_attempt_time.as_ref().map(ToString::to_string),
            }),
        }
    }
}

impl DeadLetterJson {
    /// The JSON form of a dead letter.
    pub(crate) fn new(message: &v1::DeadLetter) -> Self {
        Self {
            result_number: message.result_number,
            attempts: message.attempts,
            error: message.error.clone(),
            create_time: message.create_time.as_ref().map(ToString::to_string),
            state: match message.state() {
                v1::DeadLetterState::Kept => "kept",
                v1::DeadLetterState::Due => "due",
                // Of a later version.
                v1::DeadLetterState::Unspecified => "unknown",
            },
        }
    }
}
