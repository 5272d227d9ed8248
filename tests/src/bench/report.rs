//! What was measured, as it is written to a file.

use serde::{Deserialize, Serialize};

use super::row::{Better, Row};
use super::{Figure, Figures, Machine, Subject};
use crate::overload::median;

/// The form of the file.
pub const SCHEMA: &str = "zetema-bench/1";

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// When it was begun, by the wall clock.
    pub began: String,
    /// On what.
    pub machine: Machine,
    /// How often all was measured.
    pub rounds: usize,
    /// How long each subject was measured, in seconds.
    pub seconds: f64,
    /// How long it ran before that, in seconds.
    pub warm_up: f64,
    /// Whether bars are judged: not of a smoke test.
    pub judged: bool,
    /// The bounds of the server that were wide open, as all of the load came from one address.
    pub wide_open: String,
    /// The rows.
    pub rows: Vec<RowReport>,
    /// What was found of each subject.
    pub subjects: Vec<SubjectReport>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowReport {
    /// Its name.
    pub name: String,
    /// What is compared with what.
    pub what: String,
    /// The unit of `ours` and of the baseline.
    pub unit: String,
    /// Whether figures above the bar are good.
    pub higher_is_better: bool,
    /// What must be reached.
    pub bar: f64,
    /// What should be.
    pub reach: f64,
    /// The median of ours, divided by the median of the baseline, if there is one.
    pub value: f64,
    /// The same of each round: the least.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Whether the value is as good as the bar.
    pub met: bool,
    /// Whether it is as good as what should be reached.
    pub reached: bool,
    /// The median of what was measured.
    pub ours: f64,
    /// The median of what it is divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<f64>,
    /// Processor time of the server for each action ÷ for each of what it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_time: Option<f64>,
    /// The share of its core that the server kept busy, ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_busy: Option<f64>,
    /// The share of their core that the clients kept busy, ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_busy: Option<f64>,
}

/// A subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectReport {
    /// What it is.
    pub name: String,
    /// What each round found.
    pub rounds: Vec<Figures>,
}

/// What was found of the subjects, round by round.
#[derive(Clone, Debug, Default)]
pub(super) struct Found(Vec<(Subject, Vec<Figures>)>);

impl Found {
    pub(super) fn add(&mut self, subject: Subject, figures: Figures) {
        match self.0.iter_mut().find(|(known, _)| *known == subject) {
            Some((_, rounds)) => rounds.push(figures),
            None => self.0.push((subject, vec![figures])),
        }
    }

    fn of(&self, subject: Subject) -> Option<&[Figures]> {
        Some(&self.0.iter().find(|(known, _)| *known == subject)?.1)
    }

    /// The median of a figure.
    fn median(&self, subject: Subject, figure: Figure) -> Option<f64> {
        median(self.of(subject)?.iter().filter_map(|figures| figures.get(&figure).copied()))
    }

    pub(super) fn subjects(&self) -> Vec<SubjectReport> {
        let report = |(subject, rounds): &(Subject, Vec<Figures>)| SubjectReport {
            name: subject.to_string(),
            rounds: rounds.clone(),
        };
        self.0.iter().map(report).collect()
    }

    /// What came out of a row. `None` if something was not measured.
    pub(super) fn row(&self, row: &Row) -> Option<RowReport> {
        let rounds = row.subjects().filter_map(|subject| Some(self.of(subject)?.len())).min()?;
        let of_round = |round: usize| row.of_round(|subject| self.of(subject)?.get(round));
        let rounds: Vec<(f64, Option<f64>)> = (0..rounds).map(of_round).collect::<Option<_>>()?;
        let ours = median(rounds.iter().map(|(ours, _)| *ours))?;
        let baseline = median(rounds.iter().filter_map(|(_, baseline)| *baseline));
        let value = ours / baseline.unwrap_or(1.0);
        let ratios = || rounds.iter().map(|(ours, baseline)| ours / baseline.unwrap_or(1.0));
        let first = row.ours.first().map(|(subject, _)| *subject)?;
        let compared = row.baseline.first().map(|(subject, _)| *subject);
        let server_us = |subject| self.median(subject, Figure::ServerUs);
        let server_time = compared.and_then(|compared| Some(server_us(first)? / server_us(compared)?));
        Some(RowReport {
            name: row.name.to_owned(),
            what: row.what.to_owned(),
            unit: row.unit.to_owned(),
            higher_is_better: row.better == Better::Higher,
            bar: row.bar,
            reach: row.reach,
            value,
            least: ratios().fold(f64::INFINITY, f64::min),
            most: ratios().fold(f64::NEG_INFINITY, f64::max),
            met: row.keeps(value, row.bar),
            reached: row.keeps(value, row.reach),
            ours,
            baseline,
            server_time,
            server_busy: self.median(first, Figure::ServerBusy),
            client_busy: self.median(first, Figure::ClientBusy),
        })
    }
}

