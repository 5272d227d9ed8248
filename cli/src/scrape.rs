//! The page of a server's metrics, read.

use anyhow::{Result, bail, ensure};
use http_body_util::{BodyExt, Limited};
use tonic::body::Body;
use tower::ServiceExt;
use zetema_service::metrics::{BUILD_INFO, Scrape};

use crate::args::AddressArgs;
use crate::client;
use crate::output;

/// Bytes of a page that are taken: some ten times what a server has.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Characters that are shown of an answer that is no page.
const MAX_SHOWN_CHARS: usize = 500;

/// A server whose metrics are read again and again.
pub(crate) struct Page(tonic::transport::Channel);

impl Page {
    pub(crate) async fn connect(address: &AddressArgs) -> Result<Self> {
        Ok(Self(client::channel(address).await?))
    }

    pub(crate) async fn read(&self) -> Result<Scrape> {
        let request = http::Request::get("/metrics").body(Body::empty())?;
        let answer = self.0.clone().oneshot(request).await?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MAX_PAGE_BYTES).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!("the server's metrics can't be read: {error}"))?;
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        of_server(status, &text)
    }
}

/// Reads what a server has answered, if it is one of Zetema.
fn of_server(status: http::StatusCode, text: &str) -> Result<Scrape> {
    if !status.is_success() {
        // Who answers may be anybody: it is shown, and not obeyed.
        let said: String = text.trim().chars().take(MAX_SHOWN_CHARS).collect();
        bail!("the server does not show its metrics ({status}): {}", output::plain(&said));
    }
    let scrape = Scrape::parse(text)?;
    ensure!(
        scrape.label(BUILD_INFO, "version").is_some(),
        "the page of metrics has no {BUILD_INFO}: is it a Zetema server?"
    );
    Ok(scrape)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
        assert!(of_server(http::StatusCode::OK, "zetema_build_info{version=\"0.1.0\"} 1\n").is_ok());
    }
}
