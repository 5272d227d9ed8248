//! Writes that are tried while none goes through: otherwise the journal would take writes again and nobody would know,
//! since a server that is not ready is sent none.

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::sleep;

use super::limits;
use super::request::{Request, Write};
use crate::journal::{Epoch, Health, MetaKey, MetaValue};

/// The value that is written: its own epoch, which nobody reads.
const KEY: &str = "journal/probe";

/// Tries a write every so often while the journal takes none, until it is closed.
pub(super) async fn while_failing(
    requests: mpsc::WeakSender<Request>,
    mut health: watch::Receiver<Health>,
    epoch: Epoch,
) {
    let (Ok(key), Ok(value)) = (MetaKey::new(KEY), MetaValue::new(epoch.get().to_be_bytes().to_vec())) else {
        return;
    };
    // An error says that the writer is gone.
    while health.wait_for(|health| matches!(health, Health::Failing(_))).await.is_ok() {
        sleep(limits::PROBE_INTERVAL).await;
        let Some(requests) = requests.upgrade() else { return };
        let (to, stored) = oneshot::channel();
        let store = Write::ReplaceMeta(key.clone(), value.clone(), to);
        let (to, logged) = oneshot::channel();
        for write in [store, Write::Trial(to)] {
            if requests.send(Request::Write(write)).await.is_err() {
                return;
            }
        }
        drop(requests);
        // What comes of them is told by the health.
        let _ = (stored.await, logged.await);
    }
}
