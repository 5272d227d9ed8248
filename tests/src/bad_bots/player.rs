//! A bot that plays what a ladder gives it, well or badly.

use std::collections::HashMap;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::time::{Instant, sleep, sleep_until};
use zetema_proto::v1;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;

use super::line::{Ended, Gone, Place, Requests, join};
use super::{Felt, Line};

/// How long it waits until it comes back after the end of a stream.
const BACK_AFTER: Duration = Duration::from_millis(200);
/// How long a good bot thinks.
const THINKS: Duration = Duration::from_millis(5);
/// After so many actions one that crashes does.
const CRASHES_AFTER: u32 = 7;
/// So far before and after its time a slow bot answers.
const NEARLY: Duration = Duration::from_millis(150);
/// An action that is never legal.
const NO_ACTION: u32 = 100_000;
/// When there is nothing to do.
const FOR_LONG: Duration = Duration::from_hours(1);

/// Of the tag of an action; the decision is below.
const ACT: u64 = 1 << 63;

/// How a bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// As it should.
    Good,
    /// It joins nothing.
    Silent,
    /// It answers shortly before its time is out, and then shortly after.
    Slow,
    /// It sends an illegal action before each legal one.
    Illegal,
    /// It cuts its connection every few actions, and comes back.
    Crashing,
}

/// A bot that plays what a ladder gives it.
pub(super) struct Player {
    place: Place,
    manner: Manner,
    felt: Felt,
    random: StdRng,
    /// Seats that it has joined, by their handles.
    seats: HashMap<u32, Seat>,
    /// Matches in the order in which it has asked to join them, by tags from 1.
    asked: Vec<v1::LiveSeat>,
    /// Actions since the stream was opened.
    acted: u32,
    /// What was rejected for now, and when it is said again.
    later: Vec<(Instant, Again)>,
}

/// What is said again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    /// Where the bot waits.
    Queue,
    /// The join with this tag.
    Join(usize),
    /// The answer to this decision, for this handle.
    Act(u32, u32),
}

/// A seat of a match.
#[derive(Default)]
struct Seat {
    /// The decision that is open, how many actions are legal, and when it is answered.
    open: Option<(u32, u32, Instant)>,
    /// The decision that was answered, by which legal action, and when first.
    sent: Option<(u32, u32, Instant)>,
    /// How many decisions it has had.
    decisions: u32,
}

impl Player {
    pub(super) fn new(place: Place, manner: Manner, felt: Felt, seed: u64) -> Self {
        let random = StdRng::seed_from_u64(seed);
        let (seats, asked, later) = (HashMap::new(), Vec::new(), Vec::new());
        Self { place, manner, felt, random, seats, asked, acted: 0, later }
    }

    /// Plays for ever, on one stream after the other.
    pub(super) async fn play_on(mut self) {
        loop {
            self.seats.clear();
            self.asked.clear();
            self.later.clear();
            self.acted = 0;
            match Line::open(&self.place).await {
                Ok(mut line) => self.play(&mut line).await,
                Err(gone) => self.felt.gone(gone),
            }
            sleep(BACK_AFTER).await;
        }
    }

    /// Plays until the stream ends, or the bot cuts it.
    async fn play(&mut self, line: &mut Line) {
        loop {
            let answers = self.seats.values().filter_map(|seat| Some(seat.open?.2));
            let due = answers.chain(self.later.iter().map(|(at, _)| *at)).min();
            let gone_on = tokio::select! {
                biased;
                message = line.responses.message() => match message {
                    Ok(Some(message)) => self.heard(&line.requests, message).await,
                    Ok(None) => Err(Ended),
                    Err(status) => {
                        self.felt.gone(Gone::of(&status));
                        Err(Ended)
                    }
                },
                () = sleep_until(due.unwrap_or_else(|| Instant::now() + FOR_LONG)) => self.say_due(&line.requests).await,
            };
            let crashes = self.manner == Manner::Crashing && self.acted >= CRASHES_AFTER;
            if gone_on.is_err() || crashes {
                return;
            }
        }
    }

