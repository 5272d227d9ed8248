//! One flood on one server, and what it does to others.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::honest::{Crowd, Figures, Honest};
use super::host::{Effort, Host, Memory, Peak, Setup, Transport};
use super::{Flood, Playing, Tally, Target, Toll};
use crate::harness::{preset, unhurried};

/// Matches there are to be asked for, if they are.
const MATCHES: usize = 1_000;

/// A flood to be run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which one.
    pub flood: Flood,
    /// On which server.
    pub setup: Setup,
    /// For how long, at most.
    pub lasts: Duration,
    /// When it is over before that.
    pub enough: Enough,
    /// How long the honest clients are looked at before, after as long to get going, and how long the server rests
    /// before its memory is looked at again.
    pub calm: Duration,
}

/// When a flood is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enough {
    /// When its time is.
    Never,
    /// When as many connections were cut as it has at once.
    WhenCut,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The flood.
    pub flood: Flood,
    /// What was spoken below HTTP.
    pub transport: Transport,
    /// How long it went on.
    pub lasts: Duration,
    /// What the attacker got for it.
    pub toll: Toll,
    /// The server's memory before, in bytes.
    pub before: u64,
    /// The most of it in the attack, as looked at every 50 ms.
    pub peak: u64,
    /// And some seconds after it: now, and the most that it ever was.
    pub after: Memory,
    /// How many processors it kept busy in the attack.
    pub processors: f64,
    /// What the honest clients felt before.
    pub calm: Figures,
    /// And in the attack.
    pub flooded: Figures,
    /// Whether the server still ran.
    pub survived: bool,
}

impl Run {
    /// Runs it on a server of its own.
    ///
    /// # Errors
    /// If there is no server to attack.
    pub async fn run(&self) -> anyhow::Result<Row> {
        let mut host = Host::start(&self.setup, tempfile::tempdir()?).await?;
        let admin = host.admin().await;
        let (_, token) = admin.owner_token("attacker").await;
        let (_, honest_token) = admin.owner_token("honest").await;
        if self.flood.wants_matches() {
            let specs = vec![unhurried(preset(zetema_proto::v1::Preset::Quick, 2)); MATCHES];
            admin.by(&token).create_batch(specs).await;
        }
        let (honest, watched) = Honest::start(&host, &honest_token, Crowd::FEW).await;
        tokio::time::sleep(self.calm).await;
        honest.take();
        tokio::time::sleep(self.calm).await;
        let calm = honest.take();
        let before = host.memory().now;
        let shown = if self.flood.wants_the_past() {
            watch::channel(Playing::to_the_end(&admin.by(&token)).await).1
        } else {
            watched[0].clone()
        };
        let target = Target::new(&host, token, shown);
        let (peak, effort) = (Peak::watch(host.pid()), Effort::of(&host));
        let toll = self.attack(target).await;
        let (flooded, processors, peak) = (honest.take(), effort.processors(&host), peak.end());
        tokio::time::sleep(self.calm).await;
        let row = Row {
            flood: self.flood,
            transport: self.setup.transport,
            lasts: self.lasts,
            toll,
            before,
            peak,
            after: host.memory(),
            processors,
            calm,
            flooded,
            survived: host.runs(),
        };
        Ok(row)
    }

    /// Attacks from a thread of its own.
    async fn attack(&self, target: Target) -> Toll {
        let (flood, enough, until) = (self.flood, self.enough, Instant::now() + self.lasts);
        let attack = move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            let tally = Tally::default();
            runtime.block_on(async {
                tokio::select! {
                    () = sleep_until(until) => {}
                    () = tally.has_cut(flood.connections()), if enough == Enough::WhenCut => {}
                    () = async {
                        flood.attack(&target, &tally).await;
                        std::future::pending::<()>().await;
                    } => {}
                }
            });
            let toll = tally.toll();
            runtime.shutdown_background();
            toll
        };
        tokio::task::spawn_blocking(attack).await.expect("an attack ends when its time is over")
    }
}

