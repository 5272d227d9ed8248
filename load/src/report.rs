//! All that there is to say of a run.

use serde::{Deserialize, Serialize};

use crate::compare::Comparison;
use crate::outcome::{Outcome, Second, Totals};
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
    pub fn compared_with(self, before: &Outcome) -> Self {
        Self { comparison: Some(Comparison::new(before, &self.outcome)), ..self }
    }

    /// Whether the SLO was kept, if there was one, and no fault was found.
    pub fn passed(&self) -> bool {
        self.outcome.faults().all() == 0 && self.verdict.as_ref().is_none_or(Verdict::held)
    }
}

/// A search for the highest rate that keeps an SLO.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// What was tried, in this order.
    pub steps: Vec<Step>,
    /// The highest rate that kept it, a second. Absent: none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// A rate that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    offered_per_second: f64,
    /// All that was measured, as of one long second.
    seen: Second,
    verdict: Verdict,
}

impl Step {
    /// What came of this rate, a second.
    pub fn new(offered_per_second: f64, outcome: &Outcome, slo: &Slo) -> Self {
        Self { offered_per_second, seen: outcome.totals().as_second(), verdict: slo.judge(outcome) }
    }

    /// The rate, a second.
    pub const fn offered_per_second(&self) -> f64 {
        self.offered_per_second
    }

    /// What was measured.
    pub fn totals(&self) -> Totals {
        std::iter::once(&self.seen).collect()
    }

    /// Whether the SLO was kept.
    pub const fn verdict(&self) -> &Verdict {
        &self.verdict
    }
}
