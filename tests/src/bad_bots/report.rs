//! What came of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;
use zetema_proto::v1;

use super::{Evidence, Seen};

/// What good bots felt.
#[derive(Clone, Debug)]
pub struct Figures {
    /// For how long.
    pub lasted: Duration,
    /// From an action to its own observation, in microseconds.
    pub round_trips: Histogram<u64>,
    /// Matches of good bots alone that were played to a result.
    pub among_themselves: u64,
    /// All that they played to a result, against bad ones too.
    pub matches: u64,
    /// Forfeits by good bots.
    pub forfeits: u64,
    /// No-shows of good bots.
    pub no_shows: u64,
}

/// How many times as long as beside others that behave the slowest in a hundred round trips may be beside bad bots.
const P99_RATIO: f64 = 1.5;
/// By so many milliseconds more they may be in any case: that little is the machine's, which the bad bots share.
const P99_MORE_MS: f64 = 2.0;
/// What part of the matches among themselves that good bots play beside others that behave they must play beside bad ones.
const MATCHES_RATIO: f64 = 0.8;

/// The good bots beside whom.
const OTHERS: &str = "beside others that behave";
const BAD: &str = "beside bad bots";

/// Whether good bots must feel next to nothing of bad ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    /// They must.
    Held,
    /// They played for too short a time to tell.
    TooShort,
}

/// What a bad bot got.
#[derive(Clone, Debug)]
pub struct BadRow {
    /// All that is known of it.
    pub evidence: Evidence,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The good bots beside as many others that behave.
    pub without: Figures,
    /// Beside the bad ones.
    pub with: Figures,
    /// The bad ones.
    pub bad: Vec<BadRow>,
    /// Whether the first two are compared.
    pub bars: Bars,
}

#[derive(Serialize)]
struct FiguresJson {
    seconds: f64,
    matches_per_minute: f64,
    among_themselves_per_minute: f64,
    actions: u64,
    p50_ms: f64,
    p99_ms: f64,
    forfeits: u64,
    no_shows: u64,
}

#[derive(Serialize)]
struct BadJson {
    kind: &'static str,
    played: u64,
    forfeits: u64,
    no_shows: u64,
    /// How long each was, in seconds.
    cool_downs_s: Vec<f64>,
    benched: u64,
    given_at_rest: u64,
    streams: u64,
    /// Streams that the server refused or ended, by the reason that it said.
    refused: BTreeMap<&'static str, u64>,
    /// Connections that were closed without a word, as the bot saw it.
    closed: u64,
    /// The same as the server counts them: opened too fast.
    closed_by_rate: u64,
    /// And too many at once.
    closed_by_number: u64,
    /// Connections that the bot's own machine had no port for.
    without_port: u64,
    flooded: u64,
    rejected: BTreeMap<&'static str, u64>,
    out_of_turn: u64,
    superseded: u64,
    waited_for_it: u64,
    /// After how many ping intervals streams were ended that were not read.
    unread_for: Vec<f64>,
    faults: usize,
    missing: Vec<&'static str>,
}

#[derive(Serialize)]
struct ReportJson {
    without: FiguresJson,
    with: FiguresJson,
    bad: Vec<BadJson>,
    problems: Vec<String>,
}

impl Figures {
    /// Nothing, of no time.
    #[cfg(test)]
    fn none() -> Self {
        Self {
            lasted: Duration::ZERO,
            round_trips: Seen::default().round_trips,
            among_themselves: 0,
            matches: 0,
            forfeits: 0,
            no_shows: 0,
        }
    }

    /// What they felt at another time too.
    pub(super) fn add(&mut self, other: &Self) {
        self.lasted += other.lasted;
        self.round_trips.add(&other.round_trips).unwrap();
        self.among_themselves += other.among_themselves;
        self.matches += other.matches;
        self.forfeits += other.forfeits;
        self.no_shows += other.no_shows;
    }

