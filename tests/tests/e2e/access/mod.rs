//! Who may do what: every call by every wrong token, what a void token leaves open, and what owners see of each other.

mod owners;
mod requests;
mod revocation;
mod secrets;
mod table;

use tonic::{Code, Status, Streaming};
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason;
use zetema_tests::harness::soon;

/// Waits for the end of a stream, which must be that its token is void.
async fn check_cut<T>(what: &str, stream: &mut Streaming<T>) {
    loop {
        match soon(what, stream.message()).await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("{what} ended without a word"),
            Err(status) => return check_unauthenticated(what, &status),
        }
    }
}

fn check_unauthenticated(what: &str, status: &Status) {
    assert_eq!(status.code(), Code::Unauthenticated, "{what}: {status:?}");
    let reason = v1::Error::from_status(status).map(|error| error.reason());
    assert_eq!(reason, Some(ErrorReason::Unauthenticated), "{what}: {status:?}");
}

/// Milliseconds from now, as a timestamp.
fn in_ms(ms: u64) -> prost_types::Timestamp {
    let at = std::time::SystemTime::now() + std::time::Duration::from_millis(ms);
    at.into()
}