impl Toll {
    /// How long a connection lived at most, or that it was not cut.
    fn told(&self, lasts: Duration) -> String {
        let longest = self.cut.last().copied();
        // One that was opened shortly before the end tells nothing.
        let lives_on = self.oldest_open.filter(|age| longest.is_none_or(|longest| *age > 2 * longest));
        match (longest, lives_on) {
            (None, None) => "-".to_owned(),
            (None, Some(_)) => format!("never in {} s", lasts.as_secs()),
            (Some(longest), Some(age)) if age >= lasts.mul_f64(0.9) => {
                format!("{:.2} s or never", longest.as_secs_f64())
            }
            (Some(longest), _) => format!("{:.2} s", longest.as_secs_f64()),
        }
    }
}

impl Row {
    /// The heads of the columns.
    pub fn heads() -> String {
        format!(
            "{:<20} {:<9} {:>16} {:>13} {:>24} {:>5} {:>15} {:>15} {:>7}  answered",
            "flood",
            "below",
            "cut after",
            "cut/opened",
            "MB: before peak after",
            "CPUs",
            "ms: p50 p99",
            "in attack",
            "let in"
        )
    }

    /// The row as a line of a table.
    pub fn line(&self) -> String {
        let megabytes = |bytes: u64| bytes / (1024 * 1024);
        let times = |figures: &Figures| {
            if figures.round_trips.is_empty() {
                return "none".to_owned();
            }
            let [p50, p99] = figures.percentiles();
            format!("{p50:.1} {p99:.1}")
        };
        let answers: Vec<String> =
            self.toll.answers.iter().map(|(answer, times)| format!("{answer} ({times})")).collect();
        let mut line = format!(
            "{:<20} {:<9} {:>16} {:>13} {:>24} {:>5.2} {:>15} {:>15} {:>7}  {}; {} MB sent",
            self.flood.name(),
            below(self.transport),
            self.toll.told(self.lasts),
            format!("{}/{}", self.toll.cut.len(), self.toll.opened),
            format!(
                "{} {} {}",
                megabytes(self.before),
                megabytes(self.peak.max(self.before)),
                megabytes(self.after.now)
            ),
            self.processors,
            times(&self.calm),
            times(&self.flooded),
            format!("{}/{}", self.flooded.let_in, self.flooded.let_in + self.flooded.kept_out),
            answers.join(", "),
            megabytes(self.toll.bytes),
        );
        if self.flooded.broken > 0 {
            line = format!("{line}; {} honest matches were broken off", self.flooded.broken);
        }
        if self.flooded.put_off > 0 {
            line = format!("{line}; {} honest creates were put off", self.flooded.put_off);
        }
        if !self.survived {
            line.push_str("; THE SERVER IS GONE");
        }
        line
    }

    /// The row for programs.
    pub fn json(&self) -> Value {
        let times = |figures: &Figures| {
            let [p50, p99] = figures.percentiles();
            json!({
                "p50_ms": p50, "p99_ms": p99, "actions": figures.round_trips.len(),
                "newcomers_let_in": figures.let_in, "newcomers_kept_out": figures.kept_out,
                "matches_broken_off": figures.broken, "creates_put_off": figures.put_off,
            })
        };
        let seconds: Vec<f64> = self.toll.cut.iter().map(Duration::as_secs_f64).collect();
        let answers: BTreeMap<&String, &u64> = self.toll.answers.iter().collect();
        json!({
            "flood": self.flood.name(), "transport": below(self.transport), "seconds": self.lasts.as_secs_f64(),
            "connections": self.toll.opened, "cut": self.toll.cut.len(),
            "cut_first_s": seconds.first(), "cut_last_s": seconds.last(),
            "oldest_open_s": self.toll.oldest_open.map(|age| age.as_secs_f64()),
            "answers": answers, "bytes_sent": self.toll.bytes,
            "rss_before": self.before, "rss_peak": self.peak, "rss_after": self.after.now, "rss_most": self.after.most,
            "processors": self.processors, "before": times(&self.calm), "during": times(&self.flooded),
            "survived": self.survived,
        })
    }
}

fn below(transport: Transport) -> &'static str {
    match transport {
        Transport::Plaintext => "plaintext",
        Transport::Tls => "TLS",
    }
}
