//! A plan as text.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::divide::Share;
use crate::outcome::settings;
use crate::plan::{Plan, PlanError, Stage};

/// A plan as text. What is read was not checked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanText {
    connections: NonZeroU32,
    seed: u64,
    warm_up: Duration,
    stages: Vec<Stage>,
    scenario: Option<String>,
    share: Share,
}

impl From<&Plan> for PlanText {
    fn from(plan: &Plan) -> Self {
        Self {
            connections: plan.connections,
            seed: plan.seed,
            warm_up: plan.warm_up(),
            stages: plan.stages().to_vec(),
            scenario: plan.scenario.clone(),
            share: plan.share,
        }
    }
}

impl PlanText {
    /// Every setting by its name. The text of a scenario stands by itself.
    pub(crate) fn settings(self) -> BTreeMap<String, String> {
        let Self { connections, seed, warm_up, stages, scenario: _, share: _ } = self;
        settings(&json!({ "connections": connections, "seed": seed, "warm_up": warm_up, "stages": stages }))
    }
}

impl TryFrom<PlanText> for Plan {
    type Error = PlanError;

    fn try_from(text: PlanText) -> Result<Self, PlanError> {
        let PlanText { connections, seed, warm_up, stages, scenario, share } = text;
        let mut plan = Self::new(warm_up, stages)?;
        plan.connections = connections;
        plan.seed = seed;
        plan.scenario = scenario;
        plan.share = share;
        Ok(plan)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_comes_back_from_its_text() {
        let page = include_str!("../../../docs/load.md");
        let (_, shown) = page.split_once("```toml\n").unwrap();
        let plan = crate::scenario(shown.split_once("```").unwrap().0).unwrap();
        for part in plan.divided(NonZeroU32::new(3).unwrap()).unwrap() {
            let text = serde_json::to_string(&PlanText::from(&part)).unwrap();
            let read: PlanText = serde_json::from_str(&text).unwrap();
            assert_eq!(Plan::try_from(read).unwrap(), part);
        }
    }
}
