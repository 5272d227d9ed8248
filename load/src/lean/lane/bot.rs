//! A bot that waits on a ladder, and plays the seats that it is given.

use std::collections::VecDeque;

use super::{Count, Instant, Lane, Later, Measure, Output, Table, retry_after};
use crate::think::Think;
use zetema_proto::v1;

/// A bot that waits on a ladder.
pub(crate) struct Bot {
    /// Its number in the run.
    pub(crate) number: usize,
    /// Its token.
    pub(crate) token: String,
    /// The ladder.
    pub(crate) ladder: String,
    /// How many matches it plays at once at most.
    pub(crate) places: u16,
    /// How long it thinks.
    pub(crate) think: Think,
    /// From what its choices follow.
    pub(crate) seed: u64,
}

/// What a lane knows of its bot.
pub(super) struct OfBot {
    bot: Bot,
    stage: Stage,
    /// How often it has asked to wait somewhere else, or again: only the answer to the last of it says where it waits.
    asked: u32,
    /// Since when each place is free that is, the longest first. Empty while the bot does not wait.
    free: VecDeque<Instant>,
}

/// Whether it waits for matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It has asked to, and has no answer.
    Asks,
    /// It does.
    Waits,
    /// It has asked to wait no more, and has no answer: a seat may come until then.
    Leaves,
    /// It plays what it has, and then it is done.
    Left,
}

impl OfBot {
    pub(super) const fn new(bot: Bot) -> Self {
        Self { bot, stage: Stage::Asks, asked: 0, free: VecDeque::new() }
    }

    pub(super) const fn number(&self) -> usize {
        self.bot.number
    }

    /// The connection is gone, and what was asked of the ladder with it.
    pub(super) const fn cut(&mut self) {
        self.asked = self.asked.wrapping_add(1);
        if matches!(self.stage, Stage::Waits) {
            self.stage = Stage::Asks;
        }
    }

    /// So many of its places are taken: the others wait from now on, if they did not before.
    fn fill(&mut self, now: Instant, taken: usize) {
        if self.stage == Stage::Waits {
            let free = usize::from(self.bot.places).saturating_sub(taken);
            while self.free.len() < free {
                self.free.push_back(now);
            }
        }
    }
}

impl Lane {
    /// A lane of a bot that waits on a ladder.
    pub(crate) fn of_bot(self, bot: Bot) -> Self {
        Self { bot: Some(OfBot::new(bot)), ..self }
    }

    /// The token of its bot, and where that waits now. `None`: it has none.
    pub(in crate::lean) fn queues(&self) -> Option<(&str, v1::Queues)> {
        let OfBot { bot, stage, .. } = self.bot.as_ref()?;
        let queue = v1::LadderQueue { ladder: bot.ladder.clone(), matches_at_once: bot.places.into() };
        let queues = match stage {
            Stage::Asks | Stage::Waits => vec![queue],
            Stage::Leaves | Stage::Left => Vec::new(),
        };
        Some((&bot.token, v1::Queues { queues, challenges: None }))
    }

    /// How often the bot has asked to wait somewhere else, or again.
    pub(in crate::lean) fn queues_asked(&self) -> u32 {
        self.bot.as_ref().map_or(0, |of_bot| of_bot.asked)
    }

    /// The bot is to wait no more, and to play what it has.
    pub(in crate::lean) fn leave_queues(&mut self, now: Instant) {
        self.end_waits(now);
        if let Some(of_bot) = &mut self.bot {
            of_bot.stage = Stage::Leaves;
            of_bot.asked = of_bot.asked.wrapping_add(1);
            self.outputs.push_back(Output::Queue);
        }
    }

    /// No place is waited for any more. Those that were free have waited so long at least: left out, the longest waits would be
    /// those that don't count.
    pub(super) fn end_waits(&mut self, now: Instant) {
        let Some(of_bot) = &mut self.bot else { return };
        for since in of_bot.free.drain(..) {
            self.recorder.took(Measure::PlaceToSeat, now.saturating_duration_since(since));
        }
    }

    /// The bot waits where it has asked to, if that was what it has asked last.
    pub(in crate::lean) fn queues_accepted(&mut self, now: Instant, asked: u32) {
        let Some(of_bot) = self.bot.as_mut().filter(|of_bot| of_bot.asked == asked) else { return };
        of_bot.stage = match of_bot.stage {
            Stage::Asks | Stage::Waits => Stage::Waits,
            Stage::Leaves | Stage::Left => Stage::Left,
        };
        of_bot.fill(now, self.tables.len());
    }

