//! How a bot behaves on each ladder ([`BotOnLadder`]), for its owner, whether it is there or not.

use tokio::time::timeout;
use zetema_ladder::conduct::Status;

use super::Ladders;
use super::state::State;
use super::task::Command;
use crate::journal::{BotName, LadderName, UnixMillis};
use crate::limits;

/// How a bot behaves on one ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotOnLadder {
    /// The ladder.
    pub ladder: LadderName,
    /// Whether it is paired.
    pub conduct: Status,
    /// What that comes of.
    pub counts: ConductCounts,
    /// Whether it is in the standings, so that everybody sees its conduct.
    pub in_standings: bool,
}

/// What a bot's conduct comes of, as far as it still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConductCounts {
    /// Its no-shows.
    pub strikes: u32,
    /// Until when it cools down, benched or not.
    pub cool_down_until: Option<UnixMillis>,
    /// In so many more matches in a row it has to come to be without strikes; 0 if it has none.
    pub matches_to_clear: u32,
    /// Its forfeits among its last matches, since its last bench.
    pub forfeits: u32,
    /// Of how many matches those are at most.
    pub of_last_matches: u32,
    /// With so many it is benched.
    pub forfeits_to_bench: u32,
    /// How often it was benched.
    pub benches: u32,
}

impl BotOnLadder {
    /// A bot, known there or not, at this time.
    pub(super) fn of(state: &State, bot: &BotName, now: UnixMillis) -> Self {
        let (conduct, settings, now_ms) = (state.conduct_of(bot), &state.spec.conduct, now.get());
        Self {
            ladder: state.spec.name.clone(),
            conduct: conduct.status(now_ms),
            counts: ConductCounts {
                strikes: conduct.strikes(settings, now_ms),
                cool_down_until: conduct.cools_down_until(now_ms).map(UnixMillis::new),
                matches_to_clear: conduct.matches_to_clear(settings, now_ms),
                forfeits: conduct.forfeits(settings),
                of_last_matches: settings.of_last_matches,
                forfeits_to_bench: settings.forfeits_to_bench,
                benches: conduct.benches(settings, now_ms),
            },
            in_standings: state.ratings().bots().contains_key(bot),
        }
    }
}

impl Ladders {
    /// How a bot behaves on each ladder, by the ladder's name; `None` if they don't say within
    /// [`limits::BEHAVIOUR_WAITED_FOR`], as while they count or when they stand still.
    pub async fn behaviour(&self, bot: BotName) -> Option<Vec<BotOnLadder>> {
        if self.all().next().is_none() {
            // Then no task runs that could be asked.
            return Some(Vec::new());
        }
        let asked = self.ask(|reply| Command::Behaviour { bot, reply });
        timeout(limits::BEHAVIOUR_WAITED_FOR, asked).await.ok()?.ok()
    }
}
