//! The bot of a seat, and what it does in one go.

use std::fmt;
use std::sync::Arc;

use crate::bot::{Bot, MatchInfo};
use crate::fault::{Fault, guarded};
use crate::prefetch::prefetch;
use crate::work::{Answer, Call, Worked};

/// Makes the bot of a seat.
pub(crate) type Factory = Arc<dyn Fn(&MatchInfo) -> Box<dyn Bot> + Send + Sync>;

/// The bot of a seat; none before it is made, and when it has fallen. No panic of its own code, dropping included, goes
/// beyond this.
#[derive(Default)]
pub(crate) struct SeatBot(Option<Box<dyn Bot>>);

impl SeatBot {
    /// Has the processor fetch the bot.
    pub(crate) fn prefetch(&self) {
        if let Some(bot) = &self.0 {
            prefetch(bot.as_ref());
        }
    }

    /// Makes the calls in order, up to the first that the bot falls over.
    pub(crate) fn run(&mut self, factory: &Factory, calls: &[Call]) -> Worked {
        let mut worked = Worked::Done;
        for call in calls {
            match self.call(factory, call) {
                Ok(None) => {}
                Ok(Some(answer)) => worked = Worked::Chose(answer),
                Err(fault) => {
                    *self = Self::default();
                    return Worked::Fell(fault);
                }
            }
        }
        worked
    }

    fn call(&mut self, factory: &Factory, call: &Call) -> Result<Option<Answer>, Fault> {
        if let Call::Start { info, view } = call {
            *self = Self::default();
            self.0 = Some(guarded(|| {
                let mut bot = factory(info);
                bot.start(view.as_deref());
                bot
            })?);
            return Ok(None);
        }
        let Some(bot) = &mut self.0 else { return Ok(None) };
        match call {
            Call::Start { .. } => Ok(None),
            Call::Observe(event) => guarded(|| bot.observe(event)).map(|()| None),
            Call::End(end) => guarded(|| bot.end(end)).map(|()| None),
            Call::Choose(asked) => {
                let action = guarded(|| bot.choose(asked))?;
                let decision = asked.number();
                if asked.legal.contains(&action) {
                    Ok(Some(Answer { decision, action }))
                } else {
                    Err(Fault::IllegalChoice { decision })
                }
            }
        }
    }
}

/// Whether there is one.
impl fmt::Debug for SeatBot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "SeatBot" } else { "SeatBot(none)" })
    }
}

impl Drop for SeatBot {
    fn drop(&mut self) {
        if let Some(bot) = self.0.take()
            && let Err(fault) = guarded(move || drop(bot))
        {
            tracing::warn!(%fault, "a bot fell when it was dropped");
        }
    }
}
