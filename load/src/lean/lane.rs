//! Many matches of lean clients on one connection, without the connection: what comes in are method calls, what is to be sent comes
//! out of [`Lane::output`].

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use tokio::sync::mpsc::{Sender, UnboundedSender};
use tokio::time::Instant;
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason as R;

use super::table::{Acted, Created, Open, Part, Pass, Seat, Table};
use crate::arrivals::{Origin, Schedule};
use crate::check::Ending;
use crate::fault::{Fault, Wrong};
use crate::finished::{Finished, Why};
use crate::outcome::{Count, Failure, Measure, Recorder};
use crate::pacer::{Pacer, Pooled};

pub(crate) use bot::Bot;
use bot::OfBot;

/// How long to wait until the same is sent again, where the server does not say.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A seat of a match on this lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SeatKey {
    /// The number of the match on this lane, from 0 and never given twice.
    pub(super) table: u32,
    /// The seat, from 0.
    pub(super) seat: u8,
}

/// What is to be sent.
#[derive(Debug)]
pub(super) enum Output {
    /// Follow this match and take its seats.
    Open(u32),
    /// Leave the seats of this match, and take them again.
    Rejoin(u32),
    /// Take this seat: it was refused before.
    Join(SeatKey),
    /// Act.
    Act(SeatKey, v1::Act),
    /// Hear no more of this match.
    Leave(u32),
    /// Wait where the bot waits now.
    Queue,
}

/// What is to be done later.
#[derive(Clone, Copy, Debug)]
enum Later {
    /// Answer this decision.
    Answer(SeatKey, u32),
    /// Send the answer to this decision again.
    Again(SeatKey, u32),
    /// Join again.
    Join(SeatKey),
    /// Ask again to wait on the ladder.
    Queue,
}

/// Many matches of lean clients on one connection.
pub(crate) struct Lane {
    tables: HashMap<u32, Table>,
    next_table: u32,
    pacer: Pacer<Later>,
    outputs: VecDeque<Output>,
    recorder: Recorder,
    /// Hears of matches that are over.
    finished: UnboundedSender<Finished>,
    /// The bot that gets its matches from a ladder.
    bot: Option<OfBot>,
    activity: Activity,
    /// When that was sent to which the latest receipt came that was sent last.
    last_answered: Option<Instant>,
    /// When a receipt came.
    last_heard: Option<Instant>,
    /// When a seat was taken.
    last_taken: Option<Instant>,
}

/// Whether decisions are answered.
#[derive(Debug)]
enum Activity {
    /// They are.
    Plays,
    /// The load is over. What it holds is dropped when all that was sent has its answer.
    Rests(Option<Sender<()>>),
}

impl Lane {
    pub(crate) fn new(recorder: Recorder, finished: UnboundedSender<Finished>) -> Self {
        Self::pooling(recorder, finished, Pooled::default())
    }

    /// One that shares a schedule with others.
    pub(crate) fn pooling(recorder: Recorder, finished: UnboundedSender<Finished>, pooled: Pooled) -> Self {
        Self {
            tables: HashMap::new(),
            next_table: 0,
            pacer: Pacer::closed(pooled),
            outputs: VecDeque::new(),
            recorder,
            finished,
            bot: None,
            activity: Activity::Plays,
            last_answered: None,
            last_heard: None,
            last_taken: None,
        }
    }

    /// Takes one more match.
    pub(super) fn begin(&mut self, created: Created) {
        let number = self.next_table;
        self.next_table += 1;
        self.tables.insert(number, Table::new(created));
        self.outputs.push_back(Output::Open(number));
    }

    /// From here on actions come on this schedule.
    pub(super) fn follow(&mut self, schedule: Schedule) {
        self.pacer.follow(schedule);
    }

    /// From here on this part of the schedule falls to this lane.
    pub(super) fn share(&mut self, now: Instant, part: f64) {
        self.pacer.share(now, part);
    }

