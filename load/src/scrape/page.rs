//! The page of a server's metrics, read: what the tools that come with the server show of it, and what its tests look for.

/// What a server's metrics were at one moment.
#[derive(Debug, Clone, Default)]
pub struct Scrape {
    samples: Vec<Sample>,
    /// What each metric is, by its name.
    kinds: Vec<(String, String)>,
}

/// One line of the page.
#[derive(Debug, Clone)]
pub struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

/// How many were at most so large, the largest bound last.
pub type Buckets = Vec<(f64, f64)>;

/// A text that is no page of metrics.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPage {
    /// It has no metric at all.
    #[error("the page of the server's metrics is empty: is it a Zetema server?")]
    Empty,
    /// A line of it is none of a page.
    #[error("{line:?} is no line of a page of metrics: is it a Zetema server?")]
    Line {
        /// The line.
        line: String,
    },
}

impl Scrape {
    /// Reads a page in the text format of Prometheus.
    ///
    /// # Errors
    /// [`NoPage`] if it is none.
    pub fn parse(page: &str) -> Result<Self, NoPage> {
        let mut scrape = Self::default();
        for line in page.lines().filter(|line| !line.is_empty()) {
            if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|kind| kind.split_once(' ')) {
                scrape.kinds.push((name.to_owned(), kind.to_owned()));
            } else if !line.starts_with('#') {
                scrape.samples.push(Sample::parse(line)?);
            }
        }
        if scrape.samples.is_empty() { Err(NoPage::Empty) } else { Ok(scrape) }
    }

    /// All that is told, in the order of the page.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// What a metric is, as the page calls it: `counter`, `gauge` or `histogram`.
    pub fn kind(&self, name: &str) -> Option<&str> {
        self.kinds.iter().find(|(known, _)| known == name).map(|(_, kind)| kind.as_str())
    }

    /// Whether there is any.
    pub fn has(&self, name: &str) -> bool {
        self.of(name).next().is_some()
    }

    /// The sum over all values of the labels; 0 if there is none.
    pub fn sum(&self, name: &str) -> f64 {
        self.of(name).map(|sample| sample.value).sum()
    }

    /// The sum for each value of a label, in the order of the page.
    pub fn by(&self, name: &str, label: &str) -> Vec<(&str, f64)> {
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
    pub fn at(&self, name: &str, label: &str, value: &str) -> f64 {
        self.of(name).filter(|sample| sample.label(label) == Some(value)).map(|sample| sample.value).sum()
    }

    /// What is at these values of two labels; 0 if nothing is.
    pub fn both(&self, name: &str, one: (&str, &str), other: (&str, &str)) -> f64 {
        let has =
            |sample: &&Sample| [one, other].iter().all(|(label, value)| sample.label(label) == Some(value));
        self.of(name).filter(has).map(|sample| sample.value).sum()
    }

    /// The value of a label of the first sample.
    pub fn label(&self, name: &str, label: &str) -> Option<&str> {
        self.of(name).next()?.label(label)
    }

    /// The buckets of a histogram, of all labels or of one value of one.
    pub fn buckets(&self, name: &str, only: Option<(&str, &str)>) -> Buckets {
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
        self.samples.iter().filter(move |sample| sample.name == name)
    }
}

impl Sample {
    fn parse(line: &str) -> Result<Self, NoPage> {
        let strange = || NoPage::Line { line: line.to_owned() };
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

    /// The name of the series.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its labels, each with its value.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn label(&self, label: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| name == label).map(|(_, value)| value.as_str())
    }
}

/// What came between two readings of the same buckets. A server that was started anew counts from 0.
pub fn between(before: &Buckets, after: &Buckets) -> Buckets {
    let all = |buckets: &Buckets| buckets.last().map_or(0.0, |(_, count)| *count);
    if all(after) < all(before) {
        return after.clone();
    }
    let count = |bound: f64| before.iter().find(|(known, _)| known.total_cmp(&bound).is_eq());
    after.iter().map(|&(bound, now)| (bound, now - count(bound).map_or(0.0, |(_, then)| *then))).collect()
}

/// A quantile, from 0 to 1, as Prometheus estimates it: on a line within its bucket. `None` of nothing.
pub fn quantile(buckets: &Buckets, quantile: f64) -> Option<f64> {
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
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test may fail")]
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
        assert_eq!((scrape.kind("zetema_streams"), scrape.kind("zetema_build_info")), (Some("gauge"), None));
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
