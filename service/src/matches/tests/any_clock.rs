//! Matches of any kind, with any time control, any players and any trouble: each ends by itself, its record verifies, and
//! says what happened to the millisecond.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use zetema_proto::Views;
use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{
    Action, Card, ClockOptions, DecisionClock, DecisionTime, Players, Preset, Record, Rules, TimeControl,
    TimeOut,
};

use super::fake::{FakeJournal, Fate};
use super::harness::*;
use crate::encoding::decode_record;
use crate::journal::MatchId;
use crate::matches::{Audience, End, Matches, Next, Start};
use crate::table::{
    Choice, ClosedBy, Command, DealSpec, Done, MatchInfo, MatchSpec, Observation, Rejection, SeatSpec,
};

/// How many servers are tried, each with one to three matches.
const WORLDS: u64 = 15;

/// Random numbers, the same for the same seed (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn up_to(&mut self, most: u32) -> u32 {
        u32::try_from(self.below(u64::from(most) + 1)).unwrap()
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    async fn wait_ms(&mut self, end: u64) {
        sleep(Duration::from_millis(self.below(end))).await;
    }
}

fn random_rules(random: &mut Random) -> Rules {
    let preset = random.pick(&Preset::ALL);
    let players = random.pick(preset.players());
    let teams = random.pick(preset.teams(Players::new(players.into()).unwrap()));
    preset.rules(players.into(), Some(teams)).unwrap()
}

fn random_control(random: &mut Random) -> TimeControl {
    let (budget_ms, bank_ms) = random.pick(&[(30, 100), (2_000, 5_000)]);
    let clock = DecisionClock::new(ClockOptions {
        budget_ms: 1 + random.up_to(budget_ms),
        first_budget_ms: 1 + random.up_to(2 * budget_ms),
        bank_ms: random.up_to(bank_ms),
        increment_ms: random.pick(&[0, budget_ms / 5]),
        network_credit_ms: random.up_to(100),
        network_credit_total_ms: random.up_to(400),
        time_out: random.pick(&[
            TimeOut::Forfeit,
            TimeOut::Autoplay { strikes: 1 },
            TimeOut::Autoplay { strikes: 4 },
        ]),
    });
    let unlimited = DecisionTime::Unlimited { idle_timeout_ms: 60_000 };
    let decisions = if random.percent(10) { unlimited } else { DecisionTime::Clock(clock.unwrap()) };
    TimeControl::new(60_000, decisions).unwrap()
}

/// A server that may be down.
struct World {
    server: watch::Sender<Option<Matches>>,
    /// Nothing fails: all times can be measured from outside.
    smooth: bool,
}

impl World {
    async fn matches(&self) -> Matches {
        let mut server = self.server.subscribe();
        server.wait_for(Option::is_some).await.unwrap().clone().unwrap()
    }

    /// Slows the journal down, and unless all is to be smooth, lets it fail, and the server restart.
    async fn trouble(self: Arc<Self>, journal: FakeJournal, mut random: Random) {
        loop {
            random.wait_ms(3_000).await;
            if random.percent(40) {
                journal.delay(Duration::from_millis(random.below(300)));
            }
            if !self.smooth && random.percent(30) {
                let fates = random.pick(&[
                    [Fate::Fails, Fate::LostUnknown, Fate::WrittenUnknown],
                    [Fate::WrittenUnknown, Fate::Fails, Fate::Fails],
                    [Fate::LostUnknown, Fate::WrittenUnknown, Fate::LostUnknown],
                ]);
                journal.doom(&fates[..random.pick(&[1, 3])]);
                journal.blind(random.pick(&[0, 1, 5]));
            }
            if !self.smooth && random.percent(20) {
                self.server.send_replace(None).unwrap().stop().await;
                random.wait_ms(20_000).await;
                journal.doom(&[]);
                journal.blind(0);
                self.server.send_replace(Some(open(&journal).await));
            }
        }
    }
}

/// What the players of a match know of it.
#[derive(Default)]
struct Known {
    /// When each decision was seen.
    published: HashMap<u32, Instant>,
    /// When the answers were sent that were acknowledged, by decision.
    answered: HashMap<u32, Instant>,
    /// The decision of each answer that came too late, when it was sent, and by what round trip.
    late: Vec<(u32, Instant, Option<u32>)>,
}

/// One seat of one match.
#[derive(Clone)]
struct Place {
    world: Arc<World>,
    match_id: MatchId,
    index: usize,
    control: TimeControl,
    known: Arc<Mutex<Known>>,
}

