//! What a bad bot got, and whether that is what the document says.

use std::time::Duration;

use zetema_proto::v1;
use zetema_proto::v1::player_fault::Kind as Fault;

use super::{Bars, Kind, Seen};

/// How many requests are read or connections accepted, in a second and at once.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// In a second.
    pub per_second: u32,
    /// At once, after a pause.
    pub burst: u32,
}

impl Rate {
    /// Requests of one token, as it is unless configured.
    pub const REQUESTS: Self = Self { per_second: 20_000, burst: 40_000 };
    /// Connections from one address, as it is unless configured.
    pub const CONNECTIONS: Self = Self { per_second: 100, burst: 2_048 };

    /// The most in so long a time.
    fn most(self, lasted: Duration) -> f64 {
        f64::from(self.burst) + f64::from(self.per_second) * lasted.as_secs_f64()
    }
}

/// What part of the messages that may be read must be answered: the rest the machine may be too slow for.
const NEAR: f64 = 0.25;
/// Messages of one stream that may be on their way, sent and not answered yet: the window of a stream, 128 KiB, holds some 9,000 of
/// them, and answers that are not read yet come to as many again.
const ON_THE_WAY: u64 = 20_000;
/// The cool-down of the first strike. Each is twice as long as the one before.
const FIRST_COOL_DOWN: Duration = Duration::from_secs(30);
/// The longest.
const LONGEST_COOL_DOWN: Duration = Duration::from_hours(1);
/// The first bench.
const FIRST_BENCH: Duration = Duration::from_mins(10);
/// With so many forfeits a bot is benched.
const FORFEITS_TO_BENCH: u64 = 3;
/// By so much less than it is a time may be told that is told late.
const TOLD_WITHIN: Duration = Duration::from_secs(3);
/// Within this time a bot that waits alone is given a match, among good ones that play without a pause.
const GIVEN_WITHIN: Duration = Duration::from_secs(10);
/// After so many ping intervals without a word a stream is ended, and not before.
const SILENT_INTERVALS: f64 = 3.0;
/// Of the server's count of the connections that it closes so many may be missing: its page is half a second old.
const LATELY_CLOSED: u64 = 100;

/// What a bad bot got.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// How it misbehaves.
    pub kind: Kind,
    /// What it saw itself, one for each client.
    pub seen: Vec<Seen>,
    /// The results of its matches.
    pub results: Vec<v1::LadderResult>,
    /// What the server remembers that went wrong for it.
    pub faults: Vec<v1::PlayerFault>,
    /// For how long it was there.
    pub lasted: Duration,
    /// Whether that is long enough to see all that it gets.
    pub bars: Bars,
    /// How long it has to come to a match.
    pub join_timeout: Duration,
    /// How many of its requests the server reads.
    pub requests: Rate,
    /// How many of its connections the server accepts.
    pub connections: Rate,
    /// Connections that the server counts as closed because one address opens them too fast.
    pub closed_by_rate: u64,
    /// The same because too many of one address, or of all, are open.
    pub closed_by_number: u64,
}

impl Evidence {
    /// What it saw itself, all clients together.
    fn sum(&self, of: impl Fn(&Seen) -> u64) -> u64 {
        self.seen.iter().map(of).sum()
    }

    /// How many of its matches ended so for it.
    pub fn ends(&self, end: v1::LadderSeatEnd) -> u64 {
        ends(&self.results, self.kind.name(), end)
    }

    /// Its matches that were played to their end without a forfeit of its own.
    pub fn played(&self) -> u64 {
        let is_played = |result: &&v1::LadderResult| result.reason() != v1::LadderResultReason::Aborted;
        let played: Vec<_> = self.results.iter().filter(is_played).cloned().collect();
        ends(&played, self.kind.name(), v1::LadderSeatEnd::Played)
    }

    /// Seats that it lost to another stream of its own, after its join was answered or before.
    fn lost_seats(&self) -> u64 {
        self.sum(|seen| seen.superseded) + self.rejected(v1::ErrorReason::Superseded)
    }

