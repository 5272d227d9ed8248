//! The page of a server's metrics, read.

use anyhow::{Result, bail, ensure};
use http_body_util::{BodyExt, Limited};
use tonic::body::Body;
use tower::ServiceExt;
use zetema_service::metrics;

use crate::args::AddressArgs;
use crate::client;
use crate::output;

/// Bytes of a page that are taken: some ten times what a server has.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Characters that are shown of an answer that is no page.
const MAX_SHOWN_CHARS: usize = 500;

/// What a server's metrics were at one moment.
#[derive(Debug, Default)]
pub(crate) struct Scrape(Vec<Sample>);

/// One line of the page.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

/// How many were at most so large, the largest bound last.
pub(crate) type Buckets = Vec<(f64, f64)>;

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
        Scrape::of_server(status, &text)
    }
}

impl Scrape {
    /// Reads what a server has answered, if it is one of Zetema.
    fn of_server(status: http::StatusCode, text: &str) -> Result<Self> {
        if !status.is_success() {
            // Who answers may be anybody: it is shown, and not obeyed.
            let said: String = text.trim().chars().take(MAX_SHOWN_CHARS).collect();
            bail!("the server does not show its metrics ({status}): {}", output::plain(&said));
        }
        let scrape = Self::parse(text)?;
        ensure!(
            scrape.label(metrics::BUILD_INFO, "version").is_some(),
            "the page of metrics has no {}: is it a Zetema server?",
            metrics::BUILD_INFO
        );
        Ok(scrape)
    }

    /// Reads a page in the text format of Prometheus.
    pub(crate) fn parse(page: &str) -> Result<Self> {
        let lines = page.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let samples: Vec<Sample> = lines.map(Sample::parse).collect::<Result<_>>()?;
        ensure!(!samples.is_empty(), "the page of the server's metrics is empty: is it a Zetema server?");
        Ok(Self(samples))
    }

    /// Whether there is any.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.of(name).next().is_some()
    }

    /// The sum over all values of the labels; 0 if there is none.
    pub(crate) fn sum(&self, name: &str) -> f64 {
        self.of(name).map(|sample| sample.value).sum()
    }

    /// The sum for each value of a label, in the order of the page.
    pub(crate) fn by(&self, name: &str, label: &str) -> Vec<(&str, f64)> {
        let mut sums: Vec<(&str, f64)> = Vec::new();
        for sample in self.of(name) {
            let Some(value) = sample.label(label) else { continue };
            match sums.iter_mut().find(|(known, _)| *known == value) {
                Some((_, sum)) => *sum += sample.value,
                None => sums.push((value, sample.value)),
            }
        }
        sums
    }

    /// What is at this value of a label; 0 if nothing is.
    pub(crate) fn at(&self, name: &str, label: &str, value: &str) -> f64 {
        self.of(name).filter(|sample| sample.label(label) == Some(value)).map(|sample| sample.value).sum()
    }

    /// What is at these values of two labels; 0 if nothing is.
    pub(crate) fn both(&self, name: &str, one: (&str, &str), other: (&str, &str)) -> f64 {
        let has =
            |sample: &&Sample| [one, other].iter().all(|(label, value)| sample.label(label) == Some(value));
        self.of(name).filter(has).map(|sample| sample.value).sum()
    }

    /// The value of a label of the first sample.
    pub(crate) fn label(&self, name: &str, label: &str) -> Option<&str> {
        self.of(name).next()?.label(label)
    }

    /// The buckets of a histogram, of all labels or of one value of one.
    pub(crate) fn buckets(&self, name: &str, only: Option<(&str, &str)>) -> Buckets {
        let name = format!("{name}_bucket");
        let mut buckets = Buckets::new();
        for sample in self.of(&name) {
            if only.is_some_and(|(label, value)| sample.label(label) != Some(value)) {
                continue;
            }
            let Some(bound) = sample.label("le").and_then(|bound| bound.parse::<f64>().ok()) else {
                continue;
            };
            match buckets.iter_mut().find(|(known, _)| known.total_cmp(&bound).is_eq()) {
                Some((_, count)) => *count += sample.value,
                None => buckets.push((bound, sample.value)),
            }
        }
        buckets.sort_by(|(left, _), (right, _)| left.total_cmp(right));
        buckets
    }

    fn of(&self, name: &str) -> impl Iterator<Item = &Sample> {
        self.0.iter().filter(move |sample| sample.name == name)
    }
}

impl Sample {
    fn parse(line: &str) -> Result<Self> {
        let strange = || anyhow::anyhow!("{line:?} is no line of a page of metrics: is it a Zetema server?");
        let (series, value) = line.rsplit_once(' ').ok_or_else(strange)?;
        let value = value.parse().map_err(|_| strange())?;
        let Some((name, rest)) = series.split_once('{') else {
            return Ok(Self { name: series.to_owned(), labels: Vec::new(), value });
        };
        let mut labels = Vec::new();
        let mut rest = rest.strip_suffix('}').ok_or_else(strange)?;
        while !rest.is_empty() {
            let (label, quoted) = rest.split_once("=\"").ok_or_else(strange)?;
            let (text, after) = quoted.split_once('"').ok_or_else(strange)?;
            labels.push((label.to_owned(), text.to_owned()));
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        Ok(Self { name: name.to_owned(), labels, value })
    }

    fn label(&self, label: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| name == label).map(|(_, value)| value.as_str())
    }
}

