//! `zetema top`.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;
use tokio::time::{MissedTickBehavior, interval};
use zetema_load::scrape::{Scrape, between, quantile};
use zetema_service::metrics;

use super::status::Glance;
use crate::args::{AddressArgs, FormatArgs, from_one};
use crate::output::{self, Format};
use crate::scrape;
use crate::screen::Screen;

/// Over how long busy processors are counted: a server tells whole seconds of them.
const PROCESSORS_OVER: Duration = Duration::from_secs(10);
/// Stages that are shown.
const STAGES: usize = 8;
/// RPCs that are shown: the busiest, and as many as there is room for.
const RPCS: usize = 8;
/// Lines of the picture beside those of stages and RPCs: the server's, the rates, the headings and blank ones.
const OTHER_LINES: usize = 13;
/// Lines without which a terminal has no room for the picture: with the four stages and two RPCs.
const LEAST_LINES: usize = OTHER_LINES + 6;

/// Watch a running server: matches, rates, and what is slow.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
On a terminal the picture is drawn anew until Ctrl-C; otherwise each follows the one before. The JSON is one
object a line: server (as of zetema status), interval_s, matches_per_s, actions_per_s, processors, stages and
rpcs. A stage is action (the whole way) or a part of it, with per_s, p50_ms and p99_ms; rpcs have calls and
streams per_s, errors_per_s, p50_ms and p99_ms, the busiest first. Times are null where there was nothing.
Processors are those that were busy in the last ten seconds, within a tenth, since a server tells whole
seconds of them; null until there were ten.

Examples:
  zetema top
  zetema top --interval 5 --count 12 --format json")]
pub(crate) struct Top {
    /// Seconds between two pictures
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = from_one(NonZeroU32::MAX))]
    interval: NonZeroU32,
    /// Stop after so many
    #[arg(long, value_name = "N", value_parser = from_one(NonZeroU32::MAX))]
    count: Option<NonZeroU32>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl Top {
    pub(super) async fn run(self) -> Result<()> {
        let page = scrape::page(&self.address).await?;
        let mut screen = Screen::with_room_for(LEAST_LINES).filter(|_| self.format.format == Format::Table);
        let mut ticks = interval(Duration::from_secs(self.interval.get().into()));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        let mut before = (Instant::now(), page.read().await?);
        let mut processors = Processors::default();
        processors.busy(before.0, &before.1);
        let mut left = self.count.map(NonZeroU32::get);
        while left != Some(0) {
            ticks.tick().await;
            left = left.map(|left| left - 1);
            let now = match page.read().await {
                Ok(scrape) => (Instant::now(), scrape),
                // It may be being started anew.
                Err(error) => {
                    let text = output::plain(&format!("no reading, it is tried again: {error:#}"));
                    match &mut screen {
                        Some(screen) => screen.draw(&text)?,
                        None => output::note(text),
                    }
                    continue;
                }
            };
            let since = now.0.duration_since(before.0);
            let processors = processors.busy(now.0, &now.1);
            let picture = Picture::new(&self.address.server, &before.1, &now.1, since, processors);
            match (self.format.format, &mut screen) {
                (Format::Json, _) => output::print_json_line(&picture)?,
                (Format::Table, Some(screen)) => screen.draw(&picture.text(screen.room()))?,
                (Format::Table, None) => output::print(format!("{}\n", picture.text(usize::MAX)))?,
            }
            before = now;
        }
        Ok(())
    }
}

/// What happened between two readings.
#[derive(Debug, Serialize)]
struct Picture {
    server: Glance,
    interval_s: f64,
    matches_per_s: f64,
    actions_per_s: f64,
    /// How many were busy, where that is known.
    processors: Option<f64>,
    stages: Vec<Took>,
    rpcs: Vec<Call>,
}

/// The processors' time that a server has had, as it told it in the last readings.
#[derive(Debug, Default)]
struct Processors(VecDeque<(Instant, f64)>);

