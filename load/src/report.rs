//! All that there is to say of a run.

use serde::{Deserialize, Serialize};

use crate::compare::Comparison;
use crate::outcome::{Damage, Outcome, Second, Totals, positive};
use crate::slo::{Slo, Verdict};

/// What a run has measured, and what was made of it: what tables, JSON and pages are made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What was measured.
    pub outcome: Outcome,
    /// What came of the SLO, if there was one.
    pub verdict: Option<Verdict>,
    /// The search for the highest rate, if there was one. The outcome is then of the last rate that was kept.
    pub search: Option<Search>,
    /// The run beside one before, if it was asked for.
    pub comparison: Option<Comparison>,
}

impl Report {
    /// A run, held to this.
    ///
    /// ```
    /// use zetema_load::outcome::{Description, Phase, Recorder};
    /// use zetema_load::report::Report;
    ///
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// let outcome = runtime.block_on(async {
    ///     Recorder::start(Description::default(), Phase::measured("steady")).finish()
    /// });
    /// let report = Report::new(outcome, Some(&"p99<20ms".parse()?));
    /// assert!(!report.passed(), "nothing was measured, so nothing is kept");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(outcome: Outcome, slo: Option<&Slo>) -> Self {
        let verdict = slo.map(|slo| slo.judge(&outcome));
        Self { outcome, verdict, search: None, comparison: None }
    }

    /// The same with the search that it comes from.
    #[must_use]
    pub fn with_search(self, search: Search) -> Self {
        Self { search: Some(search), ..self }
    }

    /// The same beside a run before.
    #[must_use]
    pub fn compared_with(self, before: &Self) -> Self {
        let mut comparison = Comparison::new(&before.outcome, &self.outcome);
        let problems: Vec<String> = before.problems().map(|problem| problem.to_string()).collect();
        if !problems.is_empty() {
            comparison.unlike.push(format!("the run before has not passed: {}", problems.join("; ")));
        }
        Self { comparison: Some(comparison), ..self }
    }

    /// Whether it is all that was asked for: no fault was found, it was not stopped, something was done, the SLO was kept if there was one,
    /// and so was the search brought to its end.
    pub fn passed(&self) -> bool {
        self.problems().next().is_none()
    }

    /// Why it has not passed.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        let faults = (self.outcome.faults().all() > 0).then_some(Problem::Faults);
        let stopped = self.outcome.is_stopped().then_some(Problem::Stopped);
        let nothing = (!self.outcome.has_done()).then_some(Problem::NothingDone);
        let slo = self.verdict.as_ref().is_some_and(|verdict| !verdict.held()).then_some(Problem::Slo);
        let search = self.search.as_ref().is_some_and(|search| !search.is_found).then_some(Problem::Search);
        [faults, stopped, nothing, slo, search].into_iter().flatten()
    }
}

/// Why a run has not passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The server did what it must not.
    #[error("faults were found in what was received")]
    Faults,
    /// It was stopped.
    #[error("it was stopped before its time")]
    Stopped,
    /// Nothing was measured.
    #[error("nothing was done: no action was acknowledged while it was measured")]
    NothingDone,
    /// A condition was missed.
    #[error("the SLO was not kept")]
    Slo,
    /// The search has not found a limit.
    #[error("the search has not come to its end: no limit is known")]
    Search,
}

/// A search for the highest rate that keeps an SLO.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// What was tried, in this order.
    pub steps: Vec<Step>,
    /// The highest rate that kept it, a second. Absent: none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Whether that is the limit: a rate was missed that is as near to it as was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_found: bool,
}

impl Search {
    /// Whether its parts go together.
    ///
    /// # Errors
    /// The first [`Damage`]: which field, its value, and what it should be.
    pub(crate) fn check(&self) -> Result<(), Damage> {
        for (number, step) in self.steps.iter().enumerate() {
            positive(&format!("search.steps[{number}].offered_per_second"), step.offered_per_second)?;
            step.seen.check(&format!("search.steps[{number}].seen"))?;
        }
        // A rate that was tried, to the bit.
        let is_tried = |limit: f64| {
            self.steps.iter().any(|step| step.offered_per_second.total_cmp(&limit).is_eq() && step.is_kept())
        };
        match self.limit {
            Some(limit) if !is_tried(limit) => {
                Err(Damage::new("search.limit", limit, "no step of the search kept its SLO at that rate"))
            }
            _ => Ok(()),
        }
    }
}

/// A rate that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    offered_per_second: f64,
    /// All that was measured, as of one long second.
    seen: Second,
    verdict: Verdict,
    /// Whether it was cut off before its time: then the verdict is of what there was until then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_stopped: bool,
}

impl Step {
    /// What came of this rate, a second.
    pub fn new(offered_per_second: f64, outcome: &Outcome, slo: &Slo) -> Self {
        Self {
            offered_per_second,
            seen: outcome.totals().as_second(),
            verdict: slo.judge(outcome),
            is_stopped: outcome.is_stopped(),
        }
    }

    /// The rate, a second.
    pub const fn offered_per_second(&self) -> f64 {
        self.offered_per_second
    }

    /// What was measured.
    pub fn totals(&self) -> Totals {
        std::iter::once(&self.seen).collect()
    }

    /// What came of the SLO, in the time that there was.
    pub const fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Whether it was cut off before its time.
    pub const fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Whether the SLO was kept for all of its time.
    pub fn is_kept(&self) -> bool {
        self.verdict.held() && !self.is_stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::sample;

    #[test]
    fn a_run_that_has_not_earned_it_does_not_pass() {
        let check = |report: &Report, expected: &[Problem]| {
            assert_eq!(report.problems().collect::<Vec<_>>(), expected);
            assert_eq!(report.passed(), expected.is_empty());
        };
        let run = || sample::run(10, 1_500.0);
        let search = |is_found| Search { steps: Vec::new(), limit: Some(5.0), is_found };
        check(&Report::new(run(), None), &[]);
        check(&Report::new(run(), None).with_search(search(true)), &[]);
        check(&Report::new(run(), None).with_search(search(false)), &[Problem::Search]);
        check(&Report::new(sample::with_faults(run()), None), &[Problem::Faults]);
        check(&Report::new(sample::stopped(run()), None), &[Problem::Stopped]);
        check(&Report::new(sample::run(0, 1_500.0), None), &[Problem::NothingDone]);
        let slo = "p99<1us".parse().ok();
        check(&Report::new(sample::stopped(run()), slo.as_ref()), &[Problem::Stopped, Problem::Slo]);
    }

    #[test]
    fn a_rate_that_was_cut_off_is_no_limit() {
        let slo = "p99<1s".parse().unwrap();
        let search =
            |run| Search { steps: vec![Step::new(5.0, &run, &slo)], limit: Some(5.0), is_found: false };
        assert!(search(sample::run(3, 1_500.0)).check().is_ok());
        let cut_off = search(sample::stopped(sample::run(3, 1_500.0)));
        assert!(cut_off.steps[0].verdict().held(), "until then");
        assert!(cut_off.check().is_err());
    }

    #[test]
    fn a_run_beside_one_that_has_not_passed_says_so() {
        let run = || Report::new(sample::run(10, 1_500.0), None);
        let before = Report::new(sample::stopped(sample::run(10, 1_500.0)), None);
        let unlike = |before: &Report| run().compared_with(before).comparison.map(|found| found.unlike);
        assert_eq!(unlike(&run()), Some(Vec::new()));
        let said = "the run before has not passed: it was stopped before its time";
        assert_eq!(unlike(&before), Some(vec![said.to_owned()]));
    }
}
