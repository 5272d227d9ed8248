//! A bar, and what is measured for it.

use super::{Figure, Figures, Subject};

/// Which figures are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Those above the bar.
    Higher,
    /// Those below it.
    Lower,
}

/// A bar, and what is measured for it: the sum of some figures, divided by the sum of those of the baseline, if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// One word for it.
    pub name: &'static str,
    /// What is compared with what.
    pub what: &'static str,
    /// The unit of what is measured, before it is divided.
    pub unit: &'static str,
    /// What is measured.
    pub ours: &'static [(Subject, Figure)],
    /// What it is divided by. Empty: by nothing.
    pub baseline: &'static [(Subject, Figure)],
    /// Which figures are good.
    pub better: Better,
    /// What must be reached.
    pub bar: f64,
    /// What should be.
    pub reach: f64,
}

impl Row {
    /// What must be measured for it, the baseline first.
    pub fn subjects(&self) -> impl Iterator<Item = Subject> {
        self.baseline.iter().chain(self.ours).map(|(subject, _)| *subject)
    }

    /// Whether the program `zetema` is measured for it.
    pub fn needs_program(&self) -> bool {
        self.subjects().any(|subject| matches!(subject, Subject::Beside { .. }))
    }

    /// What a round has found for it: ours, and the baseline. `None` if something was not measured.
    pub(super) fn of_round<'a>(
        &self,
        found: impl Fn(Subject) -> Option<&'a Figures>,
    ) -> Option<(f64, Option<f64>)> {
        let sum = |figures: &[(Subject, Figure)]| {
            figures.iter().map(|(subject, figure)| found(*subject)?.get(figure).copied()).sum::<Option<f64>>()
        };
        let baseline = if self.baseline.is_empty() { None } else { Some(sum(self.baseline)?) };
        Some((sum(self.ours)?, baseline))
    }

    /// Whether a figure is as good as this one.
    pub(super) fn keeps(&self, found: f64, limit: f64) -> bool {
        match self.better {
            Better::Higher => found >= limit,
            Better::Lower => found <= limit,
        }
    }
}

/// No row has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no row {name:?}: the rows are {}", .rows.join(", "))]
pub struct UnknownRow {
    /// The name.
    pub name: String,
    /// Those that there are.
    pub rows: Vec<&'static str>,
}

/// Those of the rows that have these names, in their order; without a name all of them.
///
/// # Errors
/// [`UnknownRow`] lists those that there are.
pub fn select(rows: &[Row], names: &[String]) -> Result<Vec<Row>, UnknownRow> {
    let unknown = names.iter().find(|name| rows.iter().all(|row| row.name != **name));
    if let Some(name) = unknown {
        return Err(UnknownRow { name: name.clone(), rows: rows.iter().map(|row| row.name).collect() });
    }
    let wanted = |row: &&Row| names.is_empty() || names.iter().any(|name| name == row.name);
    Ok(rows.iter().filter(wanted).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::ROWS;

    #[test]
    fn rows_are_found_by_their_names_and_an_unknown_one_is_told_which_there_are() {
        let check = |names: &[&str], expected: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let found = select(ROWS, &names).map(|rows| rows.iter().map(|row| row.name).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), Ok(expected));
        };
        let all: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        check(&[], &all);
        check(&[all[1], all[0], all[1]], &all[..2]);
        let error =
            select(ROWS, &["plya".to_owned()]).map(|rows| rows.len()).map_err(|error| error.to_string());
        assert!(
            error
                .as_ref()
                .is_err_and(|text| text.contains("\"plya\"") && all.iter().all(|name| text.contains(name))),
            "{error:?}"
        );
    }

    #[test]
    fn every_row_has_a_name_of_its_own_and_reaches_beyond_its_bar() {
        for (number, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..number].iter().all(|other| other.name != row.name), "{} is there twice", row.name);
            assert!(row.keeps(row.reach, row.bar) && !row.keeps(row.bar, row.reach), "{}", row.name);
        }
    }
}
