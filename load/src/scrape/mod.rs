//! What a server tells of itself on its page of metrics, where it can be reached.

mod page;

use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use tonic::body::Body;
use tonic::transport::Channel;
use tower::ServiceExt;

use crate::amount;
use crate::outcome::Reading;

pub use page::{Buckets, NoPage, Sample, Scrape, between, quantile};

/// Bytes of a page that are taken: some ten times what a server has.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Characters that are shown of an answer that is no page.
const MAX_SHOWN_CHARS: usize = 500;

const BUILD_INFO: &str = "zetema_build_info";
const JOURNAL_LAG: &str = "zetema_journal_lag_seconds";
const LIVE_MATCHES: &str = "zetema_live_matches";
/// Of the process, where the system tells it.
const MEMORY: &str = "process_resident_memory_bytes";
const PROCESSORS: &str = "process_cpu_seconds_total";

/// The metrics that are read here. The tests hold them against the server's.
pub const METRICS: [&str; 5] = [BUILD_INFO, JOURNAL_LAG, LIVE_MATCHES, MEMORY, PROCESSORS];

/// A server whose metrics are read again and again.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use zetema_load::scrape::Page;
///
/// let channel = tonic::transport::Channel::from_static("http://127.0.0.1:4680").connect().await?;
/// let scrape = Page::new(channel).read().await?;
/// println!("version {}", scrape.version().unwrap_or("unknown"));
/// let memory = scrape.reading().memory_bytes;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Page(Channel);

/// Why there is no reading. What the server said is shown without what a terminal would obey.
#[derive(Debug, thiserror::Error)]
pub enum NoReading {
    /// It can't be reached.
    #[error("the server can't be reached")]
    Unreachable(#[from] tonic::transport::Error),
    /// The page came to no end.
    #[error("the server's metrics can't be read: {0}")]
    Broken(String),
    /// It answers with something else.
    #[error("the server does not show its metrics ({status}): {said}")]
    Refused {
        /// The status.
        status: http::StatusCode,
        /// What it said.
        said: String,
    },
    /// It is no page.
    #[error(transparent)]
    NoPage(#[from] NoPage),
    /// It is the page of another program.
    #[error("the page of metrics has no {BUILD_INFO}: is it a Zetema server?")]
    AnotherProgram,
}

impl Page {
    /// The page of the server at the other end. It needs no token.
    pub const fn new(channel: Channel) -> Self {
        Self(channel)
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`NoReading`] if it can't be read, or is no page of a Zetema server.
    pub async fn read(&self) -> Result<Scrape, NoReading> {
        let mut request = http::Request::new(Body::empty());
        *request.uri_mut() = http::Uri::from_static("/metrics");
        let answer = self.0.clone().oneshot(request).await?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MAX_PAGE_BYTES).collect().await;
        let body = body.map_err(|error| NoReading::Broken(amount::plain(&error.to_string())))?;
        of_server(status, &String::from_utf8_lossy(&body.to_bytes()))
    }
}

/// Reads what a server has answered, if it is one of Zetema.
fn of_server(status: http::StatusCode, text: &str) -> Result<Scrape, NoReading> {
    if !status.is_success() {
        // Who answers may be anybody: it is shown, and not obeyed.
        let said: String = text.trim().chars().take(MAX_SHOWN_CHARS).collect();
        return Err(NoReading::Refused { status, said: amount::plain(&said) });
    }
    let scrape = Scrape::parse(text)?;
    if scrape.version().is_some() { Ok(scrape) } else { Err(NoReading::AnotherProgram) }
}

impl Scrape {
    /// The server's version.
    pub fn version(&self) -> Option<&str> {
        self.label(BUILD_INFO, "version")
    }

    /// What a load run keeps of it: what the page does not tell is absent.
    ///
    /// ```
    /// use zetema_load::scrape::Scrape;
    ///
    /// let page = "zetema_live_matches 1000\nprocess_resident_memory_bytes 81264640\nzetema_journal_lag_seconds 0.0025\n";
    /// let reading = Scrape::parse(page)?.reading();
    /// assert_eq!(reading.memory_bytes, Some(81_264_640));
    /// assert_eq!(reading.journal_lag_us, Some(2_500));
    /// assert_eq!(reading.processor_seconds, None);
    /// # Ok::<(), zetema_load::scrape::NoPage>(())
    /// ```
    pub fn reading(&self) -> Reading {
        let known = |name| self.has(name).then(|| self.sum(name));
        let lag = known(JOURNAL_LAG).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Reading {
            at_us: 0,
            memory_bytes: known(MEMORY).map(count),
            journal_lag_us: lag.map(|lag| u64::try_from(lag.as_micros()).unwrap_or(u64::MAX)),
            processor_seconds: known(PROCESSORS),
            live_matches: known(LIVE_MATCHES).map(count),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a page tells counts as floats")]
const fn count(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_no_page_of_a_server_is_shown_and_not_obeyed() {
        let check = |status, text: &str, expected: &str| {
            let error = of_server(status, text).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains(char::is_control), "{error:?}");
        };
        check(http::StatusCode::NOT_FOUND, "\u{1b}]0;mine\u{7}", "(404 Not Found): \\u{1b}]0;mine\\u{7}");
        check(http::StatusCode::OK, "\u{1b}[2J", "is it a Zetema server?");
        check(http::StatusCode::OK, "other_server_up 1\n", "is it a Zetema server?");
        let long = "x".repeat(1_000_000);
        let error = of_server(http::StatusCode::NOT_FOUND, &long).unwrap_err().to_string();
        assert!(error.len() < 1_000, "{} bytes", error.len());
        let scrape = of_server(http::StatusCode::OK, "zetema_build_info{version=\"0.1.0\"} 1\n").unwrap();
        assert_eq!((scrape.version(), scrape.reading()), (Some("0.1.0"), Reading::default()));
    }
}
