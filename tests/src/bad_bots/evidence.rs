//! What a bad bot got, and whether that is what the document says.

use std::time::Duration;

use zetema_proto::v1;
use zetema_proto::v1::player_fault::Kind as Fault;

use super::{Kind, Seen};

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

    /// The most in so long a time, on so many servers one after the other.
    fn most(self, lasted: Duration, servers: u32) -> f64 {
        f64::from(servers) * f64::from(self.burst) + f64::from(self.per_second) * lasted.as_secs_f64()
    }
}

/// What part of the messages that may be read must be answered.
const NEAR: f64 = 0.25;

/// What a bad bot got.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// How it misbehaves.
    pub kind: Kind,
    /// What it saw itself, one for each process.
    pub seen: Vec<Seen>,
    /// The results of its matches.
    pub results: Vec<v1::LadderResult>,
    /// What the server remembers that went wrong for it.
    pub faults: Vec<v1::PlayerFault>,
    /// For how long it was there.
    pub lasted: Duration,
    /// On how many servers, one after the other.
    pub servers: u32,
    /// How many of its requests the server reads.
    pub requests: Rate,
    /// How many of its connections the server accepts.
    pub connections: Rate,
}

impl Evidence {
    /// What it got on another server too.
    pub(super) fn add(&mut self, other: Self) {
        self.seen.extend(other.seen);
        self.results.extend(other.results);
        self.faults.extend(other.faults);
        self.lasted += other.lasted;
        self.servers += other.servers;
    }

    /// What it saw itself, all processes together.
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

    fn has_fault(&self, is: impl Fn(&Fault) -> bool) -> bool {
        self.faults.iter().filter_map(|fault| fault.kind.as_ref()).any(is)
    }

    fn rejected(&self, reason: v1::ErrorReason) -> u64 {
        self.sum(|seen| seen.rejected.get(reason.name()).copied().unwrap_or(0))
    }

    /// How many of the messages with which it floods must have been read by their answers: only every other one is answered.
    fn flooded_answers(&self) -> f64 {
        exact(2 * self.rejected(v1::ErrorReason::UnknownHandle))
    }