    /// The bot may not wait where it has asked to, or not now.
    pub(in crate::lean) fn queues_refused(&mut self, now: Instant, asked: u32, error: &v1::Error) {
        self.recorder.failed(error.reason(), &error.message);
        let Some(of_bot) = self.bot.as_mut().filter(|of_bot| of_bot.asked == asked) else { return };
        if error.retry_after_ms.is_some() {
            self.pacer.at(now + retry_after(error), Later::Queue);
        } else {
            of_bot.stage = Stage::Left;
        }
    }

    /// The bot has asked in vain, and asks again.
    pub(super) fn queue_again(&mut self) {
        let asks = |of_bot: &&mut OfBot| matches!(of_bot.stage, Stage::Asks | Stage::Leaves);
        if let Some(of_bot) = self.bot.as_mut().filter(asks) {
            of_bot.asked = of_bot.asked.wrapping_add(1);
            self.outputs.push_back(Output::Queue);
        }
    }

    /// A ladder has given the bot a seat, just now or while it was away.
    pub(in crate::lean) fn assigned(&mut self, now: Instant, seat: v1::LiveSeat) {
        let Some(of_bot) = &mut self.bot else { return };
        let v1::LiveSeat { match_id, seat, ladder, .. } = seat;
        let is_known = self.tables.values().any(|table| table.match_id == match_id);
        let Ok(seat) = u8::try_from(seat) else { return };
        if is_known || ladder != of_bot.bot.ladder {
            return;
        }
        if let Some(since) = of_bot.free.pop_front() {
            self.recorder.took(Measure::PlaceToSeat, now.saturating_duration_since(since));
        }
        self.recorder.count(Count::SeatAssigned);
        let number = self.next_table;
        self.next_table += 1;
        let Bot { seed, think, .. } = of_bot.bot;
        self.tables.insert(number, Table::of_bot(match_id, seat, think, seed.wrapping_add(number.into())));
        self.outputs.push_back(Output::Open(number));
    }

    /// Places of matches that are over are free from now on.
    pub(super) fn fill_places(&mut self, now: Instant) {
        if let Some(of_bot) = &mut self.bot {
            of_bot.fill(now, self.tables.len());
        }
    }

    /// Whether its bot is to wait no more and has nothing to play, as far as it knows: without a connection there is nothing to come for.
    pub(in crate::lean) fn is_idle(&self) -> bool {
        let leaves = |of_bot: &OfBot| matches!(of_bot.stage, Stage::Leaves | Stage::Left);
        self.tables.is_empty() && self.bot.as_ref().is_some_and(leaves)
    }