impl Processors {
    /// Takes a reading in. The answer is how many were busy since the last one that is old enough to tell.
    fn busy(&mut self, at: Instant, scrape: &Scrape) -> Option<f64> {
        let seconds = scrape.reading().processor_seconds?;
        // A server that was started anew counts from 0.
        if self.0.back().is_some_and(|(_, before)| *before > seconds) {
            self.0.clear();
        }
        self.0.push_back((at, seconds));
        let is_old = |(then, _): &(Instant, f64)| at.duration_since(*then) >= PROCESSORS_OVER;
        while self.0.get(1).is_some_and(is_old) {
            self.0.pop_front();
        }
        let (then, before) = self.0.front().filter(|first| is_old(first))?;
        Some((seconds - before) / at.duration_since(*then).as_secs_f64())
    }
}

/// How long something took.
#[derive(Debug, Serialize)]
struct Took {
    stage: String,
    per_s: f64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Call {
    rpc: String,
    per_s: f64,
    errors_per_s: f64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
}

impl Picture {
    fn new(server: &str, before: &Scrape, after: &Scrape, since: Duration, processors: Option<f64>) -> Self {
        let seconds = since.as_secs_f64().max(f64::EPSILON);
        // A server that was started anew counts from 0.
        let per_s = |then: f64, now: f64| if now >= then { (now - then) / seconds } else { now / seconds };
        let rate = |name| per_s(before.sum(name), after.sum(name));
        let took = |name, only| {
            let new = between(&before.buckets(name, only), &after.buckets(name, only));
            let count = new.last().map_or(0.0, |(_, count)| count.max(0.0));
            (
                count / seconds,
                [0.5, 0.99].map(|wanted| quantile(&new, wanted).map(|seconds| 1000.0 * seconds)),
            )
        };
        let stage = |stage: &str, name, only| {
            let (per_s, [p50_ms, p99_ms]) = took(name, only);
            Took { stage: stage.to_owned(), per_s, p50_ms, p99_ms }
        };
        let mut parts: Vec<Took> = after
            .by(&format!("{}_count", metrics::STAGE_SECONDS), "stage")
            .into_iter()
            .map(|(name, _)| stage(name, metrics::STAGE_SECONDS, Some(("stage", name))))
            .collect();
        parts.sort_by(|left, right| slowness(right).total_cmp(&slowness(left)));
        let mut stages = vec![stage("action", metrics::ACTION_SECONDS, None)];
        stages.append(&mut parts);
        let errors = |scrape: &Scrape, rpc| {
            scrape.at(metrics::RPC_ANSWERS, "rpc", rpc)
                - scrape.both(metrics::RPC_ANSWERS, ("rpc", rpc), ("code", "OK"))
        };
        let mut rpcs: Vec<Call> = after
            .by(metrics::RPC_REQUESTS, "rpc")
            .into_iter()
            .map(|(rpc, now)| {
                let (_, [p50_ms, p99_ms]) = took(metrics::RPC_SECONDS, Some(("rpc", rpc)));
                Call {
                    rpc: rpc.to_owned(),
                    per_s: per_s(before.at(metrics::RPC_REQUESTS, "rpc", rpc), now),
                    errors_per_s: per_s(errors(before, rpc), errors(after, rpc)),
                    p50_ms,
                    p99_ms,
                }
            })
            .filter(|rpc| rpc.per_s > 0.0 || rpc.errors_per_s > 0.0)
            .collect();
        rpcs.sort_by(|left, right| right.per_s.total_cmp(&left.per_s));
        Self {
            server: Glance::new(server, after),
            interval_s: since.as_secs_f64(),
            matches_per_s: rate(metrics::MATCHES_CREATED),
            actions_per_s: rate(metrics::ACTIONS),
            processors,
            stages,
            rpcs,
        }
    }

