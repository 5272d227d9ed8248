//! Measures all that some rows need, again and again.

use std::time::SystemTime;

use anyhow::Context;

use super::ready::Ready;
use super::report::{Found, Report, SCHEMA};
use super::row::Row;
use super::serve::wide_open;
use super::setting::{Scale, Setting};
use super::subject::Subject;
use super::{Figure, Machine};

/// What is to be measured, and how.
#[derive(Clone, Debug)]
pub struct Run {
    /// The rows.
    pub rows: Vec<Row>,
    /// How all is measured.
    pub setting: Setting,
    /// How often.
    pub rounds: usize,
    /// On what.
    pub machine: Machine,
}

impl Run {
    /// Measures all subjects once in each round, and tells what it does.
    ///
    /// # Errors
    /// What is in the way, or came wrong, and of which subject.
    pub async fn run(&self, mut told: impl FnMut(&str)) -> anyhow::Result<Report> {
        let began = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let mut subjects: Vec<Subject> = Vec::new();
        for subject in self.rows.iter().flat_map(Row::subjects) {
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        let ready = Ready::make(&subjects, &self.setting, &mut told).await?;
        let mut found = Found::default();
        for round in 1..=self.rounds {
            for subject in &subjects {
                let measured = subject.measure(&self.setting, &ready).await;
                let figures = measured.with_context(|| subject.to_string())?;
                told(&format!("round {round}, {subject}: {}", shown(&figures)));
                found.add(*subject, figures);
            }
        }
        let row = |row: &Row| found.row(row).with_context(|| format!("row {} lacks a figure", row.name));
        Ok(Report {
            schema: SCHEMA.to_owned(),
            began,
            machine: self.machine.clone(),
            rounds: self.rounds,
            seconds: self.setting.lasts.as_secs_f64(),
            warm_up: self.setting.warm_up.as_secs_f64(),
            judged: self.setting.scale == Scale::Full,
            wide_open: wide_open(),
            rows: self.rows.iter().map(row).collect::<anyhow::Result<_>>()?,
            subjects: found.subjects(),
        })
    }
}

/// The figures that are looked at first.
fn shown(figures: &super::Figures) -> String {
    let of = |figure: Figure, unit: &str| Some(format!("{:.2} {unit}", figures.get(&figure)?));
    let rate = figures.get(&Figure::PerSecond).map(|rate| format!("{rate:.0}/s"));
    let rest = [
        of(Figure::P50Us, "µs p50"),
        of(Figure::P99Us, "µs p99"),
        of(Figure::MillionsPerSecond, "million/s"),
        of(Figure::RecordsPerBatch, "records at once"),
        of(Figure::RawPerSecond, "raw/s"),
        of(Figure::ServerUs, "µs of the server each"),
        of(Figure::ClientUs, "µs of the clients each"),
        of(Figure::ServerBusy, "of its core"),
        of(Figure::ClientBusy, "of the clients'"),
        of(Figure::WireBytes, "bytes on the wire each"),
        of(Figure::MemoryBytes, "bytes of memory each"),
        of(Figure::StartSeconds, "s to start"),
    ];
    rate.into_iter().chain(rest.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}
