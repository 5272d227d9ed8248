//! What a load run shows of a server that stands still.

use std::ffi::OsStr;
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use zetema_load::outcome::{Client, Count, Measure, Outcome, Phase, Recorder, Totals, Via};
use zetema_load::report::{Problem, Report};
use zetema_load::{Kind, Load, Plan, Rate, Stage, Target, Think, run};
use zetema_rules::{NamedTimeControl, Preset, TimeControl};
use zetema_sdk::Tls;
use zetema_tests::harness::{Clients, Process};

const LIVE: NonZeroU32 = NonZeroU32::MIN.saturating_add(19);

fn kind(via: Via) -> Kind {
    let control = NamedTimeControl::None.decisions();
    Kind {
        weight: NonZeroU32::MIN,
        preset: Preset::Sackson.to_string(),
        rules: Preset::Sackson.rules(2, None).unwrap(),
        time_control: TimeControl::new(TimeControl::DEFAULT_JOIN_TIMEOUT_MS, control).unwrap(),
        client: Client::Lean,
        via,
        think: Think::default(),
    }
}

fn stage(load: Load) -> Stage {
    Stage {
        name: "measured".to_owned(),
        load,
        kinds: vec![kind(Via::Play)],
        ramp: Duration::ZERO,
        duration: Duration::from_secs(5),
        drop_every: None,
        rejoin_every: None,
        spectators: 0,
        slow_readers: 0,
    }
}

/// How long the server stands still (SIGSTOP), from when a second of five was measured.
#[derive(Clone, Copy, PartialEq)]
enum Stall {
    /// A second.
    Short,
    /// Until nothing is measured any more.
    ToTheEnd,
}

fn target_of(clients: &Clients) -> Target {
    let endpoint = Endpoint::from_shared(clients.url()).unwrap();
    Target::new(clients.url(), endpoint, Tls::default(), clients.admin_token()).unwrap()
}

/// What was measured of a server that stood still.
async fn of_a_stalled_server(stage: Stage, stall: Stall) -> Outcome {
    let (process, clients) = Process::start().await;
    let target = target_of(&clients);
    // Until the warm-up is over the matches have begun.
    let plan = Plan::new(Duration::from_secs(2), vec![stage]).unwrap();
    let recorder = Recorder::start(plan.description("stalled"), Phase::warm_up());
    let (measured, mut seconds) = (recorder.clone(), 0);
    let told = |second: &zetema_load::outcome::Second, _: Option<&_>| {
        if second.phase() == 1 {
            seconds += 1;
            match seconds {
                1 => process.freeze(),
                2 if stall == Stall::Short => process.thaw(),
                _ => {}
            }
        }
    };
    let running = run(target, &plan, recorder, CancellationToken::new(), told);
    let thawing = async {
        // Two seconds of warm-up, five that are measured, and what it takes to leave them.
        while stall == Stall::ToTheEnd && measured.elapsed() < Duration::from_secs(9) {
            sleep(Duration::from_millis(100)).await;
        }
        process.thaw();
    };
    let (outcome, ()) = Box::pin(async { tokio::join!(running, thawing) }).await;
    let outcome = outcome.unwrap();
    assert_eq!(outcome.faults().all(), 0, "{:?}", outcome.faults().first());
    outcome
}

/// How many actions took longer than half a second.
fn long(totals: &Totals) -> f64 {
    let times = totals.latencies(Measure::ActionToReceipt).unwrap();
    assert!(times.max() > Duration::from_millis(900), "the longest {:?}", times.max());
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let all = times.len() as f64;
    all * (1.0 - times.share_within(Duration::from_millis(500)))
}

#[tokio::test]
async fn a_stall_shows_in_an_open_loop_and_hides_in_a_closed_one() {
    let open = of_a_stalled_server(stage(Load::Actions(Rate::new(200.0).unwrap(), LIVE)), Stall::Short)
        .await
        .totals();
    let offered = open.counts().of(Count::Offered);
    assert!((850..1_150).contains(&offered), "{offered} were due at 200 a second");
    // What was due in the first half of the second in which it stood still.
    let long_times = long(&open);
    assert!(long_times > 60.0, "{long_times} of {offered}");

    // Nobody asked while it stood still: one long time for each match.
    let long_times = long(&of_a_stalled_server(stage(Load::Closed(LIVE)), Stall::Short).await.totals());
    assert!(long_times < 35.0, "{long_times} of {LIVE} matches");
}

#[tokio::test]
async fn a_stall_to_the_end_of_an_open_loop_is_in_its_times_and_its_slo() {
    let actions = Load::Actions(Rate::new(200.0).unwrap(), LIVE);
    let matches = Load::Matches(Rate::new(20.0).unwrap());
    for (load, slo, unanswered) in [(actions, "p99<500ms", 500..950), (matches, "create.p99<500ms", 40..110)]
    {
        let outcome = of_a_stalled_server(stage(load), Stall::ToTheEnd).await;
        let left = outcome.totals().counts().of(Count::Unanswered);
        assert!(unanswered.contains(&left), "{left} in three to four seconds");
        // Whoever asks for no time hears of it too.
        for slo in [slo, "errors<100%"] {
            let report = Report::new(outcome.clone(), Some(&slo.parse().unwrap()));
            assert_eq!(report.problems().collect::<Vec<_>>(), [Problem::Slo], "{slo}: {:?}", report.verdict);
        }
    }
}

