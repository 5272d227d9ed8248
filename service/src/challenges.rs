//! Challenges: matches that an owner creates with a seat for a bot of another. Which bots accept them now, and how many.

mod idle;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use zetema_ladder::quota::{Quota, Usage};

use crate::journal::{BotName, Owner};
use crate::tally::Tally;
use idle::IdleOwners;

/// Which bots accept challenges.
///
/// Whoever is there says it here, and its own drop takes it out again. What bots play is no part of this: who asks tells it.
#[derive(Debug, Default)]
pub struct Challenges(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    /// How many seats each bot accepts, by what it is there by.
    open: HashMap<BotName, BTreeMap<u64, NonZeroU16>>,
    /// What each bot was given. There are no more bots than have tokens.
    given: HashMap<BotName, Given>,
}

/// The challenges that a bot was given.
#[derive(Debug, Default)]
struct Given {
    /// Those that are not over, and those of the last day.
    usage: Usage,
    /// The seats that are being created, by who asks for them.
    creating: Tally<Owner>,
    /// Who has held its places without playing.
    idle: IdleOwners,
}

/// How the match of a challenge was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChallengeOver {
    /// Its cards were dealt.
    Dealt,
    /// They were not, as the server would not have it.
    NotDealt,
    /// They were not, as somebody did not come, or it was cancelled: who challenged has held the places for nothing.
    Idle {
        /// The bots that did not come. Who challenged is not to blame for the places of these.
        absent: BTreeSet<BotName>,
    },
}

/// Seats of one bot that are asked for in one match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// How many.
    pub seats: u32,
    /// How many the bot may have, if it is registered.
    pub quota: Option<Quota>,
}

/// How many seats a bot has in matches of no ladder that are not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Playing {
    /// In all of them.
    pub all: usize,
    /// In those of the owner who asks.
    pub of_challenger: usize,
}

/// The seats of one match that were accepted. Whoever creates the match keeps it until the match is over: dropped before
/// its match has begun, it gives back what it took.
#[derive(Debug)]
pub struct Taken {
    challenges: Arc<Challenges>,
    challenger: Owner,
    seats: Vec<(BotName, u32)>,
    at: Duration,
    since: Instant,
    stage: Stage,
}

/// How far the match has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It may never be. Its seats are counted here alone.
    Creating,
    /// It runs. Its seats are counted among those that the bots play.
    Running,
    /// It is over, and was never dealt.
    NeverDealt,
}

impl Challenges {
    /// The bot accepts as many from now on by this way of being there, or none.
    pub(crate) fn accept(&self, number: u64, bot: &BotName, places: Option<NonZeroU16>) {
        let mut all = self.all();
        match (places, all.open.get_mut(bot)) {
            (Some(places), Some(ways)) => {
                ways.insert(number, places);
            }
            (Some(places), None) => {
                all.open.insert(bot.clone(), BTreeMap::from([(number, places)]));
            }
            (None, Some(ways)) => {
                ways.remove(&number);
                if ways.is_empty() {
                    all.open.remove(bot);
                }
            }
            (None, None) => {}
        }
    }

