//! What a lane makes of what comes, without a connection.

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::advance;

use super::*;
use crate::outcome::{Description, Outcome, Phase};
use crate::plan::Rate;
use crate::think::Think;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const MATCH: &str = "m";

mod left;
mod missing;

/// A lane with one match of two seats, whose players think for 10 ms.
struct Scene {
    lane: Lane,
    recorder: Recorder,
    finished: UnboundedReceiver<Finished>,
}

const fn seat(seat: u8) -> SeatKey {
    SeatKey { table: 0, seat }
}

fn decision(choices: usize) -> v1::Decision {
    let legal = v1::LegalActions { discards: vec![1; choices], ..v1::LegalActions::default() };
    v1::Decision { legal_actions: Some(legal), ..v1::Decision::default() }
}

impl Scene {
    fn new() -> Self {
        let recorder = Recorder::start(Description::default(), Phase::measured("lane"));
        let (sender, finished) = unbounded_channel();
        let mut lane = Lane::new(recorder.clone(), sender);
        lane.begin(Created {
            match_id: MATCH.to_owned(),
            tokens: vec!["a".to_owned(), "b".to_owned()],
            asked: Instant::now(),
            think: "10ms".parse::<Think>().unwrap(),
            seed: 1,
        });
        assert!(matches!(lane.output(), Some(Output::Open(0))));
        Self { lane, recorder, finished }
    }

    /// The seat is told what is there: `number` is the open decision, which is its own if it has `choices`.
    fn start(&mut self, of: u8, seq: u64, number: u32, choices: Option<usize>) {
        let snapshot = v1::Snapshot {
            seq,
            decision_number: Some(number),
            decision: choices.map(decision),
            ..v1::Snapshot::default()
        };
        let start = v1::SubscriptionStart {
            kind: Some(v1::subscription_start::Kind::Snapshot(snapshot)),
            ..v1::SubscriptionStart::default()
        };
        self.lane.joined(Instant::now(), seat(of), start);
    }

    /// The seat observes something: the receipt of its answer to a decision, its own next decision, or another's action.
    fn observe(&mut self, of: u8, seq: u64, answered: Option<u32>, number: u32, choices: Option<usize>) {
        let observation = v1::Observation {
            seq,
            answered_decision_number: answered,
            decision_number: Some(number),
            decision: choices.map(decision),
            ..v1::Observation::default()
        };
        self.lane.observed(Instant::now(), seat(of), observation);
    }

    async fn after(&mut self, time: Duration) {
        advance(time).await;
        self.lane.tick(Instant::now());
    }

    fn acts(&mut self) -> Vec<(u8, u32)> {
        let acts = std::iter::from_fn(|| self.lane.output());
        acts.filter_map(|output| match output {
            Output::Act(key, act) => Some((key.seat, act.decision_number)),
            _ => None,
        })
        .collect()
    }

    fn refuse(&mut self, decision: u32, reason: R) {
        let error = v1::Error::new(reason, "refused");
        self.lane.act_refused(
            Instant::now(),
            (seat(0), decision),
            reason.into(),
            Some(&error),
            &error.message,
        );
    }

    /// The first answer is on its way.
    async fn acted() -> Self {
        let mut scene = Self::new();
        scene.start(0, 0, 1, Some(3));
        scene.start(1, 0, 1, None);
        scene.after(10 * MS).await;
        assert_eq!(scene.acts(), [(0, 1)]);
        scene
    }

    fn outcome(self) -> Outcome {
        self.recorder.finish()
    }
}

fn receipt_of(decision_number: u32, seq: u64) -> v1::Receipt {
    v1::Receipt { match_id: MATCH.to_owned(), decision_number, seq }
}

