//! Where a bot waits for matches, by a stream and by `UpdateQueues`.

use std::{
    collections::{BTreeSet, HashMap},
    num::NonZeroU16,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;
use zetema_ladder::conduct::{Status as Conduct, Until};
use zetema_proto::{FieldError, v1};

use crate::{
    encoding::timestamp,
    grpc::fault::Fault,
    journal::{BotName, LadderName, UnixMillis},
    ladders::{Ladders, Presence, QueueRefused, Queued, Word},
    limits,
};

/// The queues that a client names, each once. An error is about a field of the message.
pub(super) fn queues(message: &v1::Queues) -> Result<Vec<(LadderName, NonZeroU16)>, FieldError> {
    let v1::Queues { queues } = message;
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
    let state = |Queued { ladder, places, conduct }: &Queued| v1::QueueState {
        ladder: ladder.to_string(),
        matches_at_once: *places,
        conduct: Some(conduct_to_wire(*conduct)),
    };
    queued.iter().map(state).collect()
}

/// Checks that a stream has room for the matches of all its queues.
pub(super) fn check_capacity(queues: &[(LadderName, NonZeroU16)], capacity: usize) -> Result<(), FieldError> {
    let mut wanted = 0;
    for (at, (_, places)) in queues.iter().enumerate() {
        wanted += usize::from(places.get());
        if wanted > capacity {
            let problem = format!(
                "makes it {wanted} matches at once, and the stream has a capacity of {capacity} seats: give fewer, or say hello with \
                 a larger capacity"
            );
            return Err(FieldError::invalid("matches_at_once", problem).at(at).within("queues"));
        }
    }
    Ok(())
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
    let Word { ladder, match_id, notice, conduct } = word;
    v1::LadderNotice {
        ladder: ladder.to_string(),
        match_id: match_id.to_string(),
        message: notice.to_string(),
        conduct: Some(conduct_to_wire(*conduct)),
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

/// The bots that wait without a stream, for a while each.
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
    /// Lets a bot wait on these ladders until the lease is over, or is renewed.
    pub(super) async fn renew(
        &self,
        ladders: &Ladders,
        bot: BotName,
        queues: Vec<(LadderName, NonZeroU16)>,
    ) -> Result<Vec<Queued>, (usize, QueueRefused)> {
        if queues.is_empty() {
            let lease = self.leases().remove(&bot);
            // It is answered when it is done: no match is made with the bot after that.
            return match lease {
                Some(mut lease) => lease.presence.wait_on(queues).await,
                None => Ok(Vec::new()),
            };
        }
        let waits = {
            let mut leases = self.leases();
            let lease = leases.entry(bot.clone()).or_insert_with(|| Lease {
                presence: ladders.enter(bot.clone()),
                renewed: 0,
                ends: None,
            });
            lease.renewed += 1;
            // Begun before anything is waited for, as who asks may go away meanwhile.
            lease.ends = Some(AbortOnDropHandle::new(tokio::spawn(self.clone().end(bot, lease.renewed))));
            lease.presence.wait_on(queues)
        };
        waits.await
    }

    async fn end(self, bot: BotName, renewed: u64) {
        sleep(limits::QUEUE_LEASE).await;
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
    use std::time::Duration;

    use zetema_ladder::quota::Quota;

    use super::*;
    use crate::ladders::tests::{LADDER, Scene, bot, queue};

    #[tokio::test(start_paused = true)]
    async fn a_bot_without_a_stream_waits_for_a_minute_after_it_last_said_so() {
        let (scene, leases) = (Scene::new().await, Leases::default());
        scene.register("ann", "ann", Quota::new(10, 1_000).unwrap());
        let renew = async |queues| leases.renew(&scene.ladders, bot("ann"), queues).await.unwrap();
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

    #[test]
    fn a_stream_waits_for_no_more_matches_than_it_has_room_for() {
        let both = [queue("a", 3), queue("b", 2)].concat();
        assert_eq!(check_capacity(&both, 5), Ok(()));
        let error = check_capacity(&both, 4).unwrap_err();
        assert!(error.to_string().contains("queues[1].matches_at_once"), "{error}");
        assert_eq!(check_capacity(&[], 0), Ok(()));
    }
}
