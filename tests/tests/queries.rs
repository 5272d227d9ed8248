//! The dashboard and the alerts ask for what a server really tells: every expression is parsed, and each metric, label and
//! value in it is looked for on the page of a server on which a match was played.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use promql_parser::label::{Labels, MatchOp, Matcher};
use promql_parser::parser::{self, Expr, LabelModifier, VectorSelector};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use yaml_rust2::{Yaml, YamlLoader};
use zetema_load::scrape::Scrape;
use zetema_proto::v1::Preset;
use zetema_tests::harness::{Table, TestServer, join_all, preset, soon};

/// What Prometheus adds to every series, and the metric that it makes itself.
const TARGET: [&str; 2] = ["instance", "job"];
const UP: &str = "up";

/// What a server tells: the labels of every series, by name; and what each metric is.
struct Page {
    series: BTreeMap<String, Vec<BTreeMap<String, String>>>,
    scrape: Scrape,
}

impl Page {
    fn parse(text: &str) -> Self {
        let scrape = Scrape::parse(text).unwrap();
        let mut series: BTreeMap<String, Vec<BTreeMap<String, String>>> = BTreeMap::new();
        for sample in scrape.samples() {
            let labels = sample.labels().map(|(name, value)| (name.to_owned(), value.to_owned()));
            series.entry(sample.name().to_owned()).or_default().push(labels.collect());
        }
        series.insert(UP.to_owned(), vec![BTreeMap::new()]);
        Self { series, scrape }
    }

    /// The names of the labels that these metrics have.
    fn labels(&self, metrics: &BTreeSet<String>) -> BTreeSet<&str> {
        let series = metrics.iter().filter_map(|metric| self.series.get(metric)).flatten();
        series.flat_map(|labels| labels.keys().map(String::as_str)).chain(TARGET).collect()
    }

    /// Whether it only grows: a counter, or a part of a histogram.
    fn grows(&self, metric: &str) -> bool {
        let whole = ["_bucket", "_sum", "_count"].iter().find_map(|part| metric.strip_suffix(part));
        let kind = |name: &str| self.scrape.kind(name);
        kind(metric) == Some("counter") || whole.and_then(kind) == Some("histogram")
    }
}

/// What is wrong with an expression, for a server that tells this.
struct Check<'page> {
    page: &'page Page,
    wrong: Vec<String>,
}

/// The metrics of which an expression speaks, and what is wrong with it.
fn check(page: &Page, query: &str) -> (BTreeSet<String>, Vec<String>) {
    // What Grafana puts in.
    let query = query.replace("$__rate_interval", "1m").replace("$instance", ".*");
    match parser::parse(&query) {
        Err(error) => (BTreeSet::new(), vec![format!("{query}: {error}")]),
        Ok(expr) => {
            let mut check = Check { page, wrong: Vec::new() };
            let metrics = check.metrics(&expr);
            (metrics, check.wrong.into_iter().map(|wrong| format!("{query}: {wrong}")).collect())
        }
    }
}

impl Check<'_> {
    /// The metrics of which an expression speaks, each of which has to be there.
    fn metrics(&mut self, expr: &Expr) -> BTreeSet<String> {
        match expr {
            Expr::VectorSelector(selector) => self.selected(selector),
            Expr::MatrixSelector(selector) => self.selected(&selector.vs),
            Expr::Paren(paren) => self.metrics(&paren.expr),
            Expr::Unary(unary) => self.metrics(&unary.expr),
            Expr::Subquery(subquery) => self.metrics(&subquery.expr),
            Expr::Aggregate(aggregate) => {
                let metrics = self.metrics(&aggregate.expr);
                if let Some(modifier) = &aggregate.modifier {
                    self.have(&metrics, modifier.labels());
                }
                metrics
            }
            Expr::Binary(binary) => {
                let (left, right) = (self.metrics(&binary.lhs), self.metrics(&binary.rhs));
                let all = left.union(&right).cloned().collect();
                if let Some(matching) =
                    binary.modifier.as_ref().and_then(|modifier| modifier.matching.as_ref())
                {
                    self.have(&all, matching.labels());
                }
                all
            }
            Expr::Call(call) => {
                let name = call.func.name;
                let metrics: BTreeSet<String> =
                    call.args.args.iter().flat_map(|argument| self.metrics(argument)).collect();
                for metric in metrics.iter().filter(|metric| !self.page.grows(metric)) {
                    if ["rate", "irate", "increase"].contains(&name) {
                        self.wrong.push(format!("{name} of {metric}, which may fall"));
                    }
                }
                if name == "histogram_quantile" && !call.args.args.iter().any(|argument| keeps_le(argument)) {
                    self.wrong.push("a quantile of what has no buckets: keep le".to_owned());
                }
                metrics
            }
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) => BTreeSet::new(),
            Expr::Extension(_) => panic!("there are none"),
        }
    }

    fn selected(&mut self, selector: &VectorSelector) -> BTreeSet<String> {
        let name = selector.name.clone().expect("every selector names its metric");
        let Some(series) = self.page.series.get(&name) else {
            self.wrong.push(format!("there is no metric {name}"));
            return BTreeSet::new();
        };
        for Matcher { op, name: label, .. } in &selector.matchers.matchers {
            if TARGET.contains(&label.as_str()) {
                continue;
            }
            let values: Vec<&String> = series.iter().filter_map(|labels| labels.get(label)).collect();
            if values.is_empty() {
                self.wrong.push(format!("{name} has no label {label}"));
            }
            // Each alternative of a pattern has to be there.
            let named: Vec<String> = match op {
                MatchOp::Equal | MatchOp::NotEqual => vec![value_of(selector, label)],
                MatchOp::Re(_) | MatchOp::NotRe(_) => {
                    value_of(selector, label).split('|').map(str::to_owned).collect()
                }
            };
            for value in named.iter().filter(|value| !values.contains(value)) {
                self.wrong.push(format!("{name} has no {label}={value:?}"));
            }
        }
        BTreeSet::from([name])
    }

    fn have(&mut self, metrics: &BTreeSet<String>, labels: &Labels) {
        let known = self.page.labels(metrics);
        for label in labels.labels.iter().filter(|label| *label != "le" && !known.contains(label.as_str())) {
            self.wrong.push(format!("{metrics:?} have no label {label}"));
        }
    }
}