    /// The picture, in so many lines at most.
    fn text(&self, room: usize) -> String {
        let ms = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), |time| format!("{time:.2}"));
        let mut text = format!(
            "{}\n\n{:.0} matches created a second, {:.0} actions a second, {} processors busy\n\n",
            self.server.text(),
            self.matches_per_s,
            self.actions_per_s,
            self.processors.map_or_else(|| "-".to_owned(), |busy| format!("{busy:.1}"))
        );
        let line = |name: &str, per_s: &str, errors: &str, p50: &str, p99: &str| {
            format!("{:<24} {per_s:>10} {errors:>10} {p50:>10} {p99:>10}\n", output::plain(name))
        };
        text += &line("stage", "per s", "", "p50 ms", "p99 ms");
        for Took { stage, per_s, p50_ms, p99_ms } in self.stages.iter().take(STAGES) {
            text += &line(stage, &format!("{per_s:.0}"), "", &ms(*p50_ms), &ms(*p99_ms));
        }
        text += "\n";
        let rpcs = RPCS.min(room.saturating_sub(OTHER_LINES + self.stages.len().min(STAGES)));
        text += &line("call", "per s", "errors", "p50 ms", "p99 ms");
        for Call { rpc, per_s, errors_per_s, p50_ms, p99_ms } in self.rpcs.iter().take(rpcs) {
            text +=
                &line(rpc, &format!("{per_s:.1}"), &format!("{errors_per_s:.1}"), &ms(*p50_ms), &ms(*p99_ms));
        }
        text
    }
}

