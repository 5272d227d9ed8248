//! Challenges: matches that an owner creates with a seat for a bot of another. Which bots accept them now, and how many.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use zetema_ladder::quota::{Quota, Usage};

use crate::journal::{BotName, Owner, UnixMillis};
use crate::limits;
use crate::tally::Tally;

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
    idle: HashMap<Owner, Idle>,
}

/// How an owner has held a bot's places without playing.
#[derive(Clone, Copy, Debug)]
struct Idle {
    /// For how long, since the last cool-down.
    held: Duration,
    /// How many cool-downs there were until they were the longest, less the challenges that were played since.
    cool_downs: u32,
    /// When the last cool-down began.
    cooled: Option<Instant>,
    /// Until when the bot takes none of its challenges.
    until: Instant,
    /// When it was the last time.
    last: Instant,
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
    at: UnixMillis,
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

    /// Takes the seats that an owner's matches have for these bots, match by match: all or none.
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
        now: UnixMillis,
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
                    given.usage.resume(now.get());
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

impl All {
    /// How many seats more a bot accepts of this owner, who has half of its places at most: so one alone can't keep the others out.
    fn room(
        &mut self,
        bot: &BotName,
        challenger: &Owner,
        quota: Option<Quota>,
        playing: Playing,
        now: UnixMillis,
    ) -> u32 {
        let Some(ways) = self.open.get(bot) else { return 0 };
        let places: u32 = ways.values().map(|places| u32::from(places.get())).sum();
        let (mut creating, mut today) = (Playing::default(), 0);
        if let Some(given) = self.given.get_mut(bot) {
            if given.idle.get(challenger).is_some_and(|idle| Instant::now() < idle.until) {
                return 0;
            }
            creating = Playing { all: given.creating.all(), of_challenger: given.creating.of(challenger) };
            today = given.usage.today(now.get());
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

impl Given {
    /// An owner has held places of the bot since then, and nothing was played. Nothing comes of what began before its last cool-down: who
    /// goes away once leaves all its challenges at once.
    fn held_idle(&mut self, challenger: &Owner, since: Instant) {
        let now = Instant::now();
        self.idle.retain(|_, idle| now.saturating_duration_since(idle.last) < limits::IDLE_CHALLENGES_LAST);
        if self.idle.len() >= limits::MAX_IDLE_CHALLENGERS && !self.idle.contains_key(challenger) {
            let oldest = self.idle.iter().min_by_key(|(_, idle)| idle.last).map(|(owner, _)| owner.clone());
            if let Some(owner) = oldest {
                self.idle.remove(&owner);
            }
        }
        let first = Idle { held: Duration::ZERO, cool_downs: 0, cooled: None, until: now, last: now };
        let idle = self.idle.entry(challenger.clone()).or_insert(first);
        if idle.cooled.is_some_and(|cooled| since <= cooled) {
            return;
        }
        idle.held += now.saturating_duration_since(since);
        idle.last = now;
        if idle.held >= limits::MAX_CHALLENGE_JOIN_TIMEOUT {
            let factor = 1_u32.checked_shl(idle.cool_downs).unwrap_or(u32::MAX);
            let cool_down = limits::IDLE_CHALLENGES_COOL_DOWN.saturating_mul(factor);
            let longest = limits::IDLE_CHALLENGES_LONGEST_COOL_DOWN;
            *idle = Idle {
                held: Duration::ZERO,
                // More would only have to be played off.
                cool_downs: if cool_down < longest {
                    idle.cool_downs.saturating_add(1)
                } else {
                    idle.cool_downs
                },
                cooled: Some(now),
                until: now + cool_down.min(longest),
                last: now,
            };
        }
    }

    /// A challenge of this owner was played.
    fn played(&mut self, challenger: &Owner) {
        if let Some(idle) = self.idle.get_mut(challenger) {
            idle.cool_downs = idle.cool_downs.saturating_sub(1);
        }
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
                ChallengeOver::Dealt => given.played(&self.challenger),
                ChallengeOver::Idle { absent } if !absent.contains(bot) => {
                    given.held_idle(&self.challenger, self.since);
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
                    Stage::Creating | Stage::NeverDealt => given.usage.take_back(self.at.get()),
                };
                if let Err(error) = counted {
                    tracing::error!(%bot, %error, "a challenge is not known that was accepted");
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;
    use crate::ladders::tests::bot;

    const NOW: UnixMillis = UnixMillis::new(1_700_000_000_000);

    fn accepting(ways: &[(u64, u16)]) -> Arc<Challenges> {
        let challenges = Arc::<Challenges>::default();
        for &(number, places) in ways {
            challenges.accept(number, &bot("ann"), NonZeroU16::new(places));
        }
        challenges
    }

    fn owner(name: &str) -> Owner {
        Owner::new(name).unwrap()
    }

    /// One match of this owner with so many seats for the bot, all of whose other matches are others'.
    fn take(
        challenges: &Arc<Challenges>,
        by: &str,
        seats: u32,
        playing: usize,
        quota: Option<Quota>,
    ) -> Option<Taken> {
        let wanted = [BTreeMap::from([(bot("ann"), Challenge { seats, quota })])];
        let playing = |_: &BotName| Playing { all: playing, of_challenger: 0 };
        challenges.take(&owner(by), &wanted, NOW, playing).ok().and_then(|mut taken| taken.pop())
    }

    /// How many seats a bot is given at most that plays so many, each by another owner.
    fn most(challenges: &Arc<Challenges>, playing: usize, quota: Option<Quota>) -> usize {
        let taken = (0..100).map_while(|n| take(challenges, &format!("o{n}"), 1, playing, quota));
        taken.collect::<Vec<_>>().len()
    }

    /// Nothing was played, and these bots did not come.
    fn idle(absent: &[&str]) -> ChallengeOver {
        ChallengeOver::Idle { absent: absent.iter().map(|name| bot(name)).collect() }
    }

    /// Its match runs.
    fn run(mut taken: Taken) -> Taken {
        taken.begun();
        taken
    }

    #[test]
    fn a_bot_is_given_as_many_seats_as_it_accepts_and_its_quota_has_and_no_more() {
        let quota = |at_once, a_day| Some(Quota::new(at_once, a_day).unwrap());
        for (ways, playing, quota, expected) in [
            (&[][..], 0, None, 0),
            (&[(1, 3)], 0, None, 3),
            (&[(1, 3)], 2, None, 1),
            (&[(1, 3)], 5, None, 0),
            // All its programs together.
            (&[(1, 3), (2, 4)], 1, None, 6),
            (&[(1, 3)], 0, quota(2, 100), 2),
            (&[(1, 3)], 1, quota(2, 100), 1),
            (&[(1, 9)], 0, quota(9, 4), 4),
        ] {
            assert_eq!(most(&accepting(ways), playing, quota), expected, "{ways:?} {playing} {quota:?}");
        }
    }

    #[test]
    fn one_owner_has_half_of_a_bots_places_at_most_and_one_at_least() {
        for (places, quota, expected) in [
            (1, None, 1),
            (2, None, 1),
            (3, None, 2),
            (10, None, 5),
            (10, Some(Quota::new(4, 9).unwrap()), 2),
        ] {
            let challenges = accepting(&[(1, places)]);
            let taken: Vec<Taken> = (0..100).map_while(|_| take(&challenges, "bob", 1, 0, quota)).collect();
            assert_eq!(taken.len(), expected, "{places}");
            assert!(take(&challenges, "bob", 1, 0, quota).is_none());
            assert_eq!(take(&challenges, "cat", 1, 0, quota).is_some(), places > 1, "{places}");
        }
        // Its matches that run are counted among those that the bot plays.
        let challenges = accepting(&[(1, 4)]);
        let one = [BTreeMap::from([(bot("ann"), Challenge { seats: 1, quota: None })])];
        let playing = |of_challenger| move |_: &BotName| Playing { all: 2, of_challenger };
        assert!(challenges.take(&owner("bob"), &one, NOW, playing(2)).is_err());
        assert!(challenges.take(&owner("bob"), &one, NOW, playing(1)).is_ok());
    }

    #[test]
    fn seats_that_are_being_created_count_until_their_match_runs_or_never_will() {
        let challenges = accepting(&[(1, 4)]);
        let first = take(&challenges, "bob", 2, 0, None).unwrap();
        assert_eq!(most(&challenges, 0, None), 2);
        let first = run(first);
        assert_eq!(most(&challenges, 2, None), 2, "the match has them now");
        drop(first);
        drop(take(&challenges, "bob", 2, 0, None).unwrap());
        assert_eq!(most(&challenges, 0, None), 4);
    }

    #[test]
    fn what_the_bot_plays_is_asked_for_under_the_lock() {
        let challenges = accepting(&[(1, 1)]);
        let one = [BTreeMap::from([(bot("ann"), Challenge { seats: 1, quota: None })])];
        let playing = |_: &BotName| {
            assert!(challenges.0.try_lock().is_err(), "another could take the same place");
            Playing::default()
        };
        assert!(challenges.take(&owner("bob"), &one, NOW, playing).is_ok());
    }

    #[test]
    fn what_was_never_dealt_is_no_part_of_the_day_and_what_was_played_is() {
        let (challenges, quota) = (accepting(&[(1, 50)]), Some(Quota::new(50, 5).unwrap()));
        let take = |seats| take(&challenges, "bob", seats, 0, quota).unwrap();
        drop(take(5));
        run(take(5)).over(&ChallengeOver::NotDealt);
        take(5).over(&idle(&[]));
        run(take(5)).over(&idle(&["ann"]));
        run(take(2)).over(&ChallengeOver::Dealt);
        // One that goes on no more here.
        drop(run(take(1)));
        assert_eq!(most(&challenges, 0, quota), 2);
    }

    /// Bob's challenges that nobody comes to, each of the time to join that it may have at most.
    async fn nobody_comes(challenges: &Arc<Challenges>, by: &str) {
        let taken = run(take(challenges, by, 1, 0, None).unwrap());
        tokio::time::advance(limits::MAX_CHALLENGE_JOIN_TIMEOUT).await;
        taken.over(&idle(&[]));
    }

    #[tokio::test(start_paused = true)]
    async fn who_holds_a_place_without_playing_has_it_ever_less() {
        let challenges = accepting(&[(1, 1)]);
        for cool_down_s in [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600] {
            nobody_comes(&challenges, "bob").await;
            let began = Instant::now();
            while take(&challenges, "bob", 1, 0, None).is_none() {
                assert!(take(&challenges, "cat", 1, 0, None).is_some(), "it is there for the others");
                tokio::time::advance(Duration::from_secs(1)).await;
            }
            assert_eq!(began.elapsed().as_secs(), cool_down_s);
        }
        // What is played makes it less again, and a day without forgets it.
        run(take(&challenges, "bob", 1, 0, None).unwrap()).over(&ChallengeOver::Dealt);
        tokio::time::advance(limits::IDLE_CHALLENGES_LAST).await;
        nobody_comes(&challenges, "bob").await;
        tokio::time::advance(limits::IDLE_CHALLENGES_COOL_DOWN).await;
        assert!(take(&challenges, "bob", 1, 0, None).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_taken_back_soon_or_missed_by_the_bot_costs_nobody_anything_until_it_comes_to_much() {
        let challenges = accepting(&[(1, 1)]);
        for second in 0..60 {
            let taken =
                run(take(&challenges, "bob", 1, 0, None).unwrap_or_else(|| panic!("after {second} s")));
            tokio::time::advance(Duration::from_secs(1)).await;
            taken.over(&idle(&[]));
        }
        assert!(take(&challenges, "bob", 1, 0, None).is_none(), "a minute in all");
        for _ in 0..10 {
            let taken = run(take(&challenges, "cat", 1, 0, None).unwrap());
            tokio::time::advance(Duration::from_mins(1)).await;
            taken.over(&idle(&["ann"]));
        }
        assert!(take(&challenges, "cat", 1, 0, None).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_does_not_come_clears_its_challenger_of_no_other_bot() {
        let challenges = accepting(&[(1, 2)]);
        challenges.accept(2, &bot("own"), NonZeroU16::new(2));
        let one = Challenge { seats: 1, quota: None };
        let both = [BTreeMap::from([(bot("ann"), one), (bot("own"), one)])];
        let taken = challenges.take(&owner("bob"), &both, NOW, |_| Playing::default()).unwrap().remove(0);
        let taken = run(taken);
        tokio::time::advance(limits::MAX_CHALLENGE_JOIN_TIMEOUT).await;
        taken.over(&idle(&["own"]));
        assert!(
            take(&challenges, "bob", 1, 0, None).is_none(),
            "it came, and its place was held for nothing"
        );
        let own = [BTreeMap::from([(bot("own"), one)])];
        assert!(challenges.take(&owner("bob"), &own, NOW, |_| Playing::default()).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn challenges_that_are_left_at_once_are_one_offence() {
        let challenges = accepting(&[(1, 20)]);
        let taken: Vec<Taken> = (0..10).map(|_| run(take(&challenges, "bob", 1, 0, None).unwrap())).collect();
        tokio::time::advance(limits::MAX_CHALLENGE_JOIN_TIMEOUT).await;
        for taken in taken {
            taken.over(&idle(&[]));
        }
        tokio::time::advance(limits::IDLE_CHALLENGES_COOL_DOWN).await;
        assert!(take(&challenges, "bob", 1, 0, None).is_some());
    }

    #[test]
    fn of_several_bots_all_accept_or_none_is_taken() {
        let challenges = accepting(&[(1, 2)]);
        let one = Challenge { seats: 1, quota: None };
        let wanted = [BTreeMap::from([(bot("ann"), one)]), BTreeMap::from([(bot("bob"), one)])];
        let taken = challenges.take(&owner("cat"), &wanted, NOW, |_| Playing::default());
        assert_eq!(taken.unwrap_err(), bot("bob"));
        assert_eq!(most(&challenges, 0, None), 2);
    }

    #[test]
    fn who_goes_accepts_nothing_more_and_leaves_the_others_theirs() {
        let challenges = accepting(&[(1, 2), (2, 3)]);
        challenges.accept(1, &bot("ann"), None);
        assert_eq!(most(&challenges, 0, None), 3);
        challenges.accept(2, &bot("ann"), None);
        assert_eq!(most(&challenges, 0, None), 0);
        assert!(challenges.all().open.is_empty());
    }
}