fn value_of(selector: &VectorSelector, label: &str) -> String {
    selector.matchers.matchers.iter().find(|matcher| matcher.name == label).unwrap().value.clone()
}

/// Whether the buckets of a histogram are kept apart.
fn keeps_le(expr: &Expr) -> bool {
    let le = |labels: &Labels| labels.labels.iter().any(|label| label == "le");
    match expr {
        Expr::Aggregate(aggregate) => match &aggregate.modifier {
            Some(LabelModifier::Include(labels)) => le(labels) && keeps_le(&aggregate.expr),
            Some(LabelModifier::Exclude(labels)) => !le(labels) && keeps_le(&aggregate.expr),
            None => false,
        },
        Expr::Call(call) => call.args.args.iter().any(|argument| keeps_le(argument)),
        Expr::MatrixSelector(selector) => {
            selector.vs.name.as_ref().is_some_and(|name| name.ends_with("_bucket"))
        }
        _ => false,
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The page of a server, as Prometheus reads it.
async fn scrape(address: SocketAddr) -> String {
    let mut server = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    server.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    server.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK") && !head.contains("chunked"), "{head}");
    body.to_owned()
}

/// What a server tells on which a match was played.
async fn played() -> Page {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(preset(Preset::Quick, 2)).await;
    join_all(&clients, &[&created], |_| None).await;
    Table::open(&clients, &created.tokens).await.play_out().await;
    // The process and the disk are measured every so often, beside all else.
    let mut look = tokio::time::interval(Duration::from_millis(10));
    let page = soon("the process to be measured", async {
        loop {
            let page = Page::parse(&scrape(server.address()).await);
            if page.series.contains_key("process_open_fds")
                && page.series.contains_key("zetema_database_bytes")
            {
                break page;
            }
            look.tick().await;
        }
    });
    let page = page.await;
    server.stop().await;
    page
}

/// The labels that a text of Grafana or Prometheus puts in, as `{{rpc}}` or `{{ $labels.rpc }}`.
fn placed(text: &str) -> impl Iterator<Item = &str> {
    let inside =
        text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}")).map(|(inside, _)| inside.trim());
    inside.filter(|inside| !inside.starts_with("$value")).map(|inside| inside.trim_start_matches("$labels."))
}

/// The expressions of the dashboard, each with its legend.
fn dashboard() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("deploy/grafana/zetema.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let mut queries = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let targets = panel["targets"].as_array();
        assert!(targets.is_some() || panel["type"] == "row", "a panel without a query: {panel}");
        for target in targets.into_iter().flatten() {
            let text = |key: &str| target[key].as_str().unwrap().to_owned();
            queries.push((text("expr"), text("legendFormat")));
        }
    }
    for annotation in dashboard["annotations"]["list"].as_array().unwrap() {
        queries.push((annotation["expr"].as_str().unwrap().to_owned(), String::new()));
    }
    queries
}

/// One alert.
struct Alert {
    name: String,
    expr: String,
    summary: String,
    runbook: String,
}

