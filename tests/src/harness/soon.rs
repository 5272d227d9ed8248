//! The one deadline of the tests.

use std::future::Future;
use std::time::Duration;

/// Long enough for a busy machine: reached only when a test fails.
const DEADLINE: Duration = Duration::from_secs(20);

/// What the future comes to.
///
/// # Panics
/// If it does not come in time. `what` says what was waited for.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {} s in vain for {what}", DEADLINE.as_secs()),
    }
}
