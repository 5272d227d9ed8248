//! The rules alone: random play of two with the legal actions listed at each decision, without a service.

use std::time::{Duration, Instant};

use anyhow::Context;

use super::setting::Setting;
use super::{Figure, Figures};

#[path = "../../../rules/benches/random_play/mod.rs"]
mod random_play;

use random_play::{Random, RandomPlay};

/// Matches between two looks at the clock: a look is nothing beside them.
const MATCHES: usize = 100;

/// Plays matches one after the other, on the core that this process has.
///
/// # Errors
/// If this thread can't be left alone with it.
pub(super) async fn measure(setting: &Setting) -> anyhow::Result<Figures> {
    let setting = setting.clone();
    tokio::task::spawn_blocking(move || play(&setting)).await?
}

fn play(setting: &Setting) -> anyhow::Result<Figures> {
    let mut play = RandomPlay::new(2).context("the preset has no match of two")?;
    let mut random = Random(7);
    let mut played = |lasts: Duration| {
        let (began, mut actions) = (Instant::now(), 0);
        while began.elapsed() < lasts {
            actions += (0..MATCHES).map(|_| play.play_match(&mut random)).sum::<u64>();
        }
        (actions, began.elapsed())
    };
    played(setting.warm_up);
    let (actions, took) = played(setting.lasts);
    #[expect(clippy::cast_precision_loss, reason = "actions of a minute")]
    let millions = actions as f64 / 1e6;
    Ok(Figures::from([(Figure::MillionsPerSecond, millions / took.as_secs_f64())]))
}
