//! One match, shown as it is played.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::iter::repeat;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use console::style;
use tokio::sync::mpsc::{UnboundedReceiver, error::TryRecvError, unbounded_channel};
use zetema_rules::{DealingKind, Outcome, SeatEvent, View};

use super::arena::{Arena, Played, write};
use super::pace::{Ahead, beats, pause};
use crate::json::hex;
use crate::output;
use crate::render::{self, Names};
use crate::screen::Screen;
use crate::watch::{Seen, Watching};

/// How many of the last events stand under the table: so many where there is room, and so many at least.
const LAST: RangeInclusive<usize> = 2..=6;

/// Plays a match, shows it, and verifies its record.
pub(super) async fn play(arena: &Arena, records: Option<&Path>) -> Result<()> {
    let created = arena.create(0..1).await?;
    let match_id = created.first().map(|created| created.match_id.clone());
    let match_id = match_id.ok_or_else(|| anyhow!("the server created no match"))?;
    output::note(format!("  {}\n  {} at {}\n", arena.rules(), arena.names().all(), arena.url()));
    let (watching, _) = Watching::start(arena.client(), &match_id).await?;
    let mut playing = arena.open()?;
    playing.play(created)?;
    let shown = Show::new(arena).run(collect(watching));
    let (shown, played) = tokio::join!(shown, playing.next());
    shown?;
    let played = played?.ok_or_else(|| anyhow!("the match did not end"))?;
    conclude(arena, &played, records)
}

/// Takes what the server sends as it comes, so that a show that lingers keeps no stream waiting: a match
/// has some hundred steps, so there is no need of a bound.
fn collect(mut watching: Watching) -> UnboundedReceiver<Result<Seen>> {
    let (sender, receiver) = unbounded_channel();
    tokio::spawn(async move {
        while let Some(seen) = watching.next().await.transpose() {
            let failed = seen.is_err();
            if sender.send(seen).is_err() || failed {
                return;
            }
        }
    });
    receiver
}

/// What is on show.
struct Show {
    names: Names,
    screen: Option<Screen>,
    began: Instant,
    view: Option<Box<View>>,
    last: VecDeque<String>,
    /// How many of them have room.
    kept: usize,
}

impl Show {
    fn new(arena: &Arena) -> Self {
        // The table and an empty line.
        let lines = 12 + arena.rules().player_count().count();
        let screen = Screen::with_room_for(lines + LAST.start());
        let room = screen.as_ref().map_or(0, |screen| screen.room().saturating_sub(lines));
        Self {
            names: arena.names(),
            kept: room.min(*LAST.end()),
            screen,
            began: Instant::now(),
            view: None,
            last: VecDeque::new(),
        }
    }

    async fn run(mut self, mut coming: UnboundedReceiver<Result<Seen>>) -> Result<()> {
        let mut next = VecDeque::new();
        let mut ended = false;
        loop {
            ended |= take(&mut coming, &mut next)?;
            if next.is_empty() && !ended {
                next.extend(coming.recv().await.transpose()?);
            }
            match next.pop_front() {
                Some(Seen::Observation { events, view, .. }) => {
                    self.step(&events, view)?;
                    let ahead = if ended { Ahead::Beats(beats_of(&next)) } else { Ahead::Unknown };
                    if std::io::stdout().is_terminal() {
                        tokio::time::sleep(pause(beats(&events), ahead, self.began.elapsed())).await;
                    }
                }
                Some(Seen::Start(view)) => self.view = view.or(self.view),
                Some(Seen::End(_)) => return self.close(),
                None => bail!("the server stopped showing the match before its end"),
            }
        }
    }

    fn step(&mut self, events: &[SeatEvent], view: Option<Box<View>>) -> Result<()> {
        self.view = view.or_else(|| self.view.take());
        let lines: Vec<String> =
            events.iter().filter_map(|event| render::event(event, &self.names)).collect();
        let Some(screen) = &mut self.screen else {
            return lines.iter().try_for_each(output::print);
        };
        self.last.extend(lines);
        while self.last.len() > self.kept {
            self.last.pop_front();
        }
        let Some(view) = &self.view else { return Ok(()) };
        let mut picture = format!("{}\n", render::view(view, &self.names));
        for line in self.last.iter().map(String::as_str).chain(repeat("")).take(self.kept) {
            picture.push_str("\n  ");
            picture.push_str(line);
        }
        screen.draw(&picture)
    }

    /// Without a screen the table is shown at the end at least.
    fn close(&self) -> Result<()> {
        match (&self.screen, &self.view) {
            (None, Some(view)) => output::print(format!("\n{}", render::view(view, &self.names))),
            _ => Ok(()),
        }
    }
}

/// Takes what has come; the answer is whether that was all.
fn take(coming: &mut UnboundedReceiver<Result<Seen>>, next: &mut VecDeque<Seen>) -> Result<bool> {
    loop {
        match coming.try_recv() {
            Ok(seen) => next.push_back(seen?),
            Err(TryRecvError::Empty) => return Ok(matches!(next.back(), Some(Seen::End(_)))),
            Err(TryRecvError::Disconnected) => return Ok(true),
        }
    }
}

fn beats_of(next: &VecDeque<Seen>) -> u32 {
    next.iter()
        .map(|seen| match seen {
            Seen::Observation { events, .. } => beats(events),
            Seen::Start(_) | Seen::End(_) => 0,
        })
        .sum()
}

/// A folder of its own, which stays: one that demos shared would be of whoever was the first.
fn fresh_folder() -> Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix("zetema-demo-").tempdir();
    let folder =
        folder.context("there is no room for the record among the temporary files: give --records DIR")?;
    Ok(folder.keep())
}

/// Says what the deals follow from, and how anyone can check that.
fn conclude(arena: &Arena, played: &Played, records: Option<&Path>) -> Result<()> {
    let record = &played.record;
    if let Outcome::Aborted { .. } = record.outcome {
        bail!("{}", render::outcome(&record.outcome, &arena.names()));
    }
    if let Some(problem) = &played.problem {
        bail!("the match {} does not verify: {problem}", played.match_id);
    }
    let program = output::program();
    let bound = match record.dealing.kind {
        DealingKind::Fixed => "The seed\n            was given with the match, which has the commitment",
        DealingKind::Joint | DealingKind::Shared => {
            "The server\n            was bound to the seed before the match, by the commitment"
        }
    };
    output::print(format!(
        "\n  {}  {} and {} replay from the seed, with every card and score. {bound}\n            {}\n\n  Check both \
         yourself:\n    (printf zetema/v1/commit; echo {} | xxd -r -p) | sha256sum",
        style("verified").green().bold(),
        render::counted(record.deals.len(), "deal"),
        render::counted(record.steps.len(), "step"),
        hex(&record.dealing.commitment.0),
        hex(record.dealing.server_seed.reveal()),
    ))?;
    // Only now: what was verified is told, whatever comes of the file.
    let path = match records {
        Some(folder) => write(folder, played)?,
        None => write(&fresh_folder()?, played)?,
    };
    output::print(format!("    {program} record verify {}\n", path.display()))?;
    if let Some(folder) = arena.kept() {
        output::note(format!("  Serve it again: {program} serve --data {}", folder.display()));
    }
    output::note(format!("  Play yourself: {program} play"));
    Ok(())
}
