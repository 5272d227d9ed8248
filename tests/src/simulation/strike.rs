//! How the faults strike.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::{Instant, advance, sleep};
use zetema_rules::fair::Nonce;
use zetema_rules::{Action, Card};
use zetema_service::table::{Choice, Rejection};

use super::disk::Disk;
use super::fault::Kind;
use super::place::{NoAnswer, Place};
use super::player::{Player, Role, nonce_of};
use super::random::Random;
use super::server::{Running, Server};
use super::truth::Truth;

/// How often a fault is tried that needs an answer.
const ATTEMPTS: usize = 20;

/// What faults strike.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) server: Arc<Server>,
    pub(super) disk: Disk,
    pub(super) truth: Arc<Truth>,
    /// The seats of all matches.
    pub(super) seats: Vec<Arc<Place>>,
    /// Those who look on.
    pub(super) watchers: Vec<Arc<Place>>,
    pub(super) random: Random,
}

impl Scene {
    /// A fault strikes now. It returns when nothing more comes of it.
    pub(super) async fn strike(&mut self, kind: Kind) {
        self.truth.note(format_args!("{kind:?}"));
        self.truth.tally(|tally| *tally.faults.entry(kind.name()).or_default() += 1);
        match kind {
            Kind::Kill { away_ms, writes } => self.server.kill(writes, away_ms).await,
            Kind::Stop { away_ms } => self.server.stop(away_ms).await,
            Kind::Stall { ms } => {
                let (from, time) = (Instant::now(), Duration::from_millis(ms));
                self.truth.lock().time_line.stalled(from, from + time);
                advance(time).await;
            }
            Kind::WallClock { by_ms } => self.server.set_wall(by_ms),
            Kind::Append { fate, times } => self.disk.fail_next(fate, times),
            Kind::NoAnswer { writes, kill_after_ms, away_ms } => {
                self.disk.leave_next_unanswered(writes);
                sleep(Duration::from_millis(kill_after_ms)).await;
                self.server.kill(writes, away_ms).await;
            }
            Kind::SlowDisk { for_ms, up_to_ms } => self.disk.slow_down(for_ms, up_to_ms),
            Kind::Reads { times } => self.disk.fail_reads(times),
            Kind::Cut { place } => self.anyone(place).link.cut(),
            Kind::Loss { place, for_ms, lost } => self.anyone(place).link.lose(for_ms, lost),
            Kind::Delay { place, for_ms, up_to_ms } => self.anyone(place).link.delay(for_ms, up_to_ms),
            Kind::Twice { place, for_ms } => self.anyone(place).link.double(for_ms),
            Kind::Takeover { place, for_ms } => {
                let until = Instant::now() + Duration::from_millis(for_ms);
                let random = Random::new(self.random.next(), &[]);
                Player::new(self.seat(place), Role::Other(until), random).play().await;
            }
            Kind::Silence { place, for_ms } => self.seat(place).silence(for_ms),
            Kind::Resign { place } => self.resign(&self.seat(place)).await,
            Kind::Cancel { place } => self.cancel(&self.seat(place)).await,
            Kind::NewToken { place } => self.new_token(&self.seat(place)).await,
            Kind::AnotherNonce { place } => self.another_nonce(&self.seat(place)).await,
            Kind::OldAnswers { place } => self.old_answers(&self.seat(place)).await,
            Kind::EarlyAnswer { place } => self.early_answer(&self.seat(place)).await,
            Kind::OutOfTurn { place } => self.out_of_turn(&self.seat(place)).await,
        }
    }

    fn seat(&self, place: usize) -> Arc<Place> {
        Arc::clone(&self.seats[place % self.seats.len()])
    }

    fn anyone(&self, place: usize) -> &Place {
        let place = place % (self.seats.len() + self.watchers.len());
        self.seats.get(place).unwrap_or_else(|| &self.watchers[place - self.seats.len()])
    }

    /// Resigns until it is told what became of it, then again: the answer must be the same.
    async fn resign(&self, place: &Place) {
        let mut first = None;
        for _ in 0..ATTEMPTS {
            let (match_id, access) = (place.match_id, place.access());
            let asked = place.ask(move |Running { matches, .. }| {
                async move { matches.resign(match_id, access).await }.boxed()
            });
            match (asked.await, first) {
                (Ok(Ok(seq)), None) => {
                    first = Some(seq);
                    let stored =
                        self.truth.with(match_id, |expected| expected.shown_to(place.viewer()) as u64);
                    if stored.is_none_or(|stored| seq > stored) {
                        self.truth
                            .problem(format_args!("a resignation is acknowledged, and not stored (I1)"));
                    }
                }
                (Ok(Ok(seq)), Some(first)) if seq == first => return,
                (Ok(Ok(seq)), Some(first)) => {
                    return self
                        .truth
                        .problem(format_args!("a resignation was at {first}, and is at {seq} (I2)"));
                }
                (Ok(Err(Rejection::MatchOver | Rejection::NotStarted | Rejection::Illegal { .. })), None) => {
                    return;
                }
                (Err(NoAnswer), _) | (Ok(Err(_)), None) => {}
                (Ok(Err(rejection)), Some(_)) => match rejection {
                    Rejection::OutcomeUnknown | Rejection::Stopping | Rejection::TokenReplaced => {}
                    _ => return self.truth.problem(format_args!("a resignation again: {rejection:?} (I2)")),
                },
            }
            sleep(Duration::from_millis(150)).await;
        }
    }