    /// Whether its bot waits no more and has nothing to play.
    pub(in crate::lean) fn is_done(&self) -> bool {
        self.tables.is_empty() && self.bot.as_ref().is_some_and(|of_bot| of_bot.stage == Stage::Left)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
    use tokio::time::advance;

    use super::super::SeatKey;
    use super::*;
    use crate::finished::Finished;
    use crate::outcome::{Description, Phase, Recorder};

    const LADDER: &str = "quick-2";

    /// A bot with two places.
    struct Scene {
        lane: Lane,
        recorder: Recorder,
        finished: UnboundedReceiver<Finished>,
    }

    impl Scene {
        fn new() -> Self {
            let recorder = Recorder::start(Description::default(), Phase::measured("lane"));
            let (sender, finished) = unbounded_channel();
            let bot = Bot {
                number: 7,
                token: "t".to_owned(),
                ladder: LADDER.to_owned(),
                places: 2,
                think: Think::default(),
                seed: 1,
            };
            Self { lane: Lane::new(recorder.clone(), sender).of_bot(bot), recorder, finished }
        }

        fn assigned(&mut self, match_id: &str, ladder: &str) {
            let (match_id, ladder) = (match_id.to_owned(), ladder.to_owned());
            let seat = v1::LiveSeat { match_id, seat: 3, ladder, ..v1::LiveSeat::default() };
            self.lane.assigned(Instant::now(), seat);
        }

        /// How many matches the bot wants, as it tells the server now.
        fn wants(&self) -> Option<u32> {
            self.lane.queues().unwrap().1.queues.first().map(|queue| queue.matches_at_once)
        }

        fn accepted(&mut self) {
            self.lane.queues_accepted(Instant::now(), self.lane.queues_asked());
        }

        async fn after(&mut self, s: u64) {
            advance(Duration::from_secs(s)).await;
            self.lane.tick(Instant::now());
        }

        /// The match is over.
        fn ended(&mut self, table: u32) {
            let end = v1::SubscriptionEnd { outcome: Some(v1::Outcome::default()) };
            self.lane.ended(SeatKey { table, seat: 0 }, end);
            self.lane.tick(Instant::now());
        }

        fn outputs(&mut self) -> Vec<Output> {
            std::iter::from_fn(|| self.lane.output()).collect()
        }

        /// How long it has waited for its seats, in seconds: how often, the least and the most.
        fn waited(self) -> Option<(u64, f64, f64)> {
            let totals = self.recorder.finish().totals();
            let waited = totals.latencies(Measure::PlaceToSeat)?;
            let s = |quantile| waited.quantile(quantile).as_secs_f64().round();
            Some((waited.len(), s(0.0), s(1.0)))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_waits_from_when_it_is_free_until_it_has_a_seat() {
        let mut scene = Scene::new();
        assert_eq!(scene.wants(), Some(2));
        scene.after(5).await;
        scene.accepted();
        scene.after(3).await;
        scene.assigned("m", LADDER);
        assert!(matches!(scene.outputs()[..], [Output::Open(0)]));
        let by = scene.lane.join(SeatKey { table: 0, seat: 0 });
        let Some(v1::join::By::Assigned(v1::AssignedSeat { match_id, seat })) = by else {
            panic!("the seat is joined as one that was assigned")
        };
        assert_eq!((match_id.as_str(), seat), ("m", 3));
        // Told again, or of a match that somebody has created: neither is of the ladder's making.
        scene.assigned("m", LADDER);
        scene.assigned("n", "");
        assert!(scene.outputs().is_empty());
        scene.after(4).await;
        scene.ended(0);
        assert_eq!(scene.finished.try_recv().unwrap().bot, Some(7));
        // The other place has waited for 7 s when this comes, and the first one for 9 s when it has its next.
        scene.assigned("o", LADDER);
        scene.after(9).await;
        scene.assigned("p", LADDER);
        assert_eq!(scene.waited(), Some((3, 3.0, 9.0)));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_cut_waits_anew_and_takes_up_what_it_has_and_what_it_was_given_meanwhile() {
        let mut scene = Scene::new();
        scene.accepted();
        scene.assigned("m", LADDER);
        scene.outputs();
        scene.after(100).await;
        scene.lane.cut(Instant::now());
        assert!(matches!(scene.outputs()[..], [Output::Open(0)]));
        assert_eq!(scene.wants(), Some(2));
        // As the welcome tells.
        scene.assigned("m", LADDER);
        scene.assigned("n", LADDER);
        assert!(matches!(scene.outputs()[..], [Output::Open(1)]));
        scene.accepted();
        scene.ended(0);
        scene.after(2).await;
        scene.assigned("o", LADDER);
        // The place that was free when the connection was cut has waited for 100 s at least.
        assert_eq!(scene.waited(), Some((3, 0.0, 100.0)));
    }

    #[tokio::test(start_paused = true)]
    async fn who_leaves_plays_what_it_has_and_is_done() {
        let mut scene = Scene::new();
        scene.accepted();
        scene.assigned("m", LADDER);
        scene.outputs();
        scene.after(30).await;
        scene.lane.leave_queues(Instant::now());
        assert!(matches!(scene.outputs()[..], [Output::Queue]));
        assert_eq!(scene.wants(), None);
        // It was on its way.
        scene.assigned("n", LADDER);
        scene.ended(0);
        scene.ended(1);
        assert!(!scene.lane.is_done(), "more may be on the way");
        assert!(scene.lane.is_idle(), "without a connection it would have nothing to come for");
        // What it has asked before is accepted late.
        scene.lane.queues_accepted(Instant::now(), 0);
        assert!(!scene.lane.is_done(), "that it leaves has no answer");
        scene.accepted();
        assert!(scene.lane.is_done());
        // A place that was free to the end has waited as long as that at least.
        assert_eq!(scene.waited(), Some((2, 0.0, 30.0)));
    }

    #[tokio::test(start_paused = true)]
    async fn places_that_never_get_a_seat_have_waited() {
        let mut scene = Scene::new();
        scene.accepted();
        scene.after(60).await;
        scene.lane.leave_queues(Instant::now());
        assert_eq!(scene.waited(), Some((2, 60.0, 60.0)));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_refused_asks_again_when_it_may() {
        let mut scene = Scene::new();
        let later =
            v1::Error { retry_after_ms: Some(500), ..v1::Error::new(v1::ErrorReason::Overloaded, "") };
        scene.lane.queues_refused(Instant::now(), 0, &later);
        assert!(scene.outputs().is_empty());
        scene.after(1).await;
        assert!(matches!(scene.outputs()[..], [Output::Queue]));
        assert_eq!(scene.wants(), Some(2));
        let never = v1::Error::new(v1::ErrorReason::NotAdmitted, "not here");
        // One that comes to what it has asked before says nothing of now.
        scene.lane.queues_refused(Instant::now(), 0, &never);
        assert!(!scene.lane.is_done());
        scene.lane.queues_refused(Instant::now(), 1, &never);
        assert!(scene.lane.is_done(), "it waits nowhere and has nothing to play");
    }
}
