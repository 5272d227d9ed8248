//! Seats that matches take of the bots of others, until they are over.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::Arc;

use futures::FutureExt;
use zetema_ladder::quota::Quota;
use zetema_rules::Preset;

use super::fake::{FakeJournal, Fate};
use super::harness::*;
use crate::challenges::{Challenge, Challenges, Playing};
use crate::journal::{BodyHash, BotName, Caller, Owner, RequestId, RequestKey};
use crate::matches::{CreateError, Limits, Matches};
use crate::table::{DealSpec, MatchInfo, MatchSpec, SeatSpec};

#[derive(Debug, PartialEq, Eq)]
enum Refused {
    Matches(CreateError),
    Bot,
}

impl From<CreateError> for Refused {
    fn from(error: CreateError) -> Self {
        Self::Matches(error)
    }
}

fn ann() -> BotName {
    BotName::new("ann").unwrap()
}

fn shop() -> Owner {
    Owner::new("shop").unwrap()
}

/// A bot that accepts so many challenges, by a quota of so many a day.
struct Scene {
    matches: Matches,
    challenges: Arc<Challenges>,
    quota: Quota,
}

impl Scene {
    async fn new(journal: &FakeJournal, places: u16, a_day: u32) -> Self {
        let challenges = Arc::<Challenges>::default();
        challenges.accept(1, &ann(), NonZeroU16::new(places));
        Self { matches: open(journal).await, challenges, quota: Quota::new(10_000, a_day).unwrap() }
    }

    /// A match of the shop against the bot.
    async fn create(&self, request: Option<RequestKey>) -> Result<MatchInfo, Refused> {
        let seats = vec![SeatSpec::Token, SeatSpec::Bot(ann())];
        let spec = MatchSpec { seats, owner: Some(shop()), ..spec(Preset::Sackson, 2, DealSpec::Joint) };
        let take = |_: &[MatchSpec]| {
            let wanted = [BTreeMap::from([(ann(), Challenge { seats: 1, quota: Some(self.quota) })])];
            let taken =
                self.challenges.take(&shop(), &wanted, self.matches.since_start(), |_| self.playing());
            taken.map_err(|_| Refused::Bot)
        };
        self.matches.create_taking(vec![spec], request, take).await.map(|mut created| created.remove(0))
    }

    fn playing(&self) -> Playing {
        self.matches.seats_of_no_ladder(&ann(), &shop())
    }
}

#[tokio::test]
async fn a_creation_that_nobody_waits_for_any_more_has_taken_its_seats() {
    let scene = Scene::new(&FakeJournal::new(), 4, 1_000).await;
    for n in 0..100 {
        let asked = scene.create(None).now_or_never();
        assert_eq!(asked, (n >= 2).then_some(Err(Refused::Bot)), "call {n}, cancelled as soon as it waits");
    }
    while scene.matches.live() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(scene.playing(), Playing { all: 2, of_challenger: 2 });
    assert_eq!(scene.create(None).await, Err(Refused::Bot));
}

#[tokio::test(start_paused = true)]
async fn seats_are_held_until_it_is_known_whether_their_match_is_stored() {
    for (fate, meanwhile, then) in [
        (Fate::WrittenUnknown, Some(Refused::Bot), Some(Refused::Bot)),
        (Fate::LostUnknown, Some(Refused::Bot), None),
        (Fate::Fails, None, Some(Refused::Bot)),
    ] {
        let journal = FakeJournal::new();
        let scene = Scene::new(&journal, 1, 1_000).await;
        journal.doom(&[fate]);
        journal.blind(2);
        assert_eq!(scene.create(None).await, Err(Refused::Matches(CreateError::OutcomeUnknown)), "{fate:?}");
        assert_eq!(scene.create(None).await.err(), meanwhile, "{fate:?}");
        // Time is paused: it goes on when every task waits, so by then the journal was read back.
        tokio::time::sleep(Limits::default().last_retry * 4).await;
        assert_eq!(scene.create(None).await.err(), then, "{fate:?}");
    }
}

#[tokio::test]
async fn a_seat_is_free_as_soon_as_the_end_of_its_match_is_told_and_counts_for_the_day_if_it_was_dealt() {
    let scene = Scene::new(&FakeJournal::new(), 1, 2).await;
    for _ in 0..5 {
        let created = scene.create(None).await.unwrap();
        assert_eq!(scene.create(None).await, Err(Refused::Bot), "it accepts one at once");
        scene.matches.cancel(created.match_id).await.unwrap();
        assert_eq!(scene.playing(), Playing::default());
    }
    for _ in 0..2 {
        let created = scene.create(None).await.unwrap();
        join_all(&scene.matches, &created).await;
        scene.matches.resign(created.match_id, access(0)).await.unwrap();
    }
    assert_eq!(scene.create(None).await, Err(Refused::Bot), "it was dealt two today");
}

#[tokio::test]
async fn a_request_that_comes_again_takes_nothing_more() {
    let scene = Scene::new(&FakeJournal::new(), 100, 2).await;
    let key = |id| RequestKey {
        caller: Caller::new("shop").unwrap(),
        request_id: RequestId::new(id).unwrap(),
        body_hash: BodyHash([1; 32]),
    };
    let first = scene.create(Some(key("first"))).await.unwrap();
    for _ in 0..5 {
        assert_eq!(scene.create(Some(key("first"))).await.as_ref(), Ok(&first));
    }
    scene.create(Some(key("second"))).await.unwrap();
    assert_eq!(scene.create(Some(key("third"))).await, Err(Refused::Bot));
    assert_eq!(scene.create(Some(key("first"))).await, Ok(first), "what was answered before still is");
}

#[tokio::test]
async fn a_bot_is_not_asked_for_matches_that_can_not_be() {
    let matches = open_with(FakeJournal::new(), Limits { live_matches: 1, ..Limits::default() }).await;
    let create = async |specs: Vec<MatchSpec>| {
        let take = |_: &[MatchSpec]| -> Result<_, Refused> { panic!("the bot is asked") };
        matches.create_taking(specs, None, take).await.unwrap_err()
    };
    let lonely = create(vec![spec(Preset::Sackson, 2, DealSpec::Shared(1))]).await;
    assert_eq!(lonely, Refused::Matches(CreateError::LonelyDealSet { deal_set: 1, index: 0 }));
    create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let full = create(vec![spec(Preset::Sackson, 2, DealSpec::Joint)]).await;
    assert_eq!(full, Refused::Matches(CreateError::TooManyMatches { limit: 1 }));
}