fn median_ms(outcome: &Outcome, measure: Measure) -> Option<u128> {
    outcome.totals().latencies(measure).map(|times| times.quantile(0.5).as_millis())
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_answered_when_it_was_thought_of_and_its_times_are_taken() {
    let mut scene = Scene::new();
    scene.after(7 * MS).await;
    scene.start(0, 0, 1, Some(3));
    scene.after(9 * MS).await;
    assert_eq!(scene.acts(), []);
    scene.after(MS).await;
    assert_eq!(scene.acts(), [(0, 1)]);
    scene.start(1, 0, 1, None);
    scene.after(3 * MS).await;
    scene.observe(0, 1, Some(1), 2, None);
    scene.after(2 * MS).await;
    scene.observe(1, 1, None, 2, Some(2));
    scene.after(10 * MS).await;
    assert_eq!(scene.acts(), [(1, 2)]);
    let outcome = scene.outcome();
    assert_eq!(outcome.faults().all(), 0, "{:?}", outcome.faults());
    assert_eq!(median_ms(&outcome, Measure::CreateToDecision), Some(7));
    assert_eq!(median_ms(&outcome, Measure::ActionToReceipt), Some(3));
    assert_eq!(median_ms(&outcome, Measure::ActionToObservation), Some(5));
    assert_eq!(outcome.totals().counts().of(Count::ActionSent), 2);
    assert_eq!(outcome.totals().counts().of(Count::ActionAcknowledged), 1);
}

#[tokio::test(start_paused = true)]
async fn what_has_no_receipt_when_the_connection_is_cut_is_sent_again_with_the_snapshot() {
    let mut scene = Scene::acted().await;
    scene.lane.cut(Instant::now());
    assert!(matches!(scene.lane.output(), Some(Output::Open(0))));
    scene.after(40 * MS).await;
    assert_eq!(scene.acts(), [], "nothing is sent before its seat is taken again");
    // It came there before the cut.
    scene.start(0, 1, 2, None);
    scene.start(1, 1, 2, Some(1));
    assert_eq!(scene.acts(), [(0, 1)]);
    scene.lane.acknowledged(Instant::now(), seat(0), &receipt_of(1, 1));
    scene.after(10 * MS).await;
    assert_eq!(scene.acts(), [(1, 2)]);
    let outcome = scene.outcome();
    assert_eq!(outcome.faults().all(), 0, "{:?}", outcome.faults());
    assert_eq!(median_ms(&outcome, Measure::ReconnectToSnapshot), Some(40));
    assert_eq!(median_ms(&outcome, Measure::ActionToReceipt), Some(40));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_from_before_a_receipt_opens_no_decision_that_was_answered() {
    let mut scene = Scene::acted().await;
    scene.lane.cut(Instant::now());
    assert!(matches!(scene.lane.output(), Some(Output::Open(0))));
    scene.lane.returned(Instant::now(), seat(0), 1, &receipt_of(1, 1));
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    scene.after(20 * MS).await;
    assert_eq!(scene.acts(), []);
    scene.observe(0, 1, Some(1), 2, None);
    scene.observe(1, 1, None, 2, Some(2));
    scene.after(10 * MS).await;
    assert_eq!(scene.acts(), [(1, 2)]);
    assert_eq!(scene.outcome().faults().all(), 0);
}

#[tokio::test(start_paused = true)]
async fn players_who_leave_and_join_again_are_measured_and_go_on() {
    let mut scene = Scene::new();
    scene.lane.rejoin(Instant::now(), 7);
    assert!(scene.lane.output().is_none(), "nobody is there who could leave");
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    scene.after(4 * MS).await;
    scene.lane.rejoin(Instant::now(), 7);
    assert!(matches!(scene.lane.output(), Some(Output::Rejoin(0))));
    scene.lane.rejoin(Instant::now(), 7);
    assert!(scene.lane.output().is_none(), "who has not come back can't leave");
    scene.after(6 * MS).await;
    assert_eq!(scene.acts(), [], "it has thought of an answer, and has no seat");
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    assert_eq!(scene.acts(), [(0, 1)]);
    scene.observe(0, 1, Some(1), 2, None);
    let outcome = scene.outcome();
    assert_eq!(outcome.faults().all(), 0, "{:?}", outcome.faults());
    assert_eq!(median_ms(&outcome, Measure::ReconnectToSnapshot), Some(6));
    assert_eq!(outcome.totals().counts().of(Count::Rejoined), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_may_pass_is_tried_again_and_another_ends_the_match_or_the_decision() {
    for reason in [R::OutcomeUnknown, R::Overloaded, R::Draining, R::LimitExceeded] {
        let mut scene = Scene::acted().await;
        scene.refuse(1, reason);
        assert_eq!(scene.acts(), []);
        scene.after(AGAIN_AFTER).await;
        assert_eq!(scene.acts(), [(0, 1)], "{reason:?}");
    }
    // The clock was quicker: the match goes on.
    let mut scene = Scene::acted().await;
    scene.refuse(1, R::DecisionOver);
    scene.after(AGAIN_AFTER).await;
    assert_eq!((scene.acts(), scene.lane.match_id(0)), (vec![], Some(MATCH)));

    let mut scene = Scene::acted().await;
    scene.refuse(1, R::Unauthenticated);
    assert!(matches!(scene.lane.output(), Some(Output::Leave(0))));
    let finished = scene.finished.try_recv().unwrap();
    assert!(finished.match_id == MATCH && matches!(finished.why, Why::Unknown { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_is_refused_for_now_is_taken_later() {
    let refused = |reason| v1::Error::new(reason, "refused");
    let mut scene = Scene::new();
    scene.lane.join_refused(Instant::now(), seat(1), &refused(R::Overloaded));
    scene.after(AGAIN_AFTER.mul_f64(0.49)).await;
    assert!(scene.lane.output().is_none());
    scene.after(AGAIN_AFTER).await;
    assert!(matches!(scene.lane.output(), Some(Output::Join(key)) if key == seat(1)));
    scene.lane.join_refused(Instant::now(), seat(1), &refused(R::NotFound));
    assert!(matches!(scene.lane.output(), Some(Output::Leave(0))));
    assert!(matches!(scene.finished.try_recv().unwrap().why, Why::Unknown { .. }));
    assert_eq!(scene.outcome().totals().counts().of(Count::JoinRefused), 1);
}

#[tokio::test(start_paused = true)]
async fn a_match_is_over_when_all_its_seats_were_told_the_same() {
    let told = |total| {
        let sides = [total, 80].map(|total| v1::SideResult { rank: 1, total }).to_vec();
        let result = v1::MatchResult { reason: v1::EndReason::Target.into(), sides };
        let outcome = v1::Outcome { kind: Some(v1::outcome::Kind::Result(result)) };
        v1::SubscriptionEnd { outcome: Some(outcome) }
    };
    for (other, faults) in [(120, 0), (121, 1)] {
        let mut scene = Scene::new();
        scene.start(0, 5, 9, None);
        scene.start(1, 5, 9, None);
        scene.lane.ended(seat(0), told(120));
        assert!(scene.finished.try_recv().is_err());
        scene.lane.ended(seat(1), told(other));
        let finished = scene.finished.try_recv().unwrap();
        assert!(finished.why.ending().unwrap().is_result());
        assert_eq!(scene.outcome().faults().all(), faults);
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_server_may_send_is_a_fault() {
    let check = |told: fn(&mut Scene), said: &str| {
        let mut scene = Scene::new();
        scene.start(0, 0, 1, None);
        told(&mut scene);
        let outcome = scene.outcome();
        let first = outcome.faults().first().first().unwrap();
        assert!(first.text.contains(said), "{}", first.text);
    };
    check(|scene| scene.observe(0, 2, None, 1, None), "2");
    check(|scene| scene.observe(0, 1, Some(1), 2, None), "receipt");
    check(|scene| scene.observe(0, 1, None, 1, Some(0)), "without a legal action");
    check(
        |scene| scene.lane.joined(Instant::now(), seat(1), v1::SubscriptionStart::default()),
        "without a snapshot",
    );
    check(|scene| scene.lane.ended(seat(0), v1::SubscriptionEnd::default()), "without an outcome");
}

#[tokio::test(start_paused = true)]
async fn on_a_schedule_a_moment_goes_to_the_next_decision_that_is_open() {
    let mut scene = Scene::new();
    let now = Instant::now();
    let schedule = || Schedule::new(now, Rate::new(100.0).unwrap(), Duration::ZERO, 1);
    let first = schedule().next().unwrap();
    scene.lane.follow(schedule());
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    // The clock has closed it before its moment came: seat 1 is to act.
    scene.observe(0, 1, None, 2, None);
    scene.observe(1, 1, None, 2, Some(1));
    scene.after((first - now).mul_f64(0.99)).await;
    assert_eq!(scene.acts(), []);
    scene.after(MS).await;
    assert_eq!(scene.acts(), [(1, 2)], "the answer to the first would be too late");
    assert_eq!(scene.outcome().totals().counts().of(Count::Offered), 1);
}

/// On a schedule of 100 a second the first answer is on its way, and the server says nothing for a second.
async fn silent() -> (Scene, Instant) {
    let mut scene = Scene::new();
    let now = Instant::now();
    let schedule = Schedule::new(now, Rate::new(100.0).unwrap(), Duration::ZERO, 1);
    let first = schedule.next().unwrap();
    scene.lane.follow(schedule);
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    scene.after(first - now).await;
    assert_eq!(scene.acts(), [(0, 1)]);
    scene.after(Duration::from_secs(1)).await;
    assert_eq!(scene.acts(), [], "there is no decision for what is due");
    (scene, now)
}

#[tokio::test(start_paused = true)]
async fn what_has_no_answer_when_the_load_is_over_has_its_time() {
    let (mut scene, began) = silent().await;
    let (answered, mut all_answered) = tokio::sync::mpsc::channel(1);
    scene.lane.rest(Instant::now(), answered);
    assert!(all_answered.try_recv().unwrap_err() == tokio::sync::mpsc::error::TryRecvError::Empty);
    // It hears what comes, and answers nothing.
    scene.observe(0, 1, Some(1), 2, None);
    scene.observe(1, 1, None, 2, Some(2));
    scene.after(10 * MS).await;
    assert_eq!(scene.acts(), []);
    assert_eq!(all_answered.recv().await, None, "all that was sent has its answer");
    let lasted = began.elapsed();
    let totals = scene.outcome().totals();
    let [offered, unanswered] = [Count::Offered, Count::Unanswered].map(|count| totals.counts().of(count));
    assert_eq!(offered, unanswered, "nothing was answered in time");
    assert!((70..130).contains(&offered), "{offered} in {lasted:?}");
    let times = totals.latencies(Measure::ActionToReceipt).unwrap();
    assert_eq!(times.len(), unanswered + 1, "and the receipt that came after the end");
    assert!(times.max() >= Duration::from_secs(1) && times.quantile(0.5) > 300 * MS, "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_due_by_a_schedule_and_is_refused_has_no_answer() {
    for (reason, unanswered) in [(R::DecisionOver, 1), (R::Overloaded, 0)] {
        let (mut scene, _) = silent().await;
        scene.refuse(1, reason);
        let totals = scene.outcome().totals();
        assert_eq!(totals.counts().of(Count::Unanswered), unanswered, "{reason:?}");
    }
}
