//! What bots of a run are to do on a ladder.

use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

use serde_json::json;
use zetema_proto::v1;

use crate::outcome::{Arrivals, Client, Description, Via, settings};
use crate::think::Think;

/// What is to be run on a ladder.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderPlan {
    /// The ladder's name.
    pub ladder: String,
    /// How many bots wait on it.
    bots: NonZeroU32,
    /// How many owners they have, in turn.
    owners: NonZeroU32,
    /// How many matches at once each plays at most.
    places: NonZeroU16,
    /// How long a bot thinks about a decision.
    pub think: Think,
    /// From what everything follows that bots draw by lot.
    pub seed: u64,
    /// What is run first and not measured.
    pub warm_up: Duration,
    /// What is measured.
    duration: Duration,
}

/// A plan for a ladder that can't be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LadderPlanError {
    /// Nothing is measured.
    #[error("it lasts no time: give it a duration, as in 30s")]
    NoTime,
    /// There are owners without a bot.
    #[error("{owners} owners are more than {bots} bots: give as many or fewer")]
    Owners {
        /// How many.
        owners: u32,
        /// How many.
        bots: u32,
    },
    /// More bots than a server has room for.
    #[error("{0} bots are more than a server ever has: give 1 to {most}", most = LadderPlan::MOST_BOTS)]
    Bots(u32),
    /// More places than the server lets a bot play at once: some would be free for ever.
    #[error(
        "a bot would wait for {places} matches at once, and the server lets each play {quota}: give --places up to that, or raise \
         bot_matches_at_once there"
    )]
    Quota {
        /// How many.
        places: u16,
        /// How many the server lets each play.
        quota: u32,
    },
    /// More places than a server gives on one ladder.
    #[error("{0} matches at once are more than a bot can wait for on one ladder: give 1 to {most}", most = LadderPlan::MOST_PLACES)]
    Places(u16),
    /// No match can be made of the bots.
    #[error(
        "ladder {ladder} has matches of {players} bots of different owners, and the run has bots of {owners}: give more"
    )]
    FewOwners {
        /// The ladder.
        ladder: String,
        /// Seats of a match.
        players: u32,
        /// How many owners.
        owners: u32,
    },
    /// No match can be made of the bots.
    #[error("ladder {ladder} has matches of {players} bots, and the run has {bots}: give more")]
    FewBots {
        /// The ladder.
        ladder: String,
        /// Seats of a match.
        players: u32,
        /// How many bots.
        bots: u32,
    },
    /// The ladder is for others.
    #[error(
        "ladder {0} is for the bots of certain owners, and those of a run are none of them: name another"
    )]
    NotAdmitted(String),
}

impl LadderPlan {
    /// Bots that a server ever has, retired ones counted.
    pub const MOST_BOTS: u32 = 6_000;
    /// Places that a bot may have on one ladder.
    pub const MOST_PLACES: u16 = 1_000;

    /// So many bots wait on this ladder for so long, each for so many matches at once and for an owner of its own unless `owners` says
    /// how many own them.
    ///
    /// # Errors
    /// If it lasts no time, or there are more owners than bots, more bots than a server has, or more places than a bot may have.
    pub fn new(
        ladder: impl Into<String>,
        bots: NonZeroU32,
        owners: Option<NonZeroU32>,
        places: NonZeroU16,
        duration: Duration,
    ) -> Result<Self, LadderPlanError> {
        let owners = owners.unwrap_or(bots);
        if duration.is_zero() {
            return Err(LadderPlanError::NoTime);
        }
        if bots.get() > Self::MOST_BOTS {
            return Err(LadderPlanError::Bots(bots.get()));
        }
        if owners > bots {
            return Err(LadderPlanError::Owners { owners: owners.get(), bots: bots.get() });
        }
        if places.get() > Self::MOST_PLACES {
            return Err(LadderPlanError::Places(places.get()));
        }
        let (think, seed, warm_up) = (Think::default(), 0, Duration::ZERO);
        Ok(Self { ladder: ladder.into(), bots, owners, places, think, seed, warm_up, duration })
    }

    /// How many bots.
    pub(super) fn bots(&self) -> usize {
        usize::try_from(self.bots.get()).unwrap_or(usize::MAX)
    }

    /// How many matches at once each plays at most.
    pub(super) const fn places(&self) -> u16 {
        self.places.get()
    }

    /// What is measured.
    pub(super) const fn duration(&self) -> Duration {
        self.duration
    }

    /// The number of a bot's owner.
    pub(super) fn owner(&self, bot: usize) -> usize {
        bot % usize::try_from(self.owners.get()).unwrap_or(usize::MAX)
    }

