//! Random play with all legal actions listed, on one core: how many actions a second.
//!
//! `cargo bench -p zetema-rules` prints the figure as throughput in elements, one element an action.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

mod random_play;

use random_play::{Random, RandomPlay};

fn benchmark(c: &mut Criterion) {
    let mut group = c.benchmark_group("random play, sackson");
    for players in [2, 4] {
        let Some(mut play) = RandomPlay::new(players) else { unreachable!("sackson lists 2 and 4") };
        // A sample is some thousands of matches, whose actions are counted once beforehand: the same
        // seed plays the same matches.
        let mut sample = || {
            let mut random = Random(7);
            (0..2_000).map(|_| play.play_match(&mut random)).sum::<u64>()
        };
        group.throughput(Throughput::Elements(sample()));
        group.bench_function(format!("{players} players"), |b| b.iter(&mut sample));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = benchmark
}
criterion_main!(benches);