    fn has_fault(&self, is: impl Fn(&Fault) -> bool) -> bool {
        self.faults.iter().filter_map(|fault| fault.kind.as_ref()).any(is)
    }

    fn rejected(&self, reason: v1::ErrorReason) -> u64 {
        self.sum(|seen| seen.rejected.get(reason.name()).copied().unwrap_or(0))
    }

    /// How many of the messages with which it floods may have been read, after what may be at once.
    fn flooded_reads(&self) -> f64 {
        let sent = exact(self.sum(|seen| seen.flooded));
        sent.min(f64::from(self.requests.per_second) * self.lasted.as_secs_f64()).max(1.0)
    }

    /// How long its cool-downs are.
    fn cool_downs(&self) -> impl Iterator<Item = Duration> {
        self.seen.iter().flat_map(|seen| seen.cool_downs.iter().copied())
    }

    /// How many of these one that never comes has at least: as many as fit into the time, and one in a short time.
    fn cool_downs_due(&self) -> usize {
        let (mut due, mut left) = (0, self.lasted);
        while let Some(after) = left.checked_sub(GIVEN_WITHIN + self.join_timeout) {
            due += 1;
            left = after.saturating_sub(cool_down(due));
        }
        if self.bars == Bars::Held { due } else { 1 }
    }

    /// How often it was benched.
    fn benched(&self) -> u64 {
        self.sum(|seen| seen.benches.len() as u64)
    }

    /// How many seats of its own in results are so.
    fn count(&self, is: fn(&v1::LadderResult, &v1::LadderSeat) -> bool) -> u64 {
        let own = |seat: &&v1::LadderSeat| seat.bot_name == self.kind.name();
        let of = |result: &v1::LadderResult| result.seats.iter().filter(own).any(|seat| is(result, seat));
        self.results.iter().filter(|result| of(result)).count() as u64
    }