impl Report {
    /// The names of the bars that were missed.
    pub fn missed(&self) -> Vec<&str> {
        let missed = self.rows.iter().filter(|row| self.judged && !row.met);
        missed.map(|row| row.name.as_str()).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "the numbers are exact")]
mod tests {
    use super::*;
    use crate::bench::load::{Matches, Via};

    const OURS: Subject = Subject::Matches(Matches::new(Via::Unary, 1));
    const THEIRS: Subject = Subject::Fdatasync;
    const ROW: Row = Row {
        name: "row",
        what: "what",
        unit: "actions/s",
        ours: &[(OURS, Figure::PerSecond)],
        baseline: &[(THEIRS, Figure::PerSecond)],
        better: Better::Higher,
        bar: 2.0,
        reach: 3.0,
    };

    fn found(subject: Subject, values: &[f64]) -> Found {
        let mut found = Found::default();
        for value in values {
            found.add(subject, Figures::from([(Figure::PerSecond, *value)]));
        }
        found
    }

    fn both(ours: &[f64], theirs: &[f64]) -> Found {
        let mut both = found(OURS, ours);
        both.0.extend(found(THEIRS, theirs).0);
        both
    }

    pub(crate) fn report(found: &Found, judged: bool) -> Report {
        Report {
            schema: SCHEMA.to_owned(),
            began: String::new(),
            machine: Machine::default(),
            rounds: 3,
            seconds: 20.0,
            warm_up: 5.0,
            judged,
            wide_open: String::new(),
            rows: vec![found.row(&ROW).unwrap()],
            subjects: found.subjects(),
        }
    }

    #[test]
    fn a_row_is_the_ratio_of_the_medians_with_the_spread_of_the_rounds() {
        // Of the rounds' own ratios (10, 2, 1) the median would be 2.
        let row = both(&[100.0, 60.0, 50.0], &[10.0, 30.0, 50.0]).row(&ROW).unwrap();
        assert_eq!((row.ours, row.baseline), (60.0, Some(30.0)));
        assert_eq!((row.value, row.least, row.most), (2.0, 1.0, 10.0));
        assert!(row.met && !row.reached);
    }

    #[test]
    fn a_row_without_a_baseline_is_what_was_measured_and_figures_are_added_up() {
        let absolute = Row { baseline: &[], better: Better::Lower, reach: 1.0, ..ROW };
        let row = found(OURS, &[1.0, 4.0, 3.0]).row(&absolute).unwrap();
        assert_eq!((row.value, row.least, row.most, row.baseline), (3.0, 1.0, 4.0, None));
        assert!(!row.met);
        let sum = Row { baseline: &[(THEIRS, Figure::PerSecond), (OURS, Figure::PerSecond)], ..ROW };
        assert_eq!(both(&[6.0], &[2.0]).row(&sum).unwrap().baseline, Some(8.0));
    }

    #[test]
    fn what_was_not_measured_is_no_row() {
        assert_eq!(found(OURS, &[1.0]).row(&ROW), None);
        let other = Row { ours: &[(OURS, Figure::P50Us)], ..ROW };
        assert_eq!(both(&[1.0], &[1.0]).row(&other), None);
    }

    #[test]
    fn a_bar_that_is_missed_names_itself_unless_nothing_is_judged() {
        let (missed, met) = (both(&[59.0], &[30.0]), both(&[60.0], &[30.0]));
        assert_eq!(report(&missed, true).missed(), ["row"]);
        assert!(report(&met, true).missed().is_empty());
        assert!(report(&missed, false).missed().is_empty());
    }
}