fn alerts() -> Vec<Alert> {
    let text = fs::read_to_string(root().join("deploy/prometheus/alerts.yml")).unwrap();
    let files = YamlLoader::load_from_str(&text).unwrap();
    let rules =
        files[0]["groups"].as_vec().unwrap().iter().flat_map(|group| group["rules"].as_vec().unwrap());
    let text = |yaml: &Yaml| yaml.as_str().unwrap_or_else(|| panic!("a text is missing")).to_owned();
    let alert = |rule: &Yaml| {
        let severity = text(&rule["labels"]["severity"]);
        assert!(["critical", "warning"].contains(&severity.as_str()), "{severity}");
        Alert {
            name: text(&rule["alert"]),
            expr: text(&rule["expr"]),
            summary: text(&rule["annotations"]["summary"]),
            runbook: text(&rule["annotations"]["runbook"]),
        }
    };
    rules.map(alert).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_dashboard_and_the_alerts_ask_for_what_a_server_tells() {
    let page = played().await;
    let mut wrong = Vec::new();
    let mut asked = BTreeSet::new();
    let texts = alerts().into_iter().map(|Alert { expr, summary, .. }| (expr, summary));
    for (expr, text) in dashboard().into_iter().chain(texts) {
        let (metrics, found) = check(&page, &expr);
        wrong.extend(found);
        let known = page.labels(&metrics);
        wrong.extend(
            placed(&text)
                .filter(|label| !known.contains(label))
                .map(|label| format!("{expr}: {text:?} has {label}, which is no label of it")),
        );
        asked.extend(metrics);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // And the other way round: nothing is told that nobody looks at.
    let parts = ["", "_bucket"];
    let unseen = zetema_service::metrics::ALL
        .iter()
        .filter(|metric| !parts.iter().any(|part| asked.contains(&format!("{}{part}", metric.name))));
    let unseen: Vec<&str> = unseen.map(|metric| metric.name).collect();
    assert!(unseen.is_empty(), "no query asks for {unseen:?}");

    // What the page has is what the documentation lists.
    for metric in zetema_service::metrics::ALL {
        assert_eq!(page.scrape.kind(metric.name), Some(metric.kind.name()), "{}", metric.name);
        let series = page.series.iter().filter(|(name, _)| {
            *name == metric.name || name.strip_prefix(metric.name).is_some_and(|part| part == "_bucket")
        });
        for labels in series.flat_map(|(_, series)| series) {
            let names: Vec<&str> = labels.keys().map(String::as_str).filter(|name| *name != "le").collect();
            let mut listed = metric.labels.to_vec();
            listed.sort_unstable();
            assert_eq!(names, listed, "the labels of {}", metric.name);
        }
    }

    // So has what a load run reads.
    let unread: Vec<&str> =
        zetema_load::scrape::METRICS.into_iter().filter(|name| !page.scrape.has(name)).collect();
    assert!(unread.is_empty(), "the page does not tell {unread:?}");

    // A query that asks for what is not there is found.
    for (expr, what) in [
        ("zetema_life_matches", "no metric zetema_life_matches"),
        ("rate(zetema_actions_total[", "unexpected"),
        (r#"zetema_streams{rcp="Play"}"#, "no label rcp"),
        (r#"zetema_closed_connections_total{reason="stalled|dead"}"#, "no reason="),
        (r#"zetema_rpc_answers_total{code=~"OK|FINE"}"#, r#"no code="FINE""#),
        ("sum by (path) (zetema_rpc_requests_total)", "no label path"),
        ("rate(zetema_live_matches[5m])", "which may fall"),
        ("histogram_quantile(0.9, sum by (stage) (rate(zetema_stage_seconds_bucket[5m])))", "keep le"),
        ("zetema_connections / ignoring(settings) zetema_limit", "no label settings"),
    ] {
        let (_, found) = check(&page, expr);
        assert!(found.iter().any(|wrong| wrong.contains(what)), "{expr}: {found:?}");
    }
}

#[test]
fn every_alert_has_a_paragraph_of_the_runbook_and_every_paragraph_an_alert() {
    let runbook = fs::read_to_string(root().join("docs/runbook.md")).unwrap();
    let paragraphs: BTreeMap<&str, &str> = runbook
        .split("\n### ")
        .skip(1)
        .map(|paragraph| paragraph.split_once('\n').unwrap())
        .map(|(name, text)| (name, text.split("\n## ").next().unwrap().trim()))
        .collect();
    let alerts = alerts();
    let names: BTreeSet<&str> = alerts.iter().map(|alert| alert.name.as_str()).collect();
    assert_eq!(names.len(), alerts.len(), "no name stands for two alerts");
    assert_eq!(names, paragraphs.keys().copied().collect());
    for Alert { name, runbook, .. } in &alerts {
        assert_eq!(*runbook, format!("docs/runbook.md#{}", name.to_lowercase()));
        assert!(paragraphs[name.as_str()].len() > 100, "{name} says what to do");
    }
    // A panel that the runbook names is there.
    let dashboard = fs::read_to_string(root().join("deploy/grafana/zetema.json")).unwrap();
    let panels = runbook.split('"').skip(1).step_by(2).filter(|text| text.starts_with(char::is_uppercase));
    let missing: Vec<&str> =
        panels.filter(|panel| !dashboard.contains(&format!("\"title\": \"{panel}\""))).collect();
    assert!(missing.is_empty(), "there are no panels {missing:?}");
}
