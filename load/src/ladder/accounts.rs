//! The bots of a run: registered before it, retired after it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use tokio::time::{Instant, sleep};
use tonic::{Response, Status};
use zetema_proto::v1;

use super::plan::LadderPlan;
use crate::fault::{Fault, Wrong};
use crate::outcome::{Failure, Recorder};
use crate::target::Bots;

/// Bots that are registered or retired at once.
const AT_ONCE: usize = 16;
/// How long a server that takes on nothing now is asked again.
const PATIENCE: Duration = Duration::from_secs(30);

/// The bots of a run.
pub(super) struct Accounts {
    client: Bots,
    names: Vec<String>,
    /// How many of them the server was asked to register.
    asked: AtomicUsize,
}

/// Bots that are registered.
pub(super) struct Registered {
    /// Their tokens, in the order of their names.
    pub(super) tokens: Vec<String>,
    /// How many matches at once each may play at least, as the server has it.
    pub(super) matches_at_once: u32,
}

/// A bot that could not be registered, with what the server says.
pub(super) struct NotRegistered {
    pub(super) name: String,
    pub(super) status: Status,
}

impl Accounts {
    /// The accounts of a run of this name, before they are registered.
    pub(super) fn new(client: Bots, run: &str, plan: &LadderPlan) -> Self {
        let names = (0..plan.bots()).map(|bot| format!("{run}-{bot}")).collect();
        Self { client, names, asked: AtomicUsize::new(0) }
    }

    /// Their names.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Registers them.
    pub(super) async fn register(&self, run: &str, plan: &LadderPlan) -> Result<Registered, NotRegistered> {
        let register = |(bot, name): (usize, &String)| {
            let request = v1::RegisterBotRequest {
                // So that one that is asked for again is not there twice.
                request_id: name.clone(),
                name: name.clone(),
                owner: format!("{run}-owner-{}", plan.owner(bot)),
                description: "a lean client of a load run".to_owned(),
                ..v1::RegisterBotRequest::default()
            };
            let client = self.client.clone();
            async move {
                self.asked.fetch_max(bot + 1, Ordering::Relaxed);
                let registered = patiently(|| {
                    let (mut client, request) = (client.clone(), request.clone());
                    async move { client.register_bot(request).await }
                })
                .await;
                let quota = |bot: v1::Bot| bot.quota.map_or(u32::MAX, |quota| quota.matches_at_once);
                registered
                    .map(|answer| (answer.secret, answer.bot.map_or(u32::MAX, quota)))
                    .map_err(|status| NotRegistered { name: request.name, status })
            }
        };
        let registering = stream::iter(self.names.iter().enumerate().map(register)).buffered(AT_ONCE);
        let registered: Vec<(String, u32)> = registering.try_collect().await?;
        let matches_at_once = registered.iter().map(|(_, quota)| *quota).min().unwrap_or(u32::MAX);
        Ok(Registered { tokens: registered.into_iter().map(|(token, _)| token).collect(), matches_at_once })
    }

    /// Retires those that were asked for. One that is not retired is a fault.
    pub(super) async fn retire(self, recorder: &Recorder) {
        let Self { client, mut names, asked } = self;
        names.truncate(asked.into_inner());
        let retire = |name: String| {
            let client = client.clone();
            async move {
                let retired = patiently(|| {
                    let (mut client, name) = (client.clone(), name.clone());
                    async move { client.retire_bot(v1::RetireBotRequest { name }).await }
                });
                match retired.await {
                    Ok(_) => {}
                    // It was not registered.
                    Err(status) if Failure::of(&status) == v1::ErrorReason::NotFound.into() => {}
                    Err(status) => {
                        let wrong = Wrong::NotRetired { bot: name, problem: status.message().to_owned() };
                        Fault { match_id: String::new(), seat: None, wrong }.report(recorder);
                    }
                }
            }
        };
        stream::iter(names).for_each_concurrent(AT_ONCE, retire).await;
    }
}

/// Asks again as long as the server says when to.
async fn patiently<T, F>(ask: impl Fn() -> F) -> Result<T, Status>
where
    F: Future<Output = Result<Response<T>, Status>>,
{
    let until = Instant::now() + PATIENCE;
    loop {
        let status = match ask().await {
            Ok(answer) => return Ok(answer.into_inner()),
            Err(status) => status,
        };
        let retry_after_ms = v1::Error::from_status(&status).and_then(|error| error.retry_after_ms);
        let Some(ms) = retry_after_ms.filter(|_| Instant::now() < until) else { return Err(status) };
        sleep(Duration::from_millis(ms.into())).await;
    }
}