    /// How many of them may have been read, after what may be at once.
    fn flooded_reads(&self) -> f64 {
        let sent = exact(self.sum(|seen| seen.flooded));
        sent.min(f64::from(self.requests.per_second) * self.lasted.as_secs_f64()).max(1.0)
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
                (self.sum(|seen| seen.cooling_down) > 0, "a notice that it cools down"),
            ],
            Kind::Slow => vec![
                (
                    self.sum(|seen| seen.round_trips.len()) > 0,
                    "a receipt for what came shortly before its time",
                ),
                (forfeits > 0, "a match that it forfeits by the clock"),
                (self.has_fault(|fault| matches!(fault, Fault::TimedOut(_))), "a time-out among its faults"),
                (self.sum(|seen| seen.benched) > 0, "a notice that it is benched"),
            ],
            Kind::Illegal => vec![
                (self.rejected(v1::ErrorReason::IllegalAction) > 0, "rejections of what is illegal"),
                (self.has_fault(is_illegal), "a rejection among its faults"),
                (self.played() > 0, "a match that it plays to the end"),
            ],
            Kind::Crashing => vec![
                (self.sum(|seen| seen.streams) > 1, "a stream after the first"),
                (
                    self.has_fault(|fault| matches!(fault, Fault::Lost(_))),
                    "a lost connection among its faults",
                ),
                (self.played() > 0, "a match that it plays to the end"),
            ],
            Kind::Reconnecting => vec![(
                self.sum(|seen| seen.refused.values().sum()) > 0,
                "connections that are refused, as there are too many a second",
            )],
            Kind::Flooding => vec![
                (
                    self.flooded_answers() >= NEAR * self.flooded_reads(),
                    "a rejection of each message that stands for nothing, nearly as fast as they are read",
                ),
                (no_shows > 0, "a match that is aborted as its no-show"),
            ],
            Kind::NeverReading => vec![
                (
                    self.sum(|seen| seen.cuts.get(v1::ErrorReason::SlowReader.name()).copied().unwrap_or(0))
                        > 0,
                    "a stream that is cut as it reads too slowly",
                ),
                (forfeits > 0, "a match that it joined and forfeits by the clock"),
            ],
            Kind::TwoProcesses => vec![
                (self.sum(|seen| seen.superseded) > 0, "a seat that one of the two loses to the other"),
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
            Kind::Slow => never(no_shows, "no-shows, though it comes"),
            // What is never joined is never dealt.
            Kind::Silent | Kind::Reconnecting | Kind::Flooding => {
                never(forfeits, "forfeits of matches that can't have been dealt");
            }
            // What it joins it forfeits, and what it is given while it reads nothing it does not come to.
            Kind::NeverReading => {}
        }
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
        if self.kind == Kind::Reconnecting {
            let most = self.connections.most(self.lasted, self.servers);
            never(beyond(self.sum(|seen| seen.streams), most), "streams more than connections are accepted");
        }
        if self.kind == Kind::Flooding {
            let most = self.requests.most(self.lasted, self.servers);
            // On each stream one more than every other one may be answered, and the one that is too much is read before the rest waits.
            let of_streams = 2 * self.sum(|seen| seen.streams);
            let answered = 2 * self.rejected(v1::ErrorReason::UnknownHandle);
            let read = answered.saturating_sub(of_streams);
            never(beyond(read, most), "requests that are read beyond what may be");
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
mod tests {
    use zetema_proto::v1::{LadderResultReason as Reason, LadderSeatEnd as End};

    use super::*;

    fn evidence(kind: Kind, seen: Seen, results: Vec<v1::LadderResult>) -> Evidence {
        let (requests, connections) =
            (Rate { per_second: 100, burst: 50 }, Rate { per_second: 10, burst: 5 });
        let lasted = Duration::from_secs(10);
        Evidence {
            kind,
            seen: vec![seen],
            results,
            faults: Vec::new(),
            lasted,
            servers: 1,
            requests,
            connections,
        }
    }

    fn result(
        kind: Kind,
        reason: v1::LadderResultReason,
        end: v1::LadderSeatEnd,
        rank: u32,
        rating: Option<v1::Rating>,
    ) -> Vec<v1::LadderResult> {
        let seat = v1::LadderSeat {
            bot_name: kind.name().to_owned(),
            rank,
            end: end.into(),
            before: rating,
            after: rating,
            ..v1::LadderSeat::default()
        };
        vec![v1::LadderResult { seats: vec![seat], reason: reason.into(), ..v1::LadderResult::default() }]
    }

    #[test]
    fn what_no_server_may_give_a_bad_bot_is_undue() {
        let check = |evidence: &Evidence, said: &str| {
            let undue = evidence.undue();
            assert!(
                if said.is_empty() { undue.is_empty() } else { undue.iter().any(|text| text.contains(said)) },
                "{undue:?}"
            );
        };
        let rejected = |reason: v1::ErrorReason, many| [(reason.name(), many)].into();
        let illegal = |sent, rejections| {
            let rejected = rejected(v1::ErrorReason::IllegalAction, rejections);
            let seen = Seen { illegal: sent, rejected, streams: 1, ..Seen::default() };
            evidence(Kind::Illegal, seen, Vec::new())
        };
        check(&illegal(9, 9), "");
        check(&illegal(9, 8), "");
        check(&illegal(9, 7), "1 illegal actions without a rejection");
        check(&illegal(9, 10), "that it has not sent");
        let reconnecting =
            |streams| evidence(Kind::Reconnecting, Seen { streams, ..Seen::default() }, Vec::new());
        check(&reconnecting(105), "");
        check(&reconnecting(106), "1 streams more");
        let flooding = |rejections| {
            let rejected = rejected(v1::ErrorReason::UnknownHandle, rejections);
            let seen = Seen { rejected, streams: 1, flooded: 5_000, ..Seen::default() };
            evidence(Kind::Flooding, seen, Vec::new())
        };
        check(&flooding(526), "");
        check(&flooding(527), "2 requests that are read beyond");
        let is_slow = |rejections: u64| {
            flooding(rejections).missing().iter().any(|what| what.contains("nearly as fast"))
        };
        assert!(is_slow(124) && !is_slow(125));

        let rated = Some(v1::Rating::default());
        let of = |kind, reason, end, rank, rating| {
            evidence(kind, Seen::default(), result(kind, reason, end, rank, rating))
        };
        check(&of(Kind::Silent, Reason::Aborted, End::NoShow, 0, None), "");
        check(&of(Kind::Silent, Reason::Aborted, End::NoShow, 0, rated), "no-shows that are rated");
        check(&of(Kind::Silent, Reason::Target, End::NoShow, 2, None), "no-shows that are rated");
        check(&of(Kind::Slow, Reason::Forfeit, End::Forfeited, 2, rated), "");
        check(&of(Kind::Slow, Reason::Forfeit, End::Forfeited, 2, None), "not rated as lost");
        check(&of(Kind::Slow, Reason::Forfeit, End::Forfeited, 1, rated), "not rated as lost");
    }
}