impl Place {
    /// Everything that the seat observes, over restarts and cuts.
    async fn follow(self, mut random: Random) -> Vec<Observation> {
        let mut seen: Vec<Observation> = Vec::new();
        loop {
            let matches = self.world.matches().await;
            let (audience, after) = (Audience::Observer(access(self.index)), Some(seen.len() as u64));
            let subscribed = matches.subscribe(self.match_id, audience, after, Views::EveryDecision).await;
            if let Ok(mut subscription) = subscribed {
                loop {
                    match subscription.next().await {
                        Next::Observation(observation) => {
                            let mut known = self.known.lock().unwrap();
                            let decision = observation.decision.unwrap_or_default();
                            known.published.entry(decision).or_insert_with(Instant::now);
                            seen.push((*observation).clone());
                        }
                        Next::End(End::Over(_)) => return seen,
                        Next::End(_) => break,
                    }
                    if random.percent(2) {
                        break;
                    }
                }
            }
            if !self.world.smooth {
                random.wait_ms(10).await;
            }
        }
    }

    /// Plays the seat, over restarts and cuts: slowly, or never, or out of turn.
    async fn play(self, mut random: Random) {
        let (silent, slow_percent) = (random.percent(6), random.below(25));
        let nonce = Nonce::new(&[1]).unwrap();
        let hash = random.percent(50).then(|| nonce.hash());
        let mut asked = 0;
        loop {
            random.wait_ms(20).await;
            let matches = self.world.matches().await;
            let Ok(joined) = matches.join(self.match_id, access(self.index), hash).await else { continue };
            let audience = Audience::Player(access(self.index), joined.hold);
            let subscribed = matches.subscribe(self.match_id, audience, None, Views::EveryDecision).await;
            let Ok(mut subscription) = subscribed else { continue };
            let Start::Snapshot(start) = subscription.start().clone() else { panic!("no snapshot") };
            let mut shown = (start.decision, start.to_decide, start.view);
            loop {
                // One that is refused is wanted later, or was given.
                let _ = matches.send_nonce(self.match_id, access(self.index), nonce.clone()).await;
                match shown {
                    (Some(decision), Some(legal), _) if decision > asked && !silent => {
                        asked = decision;
                        let index = random.up_to(u32::try_from(legal.len()).unwrap() - 1);
                        let slow = random.percent(slow_percent);
                        self.answer(&matches, decision, Choice::LegalIndex(index), slow, &mut random).await;
                    }
                    (Some(decision), None, Some(view)) if random.percent(3) => {
                        let hand: Vec<Card> = view.hand.iter().collect();
                        self.fault(&matches, decision, random.pick(&hand)).await;
                    }
                    _ => {}
                }
                if random.below(1_000) < 2 {
                    let _ = matches.resign(self.match_id, access(self.index)).await;
                }
                shown = match subscription.next().await {
                    Next::Observation(seen) => (seen.decision, seen.to_decide.clone(), seen.view.clone()),
                    Next::End(End::Over(_)) => return,
                    Next::End(_) => break,
                };
                if random.percent(1) {
                    break;
                }
            }
        }
    }

    async fn answer(
        &self,
        matches: &Matches,
        decision: u32,
        choice: Choice,
        slow: bool,
        random: &mut Random,
    ) {
        let (budget_ms, bank_ms) =
            self.control.clock().map_or((100, 100), |clock| (clock.budget_ms, clock.bank_ms));
        random.wait_ms(u64::from(if slow { budget_ms + bank_ms + 120 } else { budget_ms })).await;
        let round_trip_ms = random.percent(70).then(|| random.up_to(150));
        let command = Command::Act { access: access(self.index), decision, choice };
        loop {
            let (sent, arrival) = (Instant::now(), matches.arrival(round_trip_ms));
            match matches.command(self.match_id, command.clone(), arrival).await {
                Ok(done @ Done::Acted(_)) => {
                    self.known.lock().unwrap().answered.insert(decision, sent);
                    let again = matches.command(self.match_id, command, matches.arrival(None)).await;
                    let passing = matches!(again, Err(Rejection::OutcomeUnknown | Rejection::Stopping));
                    assert!(again == Ok(done) || passing && !self.world.smooth, "{again:?}");
                    return;
                }
                Err(Rejection::OutcomeUnknown) => random.wait_ms(20).await,
                Err(Rejection::DecisionOver { closed_by: Some(ClosedBy::Clock), .. }) => {
                    self.known.lock().unwrap().late.push((decision, sent, round_trip_ms));
                    return;
                }
                Err(
                    Rejection::DecisionOver { closed_by: Some(ClosedBy::Forfeit), .. }
                    | Rejection::SeatForfeited
                    | Rejection::MatchOver
                    | Rejection::Stopping,
                ) => return,
                other => panic!("{other:?}"),
            }
        }
    }

