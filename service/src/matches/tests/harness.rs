//! Matches to test with, and players that play them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zetema_proto::Views;
use zetema_rules::fair::Nonce;
use zetema_rules::{NamedTimeControl, TimeControl};
use zetema_rules::{Outcome, Preset, Seat};

use super::fake::FakeJournal;
use crate::journal::{Journal, MatchId, UnixMillis, Visibility};
use crate::matches::{
    Audience, Clock, Config, End, Entropy, EntropyError, Limits, Matches, Next, Recovered, Start,
    Subscription, SystemClock,
};
use crate::table::{
    Choice, DealSpec, FairShuffler, LadderRates, MatchInfo, MatchSpec, Moment, Observation, Rejection,
    SeatAccess, SeatSpec, TableEvent,
};

/// A wall clock that stands still, and tokio's own time, which a test may pause.
struct TestClock(SystemClock);

impl Clock for TestClock {
    fn now(&self) -> Moment {
        self.0.now()
    }

    fn wall(&self) -> UnixMillis {
        UnixMillis::new(1_700_000_000_000)
    }
}

/// Bytes that count up: every seed and every id is another, and the same in every run.
struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        for (byte, counted) in bytes.iter_mut().zip(count.to_be_bytes().iter().rev().cycle()) {
            *byte = *counted;
        }
        Ok(())
    }
}

pub(crate) async fn open(journal: &FakeJournal) -> Matches {
    open_with(journal.clone(), Limits::default()).await
}

pub(super) async fn open_with(journal: impl Journal, limits: Limits) -> Matches {
    open_over(Arc::new(journal), limits).await
}

pub(crate) async fn open_over(journal: Arc<dyn Journal>, limits: Limits) -> Matches {
    let (matches, recovered) = recover(journal, limits).await;
    assert_eq!(recovered.damaged, Vec::new());
    matches
}

/// Opens a journal in which some matches can't go on.
pub(super) async fn open_damaged(journal: &FakeJournal, limits: Limits) -> (Matches, Recovered) {
    recover(Arc::new(journal.clone()), limits).await
}

/// Opens a journal with a file in which faults outlast a restart.
pub(super) async fn open_keeping_faults(journal: &FakeJournal, limits: Limits, file: &Path) -> Matches {
    recover_with(Arc::new(journal.clone()), limits, Some(file.to_owned())).await.0
}

async fn recover(journal: Arc<dyn Journal>, limits: Limits) -> (Matches, Recovered) {
    recover_with(journal, limits, None).await
}

async fn recover_with(
    journal: Arc<dyn Journal>,
    limits: Limits,
    faults: Option<PathBuf>,
) -> (Matches, Recovered) {
    let config = Config {
        journal,
        clock: Arc::new(TestClock(SystemClock::new())),
        entropy: Arc::new(CountingEntropy(AtomicU64::new(1))),
        shuffler: Arc::new(FairShuffler),
        limits,
        faults,
    };
    Matches::open(config).await.unwrap()
}

pub(crate) fn spec(preset: Preset, players: usize, deals: DealSpec) -> MatchSpec {
    MatchSpec {
        rules: preset.rules(players, None).unwrap(),
        seats: vec![SeatSpec::Token; players],
        deals,
        time_control: TimeControl::named(NamedTimeControl::None),
        visibility: Visibility::Public,
        client_reference: None,
        owner: None,
        ladder: None,
        ladder_rates: LadderRates::default(),
    }
}

pub(crate) async fn create_one(matches: &Matches, spec: MatchSpec) -> MatchInfo {
    matches.create(vec![spec], None).await.unwrap().remove(0)
}

pub(super) fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

pub(super) fn access(index: usize) -> SeatAccess {
    SeatAccess { seat: seat(index), generation: 1 }
}

/// Joins every seat, without nonces.
pub(super) async fn join_all(matches: &Matches, info: &MatchInfo) {
    for setup in &info.seats {
        matches.join(info.match_id, access(setup.seat.index()), None).await.unwrap();
    }
}