    /// Takes the seats that an owner's matches have for these bots, match by match: all or none. It is so long after the server's monotonic
    /// clock began: what a bot plays in a day is counted by that, so that a clock that is set moves no quota.
    ///
    /// What the bots play is asked for with the lock held, and a match is counted there before it is not counted here any more: so of
    /// two that ask at once, none overlooks the other.
    ///
    /// # Errors
    /// A bot that does not accept as many: none was taken.
    pub fn take(
        self: &Arc<Self>,
        challenger: &Owner,
        wanted: &[BTreeMap<BotName, Challenge>],
        now: Duration,
        playing: impl Fn(&BotName) -> Playing,
    ) -> Result<Vec<Taken>, BotName> {
        let mut of_all: BTreeMap<&BotName, Challenge> = BTreeMap::new();
        for (bot, challenge) in wanted.iter().flatten() {
            let sum = of_all.entry(bot).or_insert(Challenge { seats: 0, ..*challenge });
            sum.seats = sum.seats.saturating_add(challenge.seats);
        }
        let mut all = self.all();
        for (&bot, challenge) in &of_all {
            if challenge.seats > all.room(bot, challenger, challenge.quota, playing(bot), now) {
                return Err(bot.clone());
            }
        }
        let mut taken = Vec::with_capacity(wanted.len());
        for bots in wanted {
            for (bot, challenge) in bots {
                let given = all.given.entry(bot.clone()).or_default();
                for _ in 0..challenge.seats {
                    given.usage.resume(ms(now));
                    given.creating.add(Some(challenger.clone()));
                }
            }
            taken.push(Taken {
                challenges: Arc::clone(self),
                challenger: challenger.clone(),
                seats: bots.iter().map(|(bot, challenge)| (bot.clone(), challenge.seats)).collect(),
                at: now,
                since: Instant::now(),
                stage: Stage::Creating,
            });
        }
        Ok(taken)
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl All {
    /// How many seats more a bot accepts of this owner, who has half of its places at most: so one alone can't keep the others out.
    fn room(
        &mut self,
        bot: &BotName,
        challenger: &Owner,
        quota: Option<Quota>,
        playing: Playing,
        now: Duration,
    ) -> u32 {
        let Some(ways) = self.open.get(bot) else { return 0 };
        let places: u32 = ways.values().map(|places| u32::from(places.get())).sum();
        let (mut creating, mut today) = (Playing::default(), 0);
        if let Some(given) = self.given.get_mut(bot) {
            if given.idle.is_cooling(challenger) {
                return 0;
            }
            creating = Playing { all: given.creating.all(), of_challenger: given.creating.of(challenger) };
            today = given.usage.today(ms(now));
        }
        let (at_once, a_day) =
            quota.map_or((u32::MAX, u32::MAX), |quota| (quota.matches_at_once(), quota.matches_a_day()));
        let count = |seats: usize| u32::try_from(seats).unwrap_or(u32::MAX);
        let most = places.min(at_once);
        let free = most.saturating_sub(count(playing.all.saturating_add(creating.all)));
        let of_challenger = count(playing.of_challenger.saturating_add(creating.of_challenger));
        let free_to_challenger = most.div_ceil(2).saturating_sub(of_challenger);
        free.min(free_to_challenger).min(a_day.saturating_sub(today))
    }
}

impl Taken {
    /// The match runs, and its seats are among those that the bots play: they are counted there from now on.
    pub(crate) fn begun(&mut self) {
        self.forget_creating();
        self.stage = Stage::Running;
    }

    /// The match is over. One that was never dealt is no part of the bot's day, and its places were held for nothing.
    pub(crate) fn over(mut self, over: &ChallengeOver) {
        if *over != ChallengeOver::Dealt {
            self.forget_creating();
            self.stage = Stage::NeverDealt;
        }
        let mut all = self.challenges.all();
        for (bot, _) in &self.seats {
            let Some(given) = all.given.get_mut(bot) else { continue };
            match over {
                ChallengeOver::Dealt => given.idle.played(&self.challenger),
                ChallengeOver::Idle { absent } if !absent.contains(bot) => {
                    given.idle.held(&self.challenger, self.since);
                }
                ChallengeOver::Idle { .. } | ChallengeOver::NotDealt => {}
            }
        }
    }

    fn forget_creating(&self) {
        if self.stage != Stage::Creating {
            return;
        }
        let mut all = self.challenges.all();
        for (bot, seats) in &self.seats {
            let Some(given) = all.given.get_mut(bot) else { continue };
            (0..*seats).for_each(|_| given.creating.remove(Some(&self.challenger)));
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.seats.is_empty() {
            return;
        }
        self.forget_creating();
        let mut all = self.challenges.all();
        for (bot, seats) in &self.seats {
            let Some(given) = all.given.get_mut(bot) else { continue };
            for _ in 0..*seats {
                let counted = match self.stage {
                    Stage::Running => given.usage.end(),
                    Stage::Creating | Stage::NeverDealt => given.usage.take_back(ms(self.at)),
                };
                if let Err(error) = counted {
                    tracing::error!(%bot, %error, "a challenge is not known that was accepted");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
