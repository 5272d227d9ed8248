//! The actions that are worth a search.

use zetema_sdk::{Action, LegalActions};

/// How many declarations are looked at.
const DECLARATIONS: usize = 6;

/// Lists the actions of a decision that are searched: all discards, and the declarations that are worth most
/// at first sight. A hand of kings and queens has hundreds, most of which differ in little.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    declarations: Vec<(f64, Action)>,
    actions: Vec<Action>,
    worths: Vec<f64>,
}

impl Candidates {
    /// Lists those of these actions, of which this is what each is worth at first sight, in points: the discards
    /// first, then the declarations, the best first.
    pub(crate) fn list(&mut self, legal: &LegalActions, worths: &[f64]) {
        self.declarations.clear();
        self.actions.clear();
        self.worths.clear();
        for (action, &worth) in legal.iter().zip(worths) {
            match action {
                Action::Discard(_) => {
                    self.actions.push(action);
                    self.worths.push(worth);
                }
                Action::Declare(_) => self.declarations.push((worth, action)),
            }
        }
        self.declarations.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.declarations.truncate(DECLARATIONS);
        self.actions.extend(self.declarations.iter().map(|&(_, action)| action));
        self.worths.extend(self.declarations.iter().map(|&(worth, _)| worth));
    }

    pub(crate) fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// What each is worth at first sight, in points.
    pub(crate) fn worths(&self) -> &[f64] {
        &self.worths
    }
}
