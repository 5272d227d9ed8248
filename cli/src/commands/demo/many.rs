//! Many matches, as fast as they go.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use zetema_rules::Outcome;
use zetema_service::server::Terminations;

use super::arena::{Arena, Played, write};
use crate::json::RulesJson;
use crate::json::demo::{DemoJson, PlayedJson, SeatSummaryJson, SummaryJson};
use crate::output::{self, Format};
use crate::render::counted;

/// Matches that are played at once, at most: with six players each they take 384 of the thousand seats that
/// a server gives one stream.
const AT_ONCE: usize = 64;
/// Matches that are created at once, when so many may begin.
const BATCH: u64 = 32;

/// Plays so many matches and prints what came of them.
/// When the program is told to stop, it prints what came of those that are over.
pub(super) async fn play(arena: &Arena, count: u64, records: Option<&Path>, format: Format) -> Result<()> {
    let mut signals = Terminations::listen().context("signals can't be had")?;
    let began = Instant::now();
    let progress = progress(count)?;
    let mut over = Vec::new();
    let mut playing = arena.open()?;
    let mut created = 0;
    loop {
        while created < count && playing.open() + usize::try_from(BATCH)? <= AT_ONCE {
            let next = count.min(created + BATCH);
            playing.play(arena.create(created..next).await?)?;
            created = next;
        }
        let played = tokio::select! {
            played = playing.next() => played?,
            () = signals.next() => None,
        };
        let Some(played) = played else { break };
        if let Some(folder) = records {
            write(folder, &played)?;
        }
        over.push(played);
        progress.inc(1);
    }
    progress.finish_and_clear();
    over.sort_by_key(|played| played.number);
    print(arena, &over, began, format)?;
    let mut problems = Vec::new();
    let wrong: Vec<&Played> = over.iter().filter(|played| !is_right(played)).collect();
    if let Some(first) = wrong.first() {
        let (failed, why) = (wrong.len(), first.problem.as_deref().unwrap_or("it has no result"));
        problems
            .push(format!("{failed} of {count} matches went wrong; the first is {}: {why}", first.match_id));
    }
    if u64::try_from(over.len())? < count {
        problems.push(format!("stopped before the end: {} of {count} matches were over", over.len()));
    }
    ensure!(problems.is_empty(), "{}", problems.join("; "));
    Ok(())
}

fn is_right(played: &Played) -> bool {
    played.problem.is_none() && matches!(played.record.outcome, Outcome::Result(_))
}

/// Shown on stderr, and only if that is a terminal.
fn progress(count: u64) -> Result<ProgressBar> {
    let style = "{bar:40.green/dim} {pos} of {len} matches in {elapsed}";
    let progress = ProgressBar::new(count).with_style(ProgressStyle::with_template(style)?);
    progress.tick();
    Ok(progress)
}

fn print(arena: &Arena, over: &[Played], began: Instant, format: Format) -> Result<()> {
    let outcomes: Vec<&Outcome> = over.iter().map(|played| &played.record.outcome).collect();
    let summary = SummaryJson {
        matches: over.len(),
        finished: outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Result(_))).count(),
        verified: over.iter().filter(|played| played.problem.is_none()).count(),
        duration_ms: began.elapsed().as_millis(),
        seats: SeatSummaryJson::all(arena.rules(), arena.bots(), &outcomes),
    };
    match format {
        Format::Table => print_table(arena, &summary),
        Format::Json => {
            let played = |played: &Played| {
                PlayedJson::new(&played.match_id, &played.record, played.problem.as_deref())
            };
            output::print_json(&DemoJson {
                rules: RulesJson::new(arena.rules()),
                matches: over.iter().map(played).collect(),
                summary,
            })
        }
    }
}

fn print_table(arena: &Arena, summary: &SummaryJson) -> Result<()> {
    let mut table = output::table(["seat", "bot", "side", "won", "shared", "points on average"]);
    for seat in &summary.seats {
        table.add_row([
            seat.seat.to_string(),
            seat.bot.to_owned(),
            seat.side.to_string(),
            seat.won.to_string(),
            seat.shared.to_string(),
            seat.mean_points.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.1}")),
        ]);
    }
    output::align_right(&mut table, 2..6);
    let SummaryJson { matches, finished, verified, duration_ms, .. } = summary;
    output::print(arena.rules())?;
    output::print(table)?;
    output::print(format!(
        "{} in {}.{:03} s: {finished} played to a result, {verified} verified",
        counted(*matches, "match"),
        duration_ms / 1_000,
        duration_ms % 1_000
    ))
}