    async fn heard(&mut self, line: &Requests, message: v1::PlayResponse) -> Result<(), Ended> {
        let v1::PlayResponse { tag, handle, kind } = message;
        match kind {
            Some(Answer::Welcome(welcome)) => {
                self.felt.welcomed(&welcome);
                for seat in welcome.live_seats {
                    self.join(line, seat).await?;
                }
            }
            Some(Answer::SeatAssigned(seat)) => {
                self.felt.given();
                self.join(line, seat).await?;
            }
            Some(Answer::Joined(start)) => {
                self.seats.insert(handle, Seat::default());
                if let Some(v1::subscription_start::Kind::Snapshot(snapshot)) = start.kind {
                    self.decide(handle, snapshot.decision_number, snapshot.decision);
                }
            }
            Some(Answer::Observation(observation)) => {
                if let Some(seat) = self.seats.get_mut(&handle)
                    && let Some(answered) = observation.answered_decision_number
                    && let Some((.., sent)) = seat.sent.take_if(|(decision, ..)| *decision == answered)
                {
                    self.felt.answered(sent.elapsed());
                }
                self.decide(handle, observation.decision_number, observation.decision);
            }
            Some(Answer::End(_)) => {
                self.seats.remove(&handle);
                self.felt.over();
            }
            Some(Answer::Superseded(_)) => {
                self.seats.remove(&handle);
                self.felt.note(|seen| seen.superseded += 1);
            }
            Some(Answer::Rejection(error)) => self.refused(handle, tag, &error),
            Some(Answer::LadderNotice(notice)) => self.felt.notice(&notice),
            Some(Answer::Ping(v1::Ping { number })) => {
                line.say(0, 0, Ask::Pong(v1::Pong { number })).await?;
            }
            _ => {}
        }
        Ok(())
    }

    async fn join(&mut self, line: &Requests, seat: v1::LiveSeat) -> Result<(), Ended> {
        if self.manner == Manner::Silent {
            return Ok(());
        }
        self.asked.push(seat);
        self.join_asked(line, self.asked.len()).await
    }

    /// What was asked for by the join with this tag.
    fn asked(&self, tag: u64) -> Option<&v1::LiveSeat> {
        self.asked.get(usize::try_from(tag).ok()?.checked_sub(1)?)
    }

    async fn join_asked(&self, line: &Requests, tag: usize) -> Result<(), Ended> {
        let Some(seat) = self.asked(tag as u64) else { return Ok(()) };
        line.say(tag as u64, 0, join(seat, v1::Views::SnapshotsOnly)).await
    }

    /// What was rejected for now is said again when it may be. Nothing else waits for that.
    fn refused(&mut self, handle: u32, tag: u64, error: &v1::Error) {
        self.felt.rejected(error);
        let after = match error.retry_after_ms {
            Some(ms) => Duration::from_millis(ms.into()),
            None if error.reason() == v1::ErrorReason::OutcomeUnknown => BACK_AFTER,
            None => return,
        };
        let again = match tag {
            // What is illegal on purpose, or a pong.
            0 => return,
            Line::HELLO => Again::Queue,
            tag if tag & ACT != 0 => Again::Act(handle, u32::try_from(tag & !ACT).unwrap()),
            tag => Again::Join(usize::try_from(tag).unwrap()),
        };
        self.later.push((Instant::now() + after, again));
    }

    /// A decision may have come.
    fn decide(&mut self, handle: u32, number: Option<u32>, decision: Option<v1::Decision>) {
        let (Some(number), Some(decision)) = (number, decision) else { return };
        let Some(seat) = self.seats.get_mut(&handle) else { return };
        let is_known = seat.open.is_some_and(|(open, ..)| open == number)
            || seat.sent.is_some_and(|(sent, ..)| sent == number);
        if is_known {
            return;
        }
        seat.decisions += 1;
        let legal = decision.legal_actions.unwrap_or_default();
        let choices = u32::try_from(legal.discards.len() + legal.declarations.len()).unwrap();
        let waits = match (self.manner, decision.clock) {
            (Manner::Slow, Some(v1::Clock { budget_ms, bank_ms, .. })) => {
                let budget = Duration::from_millis(budget_ms.into());
                if seat.decisions == 1 {
                    budget.saturating_sub(NEARLY)
                } else {
                    budget + Duration::from_millis(bank_ms) + NEARLY
                }
            }
            _ => THINKS,
        };
        seat.open = Some((number, choices, Instant::now() + waits));
    }

    /// Says what is due.
    async fn say_due(&mut self, line: &Requests) -> Result<(), Ended> {
        self.act(line).await?;
        self.say_again(line).await
    }

