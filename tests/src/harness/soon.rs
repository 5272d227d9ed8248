//! The one deadline of the tests.

use std::future::Future;
use std::time::Duration;

/// Long enough for a busy machine: reached only when a test fails.
const DEADLINE: Duration = Duration::from_mins(1);

/// What the future comes to.
///
/// # Panics
/// If it does not come in time. `what` says what was waited for.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(DEADLINE, future).await;
    waited.unwrap_or_else(|_| panic!("waited {} s in vain for {what}", DEADLINE.as_secs()))
}