    fn json(&self) -> FiguresJson {
        let minutes = self.lasted.as_secs_f64() / 60.0;
        #[expect(clippy::cast_precision_loss, reason = "some thousands")]
        let a_minute = |count: u64| count as f64 / minutes;
        let ms = |quantile| {
            Duration::from_micros(self.round_trips.value_at_quantile(quantile)).as_secs_f64() * 1000.0
        };
        FiguresJson {
            seconds: self.lasted.as_secs_f64(),
            matches_per_minute: a_minute(self.matches),
            among_themselves_per_minute: a_minute(self.among_themselves),
            actions: self.round_trips.len(),
            p50_ms: ms(0.5),
            p99_ms: ms(0.99),
            forfeits: self.forfeits,
            no_shows: self.no_shows,
        }
    }
}

impl BadRow {
    fn json(&self) -> BadJson {
        let Evidence { kind, seen, faults, closed_by_rate, closed_by_number, .. } = &self.evidence;
        let sum = |of: fn(&Seen) -> u64| seen.iter().map(of).sum();
        BadJson {
            kind: kind.name(),
            played: self.evidence.played(),
            forfeits: self.evidence.ends(v1::LadderSeatEnd::Forfeited),
            no_shows: self.evidence.ends(v1::LadderSeatEnd::NoShow),
            cool_downs_s: seen.iter().flat_map(|seen| &seen.cool_downs).map(Duration::as_secs_f64).collect(),
            benched: sum(|seen| seen.benches.len() as u64),
            given_at_rest: sum(|seen| seen.given_at_rest),
            streams: sum(|seen| seen.streams),
            refused: by_reason(seen, |seen| &seen.refused),
            closed: sum(|seen| seen.closed),
            closed_by_rate: *closed_by_rate,
            closed_by_number: *closed_by_number,
            without_port: sum(|seen| seen.without_port),
            flooded: sum(|seen| seen.flooded),
            rejected: by_reason(seen, |seen| &seen.rejected),
            out_of_turn: sum(|seen| seen.out_of_turn),
            superseded: sum(|seen| seen.superseded),
            waited_for_it: sum(|seen| seen.waited_for_it),
            unread_for: seen.iter().flat_map(|seen| &seen.unread_for).copied().collect(),
            faults: faults.len(),
            missing: self.evidence.missing(),
        }
    }
}

/// What was counted by reason, of all clients of a bot.
fn by_reason(seen: &[Seen], of: fn(&Seen) -> &BTreeMap<&'static str, u64>) -> BTreeMap<&'static str, u64> {
    let mut all = BTreeMap::new();
    for (reason, count) in seen.iter().flat_map(of) {
        *all.entry(*reason).or_default() += count;
    }
    all
}

impl Report {
    /// What is not as the document says.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, figures) in [(OTHERS, &self.without), (BAD, &self.with)] {
            for (count, what) in [(figures.forfeits, "forfeits"), (figures.no_shows, "no-shows")] {
                if count > 0 {
                    problems.push(format!("good bots {name}: {count} {what}"));
                }
            }
            if figures.among_themselves == 0 {
                problems.push(format!("good bots {name}: no match among themselves"));
            }
        }
        if self.bars == Bars::Held {
            problems.extend(missed(&self.without.json(), &self.with.json()));
        }
        for BadRow { evidence } in &self.bad {
            problems.extend(evidence.undue());
            let missing = evidence.missing().into_iter();
            problems.extend(missing.map(|what| format!("{}: without {what}", evidence.kind.name())));
        }
        problems
    }

    /// For people, as tables of Markdown.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| good bots | matches a minute | among themselves | actions | p50 ms | p99 ms | forfeits | no-shows |\n\
             |---|---|---|---|---|---|---|---|\n",
        );
        for (name, figures) in [(OTHERS, &self.without), (BAD, &self.with)] {
            let of = figures.json();
            // Nothing can go wrong with a text in memory.
            let _ = writeln!(
                text,
                "| {name} | {:.1} | {:.1} | {} | {:.2} | {:.2} | {} | {} |",
                of.matches_per_minute,
                of.among_themselves_per_minute,
                of.actions,
                of.p50_ms,
                of.p99_ms,
                of.forfeits,
                of.no_shows
            );
        }
        text.push_str(
            "\n| bad bot | played | forfeits | no-shows | cool-downs | benched | streams | closed | refused | rejected | lost seats | faults |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for row in &self.bad {
            let of = row.json();
            // As above.
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                of.kind,
                of.played,
                of.forfeits,
                of.no_shows,
                of.cool_downs_s.len(),
                of.benched,
                of.streams,
                of.closed,
                of.refused.values().sum::<u64>(),
                of.rejected.values().sum::<u64>(),
                of.superseded,
                of.faults
            );
        }
        text
    }

    /// For programs: one object.
    pub fn json(&self) -> String {
        let report = ReportJson {
            without: self.without.json(),
            with: self.with.json(),
            bad: self.bad.iter().map(BadRow::json).collect(),
            problems: self.problems(),
        };
        serde_json::to_string_pretty(&report).unwrap()
    }
}

