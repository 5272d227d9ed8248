//! What is durable goes into the database now and then, also when nobody asks for it.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::limits;
use super::request::{Query, Request};
use super::stats::Stats;

/// Has the writer do so every so often, until it is gone.
pub(super) async fn now_and_then(requests: mpsc::WeakSender<Request>, stats: Arc<Stats>) {
    loop {
        sleep(limits::PENDING_INTERVAL).await;
        let Some(requests) = requests.upgrade() else { return };
        if !stats.is_pending() {
            continue;
        }
        let (to, answer) = oneshot::channel();
        if requests.send(Request::Query(Query::Settle(to))).await.is_err() {
            return;
        }
        drop(requests);
        // A failure is in the server's log.
        let _ = answer.await;
    }
}