    /// What it has not got of what the document says that it gets. Some of this takes a while.
    pub fn missing(&self) -> Vec<&'static str> {
        let no_shows = self.ends(v1::LadderSeatEnd::NoShow);
        let forfeits = self.ends(v1::LadderSeatEnd::Forfeited);
        let rows: Vec<(bool, &'static str)> = match self.kind {
            Kind::Silent => vec![
                (no_shows > 0, "a match that is aborted as its no-show"),
                (
                    self.cool_downs().count() >= self.cool_downs_due(),
                    "a notice that it cools down for as many no-shows as fit into the time",
                ),
            ],
            Kind::Slow => vec![
                (
                    self.sum(|seen| seen.round_trips.len()) > 0,
                    "a receipt for what came shortly before its time",
                ),
                (forfeits > 0, "a match that it forfeits by the clock"),
                (self.has_fault(|fault| matches!(fault, Fault::TimedOut(_))), "a time-out among its faults"),
                (self.benched() > 0, "a notice that it is benched"),
            ],
            Kind::Illegal => vec![
                (self.rejected(v1::ErrorReason::IllegalAction) > 0, "rejections of what is illegal"),
                (self.has_fault(is_illegal), "a rejection among its faults"),
                (self.played() > 0, "a match that it plays to the end"),
            ],
            Kind::Crashing => vec![
                (self.sum(|seen| seen.streams) > 1, "a stream after the first"),
                (
                    self.sum(|seen| seen.waited_for_it) > 0,
                    "a welcome that names the seats that have waited for it",
                ),
                (
                    self.has_fault(|fault| matches!(fault, Fault::Lost(_))),
                    "a lost connection among its faults",
                ),
                (self.played() > 0, "a match that it plays to the end"),
            ],
            Kind::Reconnecting => vec![(
                self.closed_by_rate > 0 && self.sum(|seen| seen.closed) > 0,
                "connections that are closed, and counted by the server, as there are too many a second",
            )],
            Kind::Flooding => vec![
                (
                    exact(self.rejected(v1::ErrorReason::UnknownHandle)) >= NEAR * self.flooded_reads(),
                    "rejections of messages that stand for nothing, nearly as fast as they may be read",
                ),
                (no_shows > 0, "a match that is aborted as its no-show"),
                (self.cool_downs().count() > 0, "a notice that it cools down"),
            ],
            Kind::NeverReading => vec![
                (
                    self.sum(|seen| seen.cuts.get(v1::ErrorReason::SlowReader.name()).copied().unwrap_or(0))
                        > 0,
                    "a stream that is cut as it reads too slowly",
                ),
                (
                    self.seen.iter().any(|seen| !seen.unread_for.is_empty()),
                    "a stream that is ended while it reads nothing",
                ),
                (forfeits > 0, "a match that it joined and forfeits by the clock"),
            ],
            Kind::TwoProcesses => vec![
                (
                    // At the end of a stream one may be on its way.
                    self.lost_seats() > 0
                        && self.lost_seats() + self.sum(|seen| seen.streams) >= self.played(),
                    "a seat that one of the two loses to the other in each match",
                ),
                (self.played() > 0, "a match that it plays to the end"),
            ],
        };
        rows.into_iter().filter(|(is_there, _)| !is_there).map(|(_, what)| what).collect()
    }

    /// What it got that it must not get.
    pub fn undue(&self) -> Vec<String> {
        let mut undue = Vec::new();
        let mut never = |count: u64, what: &str| {
            if count > 0 {
                undue.push(format!("{}: {count} {what}", self.kind.name()));
            }
        };
        let forfeits = self.ends(v1::LadderSeatEnd::Forfeited);
        let no_shows = self.ends(v1::LadderSeatEnd::NoShow);
        match self.kind {
            // Whoever plays on is not punished for how.
            Kind::Illegal | Kind::Crashing | Kind::TwoProcesses => {
                never(forfeits, "forfeits, though it answers in time");
                never(no_shows, "no-shows, though it comes");
            }
            Kind::Slow => {
                never(no_shows, "no-shows, though it comes");
                let benched = self.benched();
                let before_the_next = FORFEITS_TO_BENCH * benched + FORFEITS_TO_BENCH - 1;
                never(forfeits.saturating_sub(before_the_next), "forfeits without a bench after the third");
                never(
                    (FORFEITS_TO_BENCH * benched).saturating_sub(forfeits),
                    "forfeits too few for its benches",
                );
                let is_wrong =
                    |bench: &Option<Duration>| !bench.is_some_and(|left| is_about(left, FIRST_BENCH));
                never(
                    self.sum(|seen| u64::from(seen.benches.first().is_some_and(is_wrong))),
                    "first benches of another length",
                );
            }
            // What is never joined is never dealt.
            Kind::Silent | Kind::Reconnecting | Kind::Flooding => {
                never(forfeits, "forfeits of matches that can't have been dealt");
            }
            // What it joins it forfeits, and what it is given while it reads nothing it does not come to.
            Kind::NeverReading => {}
        }
        never(self.sum(|seen| seen.given_at_rest), "matches that it was given while it was not to be paired");
        never(self.count(is_rated_no_show), "no-shows that are rated");
        never(self.count(is_forfeit_not_lost), "forfeits that are not rated as lost");
        if self.kind == Kind::Illegal {
            let (sent, rejected) =
                (self.sum(|seen| seen.illegal), self.rejected(v1::ErrorReason::IllegalAction));
            let otherwise = self.sum(|seen| seen.rejected.values().sum()) - rejected;
            never(rejected.saturating_sub(sent), "rejections of illegal actions that it has not sent");
            // At the end of each stream the answer to one may be on its way.
            let on_the_way = self.sum(|seen| seen.streams);
            let without = sent.saturating_sub(rejected + otherwise + on_the_way);
            never(without, "illegal actions without a rejection");
        }
        if self.kind == Kind::Silent {
            let wrong =
                (1..).zip(self.cool_downs()).filter(|(strike, left)| !is_about(*left, cool_down(*strike)));
            never(
                wrong.count() as u64,
                "cool-downs that are not twice as long as the one before, from 30 s on",
            );
            // The notice of the last may be on its way.
            let told = self.cool_downs().count() as u64 + 1;
            never(no_shows.saturating_sub(told), "no-shows without a notice");
        }
        if self.kind == Kind::Reconnecting {
            let most = self.connections.most(self.lasted);
            never(beyond(self.sum(|seen| seen.streams), most), "streams more than connections are accepted");
            let counted = self.closed_by_rate + self.closed_by_number;
            let closed = self.sum(|seen| seen.closed);
            let without = closed.saturating_sub(counted + counted / 10 + LATELY_CLOSED);
            never(without, "connections closed that the server has not counted as too many");
        }
        if self.kind == Kind::Flooding {
            let most = self.requests.most(self.lasted);
            let (streams, sent) = (self.sum(|seen| seen.streams), self.sum(|seen| seen.flooded));
            let answered = self.rejected(v1::ErrorReason::UnknownHandle);
            // On each stream the one that is too much is read before the rest waits.
            let read = answered.saturating_sub(streams);
            never(beyond(read, most), "requests that are read beyond what may be");
            never(self.sum(|seen| seen.out_of_turn), "answers that left a message out, or were none to it");
            let unanswered = sent.saturating_sub(answered + ON_THE_WAY * streams.max(1));
            never(unanswered, "messages sent that were never answered");
        }
        if self.kind == Kind::NeverReading {
            let early =
                |seen: &Seen| seen.unread_for.iter().filter(|after| **after < SILENT_INTERVALS - 0.1).count();
            never(self.sum(|seen| early(seen) as u64), "streams ended before three ping intervals");
            if self.bars == Bars::Held {
                never(self.sum(|seen| seen.unread_and_open), "streams open after four ping intervals");
            }
        }
        undue
    }
}