    /// Whether the bots can meet on the ladder as the server has it.
    pub(super) fn check(&self, ladder: &v1::Ladder) -> Result<(), LadderPlanError> {
        use v1::ladder_entry::Kind;
        let players = players(ladder);
        let (name, bots, owners) = (ladder.name.clone(), self.bots.get(), self.owners.get());
        if let Some(v1::LadderEntry { kind: Some(Kind::Owners(_)) }) = ladder.entry {
            return Err(LadderPlanError::NotAdmitted(name));
        }
        if bots < players {
            return Err(LadderPlanError::FewBots { ladder: name, players, bots });
        }
        if ladder.same_owner() == v1::SameOwner::Apart && owners < players {
            return Err(LadderPlanError::FewOwners { ladder: name, players, owners });
        }
        Ok(())
    }

    /// Whether each bot may play as many matches at once as it is to wait for.
    pub(super) fn check_quota(&self, matches_at_once: u32) -> Result<(), LadderPlanError> {
        let places = self.places.get();
        if u32::from(places) > matches_at_once {
            return Err(LadderPlanError::Quota { places, quota: matches_at_once });
        }
        Ok(())
    }

    /// What stands of it in a report.
    pub(super) fn description(&self, server: &str, ladder: &v1::Ladder) -> Description {
        let (bots, places) = (self.bots.get(), self.places.get().into());
        Description {
            server: server.to_owned(),
            arrivals: Arrivals::Ladder { bots, places },
            via: Via::Play,
            client: Client::Lean,
            ladder: Some(self.ladder.clone()),
            players: u8::try_from(players(ladder)).unwrap_or(u8::MAX),
            think: self.think.to_string(),
            connections: bots,
            generators: 1,
            warm_up: self.warm_up,
            duration: self.duration,
            settings: settings(&json!({
                "owners": self.owners,
                "seed": self.seed,
                "think": self.think.to_string(),
                "warm_up": self.warm_up,
            })),
            ..Description::default()
        }
    }
}

/// Seats of a match of the ladder.
fn players(ladder: &v1::Ladder) -> u32 {
    ladder.rules.as_ref().map_or(0, |rules| rules.players)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_can_t_be_run_says_what_to_give() {
        let check = |[bots, owners]: [u32; 2], places, s, said: &str| {
            let [bots, owners] = [bots, owners].map(NonZeroU32::new);
            let places = NonZeroU16::new(places).unwrap();
            let plan = LadderPlan::new("l", bots.unwrap(), owners, places, Duration::from_secs(s));
            assert!(plan.as_ref().unwrap_err().to_string().contains(said), "{plan:?}");
        };
        check([6, 0], 1, 0, "a duration");
        check([6, 7], 1, 1, "7 owners are more than 6 bots");
        check([6, 0], 1_001, 1, "give 1 to 1000");
        check([6_001, 0], 1, 1, "give 1 to 6000");
    }

    #[test]
    fn places_beyond_a_bot_s_quota_are_refused() {
        let (bots, places) = (NonZeroU32::new(6).unwrap(), NonZeroU16::new(3).unwrap());
        let plan = LadderPlan::new("l", bots, None, places, Duration::from_secs(1)).unwrap();
        assert_eq!(plan.check_quota(3), Ok(()));
        let said = plan.check_quota(2).unwrap_err().to_string();
        assert!(said.contains("3 matches at once, and the server lets each play 2"), "{said}");
    }

    #[test]
    fn bots_that_could_not_meet_are_refused_before_they_are_registered() {
        let ladder = |same_owner: v1::SameOwner, entry| v1::Ladder {
            name: "l".to_owned(),
            rules: Some(v1::Rules { players: 4, ..v1::Rules::default() }),
            same_owner: same_owner.into(),
            entry: Some(v1::LadderEntry { kind: Some(entry) }),
            ..v1::Ladder::default()
        };
        let plan = |bots, owners| {
            let [bots, owners] = [bots, owners].map(NonZeroU32::new);
            LadderPlan::new("l", bots.unwrap(), owners, NonZeroU16::MIN, Duration::from_secs(1)).unwrap()
        };
        let all = v1::ladder_entry::Kind::Registered(v1::RegisteredBots {});
        let apart = ladder(v1::SameOwner::Apart, all.clone());
        let anywhere = ladder(v1::SameOwner::Anywhere, all);
        let some = v1::EntryOwners { owners: vec!["ada".to_owned()] };
        let closed = ladder(v1::SameOwner::Apart, v1::ladder_entry::Kind::Owners(some));
        assert_eq!(plan(4, 0).check(&apart), Ok(()));
        assert_eq!(plan(8, 1).check(&anywhere), Ok(()));
        for (plan, ladder, said) in [
            (plan(3, 0), &apart, "4 bots, and the run has 3"),
            (plan(8, 3), &apart, "different owners, and the run has bots of 3"),
            (plan(8, 0), &closed, "certain owners"),
        ] {
            assert!(plan.check(ladder).unwrap_err().to_string().contains(said));
        }
    }
}
