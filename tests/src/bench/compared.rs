//! What a row has by two builds that were measured in turn.

use std::fmt::Write;

use super::table::digits;
use super::{Figure, Report, Row, Subject};
use crate::overload::median;

/// Whether a row can be measured by a program that stands still half of the time: what is counted in a time can, and what each takes of the
/// processor or the wire. How long something takes can't.
pub fn holds_in_turn(row: &Row) -> bool {
    row.ours.iter().chain(row.baseline).all(|(_, figure)| {
        matches!(
            figure,
            Figure::PerSecond
                | Figure::RawPerSecond
                | Figure::ClientUs
                | Figure::MillionsPerSecond
                | Figure::WireBytes
        )
    })
}

/// What a row has by one program and by the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The row.
    pub name: &'static str,
    /// The unit of `this` and `that`.
    pub unit: &'static str,
    /// The median of the rounds by this program. What is counted in a second is so in one in which it stood still half of the time.
    pub this: f64,
    /// The same by that one.
    pub that: f64,
    /// The median of the rounds' own ratios, this ÷ that.
    pub ratio: f64,
    /// The least of them.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Processor time of the server for each, this ÷ that.
    pub server_time: Option<f64>,
    /// The baseline, this ÷ that: a build may be quicker at both.
    pub baseline: Option<f64>,
}

impl Compared {
    /// Compares what two programs have reported of a row. `None` if something was not measured.
    pub fn of(row: &Row, this: &Report, that: &Report) -> Option<Self> {
        let both = |figures: &[(Subject, Figure)]| Some((rounds(this, figures)?, rounds(that, figures)?));
        let (this, that) = both(row.ours)?;
        let ratios = ratios((&this, &that));
        let server = row.ours.first().map(|(subject, _)| [(*subject, Figure::ServerUs)]);
        let server = server.and_then(|server| both(&server));
        let baseline = if row.baseline.is_empty() { None } else { Some(both(row.baseline)?) };
        // Of next to no time there may be none.
        let ratio_of = |(this, that): (Vec<f64>, Vec<f64>)| {
            median(self::ratios((&this, &that)).into_iter()).filter(|ratio| ratio.is_finite())
        };
        Some(Self {
            name: row.name,
            unit: row.unit,
            this: median(this.iter().copied())?,
            that: median(that.iter().copied())?,
            ratio: median(ratios.iter().copied())?,
            least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            most: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            server_time: server.and_then(ratio_of),
            baseline: baseline.and_then(ratio_of),
        })
    }
}

/// The sum of some figures in each round.
fn rounds(report: &Report, figures: &[(Subject, Figure)]) -> Option<Vec<f64>> {
    let found = |(subject, figure): &(Subject, Figure)| {
        let subject = report.subjects.iter().find(|found| found.name == subject.to_string())?;
        subject.rounds.iter().map(|round| round.get(figure).copied()).collect::<Option<Vec<f64>>>()
    };
    let all = figures.iter().map(found).collect::<Option<Vec<_>>>()?;
    let count = all.iter().map(Vec::len).min()?;
    Some((0..count).map(|round| all.iter().map(|rounds| rounds[round]).sum()).collect())
}

fn ratios((this, that): (&[f64], &[f64])) -> Vec<f64> {
    this.iter().zip(that).map(|(this, that)| this / that).collect()
}

/// What was compared, for people.
pub fn compared(rows: &[Compared]) -> String {
    let wide = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut text = format!(
        "{:wide$} {:>12} {:>12} {:>7} {:>15} {:>8} {:>8}\n",
        "row", "this", "that", "÷", "spread", "CPU ÷", "base ÷"
    );
    for Compared { name, unit, this, that, ratio, least, most, server_time, baseline } in rows {
        let spread = format!("{}..{}", digits(*least), digits(*most));
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{name:wide$} {:>12} {:>12} {:>7} {spread:>15} {:>8} {:>8}  {unit}",
            digits(*this),
            digits(*that),
            digits(*ratio),
            or_dash(*server_time),
            or_dash(*baseline),
        );
    }
    text.push_str("÷: this program ÷ that one, the median of the rounds and their least and most. CPU ÷: the same of the server's processor time for each. base ÷: of what it is divided by. Of µs and bytes less is better.\n");
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "the numbers are exact")]
mod tests {
    use super::*;
    use crate::bench::load::{Matches, Via};
    use crate::bench::{Better, Figures, Machine, ROWS, SCHEMA, SubjectReport};

    const OURS: Subject = Subject::Matches(Matches::new(Via::Unary, 1));
    const ROW: Row = Row {
        name: "row",
        what: "what",
        unit: "actions/s",
        ours: &[(OURS, Figure::PerSecond)],
        baseline: &[(Subject::Fdatasync, Figure::PerSecond)],
        better: Better::Higher,
        bar: 2.0,
        reach: 3.0,
    };

    /// What a program has in each round: how many a second, and the server's time for each; and half as many of the baseline.
    fn report(rounds: &[(f64, f64)]) -> Report {
        let of = |subject: Subject, scale: f64| {
            let figures = |(rate, server): &(f64, f64)| {
                Figures::from([(Figure::PerSecond, rate * scale), (Figure::ServerUs, *server)])
            };
            SubjectReport { name: subject.to_string(), rounds: rounds.iter().map(figures).collect() }
        };
        Report {
            schema: SCHEMA.to_owned(),
            began: String::new(),
            machine: Machine::default(),
            rounds: rounds.len(),
            seconds: 20.0,
            warm_up: 5.0,
            judged: false,
            wide_open: String::new(),
            rows: Vec::new(),
            subjects: vec![of(OURS, 1.0), of(Subject::Fdatasync, 0.5)],
        }
    }

    #[test]
    fn rounds_are_compared_with_those_beside_them_and_the_median_counts() {
        // The host became quicker in the midst of the second round: the medians have 0.55 of each other, and 2.
        let this = report(&[(110.0, 5.0), (220.0, 4.0), (480.0, 1.0)]);
        let that = report(&[(100.0, 10.0), (400.0, 2.0), (400.0, 2.0)]);
        let found = Compared::of(&ROW, &this, &that).unwrap();
        assert_eq!((found.this, found.that), (220.0, 400.0));
        assert_eq!((found.ratio, found.least, found.most), (1.1, 0.55, 1.2));
        assert_eq!((found.server_time, found.baseline), (Some(0.5), Some(1.1)));
        let text = compared(&[found]);
        assert!(text.contains("row") && text.contains("1.10") && text.contains("0.55..1.20"), "{text}");
    }

    #[test]
    fn what_one_of_them_has_not_measured_is_not_compared() {
        let this = report(&[(1.0, 1.0)]);
        for lacking in 0..2 {
            let mut that = this.clone();
            that.subjects.remove(lacking);
            assert_eq!(Compared::of(&ROW, &this, &that), None);
            assert_eq!(Compared::of(&ROW, &that, &this), None);
        }
    }

    #[test]
    fn rows_that_are_how_long_something_takes_are_not_measured_in_turn() {
        let held: Vec<&str> = ROWS.iter().filter(|row| holds_in_turn(row)).map(|row| row.name).collect();
        for name in
            ["unary", "memory-play", "relay", "ping-pong", "very-many", "appends", "rules", "sdk", "bytes"]
        {
            assert!(held.contains(&name), "{name}");
        }
        for name in ["alone", "few", "creation", "idle-streams", "idle-matches", "restart", "readers"] {
            assert!(!held.contains(&name), "{name}");
        }
    }
}