/// What good bots felt of bad ones beyond what they may.
fn missed(without: &FiguresJson, with: &FiguresJson) -> Vec<String> {
    let mut missed = Vec::new();
    let p99_ms = (P99_RATIO * without.p99_ms).max(without.p99_ms + P99_MORE_MS);
    if with.p99_ms > p99_ms {
        missed.push(format!(
            "good bots: a p99 of {:.2} ms {BAD} and of {:.2} ms {OTHERS}, where it may be {p99_ms:.2} ms",
            with.p99_ms, without.p99_ms
        ));
    }
    let least = MATCHES_RATIO * without.among_themselves_per_minute;
    if with.among_themselves_per_minute < least {
        missed.push(format!(
            "good bots: {:.1} matches a minute among themselves {BAD} and {:.1} {OTHERS}, where it must be {least:.1}",
            with.among_themselves_per_minute, without.among_themselves_per_minute
        ));
    }
    missed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a minute.
    fn figures(p99_ms: u64, matches: u64) -> Figures {
        let mut figures = Figures { lasted: Duration::from_mins(1), ..Figures::none() };
        figures.round_trips.record_n(p99_ms * 1_000, 100).unwrap();
        (figures.among_themselves, figures.matches) = (matches, matches);
        figures
    }

    fn problems(without: &Figures, with: &Figures, bars: Bars) -> Vec<String> {
        Report { without: without.clone(), with: with.clone(), bad: Vec::new(), bars }.problems()
    }

    #[test]
    fn what_good_bots_feel_of_bad_ones_is_held_to_its_bars() {
        let check = |without: (u64, u64), with: (u64, u64), said: &str| {
            let (without, with) = (figures(without.0, without.1), figures(with.0, with.1));
            let problems = problems(&without, &with, Bars::Held);
            assert_eq!(problems.is_empty(), said.is_empty(), "{problems:?}");
            assert!(problems.iter().all(|problem| problem.contains(said)), "{problems:?}");
        };
        check((20, 60), (20, 60), "");
        check((20, 60), (29, 48), "");
        check((20, 60), (31, 60), "a p99 of 31");
        check((20, 60), (20, 47), "47.0 matches a minute among themselves");
        // Two milliseconds are the machine's.
        check((1, 60), (2, 60), "");
        check((1, 60), (4, 60), "a p99 of 4");
        assert_eq!(problems(&figures(1, 60), &figures(99, 1), Bars::TooShort), Vec::<String>::new());
    }

    #[test]
    fn forfeits_no_shows_and_a_lack_of_matches_are_problems_however_short_it_was() {
        let well = figures(1, 60);
        for (with, said) in [
            (Figures { forfeits: 1, ..well.clone() }, "1 forfeits"),
            (Figures { no_shows: 2, ..well.clone() }, "2 no-shows"),
            (Figures { among_themselves: 0, ..well.clone() }, "no match among themselves"),
        ] {
            let problems = problems(&well, &with, Bars::TooShort);
            assert!(matches!(&problems[..], [problem] if problem.contains(said)), "{problems:?}");
        }
    }

    #[test]
    fn what_was_felt_at_two_times_adds_up() {
        let mut sum = figures(2, 10);
        sum.add(&figures(8, 30));
        let of = sum.json();
        assert_eq!((of.actions, of.seconds, of.among_themselves_per_minute), (200, 120.0, 20.0));
    }
}
