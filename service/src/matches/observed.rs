//! An observation as its readers get it: made once, for all who see the same.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use zetema_proto::Views;
use zetema_rules::Viewer;

use crate::table::{Effect, Observation, Table};

/// What this viewer observes of the entry that was applied last, with no more than its readers are shown.
pub(super) fn observe(table: &Table, effect: &Effect, viewer: Viewer, views: Views) -> Option<Observation> {
    match views {
        Views::EveryDecision => table.observe(effect, viewer),
        Views::SnapshotsOnly => table.observe_bare(effect, viewer),
    }
}

/// An observation for all who look with the same eyes, with its view and without.
pub(super) struct Shown {
    whole: Form,
    /// Without the view, once somebody wants it so.
    bare: OnceLock<Box<Form>>,
}

struct Form {
    observation: Observation,
    encoded: OnceLock<Bytes>,
}

impl Form {
    const fn new(observation: Observation) -> Self {
        Self { observation, encoded: OnceLock::new() }
    }
}

impl Shown {
    pub(super) const fn new(observation: Observation) -> Self {
        Self { whole: Form::new(observation), bare: OnceLock::new() }
    }

    /// How much memory it takes, in bytes, by a rough count.
    pub(super) fn bytes(&self) -> usize {
        self.whole.observation.bytes()
    }

    /// Its number.
    pub(super) const fn seq(&self) -> u64 {
        self.whole.observation.seq
    }

    /// What is shown to a reader with these views: one without a view is the same for all.
    fn form(&self, views: Views) -> &Form {
        if views == Views::EveryDecision || self.whole.observation.view.is_none() {
            return &self.whole;
        }
        self.bare
            .get_or_init(|| Box::new(Form::new(Observation { view: None, ..self.whole.observation.clone() })))
    }
}

/// An observation as one reader gets it. A clone is the same observation, not another in memory.
#[derive(Clone)]
pub struct Observed {
    shown: Arc<Shown>,
    views: Views,
}

impl Observed {
    pub(super) const fn new(shown: Arc<Shown>, views: Views) -> Self {
        Self { shown, views }
    }

    /// It as bytes, which are made once for all readers who get the same: by the first who asks. Whoever asks must make
    /// the same of it.
    pub fn encoded(&self, encode: impl FnOnce(&Observation) -> Bytes) -> Bytes {
        let Form { observation, encoded } = self.shown.form(self.views);
        encoded.get_or_init(|| encode(observation)).clone()
    }
}

impl Deref for Observed {
    type Target = Observation;

    fn deref(&self) -> &Observation {
        &self.shown.form(self.views).observation
    }
}

impl PartialEq for Observed {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Observed {}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