pub(super) async fn observe(
    matches: &Matches,
    match_id: MatchId,
    index: usize,
    after: Option<u64>,
) -> Subscription {
    let audience = Audience::Observer(access(index));
    matches.subscribe(match_id, audience, after, Views::EveryDecision).await.unwrap()
}

/// Everything up to the end.
pub(crate) async fn drain(subscription: &mut Subscription) -> (Vec<Observation>, End) {
    let mut observations = Vec::new();
    loop {
        match subscription.next().await {
            Next::Observation(observation) => observations.push((*observation).clone()),
            Next::End(end) => return (observations, end),
        }
    }
}

/// Plays a seat to the end of its match: joins with a nonce, sends it when wanted, and always takes one of the legal
/// actions, by the number of the decision. The answer is everything that it observed.
pub(super) async fn play(matches: Matches, match_id: MatchId, index: usize) -> (Vec<Observation>, End) {
    let nonce = Nonce::new(format!("nonce of {index}").as_bytes()).unwrap();
    let joined = matches.join(match_id, access(index), Some(nonce.hash())).await.unwrap();
    let audience = Audience::Player(access(index), joined.hold);
    let mut subscription =
        matches.subscribe(match_id, audience, Some(0), Views::EveryDecision).await.unwrap();
    assert_eq!(*subscription.start(), Start::Resumed { after_seq: 0, running: None });
    let mut observations = Vec::new();
    loop {
        let observation = match subscription.next().await {
            Next::Observation(observation) => observation,
            Next::End(end) => return (observations, end),
        };
        observations.push((*observation).clone());
        if observation.events.iter().any(|event| matches!(event, TableEvent::NoncesWanted { .. })) {
            again(|| matches.send_nonce(match_id, access(index), nonce.clone())).await.unwrap();
        }
        if let (Some(legal), Some(decision)) = (&observation.to_decide, observation.decision) {
            let choice = Choice::LegalIndex(decision * 7 % u32::try_from(legal.len()).unwrap());
            let receipt = again(|| matches.act(match_id, access(index), decision, choice)).await.unwrap();
            assert_eq!((receipt.match_id, receipt.decision), (match_id, decision));
            assert!(receipt.seq > observation.seq);
        }
    }
}

/// Asks again as long as the outcome is unknown, as a client does.
pub(super) async fn again<T, F: Future<Output = Result<T, Rejection>>>(
    mut ask: impl FnMut() -> F,
) -> Result<T, Rejection> {
    loop {
        match ask().await {
            Err(Rejection::OutcomeUnknown) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            done => return done,
        }
    }
}

/// Plays all seats of a match, and checks what every seat observed: no gap, and the end that the match has.
pub(crate) async fn play_all(matches: &Matches, info: &MatchInfo) -> Vec<Vec<Observation>> {
    let players =
        info.seats.iter().map(|setup| tokio::spawn(play(matches.clone(), info.match_id, setup.seat.index())));
    let mut all = Vec::new();
    for player in players.collect::<Vec<_>>() {
        let (observations, end) = player.await.unwrap();
        assert!(matches!(end, End::Over(Outcome::Result(_))), "{end:?}");
        assert!((1..).zip(&observations).all(|(seq, observation)| observation.seq == seq));
        all.push(observations);
    }
    all
}

/// Plays a seat that has joined, from a snapshot on.
pub(super) async fn play_joined(matches: Matches, match_id: MatchId, index: usize) {
    let mut subscription = observe(&matches, match_id, index, None).await;
    let Start::Snapshot(snapshot) = subscription.start().clone() else { panic!("no snapshot") };
    let mut due = snapshot.decision.filter(|_| snapshot.to_decide.is_some());
    loop {
        if let Some(decision) = due {
            again(|| matches.act(match_id, access(index), decision, Choice::LegalIndex(0))).await.unwrap();
        }
        due = match subscription.next().await {
            Next::Observation(observation) => {
                observation.decision.filter(|_| observation.to_decide.is_some())
            }
            Next::End(_) => return,
        };
    }
}
