//! Whether the server is there when the load is over.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use tonic::Status;
use zetema_proto::v1;

use crate::backoff::Backoff;
use crate::fault::Wrong;
use crate::outcome::Failure;
use crate::target::Matches;

/// Waits until the server answers something.
///
/// # Errors
/// If it does not within this time. That all it was sent has its answer says nothing of a server that dies when nothing waits for it.
pub(super) async fn reach(mut matches: Matches, within: Duration) -> Result<(), Wrong> {
    let began = Instant::now();
    let until = began + within;
    let mut backoff = Backoff::default();
    let mut problem = "no answer".to_owned();
    loop {
        // No match has this id: that the server says so is an answer, and costs it nothing.
        let asked = timeout_at(until, matches.get_match(v1::GetMatchRequest::default())).await;
        match asked {
            Ok(Err(status)) if !is_answer(&status) => status.message().clone_into(&mut problem),
            Ok(_) => return Ok(()),
            Err(_) => return Err(Wrong::Unreachable { waited_s: within.as_secs(), problem }),
        }
        // The next question is no longer waited for than this, so it may be too long.
        sleep(backoff.next().min(until.saturating_duration_since(Instant::now()))).await;
    }
}

/// Whether the server itself has said it.
fn is_answer(status: &Status) -> bool {
    matches!(Failure::of(status), Failure::Refused(_))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tonic::transport::Endpoint;
    use zetema_sdk::Tls;

    use super::*;
    use crate::target::Target;

    #[tokio::test]
    async fn a_server_that_is_not_there_is_a_fault() {
        const NOBODY: &str = "http://127.0.0.1:9";
        let target = Target::new(NOBODY, Endpoint::from_static(NOBODY), Tls::default(), "t").unwrap();
        let wrong = reach(target.matches_lazy(), Duration::from_millis(300)).await.unwrap_err();
        assert!(matches!(wrong, Wrong::Unreachable { waited_s: 0, .. }), "{wrong}");
    }
}