/// By what stages are sorted: the slowest first.
fn slowness(took: &Took) -> f64 {
    took.p99_ms.unwrap_or(-1.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    fn scrape(actions: u32, ok: u32, failed: u32, fast: u32, all: u32) -> Scrape {
        let page = format!(
            "zetema_actions_total {actions}\n\
             zetema_ready 1\n\
             zetema_rpc_requests_total{{rpc=\"Act\"}} {ok}\n\
             zetema_rpc_answers_total{{rpc=\"Act\",code=\"OK\"}} {ok}\n\
             zetema_rpc_answers_total{{rpc=\"Act\",code=\"NOT_FOUND\"}} {failed}\n\
             zetema_stage_seconds_count{{stage=\"inbox\"}} {all}\n\
             zetema_stage_seconds_bucket{{stage=\"inbox\",le=\"0.001\"}} {fast}\n\
             zetema_stage_seconds_bucket{{stage=\"inbox\",le=\"+Inf\"}} {all}\n\
             zetema_stage_seconds_count{{stage=\"journal\"}} {all}\n\
             zetema_stage_seconds_bucket{{stage=\"journal\",le=\"0.1\"}} {all}\n\
             zetema_stage_seconds_bucket{{stage=\"journal\",le=\"+Inf\"}} {all}\n"
        );
        Scrape::parse(&page).unwrap()
    }

    #[test]
    fn what_happened_between_two_readings_is_shown_the_slowest_stage_first() {
        let [before, after] = [scrape(10, 5, 1, 0, 0), scrape(30, 25, 5, 100, 100)];
        let picture = Picture::new("http://here", &before, &after, Duration::from_secs(2), None);
        assert_eq!(picture.actions_per_s, 10.0);
        let names: Vec<&str> = picture.stages.iter().map(|took| took.stage.as_str()).collect();
        assert_eq!(names, ["action", "journal", "inbox"]);
        assert_eq!((picture.stages[0].per_s, picture.stages[0].p99_ms), (0.0, None));
        assert!((picture.stages[1].p50_ms.unwrap() - 50.0).abs() < 1e-6);
        assert_eq!((picture.rpcs[0].per_s, picture.rpcs[0].errors_per_s), (10.0, 2.0));
        let text = picture.text(usize::MAX);
        assert!(text.contains("10 actions a second") && text.contains(": ready"), "{text}");
    }

    #[test]
    fn busy_processors_are_those_of_the_last_ten_seconds() {
        let check = |readings: &[(u64, f64)], expected: &[Option<f64>]| {
            let (begun, mut processors) = (Instant::now(), Processors::default());
            let busy = readings.iter().map(|(at, seconds)| {
                let page = format!("process_cpu_seconds_total {seconds}\n");
                processors.busy(begun + Duration::from_secs(*at), &Scrape::parse(&page).unwrap())
            });
            assert_eq!(busy.collect::<Vec<_>>(), expected, "{readings:?}");
        };
        check(&[(0, 7.0), (9, 9.0), (10, 12.0)], &[None, None, Some(0.5)]);
        // Of the readings that are old enough the last one counts.
        check(&[(0, 0.0), (5, 5.0), (10, 5.0), (15, 10.0)], &[None, None, Some(0.5), Some(0.5)]);
        // Readings may be further from one another.
        check(&[(0, 0.0), (60, 30.0), (120, 30.0)], &[None, Some(0.5), Some(0.0)]);
        // Started anew.
        check(&[(0, 50.0), (10, 60.0), (11, 1.0), (21, 2.0)], &[None, Some(1.0), None, Some(0.1)]);
    }

    #[test]
    fn processors_of_which_a_server_does_not_tell_are_none_that_rest() {
        let scrape = Scrape::parse("zetema_ready 1\n").unwrap();
        assert_eq!(Processors::default().busy(Instant::now(), &scrape), None);
        let picture = Picture::new("http://here", &scrape, &scrape, Duration::from_secs(1), None);
        assert!(picture.text(usize::MAX).contains(", - processors busy"));
    }

    #[test]
    fn a_picture_has_as_many_lines_as_there_is_room_for() {
        let page = |count: u32| {
            let rpcs = (0..20).map(|rpc| format!("zetema_rpc_requests_total{{rpc=\"{rpc}\"}} {count}\n"));
            let stages = ["inbox", "journal", "publish"];
            let stages =
                stages.map(|stage| format!("zetema_stage_seconds_count{{stage=\"{stage}\"}} {count}\n"));
            Scrape::parse(&rpcs.chain(stages).collect::<String>()).unwrap()
        };
        let picture = Picture::new("http://here", &page(0), &page(1), Duration::from_secs(1), None);
        // A terminal of 24 lines has the cursor's beside.
        for (room, lines) in [(LEAST_LINES, LEAST_LINES), (23, 23), (usize::MAX, OTHER_LINES + 4 + RPCS)] {
            assert_eq!(picture.text(room).lines().count(), lines, "{}", picture.text(room));
        }
    }

    #[test]
    fn what_a_server_calls_things_is_shown_and_not_obeyed() {
        let page = |count: u32| {
            let page = format!(
                "zetema_build_info{{version=\"\u{1b}[2J\"}} 1\n\
                 zetema_stage_seconds_count{{stage=\"\u{9b}31m\"}} {count}\n\
                 zetema_rpc_requests_total{{rpc=\"\u{1b}]0;mine\u{7}\"}} {count}\n"
            );
            Scrape::parse(&page).unwrap()
        };
        let picture = Picture::new("http://here", &page(0), &page(1), Duration::from_secs(1), None);
        let text = picture.text(usize::MAX);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert!(text.contains("\\u{1b}[2J") && text.contains("mine"), "{text}");
    }

    #[test]
    fn a_server_that_does_not_say_when_it_was_started_is_not_as_old_as_time() {
        let picture = |page: &str| {
            let scrape = Scrape::parse(page).unwrap();
            Picture::new("http://here", &scrape, &scrape, Duration::from_secs(1), None).text(usize::MAX)
        };
        assert!(
            picture("zetema_ready 1\n").starts_with("zetema of an unknown version at http://here: ready\n")
        );
        let started = picture("zetema_ready 1\nzetema_start_time_seconds 1700000000\n");
        assert!(started.contains(": ready, up "), "{started}");
    }

    #[test]
    fn a_server_that_was_started_anew_counts_from_nothing() {
        let [before, after] = [scrape(30, 5, 0, 100, 100), scrape(10, 0, 0, 10, 10)];
        let picture = Picture::new("http://here", &before, &after, Duration::from_secs(1), None);
        assert_eq!(picture.actions_per_s, 10.0);
        let inbox = picture.stages.iter().find(|took| took.stage == "inbox").unwrap();
        assert_eq!(inbox.per_s, 10.0);
        assert!(inbox.p99_ms.unwrap() <= 1.0, "{inbox:?}");
    }
}
