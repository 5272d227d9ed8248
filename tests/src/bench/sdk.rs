//! Plays matches by sessions of the SDK, each on a connection of its own: what a bot's author runs.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use anyhow::{Context, ensure};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tokio::task::JoinSet;
use zetema_sdk::{Action, Bot, DealCheck, Decision, End, Outcome, Seat, SeatEvent, Session, Settings, View};

use super::creation::{Created, Creation};
use super::meter::Meter;

/// Has matches played, so many at once by so many sessions. The first ones are created when this returns.
pub(super) async fn sessions(
    server: &str,
    sessions: usize,
    live: usize,
    creation: Creation,
    meter: &Arc<Meter>,
) -> anyhow::Result<JoinSet<()>> {
    let mut created = creation.many(live).await?;
    let (creation, seeds) = (Arc::new(creation), Arc::new(AtomicU64::new(0)));
    let mut tasks = JoinSet::new();
    for left in (1..=sessions).rev() {
        let first = created.split_off(created.len() - created.len() / left);
        let (bots, seeds) = (Arc::clone(meter), Arc::clone(&seeds));
        let session = Session::open(server, Settings::default(), move |info| Player {
            seat: info.seat,
            random: SmallRng::seed_from_u64(seeds.fetch_add(1, Relaxed)),
            meter: Arc::clone(&bots),
            chosen: None,
        })?;
        let (creation, meter) = (Arc::clone(&creation), Arc::clone(meter));
        tasks.spawn(async move {
            if let Err(error) = play(session, first, &creation).await {
                meter.fail(&format!("{error:#}"));
            }
        });
    }
    Ok(tasks)
}

/// Plays these matches, and each time that one is over another one.
async fn play(mut session: Session, first: Vec<Created>, creation: &Creation) -> anyhow::Result<()> {
    for created in first {
        begin(&mut session, created)?;
    }
    // Seats that were heard of, by match: those of one that is over.
    let mut over: HashMap<String, usize> = HashMap::new();
    while let Some(outcome) = session.next().await {
        ensure!(is_sound(&outcome), "the SDK tells: {outcome}");
        let info = outcome.info.context("a seat was played that was not joined")?;
        let seats = over.entry(info.match_id.clone()).or_default();
        *seats += 1;
        if *seats == info.rules.seats().len() {
            over.remove(&info.match_id);
            begin(&mut session, creation.one().await?)?;
        }
    }
    Ok(())
}

fn begin(session: &mut Session, created: Created) -> anyhow::Result<()> {
    for token in created.tokens {
        session.play(token.into())?;
    }
    Ok(())
}

/// Whether a match was played to its end, on deals that are as they should be, without a fault.
fn is_sound(outcome: &Outcome) -> bool {
    matches!(outcome.end, End::Result(_)) && outcome.deal == DealCheck::Verified && outcome.faults.is_empty()
}

/// The simplest player: it chooses any legal action.
struct Player {
    seat: Seat,
    random: SmallRng,
    meter: Arc<Meter>,
    /// When it has chosen, until it sees its own action.
    chosen: Option<Instant>,
}

impl Bot for Player {
    fn choose(&mut self, decision: &Decision) -> Action {
        self.chosen = Some(Instant::now());
        let index = self.random.random_range(0..decision.legal.len().max(1));
        decision.legal.get(index).unwrap_or(decision.first())
    }

    fn start(&mut self, _view: Option<&View>) {
        self.meter.seat_taken();
    }

    fn observe(&mut self, event: &SeatEvent) {
        if let SeatEvent::Declared { seat, .. } | SeatEvent::Discarded { seat, .. } = event
            && *seat == self.seat
            && let Some(chosen) = self.chosen.take()
        {
            self.meter.done(chosen.elapsed());
        }
    }
}