    /// The next thing to be sent.
    pub(super) fn output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`tick`](Self::tick) is to be called next.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.pacer.deadline()
    }

    /// What takes what is seen.
    pub(super) const fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The match's id.
    pub(super) fn match_id(&self, table: u32) -> Option<&str> {
        self.tables.get(&table).map(|table| table.match_id.as_str())
    }

    /// The seats of a match that have not been told of its end, with their tokens.
    pub(super) fn seats(&self, table: u32) -> impl Iterator<Item = (SeatKey, &str)> {
        let seats = self.tables.get(&table).into_iter().flat_map(|table| (0..).zip(&table.seats));
        let open = seats.filter(|(_, seat)| !seat.over);
        open.filter_map(move |(seat, of)| Some((SeatKey { table, seat }, of.token()?)))
    }

    /// The token of a seat.
    pub(super) fn token(&self, key: SeatKey) -> Option<&str> {
        self.tables.get(&key.table)?.seats.get(usize::from(key.seat))?.token()
    }

    /// How the seats of a match are taken that have not been told of its end.
    pub(super) fn joins(&self, table: u32) -> impl Iterator<Item = (SeatKey, v1::join::By)> {
        let seats = self.tables.get(&table).into_iter().flat_map(|table| (0..).zip(&table.seats));
        let keys = seats.filter(|(_, seat)| !seat.over).map(move |(seat, _)| SeatKey { table, seat });
        keys.filter_map(|key| Some((key, self.join(key)?)))
    }

    /// How a seat is taken.
    pub(super) fn join(&self, key: SeatKey) -> Option<v1::join::By> {
        let Table { match_id, seats, .. } = self.tables.get(&key.table)?;
        let Seat { number, pass, .. } = seats.get(usize::from(key.seat))?;
        Some(match pass {
            Pass::Token(token) => v1::join::By::SeatToken(token.clone()),
            Pass::OfBot => {
                let assigned = v1::AssignedSeat { match_id: match_id.clone(), seat: (*number).into() };
                v1::join::By::Assigned(assigned)
            }
        })
    }

    /// Does what is due.
    pub(super) fn tick(&mut self, now: Instant) {
        self.fill_places(now);
        while let Some((due, later)) = self.pacer.next(now) {
            match later {
                Later::Answer(..) if matches!(self.activity, Activity::Rests(_)) => {}
                Later::Answer(key, decision) => {
                    if !self.answer(now, key, decision, due) {
                        self.pacer.give_back(due);
                    }
                }
                Later::Again(key, decision) => self.again(now, key, decision),
                Later::Join(key) => {
                    if self.seat(key).is_some() {
                        self.outputs.push_back(Output::Join(key));
                    }
                }
                Later::Queue => self.queue_again(),
            }
        }
        if self.tables.is_empty() {
            self.pacer.pool();
        }
        self.count_offered();
        self.rest_if_answered();
    }

    /// The connection is gone: all seats are to be taken again.
    pub(super) fn cut(&mut self, now: Instant) {
        self.outputs.clear();
        self.end_waits(now);
        if let Some(bot) = &mut self.bot {
            bot.cut();
        }
        let mut tables: Vec<u32> = self.tables.keys().copied().collect();
        tables.sort_unstable();
        for table in tables {
            self.cut_table(now, table);
        }
    }

    /// The stream of this match is gone.
    pub(super) fn cut_table(&mut self, now: Instant, number: u32) {
        if let Some(table) = self.tables.get_mut(&number) {
            table.cut(now);
            self.outputs.push_back(Output::Open(number));
        }
    }

    /// The players of one of the matches leave it and join it again. The same number draws the same match.
    pub(super) fn rejoin(&mut self, now: Instant, drawn: u64) {
        let taken = self.tables.iter().filter(|(_, table)| table.is_taken());
        let mut taken: Vec<u32> = taken.map(|(number, _)| *number).collect();
        taken.sort_unstable();
        let place = drawn.checked_rem(taken.len() as u64).and_then(|place| usize::try_from(place).ok());
        let Some(number) = place.and_then(|place| taken.get(place).copied()) else { return };
        if let Some(table) = self.tables.get_mut(&number) {
            table.cut(now);
            self.outputs.push_back(Output::Rejoin(number));
            self.recorder.count(Count::Rejoined);
        }
    }

    /// A match can't be played on.
    pub(super) fn give_up(&mut self, number: u32) {
        self.leave(number, Why::GivenUp);
    }

    /// A match can't be played on, as this was refused for good.
    pub(super) fn give_up_refused(&mut self, number: u32, failure: Failure, said: &str) {
        self.leave(
            number,
            match failure {
                Failure::Refused(R::NotFound | R::Unauthenticated) => Why::Unknown { said: said.to_owned() },
                _ => Why::GivenUp,
            },
        );
    }

    fn leave(&mut self, number: u32, why: Why) {
        if let Some(Table { match_id, .. }) = self.tables.remove(&number) {
            self.outputs.push_back(Output::Leave(number));
            self.finish(match_id, why);
        }
    }

    fn finish(&self, match_id: String, why: Why) {
        let bot = self.bot.as_ref().map(OfBot::number);
        // Without anybody who hears it the run is over.
        let _ = self.finished.send(Finished { match_id, why, bot });
    }

    /// Something about a seat that no server may send.
    pub(super) fn fault(&self, key: SeatKey, wrong: Wrong) {
        let match_id = self.match_id(key.table).unwrap_or_default().to_owned();
        let of = self.tables.get(&key.table).and_then(|table| table.seats.get(usize::from(key.seat)));
        let seat = of.map_or(key.seat, |seat| seat.number);
        Fault { match_id, seat: Some(seat), wrong }.report(&self.recorder);
    }

    /// Answers a decision, if it is still open.
    fn answer(&mut self, now: Instant, key: SeatKey, decision: u32, due: Instant) -> bool {
        let Some(table) = self.tables.get_mut(&key.table) else { return false };
        let is_open = |open: &mut Open| open.seat == key.seat && open.decision == decision;
        let Some(open) = table.open.take_if(is_open) else { return false };
        let origin = if self.pacer.is_paced() { Origin::Schedule } else { Origin::Thought };
        let acted = table.choose(open, due, origin);
        let Some(seat) = table.seats.get_mut(usize::from(key.seat)) else { return false };
        seat.acted.push(acted);
        // Of one seat it is not seen when the next player has its decision.
        table.last = Some((decision, due)).filter(|_| table.part == Part::Whole);
        // While its stream is cut it is sent with the snapshot.
        if seat.cut.is_none() {
            seat.sends(now, decision);
            self.outputs.push_back(Output::Act(key, acted.to_wire()));
        }
        self.recorder.count(Count::ActionSent);
        true
    }

    /// Sends the answer to a decision again, unless its receipt has come.
    fn again(&mut self, now: Instant, key: SeatKey, decision: u32) {
        let Some(seat) = self.seat(key) else { return };
        let Some(acted) = seat.acted(decision) else { return };
        if seat.cut.is_none() {
            seat.sends(now, decision);
            self.outputs.push_back(Output::Act(key, acted.to_wire()));
        }
    }

    /// The match's id, what was told of its end, and a seat that has not been told.
    fn parts(&mut self, key: SeatKey) -> Option<(&str, &mut Ending, &mut Seat)> {
        let Table { match_id, ending, seats, .. } = self.tables.get_mut(&key.table)?;
        let seat = seats.get_mut(usize::from(key.seat)).filter(|seat| !seat.over)?;
        Some((match_id, ending, seat))
    }

    fn seat(&mut self, key: SeatKey) -> Option<&mut Seat> {
        self.tables.get_mut(&key.table)?.seats.get_mut(usize::from(key.seat)).filter(|seat| !seat.over)
    }
}

fn retry_after(error: &v1::Error) -> Duration {
    error.retry_after_ms.map_or(AGAIN_AFTER, |ms| Duration::from_millis(ms.into()))
}

mod bot;
mod heard;
mod rest;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