    /// Says again what was rejected for now and may be said again.
    async fn say_again(&mut self, line: &Requests) -> Result<(), Ended> {
        let (now, mut due) = (Instant::now(), Vec::new());
        self.later.retain(|(at, again)| {
            if *at <= now {
                due.push(*again);
            }
            *at > now
        });
        for again in due {
            match again {
                Again::Queue => {
                    let Place { ladder, places, .. } = &self.place;
                    let queue = v1::LadderQueue { ladder: ladder.clone(), matches_at_once: *places };
                    let queues = v1::Queues { queues: vec![queue], challenges: None };
                    line.say(Line::HELLO, 0, Ask::Queues(queues)).await?;
                }
                Again::Join(tag) => self.join_asked(line, tag).await?,
                Again::Act(handle, decision) => {
                    let sent = self.seats.get(&handle).and_then(|seat| seat.sent);
                    if let Some((_, index, _)) = sent.filter(|(sent, ..)| *sent == decision) {
                        line.say(ACT | u64::from(decision), handle, act(decision, index)).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Answers what is due.
    async fn act(&mut self, line: &Requests) -> Result<(), Ended> {
        let now = Instant::now();
        let Self { seats, random, acted, manner, felt, .. } = self;
        for (handle, seat) in seats {
            let Some((number, choices, _)) = seat.open.take_if(|(.., due)| *due <= now) else { continue };
            if *manner == Manner::Illegal {
                felt.note(|seen| seen.illegal += 1);
                line.say(0, *handle, act(number, NO_ACTION)).await?;
            }
            let index = random.random_range(0..choices);
            seat.sent = Some((number, index, Instant::now()));
            line.say(ACT | u64::from(number), *handle, act(number, index)).await?;
            *acted += 1;
        }
        Ok(())
    }
}

/// Answers a decision by the legal action of this index.
const fn act(decision_number: u32, index: u32) -> Ask {
    Ask::Act(v1::Act { decision_number, choice: Some(Choice::LegalIndex(index)) })
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn what_is_rejected_for_now_is_said_again_when_it_may_be_and_holds_up_nothing_else() {
        let (sender, mut sent) = mpsc::channel(8);
        let (line, from) = (Requests::to(sender), IpAddr::V4(Ipv4Addr::LOCALHOST));
        let place =
            Place { url: String::new(), from, token: String::new(), ladder: "l".to_owned(), places: 2 };
        let mut player = Player::new(place, Manner::Good, Felt::default(), 1);
        player.seats.insert(7, Seat { sent: Some((5, 2, Instant::now())), ..Seat::default() });
        player.asked.push(v1::LiveSeat { match_id: "m".to_owned(), ..v1::LiveSeat::default() });
        let rejection = |tag, handle, retry_after_ms| {
            let error = v1::Error { retry_after_ms, ..v1::Error::new(v1::ErrorReason::Overloaded, "") };
            v1::PlayResponse { tag, handle, kind: Some(Answer::Rejection(error)) }
        };
        // For long, which nobody waits for here.
        for (tag, handle) in [(Line::HELLO, 0), (1, 0), (ACT | 5, 7), (0, 7)] {
            player.heard(&line, rejection(tag, handle, Some(3_600_000))).await.unwrap();
        }
        player.say_due(&line).await.unwrap();
        assert!(sent.try_recv().is_err(), "it is too early");
        assert_eq!(
            player.later.iter().map(|(_, again)| *again).collect::<Vec<_>>(),
            [Again::Queue, Again::Join(1), Again::Act(7, 5)]
        );
        player.later.clear();
        for (tag, handle) in [(Line::HELLO, 0), (1, 0), (ACT | 5, 7)] {
            player.heard(&line, rejection(tag, handle, Some(0))).await.unwrap();
        }
        player.say_due(&line).await.unwrap();
        let said: Vec<_> = std::iter::from_fn(|| sent.try_recv().ok()).collect();
        assert!(
            matches!(&said[..], [queue, join, again]
                if matches!(queue.kind, Some(Ask::Queues(_)))
                    && matches!(join.kind, Some(Ask::Join(_)))
                    && again.kind == Some(act(5, 2)) && (again.handle, again.tag) == (7, ACT | 5)),
            "{said:?}"
        );
        // One without a time is not to be said again.
        player.heard(&line, rejection(ACT | 5, 7, None)).await.unwrap();
        assert!(player.later.is_empty());
    }
}
