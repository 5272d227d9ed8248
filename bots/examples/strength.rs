//! How strong a house bot is against another, in figures: `cargo run --release -p zetema-bots --example strength --
//! searcher greedy --decks 2000`.
//!
//! Each deck is played once for each side. The intervals are at 95 %, with a deck as the sample.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use zetema_bots::{Duel, House};
use zetema_sdk::rules::{Options, Preset, Rules};
use zetema_sdk::{Action, Bot, Decision};

const USAGE: &str = "usage: strength FIRST SECOND [--decks 2000] [--from 8000000] [--preset sackson] \
[--players 2] [--match whole|one-deal]";

/// The first of the seeds that nothing was chosen by.
const FIRST_SEED: u64 = 8_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let asked = Asked::read(env::args().skip(1))?;
    let rules = asked.rules()?;
    let (first_time, second_time) = (Thinking::default(), Thinking::default());
    let seeds = asked.from..asked.from.saturating_add(asked.decks);
    let duel = Duel::play(
        rules,
        seeds,
        |info| Timed { bot: asked.first.make(info, 1), thinking: first_time.clone() },
        |info| Timed { bot: asked.second.make(info, 2), thinking: second_time.clone() },
    )?;
    println!(
        "{} against {}, {}, {} players, {} decks from {}:\n{duel}; {:.1} % by chance, {} faults\n\
         a decision takes {:.2} ms and {:.2} ms",
        asked.first,
        asked.second,
        asked.preset,
        rules.players,
        asked.decks,
        asked.from,
        100.0 * duel.chance(),
        duel.faults(),
        first_time.milliseconds(),
        second_time.milliseconds(),
    );
    Ok(())
}

/// What the program was asked.
struct Asked {
    first: House,
    second: House,
    decks: u64,
    from: u64,
    preset: Preset,
    players: usize,
    target: Target,
}

/// How long a match is.
enum Target {
    /// As the preset says.
    Preset,
    /// One deal.
    None,
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let (Some(first), Some(second)) = (words.next(), words.next()) else { return Err(USAGE.into()) };
        let mut asked = Self {
            first: first.parse()?,
            second: second.parse()?,
            decks: 2000,
            from: FIRST_SEED,
            preset: Preset::Sackson,
            players: 2,
            target: Target::Preset,
        };
        while let Some(flag) = words.next() {
            let Some(value) = words.next() else { return Err(USAGE.into()) };
            match (flag.as_str(), value.as_str()) {
                ("--decks", _) => asked.decks = value.parse()?,
                ("--from", _) => asked.from = value.parse()?,
                ("--preset", _) => asked.preset = value.parse()?,
                ("--players", _) => asked.players = value.parse()?,
                ("--match", "whole") => asked.target = Target::Preset,
                ("--match", "one-deal") => asked.target = Target::None,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(asked)
    }

    fn rules(&self) -> Result<Rules, Box<dyn Error>> {
        let rules = self.preset.rules(self.players, None)?;
        Ok(match self.target {
            Target::Preset => rules,
            Target::None => Rules::new(Options { target: None, ..*rules })?,
        })
    }
}

/// How long a bot has thought.
#[derive(Clone, Default)]
struct Thinking {
    nanoseconds: Arc<AtomicU64>,
    decisions: Arc<AtomicU64>,
}

impl Thinking {
    /// For each decision.
    #[allow(clippy::cast_precision_loss, reason = "a mean that is printed")]
    fn milliseconds(&self) -> f64 {
        let decisions = self.decisions.load(Ordering::Relaxed).max(1);
        self.nanoseconds.load(Ordering::Relaxed) as f64 / decisions as f64 / 1e6
    }
}

struct Timed {
    bot: Box<dyn Bot>,
    thinking: Thinking,
}

impl Bot for Timed {
    fn choose(&mut self, decision: &Decision) -> Action {
        let began = Instant::now();
        let action = self.bot.choose(decision);
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.thinking.nanoseconds.fetch_add(took, Ordering::Relaxed);
        self.thinking.decisions.fetch_add(1, Ordering::Relaxed);
        action
    }
}
