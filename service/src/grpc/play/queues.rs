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

/// The queues that a client names, each once.
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

/// Why it may not wait there.
pub(super) fn refused(at: usize, refused: &QueueRefused) -> Fault {
    let reason = match refused {
        QueueRefused::NoLadder(_) => {
            return Fault::field(format!("queues[{at}].ladder"), refused.to_string());
        }
        QueueRefused::NotRegistered(_) | QueueRefused::Retired(_) | QueueRefused::NotAdmitted { .. } => {
            v1::ErrorReason::NotAdmitted
        }
        QueueRefused::Stopping => return Fault::draining(std::time::Duration::ZERO),
    };
    Fault::new(reason, refused.to_string())
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
