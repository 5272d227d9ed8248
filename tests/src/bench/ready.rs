//! What is made once, before the first round.

use anyhow::Context;

use super::load::Matches;
use super::matches;
use super::restart::Stopped;
use super::setting::Setting;
use super::subject::{Sizes, Subject};

/// What is made once, before the first round.
#[derive(Default)]
pub(super) struct Ready {
    sizes: Vec<(Matches, Sizes)>,
    stopped: Vec<(Subject, Stopped)>,
}

impl Ready {
    /// All that these subjects need.
    ///
    /// # Errors
    /// What is in the way, or came wrong, and of which subject.
    pub(super) async fn make(
        subjects: &[Subject],
        setting: &Setting,
        told: &mut impl FnMut(&str),
    ) -> anyhow::Result<Self> {
        let mut ready = Self::default();
        for subject in subjects {
            ready.add(*subject, setting, told).await.with_context(|| subject.to_string())?;
        }
        Ok(ready)
    }

    async fn add(
        &mut self,
        subject: Subject,
        setting: &Setting,
        told: &mut impl FnMut(&str),
    ) -> anyhow::Result<()> {
        if let Some(like) = subject.like()
            && self.sizes_of(like).is_none()
        {
            // What the warm-up of a round shows.
            let half = setting.warm_up / 2;
            let figures =
                matches::measure(like, &Setting { warm_up: half, lasts: half, ..setting.clone() }).await?;
            let sizes = Sizes::of(&figures).context("no message was counted")?;
            told(&format!("{like}: a request has {} bytes, a response {}", sizes.request, sizes.response));
            self.sizes.push((like, sizes));
        }
        if let Subject::Restart { live, finished } = subject {
            let stopped = Stopped::make(live, finished, setting).await?;
            told(&format!("{subject}: {stopped}"));
            self.stopped.push((subject, stopped));
        }
        Ok(())
    }

    fn sizes_of(&self, like: Matches) -> Option<Sizes> {
        self.sizes.iter().find_map(|(matches, sizes)| (*matches == like).then_some(*sizes))
    }

    /// How long the messages are that a subject imitates.
    ///
    /// # Errors
    /// If that was not found out.
    pub(super) fn sizes(&self, subject: Subject) -> anyhow::Result<Sizes> {
        let sizes = subject.like().and_then(|like| self.sizes_of(like));
        sizes.context("how long its messages are is not known")
    }

    /// The folder on which a server is started.
    ///
    /// # Errors
    /// If it was not made.
    pub(super) fn stopped(&self, subject: Subject) -> anyhow::Result<&Stopped> {
        let stopped =
            self.stopped.iter().find_map(|(made_for, stopped)| (*made_for == subject).then_some(stopped));
        stopped.context("its folder was not made")
    }
}
