//! `WatchMatch`: what happens in a match is encoded once, however many watch it.

use futures::{StreamExt, stream::BoxStream};
use tonic::Status;
use zetema_proto::v1::{self, watch_match_response::Kind};

use super::{
    backend::Backend,
    caller::Caller,
    fault::Fault,
    heard::{self, Followed, Heard, Look},
    told, wire,
};
use crate::{admission::Share, journal::MatchId, matches::Audience};

type Told = told::Told<v1::WatchMatchResponse>;

type Answers = BoxStream<'static, Result<Told, Status>>;

/// What this caller is told of the match that it asks for, which it may see.
pub(super) async fn watch(
    backend: &Backend,
    caller: Caller,
    share: Option<&Share>,
    match_id: MatchId,
    request: &v1::WatchMatchRequest,
) -> Result<Answers, Status> {
    let v1::WatchMatchRequest { match_id: _, after_seq, views } = request;
    let views = wire::views(*views).map_err(Fault::from)?;
    let look = Look { match_id, audience: Audience::Spectator, after_seq: *after_seq, views };
    let Followed { start, seq: _, following } = heard::follow(backend, share, look, None).await?;
    let told = following.heard().map(|heard| match heard {
        Heard::Observation { seq: _, observation } => Ok(Told::Observation { handle: 0, observation }),
        Heard::End(end) => Ok(told(Kind::End(end))),
        Heard::Superseded(_) => Err(Fault::internal(&"a spectator was superseded").into()),
        Heard::Cut(fault) => Err(fault.into()),
    });
    let start = Some(self::told(Kind::Start(start)));
    let told = heard::until_closed(backend, start, told, |draining| self::told(Kind::Draining(draining)));
    Ok(caller.until_void(told))
}

fn told(kind: Kind) -> Told {
    Told::Message(Box::new(v1::WatchMatchResponse { kind: Some(kind) }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use prost::Message;
    use zetema_proto::Views;
    use zetema_rules::{NamedTimeControl, Preset, Seat, TimeControl};

    use super::*;
    use crate::{
        journal::Visibility,
        matches::{Config, Limits, Matches, Next, SystemClock, SystemEntropy, tests::fake::FakeJournal},
        table::{DealSpec, FairShuffler, LadderRates, MatchSpec, SeatAccess, SeatSpec},
    };

    #[tokio::test]
    async fn all_spectators_are_sent_the_same_bytes_and_those_are_the_message() {
        let config = Config {
            journal: Arc::new(FakeJournal::new()),
            clock: Arc::new(SystemClock::new()),
            entropy: Arc::new(SystemEntropy),
            shuffler: Arc::new(FairShuffler),
            limits: Limits::default(),
            faults: None,
        };
        let (matches, _) = Matches::open(config).await.unwrap();
        let spec = MatchSpec {
            rules: Preset::Sackson.rules(2, None).unwrap(),
            seats: vec![SeatSpec::Token; 2],
            deals: DealSpec::Joint,
            time_control: TimeControl::named(NamedTimeControl::None),
            visibility: Visibility::Public,
            client_reference: None,
            owner: None,
            ladder: None,
            ladder_rates: LadderRates::default(),
        };
        let id = matches.create(vec![spec], None).await.unwrap()[0].match_id;
        let watch = async |views| matches.subscribe(id, Audience::Spectator, None, views).await.unwrap();
        let mut whole = [watch(Views::EveryDecision).await, watch(Views::EveryDecision).await];
        let mut bare = [watch(Views::SnapshotsOnly).await, watch(Views::SnapshotsOnly).await];
        for seat in 0..2 {
            let access = SeatAccess { seat: Seat::new(seat).unwrap(), generation: 1 };
            matches.join(id, access, None).await.unwrap();
        }
        let mut with_view = false;
        for _ in 0..2 {
            for pair in [&mut whole, &mut bare] {
                let mut sent = Vec::new();
                for subscription in pair {
                    let next = subscription.next().await;
                    let Heard::Observation { seq, observation } = heard::told(&next, subscription) else {
                        panic!()
                    };
                    let Next::Observation(observed) = next else { panic!() };
                    let expected = wire::observation(&observed, &subscription.info().rules);
                    assert_eq!(v1::Observation::decode(observation.as_bytes()), Ok(expected));
                    assert_eq!(seq, observed.seq);
                    with_view |= observed.view.is_some();
                    sent.push(observation.as_bytes().as_ptr());
                }
                assert_eq!(sent[0], sent[1], "they are in memory once");
            }
        }
        assert!(with_view);
    }
}
