//! Where a bot waits for matches, by a stream and by `UpdateQueues`.

use std::{
    collections::{BTreeSet, HashMap},
    num::NonZeroU16,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::BoxFuture;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;
use zetema_ladder::conduct::{Status as Conduct, Until};
use zetema_proto::{FieldError, v1};

use crate::{
    encoding::timestamp,
    grpc::fault::Fault,
    journal::{BotName, LadderName, UnixMillis},
    ladders::{Capacity, Ladders, Presence, QueueRefused, Queued, Waits, Word},
    limits,
};

/// What a client waits for: each ladder once, and challenges. An error is about a field of the message.
pub(super) fn waits(message: &v1::Queues) -> Result<Waits, FieldError> {
    let v1::Queues { queues, challenges } = message;
    let challenges = challenges.map(accepted_challenges).transpose();
    let challenges = challenges.map_err(|error| error.within("challenges"))?.flatten();
    Ok(Waits { queues: named(queues)?, challenges })
}

/// How many challenges a client accepts, if it accepts any.
fn accepted_challenges(message: v1::Challenges) -> Result<Option<NonZeroU16>, FieldError> {
    use v1::ChallengesFrom as From;
    let v1::Challenges { from, matches_at_once } = message;
    let most = limits::MAX_CHALLENGES_PER_STREAM;
    let places = u16::try_from(matches_at_once.max(1)).ok().filter(|places| *places <= most);
    let places = places.and_then(NonZeroU16::new).ok_or_else(|| {
        FieldError::invalid("matches_at_once", format!("is {matches_at_once}: give 1 to {most}"))
    })?;
    match From::try_from(from) {
        Ok(From::Nobody) => Ok(None),
        Ok(From::Everyone) => Ok(Some(places)),
        Ok(From::Unspecified) => Err(FieldError::missing("from")),
        Err(_) => Err(FieldError::invalid("from", format!("is {from}, which is no value of the enum"))),
    }
}

/// The ladders that a client names.
fn named(queues: &[v1::LadderQueue]) -> Result<Vec<(LadderName, NonZeroU16)>, FieldError> {
    if queues.len() > limits::MAX_QUEUES_PER_STREAM {
        let problem = format!("has {} entries: give at most {}", queues.len(), limits::MAX_QUEUES_PER_STREAM);
        return Err(FieldError::invalid("queues", problem));
    }
    let mut named = BTreeSet::new();
    let queue = |(at, queue): (usize, &v1::LadderQueue)| {
        let v1::LadderQueue { ladder, matches_at_once } = queue;
        let name = LadderName::new(ladder.as_str())
            .map_err(|error| FieldError::invalid("ladder", error.to_string()));
        let name = name.map_err(|error| error.at(at).within("queues"))?;
        if !named.insert(name.clone()) {
            let problem = format!("names {name} again: give each ladder once");
            return Err(FieldError::invalid("ladder", problem).at(at).within("queues"));
        }
        let most = limits::MAX_PLACES_PER_QUEUE;
        let places = u16::try_from((*matches_at_once).max(1)).ok().filter(|places| *places <= most);
        let places = places.and_then(NonZeroU16::new).ok_or_else(|| {
            let problem = format!("is {matches_at_once}: give 1 to {most}");
            FieldError::invalid("matches_at_once", problem).at(at).within("queues")
        })?;
        Ok((name, places))
    };
    queues.iter().enumerate().map(queue).collect()
}

/// How a bot stands where it waits.
pub(super) fn accepted(queued: &[Queued]) -> Vec<v1::QueueState> {
    let state = |Queued { ladder, places, conduct, quota_until }: &Queued| v1::QueueState {
        ladder: ladder.to_string(),
        matches_at_once: *places,
        conduct: Some(paired_to_wire(*conduct, *quota_until)),
    };
    queued.iter().map(state).collect()
}

/// Checks that a stream has room for all that it waits for: each ladder, and challenges, have places of their own.
pub(super) fn check_capacity(waits: &Waits, capacity: usize) -> Result<(), FieldError> {
    let Waits { queues, challenges } = waits;
    let too_many = |wanted: usize| {
        let problem = format!(
            "makes it {wanted} matches at once, and the stream has a capacity of {capacity} seats: give fewer, or say hello with \
             a larger capacity"
        );
        (wanted > capacity).then(|| FieldError::invalid("matches_at_once", problem))
    };
    let mut wanted = 0;
    for (at, (_, places)) in queues.iter().enumerate() {
        wanted += usize::from(places.get());
        if let Some(error) = too_many(wanted) {
            return Err(error.at(at).within("queues"));
        }
    }
    wanted += challenges.map_or(0, |places| usize::from(places.get()));
    too_many(wanted).map_or(Ok(()), |error| Err(error.within("challenges")))
}

/// How many seats a bot can take by a stream.
pub(super) fn capacity_of_stream(capacity: usize) -> Capacity {
    Capacity::Seats(u32::try_from(capacity).unwrap_or(u32::MAX))
}

/// Why it may not wait there. `path` is that of the message that names the queues.
pub(super) fn refused(path: &str, at: usize, refused: &QueueRefused) -> Fault {
    let field = format!("{path}.queues[{at}].ladder");
    match refused {
        QueueRefused::NoLadder(_) => Fault::field(field, refused.to_string()),
        QueueRefused::NotAdmitted { .. } => Fault::new(v1::ErrorReason::NotAdmitted, refused.to_string())
            .about(field, "does not admit the bot"),
        QueueRefused::NotRegistered(_) | QueueRefused::Retired(_) => {
            Fault::new(v1::ErrorReason::NotAdmitted, refused.to_string())
        }
        QueueRefused::NotNow(not_now) => (*not_now).into(),
    }
}

/// What a ladder has to say to the bot's author.
pub(super) fn notice(word: &Word) -> v1::LadderNotice {
    let Word { ladder, match_id, notice, conduct, quota_until } = word;
    v1::LadderNotice {
        ladder: ladder.to_string(),
        match_id: match_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        message: notice.to_string(),
        conduct: Some(paired_to_wire(*conduct, *quota_until)),
    }
}

/// Whether a bot is paired: by its conduct, and if that lets it, by its quota.
fn paired_to_wire(conduct: Conduct, quota_until: Option<UnixMillis>) -> v1::BotConduct {
    match (conduct, quota_until) {
        (Conduct::Free, Some(until)) => {
            let kind = v1::bot_conduct::Kind::OutOfQuota(v1::OutOfQuota { until: Some(timestamp(until)) });
            v1::BotConduct { kind: Some(kind) }
        }
        _ => conduct_to_wire(conduct),
    }
}

/// Whether a bot may be paired.
pub(in crate::grpc) fn conduct_to_wire(conduct: Conduct) -> v1::BotConduct {
    use v1::bot_conduct::Kind;
    let at = |ms| Some(timestamp(UnixMillis::new(ms)));
    let kind = match conduct {
        Conduct::Free => Kind::Free(v1::FreeToPlay {}),
        Conduct::CoolingDown { until_ms } => Kind::CoolingDown(v1::CoolingDown { until: at(until_ms) }),
        Conduct::Benched(Until::Time(until_ms)) => Kind::Benched(v1::Benched { until: at(until_ms) }),
        Conduct::Benched(Until::Author) => Kind::Benched(v1::Benched { until: None }),
    };
    v1::BotConduct { kind: Some(kind) }
}

/// The bots that wait without a stream, on ladders and for challenges, for a while each.
#[derive(Debug, Clone, Default)]
pub(super) struct Leases(Arc<Mutex<HashMap<BotName, Lease>>>);

#[derive(Debug)]
struct Lease {
    presence: Presence,
    /// How often it was renewed.
    renewed: u64,
    /// Ends it, unless it is renewed before.
    ends: Option<AbortOnDropHandle<()>>,
}

impl Leases {
    /// Lets a bot wait for this until the lease is over or is renewed, but no longer than the token of this call lets it, until `voided`.
    pub(super) async fn renew(
        &self,
        ladders: &Ladders,
        bot: BotName,
        waits: Waits,
        voided: BoxFuture<'static, ()>,
    ) -> Result<Vec<Queued>, (usize, QueueRefused)> {
        if waits.is_nothing() {
            let lease = self.leases().remove(&bot);
            // It is answered when it is done: no match is made with the bot after that.
            return match lease {
                Some(mut lease) => lease.presence.wait_on(waits).await,
                None => Ok(Vec::new()),
            };
        }
        let said = {
            let mut leases = self.leases();
            let lease = leases.entry(bot.clone()).or_insert_with(|| Lease {
                presence: ladders.enter(bot.clone()),
                renewed: 0,
                ends: None,
            });
            lease.renewed += 1;
            // Begun before anything is waited for, as who asks may go away meanwhile.
            lease.ends =
                Some(AbortOnDropHandle::new(tokio::spawn(self.clone().end(bot, lease.renewed, voided))));
            lease.presence.wait_on(waits)
        };
        said.await
    }

    /// What the ladders have said since it was asked last.
    pub(super) fn words(&self, bot: &BotName) -> Vec<Word> {
        self.leases().get_mut(bot).map(|lease| lease.presence.words()).unwrap_or_default()
    }

    async fn end(self, bot: BotName, renewed: u64, voided: BoxFuture<'static, ()>) {
        tokio::select! {
            () = voided => {}
            () = sleep(limits::QUEUE_LEASE) => {}
        }
        let mut leases = self.leases();
        if leases.get(&bot).is_some_and(|lease| lease.renewed == renewed) {
            leases.remove(&bot);
        }
    }

    fn leases(&self) -> MutexGuard<'_, HashMap<BotName, Lease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use futures::FutureExt;
    use tokio_util::sync::CancellationToken;
    use zetema_ladder::quota::Quota;

    use super::*;
    use crate::journal::Owner;
    use crate::ladders::{
        Challenge, Playing,
        tests::{LADDER, Scene, bot, queue},
    };

    /// A token that is never void.
    fn holds() -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_ends_with_the_token_by_which_it_was_renewed_last() {
        let (scene, leases) = (Scene::new().await, Leases::default());
        scene.register("ann", "ann", Quota::new(10, 1_000).unwrap());
        let [first, second] = [CancellationToken::new(), CancellationToken::new()];
        for token in [&first, &second] {
            let voided = token.clone().cancelled_owned().boxed();
            leases.renew(&scene.ladders, bot("ann"), queue(LADDER, 1).into(), voided).await.unwrap();
        }
        let since = tokio::time::Instant::now();
        first.cancel();
        sleep(Duration::from_secs(5)).await;
        assert_eq!(scene.shows(|_| true).await.queued, 1, "another token of the bot's holds");
        second.cancel();
        scene.shows(|picture| picture.queued == 0).await;
        assert!(since.elapsed() < limits::QUEUE_LEASE, "it did not just run out");
        assert!(leases.leases().is_empty());
        // A token that is void by the time at which its call is served waits for nothing.
        let _answered =
            leases.renew(&scene.ladders, bot("ann"), queue(LADDER, 1).into(), async {}.boxed()).await;
        scene.shows(|picture| picture.queued == 0).await;
        assert!(leases.leases().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_without_a_stream_waits_for_a_minute_after_it_last_said_so() {
        let (scene, leases) = (Scene::new().await, Leases::default());
        scene.register("ann", "ann", Quota::new(10, 1_000).unwrap());
        let renew = async |queues: Vec<_>| {
            leases.renew(&scene.ladders, bot("ann"), queues.into(), holds()).await.unwrap()
        };
        for _ in 0..3 {
            let states = renew(queue(LADDER, 2)).await;
            assert_eq!(states.iter().map(|state| state.places).collect::<Vec<_>>(), [2]);
            sleep(limits::QUEUE_LEASE.saturating_sub(Duration::from_secs(2))).await;
            assert_eq!(scene.shows(|_| true).await.queued, 1, "it waits");
        }
        sleep(Duration::from_secs(5)).await;
        assert_eq!(scene.shows(|_| true).await.queued, 0, "its lease has ended");
        assert!(leases.leases().is_empty());
        // Who leaves waits no more at once, and may leave again.
        renew(queue(LADDER, 1)).await;
        for _ in 0..2 {
            assert_eq!(renew(Vec::new()).await, []);
        }
        scene.shows(|picture| picture.queued == 0).await;
    }

    #[tokio::test(start_paused = true)]
    async fn challenges_are_accepted_as_long_as_the_bot_says_so() {
        let (scene, leases) = (Scene::new().await, Leases::default());
        let accepts = || {
            let one = BTreeMap::from([(bot("ann"), Challenge { seats: 1, quota: None })]);
            let bob = Owner::new("bob").unwrap();
            let playing = |_: &BotName| Playing::default();
            scene.ladders.challenges().take(&bob, &[one], Duration::ZERO, playing).is_ok()
        };
        let challenges = Waits { challenges: NonZeroU16::new(1), ..Waits::default() };
        assert!(!accepts());
        leases.renew(&scene.ladders, bot("ann"), challenges.clone(), holds()).await.unwrap();
        assert!(accepts());
        sleep(limits::QUEUE_LEASE + Duration::from_secs(1)).await;
        assert!(!accepts(), "its lease has ended");
        let mut presence = scene.ladders.enter(bot("ann"));
        presence.wait_on(challenges).await.unwrap();
        assert!(accepts());
        presence.wait_on(queue("nowhere", 1).into()).await.unwrap_err();
        assert!(accepts(), "what was before stands");
        drop(presence);
        assert!(!accepts());
    }

    #[test]
    fn a_stream_waits_for_no_more_matches_than_it_has_room_for() {
        let both = Waits::from([queue("a", 3), queue("b", 2)].concat());
        assert_eq!(check_capacity(&both, 5), Ok(()));
        let error = check_capacity(&both, 4).unwrap_err();
        assert!(error.to_string().contains("queues[1].matches_at_once"), "{error}");
        assert_eq!(check_capacity(&Waits::default(), 0), Ok(()));
        let and_challenges = Waits { challenges: NonZeroU16::new(2), ..both };
        assert_eq!(check_capacity(&and_challenges, 7), Ok(()));
        let error = check_capacity(&and_challenges, 6).unwrap_err();
        assert!(error.to_string().contains("challenges.matches_at_once"), "{error}");
    }
}
