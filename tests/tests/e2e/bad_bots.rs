//! One bad bot of every kind beside six good ones on a ladder: each gets what `docs/bad-bots.md` says, and no good one forfeits. What it
//! costs the good ones is measured by `cargo run --release -p zetema-tests --bin bad_bots`.

use std::time::Duration;

use zetema_tests::bad_bots::{Lasts, Rate, Run};

/// Limits that are reached within seconds.
const FLAGS: [&str; 2] = [
    "--ping-interval-ms=500",
    // A debug build on a busy machine is late all the time.
    "--max-late-ms=60000",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_bad_bot_gets_its_due_and_good_ones_play_on_without_a_forfeit() {
    let run = Run {
        program: None,
        flags: FLAGS.map(Into::into).to_vec(),
        join_timeout: Duration::from_secs(6),
        requests: Rate { per_second: 1_000, burst: 1_000 },
        connections: Rate { per_second: 20, burst: 100 },
        lasts: Lasts::UntilAllHaveTheirs { at_most: Duration::from_mins(2) },
    };
    let report = run.run().await.unwrap();
    let problems = report.problems();
    assert!(problems.is_empty(), "{problems:#?}\n{}", report.table());
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    for good in ["without", "with"] {
        assert!(json[good]["actions"].as_u64().unwrap() > 0, "{json}");
        assert!(json[good]["among_themselves_per_minute"].as_f64().unwrap() > 0.0, "{json}");
    }
}