    /// Offers a discard out of turn, twice: it is one fault, if it is one.
    async fn fault(&self, matches: &Matches, decision: u32, card: Card) {
        let choice = Choice::Action(Action::Discard(card));
        let offer = || matches.act(self.match_id, access(self.index), decision, choice);
        if let (Ok(first), Ok(again)) = (offer().await, offer().await) {
            assert_eq!(first, again);
        }
    }

    /// What the seat observes of the match now that it is over.
    async fn past(&self) -> Vec<Observation> {
        loop {
            let matches = self.world.matches().await;
            let audience = Audience::Observer(access(self.index));
            let subscribed = matches.subscribe(self.match_id, audience, Some(0), Views::EveryDecision).await;
            if let Ok(mut subscription) = subscribed
                && let (observations, End::Over(_)) = drain(&mut subscription).await
            {
                return observations;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn record(&self) -> Record {
        loop {
            match self.world.matches().await.record(self.match_id).await {
                Ok(file) => return decode_record(&file.record).unwrap().0,
                Err(Rejection::HeldUntilReveal | Rejection::OutcomeUnknown | Rejection::Stopping) => {
                    sleep(Duration::from_millis(10)).await;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}

fn elapsed_ms(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_millis()).unwrap()
}

/// Holds a record against what the players know.
fn check(record: &Record, known: &Known, smooth: bool) {
    record.verify().unwrap();
    let clocks = record.clocks.as_ref().unwrap();
    let mut answered = known.answered.clone();
    let mut credited = HashMap::new();
    for entry in &clocks.ledger {
        let credited: &mut u32 = credited.entry(entry.seat).or_default();
        let published = known.published[&entry.decision];
        if let Some(sent) = answered.remove(&entry.decision) {
            let received_ms = entry.received_ms.expect("it was acknowledged");
            let measured_ms = elapsed_ms(published, sent);
            assert!(!smooth || received_ms - entry.published_ms == measured_ms, "{measured_ms}: {entry:?}");
        }
        for (_, sent, round_trip_ms) in known.late.iter().filter(|late| late.0 == entry.decision) {
            assert_eq!(entry.received_ms, None, "{entry:?}");
            let clock = clocks.control.clock().unwrap();
            let left_ms = clock.network_credit_total_ms - *credited;
            let credit_ms = round_trip_ms.unwrap_or(0).min(clock.network_credit_ms).min(left_ms);
            let measured_ms = elapsed_ms(published, *sent);
            let too_late = measured_ms >= entry.charge.charged_ms + u64::from(credit_ms);
            assert!(!smooth || too_late, "{measured_ms}, {credit_ms}: {entry:?}");
        }
        *credited += entry.charge.credit_ms;
    }
    assert!(answered.is_empty(), "acknowledged, and not in the ledger: {answered:?}");
}

/// One to three matches, and all their players.
async fn one_world(mut random: Random) {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let (rules, control) = (random_rules(&mut random), random_control(&mut random));
    let (count, deals) = random.pick(&[(1, 0), (1, 1), (2, 2), (3, 2)]);
    let deals =
        [DealSpec::Joint, DealSpec::Fixed(ServerSeed::new([7; 32])), DealSpec::Shared(1)][deals].clone();
    let spec = MatchSpec {
        rules,
        seats: rules.seats().map(|_| SeatSpec::Token).collect(),
        time_control: control,
        ..spec(Preset::Sackson, 2, deals)
    };
    let infos = matches.create(vec![spec; count], None).await.unwrap();
    let world = Arc::new(World { server: watch::Sender::new(Some(matches)), smooth: random.percent(50) });
    let trouble = tokio::spawn(world.clone().trouble(journal, Random(random.next())));
    let mut followed = Vec::new();
    for MatchInfo { match_id, seats, .. } in infos {
        let known = Arc::<Mutex<Known>>::default();
        for index in 0..seats.len() {
            let place = Place { world: world.clone(), match_id, index, control, known: known.clone() };
            tokio::spawn(place.clone().play(Random(random.next())));
            followed.push((place.clone(), tokio::spawn(place.follow(Random(random.next())))));
        }
    }
    for (place, follower) in followed {
        let seen = follower.await.unwrap();
        check(&place.record().await, &place.known.lock().unwrap(), world.smooth);
        assert!(place.past().await == seen, "another past of seat {}", place.index);
    }
    trouble.abort();
}

#[tokio::test(start_paused = true)]
async fn whatever_happens_a_match_ends_and_its_record_says_what_did() {
    for seed in 0..WORLDS {
        one_world(Random(seed)).await;
    }
}