#[tokio::test]
async fn a_stall_to_the_end_is_in_the_times_of_sessions_of_the_sdk() {
    let stage = stage(Load::Closed(LIVE));
    let kinds = vec![Kind { client: Client::Sdk, ..kind(Via::Play) }];
    let totals = of_a_stalled_server(Stage { kinds, ..stage }, Stall::ToTheEnd).await.totals();
    for measure in [Measure::ActionToReceipt, Measure::ActionToObservation] {
        let max = totals.latencies(measure).unwrap().max();
        assert!(max > Duration::from_secs(2), "{measure:?}: {max:?} of about four seconds");
    }
}

#[tokio::test]
async fn a_match_that_is_refused_is_none_that_was_due_and_came() {
    let flags = ["--max-live-matches", "5"].map(OsStr::new);
    let process = Process::start_with(tempfile::tempdir().unwrap(), &flags).await;
    let target = target_of(&process.connect().await);
    let plan = Plan::new(Duration::ZERO, vec![stage(Load::Matches(Rate::new(50.0).unwrap()))]).unwrap();
    let recorder = Recorder::start(plan.description("full"), Phase::warm_up());
    let outcome = Box::pin(run(target, &plan, recorder, CancellationToken::new(), |_, _| {})).await.unwrap();
    assert_eq!(outcome.faults().all(), 0, "{:?}", outcome.faults().first());
    let totals = outcome.totals();
    let [offered, created, unanswered] =
        [Count::Offered, Count::MatchCreated, Count::Unanswered].map(|count| totals.counts().of(count));
    assert!(unanswered + created >= offered * 9 / 10, "{unanswered} and {created} of {offered}");
    assert!(unanswered > offered / 2, "{unanswered} of {offered}, with room for five at once");
    let report = Report::new(outcome, Some(&"create.p99<5s".parse().unwrap()));
    assert_eq!(report.problems().collect::<Vec<_>>(), [Problem::Slo], "{:?}", report.verdict);
}

#[tokio::test]
async fn a_server_that_has_lost_its_matches_is_a_fault() {
    for client in [Client::Lean, Client::Sdk] {
        let (process, clients) = Process::start().await;
        let target = target_of(&clients);
        let kinds = vec![Kind { client, ..kind(Via::Play) }];
        // Time enough for another to serve on a machine that has much else to do.
        let stage = Stage { kinds, duration: Duration::from_secs(10), ..stage(Load::Closed(LIVE)) };
        let plan = Plan::new(Duration::ZERO, vec![stage]).unwrap();
        let recorder = Recorder::start(plan.description("lost"), Phase::warm_up());
        let address = process.url().strip_prefix("http://").unwrap().to_owned();
        let (mut first, mut another) = (Some(process), None);
        let told = |second: &zetema_load::outcome::Second, _: Option<&_>| {
            // Not every second is told: of those that go by between two ticks only the last is.
            if second.phase() == 1
                && let Some(running) = first.take_if(|_| second.number() >= 1)
            {
                running.kill();
                another = Some(Process::spawn(&address, "debug", tempfile::tempdir().unwrap(), &[]));
            }
        };
        let outcome = Box::pin(run(target, &plan, recorder, CancellationToken::new(), told)).await.unwrap();
        assert!(another.is_some(), "{client:?}: the server was not killed in ten seconds");
        let first: Vec<&str> = outcome.faults().first().iter().map(|fault| fault.text.as_str()).collect();
        let lost = first.iter().filter(|text| text.contains("the server does not know it")).count();
        assert!(lost > 0, "{client:?}: {first:?}, {:?}", outcome.totals().failures());
    }
}

/// Few matches on many connections, and then by other calls at the same rate: what is due is sent, and no more.
#[tokio::test]
async fn a_schedule_falls_to_those_who_have_matches() {
    let (_process, clients) = Process::start().await;
    let target = target_of(&clients);
    let two = NonZeroU32::MIN.saturating_add(1);
    // Few enough that two matches, of which one seat each has its turn, are up to it on a machine that has much else to do.
    let stage = |via, live| {
        let load = Load::Actions(Rate::new(60.0).unwrap(), live);
        Stage { kinds: vec![kind(via)], ..stage(load) }
    };
    for stages in [vec![stage(Via::Play, two)], vec![stage(Via::Play, LIVE), stage(Via::Unary, LIVE)]] {
        let plan = Plan::new(Duration::ZERO, stages).unwrap();
        let recorder = Recorder::start(plan.description("shared"), Phase::warm_up());
        let stop = CancellationToken::new();
        let outcome = Box::pin(run(target.clone(), &plan, recorder, stop, |_, _| {})).await.unwrap();
        assert_eq!(outcome.faults().all(), 0, "{:?}", outcome.faults().first());
        for phase in 1..=plan.stages().len() {
            let totals = outcome.phase_totals(phase);
            let [offered, sent] = [Count::Offered, Count::ActionSent].map(|count| totals.counts().of(count));
            assert!(
                (230..370).contains(&offered),
                "phase {phase}: {offered} were due at 60 a second for 5 s"
            );
            assert!(
                // Half or less, where connections without matches have a share of it.
                (offered * 13 / 20..=offered + 20).contains(&sent),
                "phase {phase}: {sent} of {offered} sent"
            );
        }
    }
}
