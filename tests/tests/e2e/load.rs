//! What a load run shows of a server that stands still.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use zetema_load::outcome::{Client, Count, Measure, Phase, Recorder, Totals, Via};
use zetema_load::{Kind, Load, Plan, Rate, Stage, Target, Think, run};
use zetema_rules::{NamedTimeControl, Preset, TimeControl};
use zetema_sdk::Tls;
use zetema_tests::harness::Process;

const LIVE: NonZeroU32 = NonZeroU32::MIN.saturating_add(19);

/// What was measured of a server that was stopped (SIGSTOP) for a second of five.
async fn of_a_stalled_server(load: Load) -> Totals {
    let (process, clients) = Process::start().await;
    let endpoint = Endpoint::from_shared(clients.url()).unwrap();
    let target = Target::new(clients.url(), endpoint, Tls::default(), clients.admin_token()).unwrap();
    let control = NamedTimeControl::None.decisions();
    let kind = Kind {
        weight: NonZeroU32::MIN,
        preset: Preset::Sackson.to_string(),
        rules: Preset::Sackson.rules(2, None).unwrap(),
        time_control: TimeControl::new(TimeControl::DEFAULT_JOIN_TIMEOUT_MS, control).unwrap(),
        client: Client::Lean,
        via: Via::Play,
        think: Think::default(),
    };
    let stage = Stage {
        name: "stalled".to_owned(),
        load,
        kinds: vec![kind],
        ramp: Duration::ZERO,
        duration: Duration::from_secs(5),
        drop_every: None,
        rejoin_every: None,
        spectators: 0,
        slow_readers: 0,
    };
    let mut plan = Plan::new(vec![stage]).unwrap();
    // Until then the matches have begun.
    plan.warm_up = Duration::from_secs(2);
    let recorder = Recorder::start(plan.description("stalled"), Phase::warm_up());
    let mut seconds = 0;
    let told = |second: &zetema_load::outcome::Second, _: Option<&_>| {
        if second.phase() == 1 {
            seconds += 1;
            match seconds {
                1 => process.freeze(),
                2 => process.thaw(),
                _ => {}
            }
        }
    };
    let outcome = Box::pin(run(target, &plan, recorder, CancellationToken::new(), told)).await.unwrap();
    assert_eq!(outcome.faults().all(), 0, "{:?}", outcome.faults().first());
    outcome.totals()
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
    let open = of_a_stalled_server(Load::Actions(Rate::new(200.0).unwrap(), LIVE)).await;
    let offered = open.counts().of(Count::Offered);
    assert!((850..1_150).contains(&offered), "{offered} were due at 200 a second");
    // What was due in the first half of the second in which it stood still.
    let long_times = long(&open);
    assert!(long_times > 60.0, "{long_times} of {offered}");

    // Nobody asked while it stood still: one long time for each match.
    let long_times = long(&of_a_stalled_server(Load::Closed(LIVE)).await);
    assert!(long_times < 35.0, "{long_times} of {LIVE} matches");
}
