//! One attempt to deliver a message.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use tokio::time::timeout;

use super::connect::{ConnectError, Connection, Network};
use super::lookups::Lookups;
use super::url::Target;
use crate::limits;

const AGENT: &str = concat!("zetema/", env!("CARGO_PKG_VERSION"));

/// What is sent.
#[derive(Debug)]
pub(super) struct Message {
    /// What names it, each time that it is sent.
    pub(super) id: String,
    /// When it is sent, in seconds since 1970.
    pub(super) timestamp: u64,
    pub(super) signature: String,
    /// JSON.
    pub(super) body: Bytes,
}

/// What came of an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It was taken.
    Taken,
    /// The receiver says that it would refuse it again.
    Refused(String),
    /// The receiver is not there, or not ready.
    Unavailable {
        why: String,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
}

/// A receiver, with a connection to it that is used again.
pub(super) struct Receiver {
    network: Arc<Network>,
    target: Target,
    within: Duration,
    /// One look-up of its name at a time.
    lookups: Lookups,
    connection: Option<Connection>,
}

impl Receiver {
    pub(super) fn new(network: Arc<Network>, target: Target, within: Duration) -> Self {
        Self { network, target, within, lookups: Lookups::one(), connection: None }
    }

    /// Closes the connection.
    pub(super) fn hang_up(&mut self) {
        self.connection = None;
    }

    /// Sends a message.
    pub(super) async fn post(&mut self, message: &Message) -> Attempt {
        // It is put back when it can be used again.
        let connection = self.connection.take();
        let exchange = self.exchange(connection, message);
        let unavailable = |why: String| Attempt::Unavailable { why: cut(why), retry_after: None };
        let (status, retry_after, connection, body) = match timeout(self.within, exchange).await {
            Err(_) => return unavailable(format!("no answer within {} ms", self.within.as_millis())),
            Ok(Err(error)) => return unavailable(error.to_string()),
            Ok(Ok(Answer { status, retry_after, connection, body })) => {
                (status, retry_after, connection, body)
            }
        };
        // What came of it is known. If its body ends soon, the connection can be used again.
        let body = Limited::new(body, limits::WEBHOOK_ANSWER_BODY_BYTES).collect();
        if let Ok(Ok(_)) = timeout(limits::WEBHOOK_ANSWER_BODY_WITHIN, body).await {
            self.connection = Some(connection);
        }
        judge(status, retry_after)
    }

    async fn exchange(
        &self,
        connection: Option<Connection>,
        message: &Message,
    ) -> Result<Answer, ExchangeError> {
        // One that was used before may have been closed meanwhile: then a new one decides.
        if let Some(connection) = connection
            && let Ok(answer) = self.ask(connection, message).await
        {
            return Ok(answer);
        }
        let new = self.network.connect(&self.target, &self.lookups, self.within).await?;
        self.ask(new, message).await
    }

    async fn ask(&self, mut connection: Connection, message: &Message) -> Result<Answer, ExchangeError> {
        let Message { id, timestamp, signature, body } = message;
        let request = Request::post(self.target.path.as_str())
            .header(HOST, self.target.authority())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .header("webhook-id", id)
            .header("webhook-timestamp", *timestamp)
            .header("webhook-signature", signature)
            .body(Full::new(body.clone()))
            .map_err(|_| ExchangeError::Request)?;
        connection.requests.ready().await.map_err(ExchangeError::Broken)?;
        let answer = connection.requests.send_request(request).await.map_err(ExchangeError::Broken)?;
        let (head, body) = answer.into_parts();
        Ok(Answer { status: head.status, retry_after: retry_after(&head.headers), connection, body })
    }
}

struct Answer {
    status: StatusCode,
    retry_after: Option<Duration>,
    connection: Connection,
    body: hyper::body::Incoming,
}

#[derive(Debug, thiserror::Error)]
enum ExchangeError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("the message can't be sent")]
    Request,
    #[error("the exchange broke off: {0}")]
    Broken(hyper::Error),
}

/// Redirects are not followed: they could lead to where nothing may be sent.
fn judge(status: StatusCode, retry_after: Option<Duration>) -> Attempt {
    let why = || format!("HTTP {}", status.as_u16());
    let may_pass = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
    if status.is_success() {
        Attempt::Taken
    } else if status.is_server_error() || may_pass.contains(&status) {
        Attempt::Unavailable { why: why(), retry_after }
    } else if status.is_redirection() {
        Attempt::Refused(format!("{}: redirects are not followed", why()))
    } else {
        Attempt::Refused(why())
    }
}

/// Seconds, or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok()
}

/// A text of no more bytes than are kept.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(limits::MAX_DELIVERY_ERROR_BYTES));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_whether_it_is_worth_trying_again() {
        for (status, expected) in [
            (200, "taken"),
            (204, "taken"),
            (299, "taken"),
            (301, "refused"),
            (307, "refused"),
            (304, "refused"),
            (400, "refused"),
            (401, "refused"),
            (404, "refused"),
            (410, "refused"),
            (408, "unavailable"),
            (429, "unavailable"),
            (500, "unavailable"),
            (503, "unavailable"),
            (599, "unavailable"),
        ] {
            let judged = match judge(StatusCode::from_u16(status).unwrap(), None) {
                Attempt::Taken => "taken",
                Attempt::Refused(_) => "refused",
                Attempt::Unavailable { .. } => "unavailable",
            };
            assert_eq!(judged, expected, "{status}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(read("120"), Some(Duration::from_mins(2)));
        assert_eq!(read("soon"), None);
        assert_eq!(read("-1"), None);
        assert_eq!(read("Wed, 21 Oct 2015 07:28:00 GMT"), None);
        let later = SystemTime::now() + Duration::from_mins(10);
        let wait = read(&httpdate::fmt_http_date(later)).unwrap();
        assert!((590..=600).contains(&wait.as_secs()), "{wait:?}");
    }

    #[test]
    fn what_is_kept_of_an_error_has_its_bound() {
        assert_eq!(cut("é".repeat(200)).len(), limits::MAX_DELIVERY_ERROR_BYTES);
        assert_eq!(cut("short".to_owned()), "short");
    }
}