/// What came between two readings of the same buckets. A server that was started anew counts from 0.
pub(crate) fn between(before: &Buckets, after: &Buckets) -> Buckets {
    let all = |buckets: &Buckets| buckets.last().map_or(0.0, |(_, count)| *count);
    if all(after) < all(before) {
        return after.clone();
    }
    let count = |bound: f64| before.iter().find(|(known, _)| known.total_cmp(&bound).is_eq());
    after.iter().map(|&(bound, now)| (bound, now - count(bound).map_or(0.0, |(_, then)| *then))).collect()
}

/// A quantile, as Prometheus estimates it: on a line within its bucket. `None` of nothing.
pub(crate) fn quantile(buckets: &Buckets, quantile: f64) -> Option<f64> {
    let (_, all) = *buckets.last()?;
    if all <= 0.0 {
        return None;
    }
    let wanted = quantile * all;
    let mut lower = (0.0, 0.0);
    for &(bound, count) in buckets {
        if count >= wanted {
            // Of what is beyond the last bound no more is known.
            return Some(if bound.is_finite() {
                lower.0 + (bound - lower.0) * ((wanted - lower.1) / (count - lower.1)).clamp(0.0, 1.0)
            } else {
                lower.0
            });
        }
        lower = (bound, count);
    }
    Some(lower.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    const PAGE: &str = "# TYPE zetema_streams gauge\n\
        zetema_streams{rpc=\"Play\"} 3\n\
        zetema_streams{rpc=\"Observe\"} 4\n\
        \n\
        zetema_build_info{version=\"0.1.0\"} 1\n\
        zetema_rpc_answers_total{rpc=\"Act\",code=\"OK\"} 5\n\
        zetema_rpc_answers_total{rpc=\"Act\",code=\"INTERNAL\"} 2\n\
        zetema_stage_seconds_bucket{stage=\"inbox\",le=\"0.1\"} 10\n\
        zetema_stage_seconds_bucket{stage=\"inbox\",le=\"0.2\"} 90\n\
        zetema_stage_seconds_bucket{stage=\"inbox\",le=\"+Inf\"} 100\n\
        zetema_stage_seconds_bucket{stage=\"journal\",le=\"0.1\"} 7\n";

    #[test]
    fn a_page_is_read_by_name_and_label() {
        let scrape = Scrape::parse(PAGE).unwrap();
        assert_eq!(scrape.sum("zetema_streams"), 7.0);
        assert_eq!(scrape.by("zetema_streams", "rpc"), [("Play", 3.0), ("Observe", 4.0)]);
        assert_eq!(scrape.at("zetema_rpc_answers_total", "code", "INTERNAL"), 2.0);
        assert_eq!(scrape.by("zetema_rpc_answers_total", "rpc"), [("Act", 7.0)]);
        assert_eq!(scrape.label("zetema_build_info", "version"), Some("0.1.0"));
        assert_eq!(scrape.sum("zetema_nothing"), 0.0);
        let inbox = scrape.buckets("zetema_stage_seconds", Some(("stage", "inbox")));
        assert_eq!(inbox, [(0.1, 10.0), (0.2, 90.0), (f64::INFINITY, 100.0)]);
        assert_eq!(scrape.buckets("zetema_stage_seconds", None)[0], (0.1, 17.0));
    }

    #[test]
    fn what_is_no_page_is_said_so() {
        for page in ["", "<html>", "name{label=\"x\" 1", "name", "name one"] {
            let error = Scrape::parse(page).unwrap_err().to_string();
            assert!(error.contains("is it a Zetema server?"), "{page:?}: {error}");
        }
    }

    #[test]
    fn an_answer_that_is_no_page_of_a_server_is_shown_and_not_obeyed() {
        let check = |status, text: &str, expected: &str| {
            let error = Scrape::of_server(status, text).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains(char::is_control), "{error:?}");
        };
        check(http::StatusCode::NOT_FOUND, "\u{1b}]0;mine\u{7}", "(404 Not Found): \\u{1b}]0;mine\\u{7}");
        check(http::StatusCode::OK, "\u{1b}[2J", "is it a Zetema server?");
        check(http::StatusCode::OK, "other_server_up 1\n", "is it a Zetema server?");
        let long = "x".repeat(1_000_000);
        let error = Scrape::of_server(http::StatusCode::NOT_FOUND, &long).unwrap_err().to_string();
        assert!(error.len() < 1_000, "{} bytes", error.len());
        assert!(Scrape::of_server(http::StatusCode::OK, PAGE).is_ok());
    }

    #[test]
    fn quantiles_are_estimated_as_by_prometheus() {
        let buckets = vec![(0.1, 10.0), (0.2, 90.0), (f64::INFINITY, 100.0)];
        let check = |wanted, expected: f64| {
            let found = quantile(&buckets, wanted).unwrap();
            assert!((found - expected).abs() < 1e-9, "{wanted}: {found}");
        };
        check(0.05, 0.05);
        check(0.1, 0.1);
        check(0.5, 0.15);
        check(0.99, 0.2);
        let later = vec![(0.1, 10.0), (0.2, 94.0), (f64::INFINITY, 104.0)];
        let new = between(&buckets, &later);
        assert_eq!(new, [(0.1, 0.0), (0.2, 4.0), (f64::INFINITY, 4.0)]);
        assert!((quantile(&new, 0.5).unwrap() - 0.15).abs() < 1e-9);
        assert_eq!(quantile(&between(&buckets, &buckets), 0.5), None);
        assert_eq!(between(&later, &buckets), buckets, "it was started anew");
    }
}
