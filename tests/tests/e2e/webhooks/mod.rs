//! Webhooks: every result arrives, whatever becomes of its receiver and of the server.

mod crashes;
mod owners;
pub(crate) mod receiver;

use std::ffi::OsStr;

use tempfile::TempDir;
use zetema_proto::v1::{self, create_webhook_request::From, watch_results_response::Kind};
use zetema_tests::harness::{Clients, Process, preset, soon};

/// Receivers of the tests may be sent to, and are tried again at once.
pub(crate) const FLAGS: [&str; 8] = [
    "--webhook-allow",
    "http://127.0.0.1:*",
    "--webhook-first-retry-ms",
    "10",
    "--webhook-last-retry-ms",
    "100",
    "--webhook-timeout-ms",
    "2000",
];

async fn start_in(folder: TempDir, flags: &[&str]) -> (Process, Clients) {
    let flags: Vec<&OsStr> = flags.iter().map(OsStr::new).collect();
    let process = Process::start_with(folder, &flags).await;
    let clients = process.connect().await;
    (process, clients)
}

async fn start() -> (Process, Clients) {
    start_in(tempfile::tempdir().unwrap(), &FLAGS).await
}

/// Kills the server (SIGKILL), and starts another with its data.
async fn restart(process: Process) -> (Process, Clients) {
    let (folder, _) = process.kill();
    start_in(folder, &FLAGS).await
}

async fn create(clients: &Clients, request: v1::CreateWebhookRequest) -> (v1::Webhook, String) {
    let answer = soon("CreateWebhook", clients.webhooks().create_webhook(request)).await;
    let v1::CreateWebhookResponse { webhook, secret } = answer.unwrap().into_inner();
    (webhook.unwrap(), secret)
}

async fn create_at(clients: &Clients, url: String) -> (v1::Webhook, String) {
    create(clients, v1::CreateWebhookRequest { url, ..v1::CreateWebhookRequest::default() }).await
}

async fn list(clients: &Clients) -> Vec<v1::Webhook> {
    let mut webhooks = clients.webhooks();
    let answer = webhooks.list_webhooks(v1::ListWebhooksRequest::default());
    soon("ListWebhooks", answer).await.unwrap().into_inner().webhooks
}

async fn dead_letters(clients: &Clients, webhook: &v1::Webhook) -> Vec<v1::DeadLetter> {
    let webhook_id = webhook.webhook_id.clone();
    let request = v1::ListDeadLettersRequest { webhook_id, ..v1::ListDeadLettersRequest::default() };
    let answer = soon("ListDeadLetters", clients.webhooks().list_dead_letters(request)).await;
    answer.unwrap().into_inner().dead_letters
}

async fn resend(clients: &Clients, webhook: &v1::Webhook, result_numbers: &[u64]) -> u32 {
    let (webhook_id, result_numbers) = (webhook.webhook_id.clone(), result_numbers.to_vec());
    let request = v1::ResendDeadLettersRequest { webhook_id, result_numbers };
    let answer = soon("ResendDeadLetters", clients.webhooks().resend_dead_letters(request)).await;
    answer.unwrap().into_inner().due
}

/// Makes results: matches that are over at once.
async fn make_results(clients: &Clients, count: usize) -> Vec<String> {
    let created = clients.create_batch(vec![preset(v1::Preset::Sackson, 2); count]).await;
    for created in &created {
        let cancel = v1::CancelMatchRequest { match_id: created.id().to_owned() };
        soon("CancelMatch", clients.matches().cancel_match(cancel)).await.unwrap();
    }
    created.iter().map(|created| created.id().to_owned()).collect()
}

/// All results, as `WatchResults` tells them: each with the cursor after it.
async fn results(clients: &Clients) -> Vec<(v1::EndedMatch, String)> {
    let mut matches = clients.matches();
    let watch = matches.watch_results(v1::WatchResultsRequest::default());
    let mut stream = soon("WatchResults", watch).await.unwrap().into_inner();
    let mut told = Vec::new();
    loop {
        let message = soon("a result", stream.message()).await.unwrap().unwrap();
        match message.kind.unwrap() {
            Kind::Ended(ended) => told.push((ended, message.cursor)),
            Kind::CaughtUp(_) => return told,
            Kind::Draining(_) => panic!("nobody has stopped the server"),
        }
    }
}

fn first() -> From {
    From::First(v1::FromFirst {})
}