    /// Cancels until it is told what became of it, then again.
    async fn cancel(&self, place: &Place) {
        let mut first = None;
        for _ in 0..ATTEMPTS {
            let match_id = place.match_id;
            let asked = place
                .ask(move |Running { matches, .. }| async move { matches.cancel(match_id).await }.boxed());
            match (asked.await, &first) {
                (Ok(Ok(info)), None) => first = Some(info.outcome),
                (Ok(Ok(info)), Some(first)) if info.outcome == *first => return,
                (Ok(Ok(_)), Some(_)) => {
                    return self.truth.problem("a match was cancelled twice, in two ways (I2)");
                }
                (Ok(Err(Rejection::MatchOver)), None) => return,
                (Ok(Err(rejection)), _) => match rejection {
                    Rejection::OutcomeUnknown | Rejection::Stopping => {}
                    _ => return self.truth.problem(format_args!("cancelling {match_id}: {rejection:?}")),
                },
                (Err(NoAnswer), _) => {}
            }
            sleep(Duration::from_millis(150)).await;
        }
    }

    /// Whoever made the match gives the seat a new token, and tries until it knows it. If the match is over before that, it
    /// is told by other means, as it would be if it had named its request.
    async fn new_token(&self, place: &Place) {
        let (match_id, seat) = (place.match_id, place.seat);
        let stored = || self.truth.with(match_id, |expected| expected.table().generation(seat)).flatten();
        while !place.is_over() {
            let asked = place.ask_once(move |Running { matches, .. }| {
                async move { matches.rotate_token(match_id, seat).await }.boxed()
            });
            match asked.await {
                Ok(Ok(generation)) if stored() < Some(generation) => {
                    return self.truth.problem("a new token is acknowledged, and not stored (I1)");
                }
                Ok(Ok(_) | Err(Rejection::MatchOver)) => break,
                Err(NoAnswer) | Ok(Err(Rejection::OutcomeUnknown | Rejection::Stopping)) => {
                    sleep(Duration::from_millis(150)).await;
                }
                Ok(Err(rejection)) => {
                    return self.truth.problem(format_args!("a new token for {match_id}: {rejection:?}"));
                }
            }
        }
        for place in self.seats.iter().chain(&self.watchers) {
            if place.match_id == match_id && place.seat == seat {
                place.set_generation(stored().unwrap_or_default());
            }
        }
    }

    /// The nonce that was sent, once more, and then another, which nobody may accept.
    async fn another_nonce(&self, place: &Place) {
        let right = nonce_of(place);
        let other = Nonce::new(b"another").unwrap();
        for (nonce, counts) in right.map(|nonce| (nonce, true)).into_iter().chain([(other, false)]) {
            let (match_id, access) = (place.match_id, place.access());
            let asked = place.ask(move |Running { matches, .. }| {
                let nonce = nonce.clone();
                async move { matches.send_nonce(match_id, access, nonce).await }.boxed()
            });
            match asked.await {
                Ok(Ok(())) if !counts => {
                    self.truth.problem(format_args!("another nonce of seat {} is accepted", place.seat));
                }
                Ok(Err(Rejection::NonceFixed | Rejection::NonceMismatch)) if counts => {
                    self.truth.problem(format_args!("the same nonce of seat {} is refused (I2)", place.seat));
                }
                _ => {}
            }
        }
    }

    /// The last answers once more, and then another answer to the last.
    async fn old_answers(&self, place: &Place) {
        let answered = place.answered.lock().unwrap().clone();
        for (decision, action) in answered.iter().rev().take(5) {
            // What it is answered is judged where it is.
            let _ = place.act(*decision, Choice::Action(*action), *action).await;
        }
        let Some(&(decision, action)) = answered.last() else { return };
        let other = answered.iter().find(|(_, other)| *other != action);
        if let Some(&(_, other)) = other {
            self.refused(place, decision, Choice::Action(other)).await;
        }
    }

    async fn early_answer(&self, place: &Place) {
        let current = self.truth.with(place.match_id, |expected| expected.table().decision()).flatten();
        self.refused(place, current.unwrap_or_default() + 100_000, Choice::LegalIndex(0)).await;
    }

    /// Sends an answer that can't count.
    async fn refused(&self, place: &Place, decision: u32, choice: Choice) {
        let (truth, match_id, access) = (Arc::clone(&self.truth), place.match_id, place.access());
        // That it is lost is no matter.
        let _ = place
            .ask(move |Running { matches, .. }| {
                let truth = Arc::clone(&truth);
                async move {
                    let answer = matches.act(match_id, access, decision, choice).await;
                    truth.refused((match_id, decision), choice, &answer);
                }
                .boxed()
            })
            .await;
    }

    /// A discard when another is to act, offered twice.
    async fn out_of_turn(&mut self, place: &Place) {
        let seen = self.truth.with(place.match_id, |expected| {
            let hand = expected.hand(place.seat);
            expected.table().decision().filter(|_| expected.table().to_act() != Some(place.seat)).zip(hand)
        });
        let Some((decision, hand)) = seen.flatten() else { return };
        let cards: Vec<Card> = hand.iter().collect();
        if cards.is_empty() {
            return;
        }
        let card = self.random.pick(&cards);
        for _ in 0..2 {
            let (truth, match_id, access) = (Arc::clone(&self.truth), place.match_id, place.access());
            let _ = place
                .ask(move |Running { matches, .. }| {
                    let truth = Arc::clone(&truth);
                    async move {
                        let choice = Choice::Action(Action::Discard(card));
                        let answer = matches.act(match_id, access, decision, choice).await;
                        truth.offered((match_id, access.seat, decision), card, &answer);
                    }
                    .boxed()
                })
                .await;
        }
    }
}