/// How many of the results ended so for this bot.
pub(super) fn ends(results: &[v1::LadderResult], bot: &str, end: v1::LadderSeatEnd) -> u64 {
    let seats = results.iter().flat_map(|result| &result.seats);
    seats.filter(|seat| seat.bot_name == bot && seat.end() == end).count() as u64
}

fn is_illegal(fault: &Fault) -> bool {
    matches!(fault, Fault::Rejection(error) if error.reason() == v1::ErrorReason::IllegalAction)
}

/// A no-show in a match that is not aborted, or that has changed a rating.
fn is_rated_no_show(result: &v1::LadderResult, seat: &v1::LadderSeat) -> bool {
    let is_rated = result.seats.iter().any(|seat| seat.before.is_some() || seat.after.is_some());
    seat.end() == v1::LadderSeatEnd::NoShow
        && (is_rated || result.reason() != v1::LadderResultReason::Aborted)
}

/// A forfeit that is not rated, or not as lost.
fn is_forfeit_not_lost(_: &v1::LadderResult, seat: &v1::LadderSeat) -> bool {
    let is_lost = seat.rank > 1 && seat.before.is_some() && seat.after.is_some();
    seat.end() == v1::LadderSeatEnd::Forfeited && !is_lost
}

/// How long the cool-down of the strike of this number is, the first being 1.
fn cool_down(strike: usize) -> Duration {
    (1..strike).fold(FIRST_COOL_DOWN, |last, _| (2 * last).min(LONGEST_COOL_DOWN))
}

/// Whether this may be left of that time when it is told.
fn is_about(left: Duration, whole: Duration) -> bool {
    left <= whole && left + TOLD_WITHIN >= whole
}

/// By how many a count is beyond the most that may be.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and some millions"
)]
fn beyond(count: u64, most: f64) -> u64 {
    (exact(count) - most).max(0.0).ceil() as u64
}

#[expect(clippy::cast_precision_loss, reason = "some millions")]
const fn exact(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
