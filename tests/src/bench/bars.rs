//! The rows, as data: what is measured, the bar that must be reached, and what lies beyond it.

use super::load::{Matches, Via};
use super::planted::Planted;
use super::row::{Better, Row};
use super::{Figure, Subject};
use crate::floods::Readers;

/// Matches that are there, each with an action in flight.
const LIVE: usize = 1_000;
/// Matches of which few have an action in flight.
const VERY_MANY: usize = 50_000;
/// Play streams for them: one takes a thousand seats at most.
const STREAMS: usize = 128;

const UNARY: Matches = Matches::new(Via::Unary, LIVE);
const PLAY: Matches = Matches::new(Via::PlayPerSeat, LIVE);
const PLAY_PER_CONNECTION: Matches = Matches::new(Via::PlayPerConnection, LIVE);
const SDK: Matches = Matches::new(Via::Sdk, LIVE);
const PLAY_WITH_VIEWS: Matches = PLAY.with_views();
const ALONE: Matches = Matches::new(Via::Unary, 1);
const FEW: Matches = Matches::new(Via::PlayPerSeat, 64);
const PING_PONG: Subject = Subject::PingPong { streams: 2 * LIVE, like: PLAY };

const fn echo(like: Matches) -> Subject {
    Subject::Echo { in_flight: like.in_flight, like }
}

const fn in_memory(matches: Matches) -> Subject {
    Subject::Matches(matches.in_memory())
}

const fn live(matches: usize) -> Subject {
    Subject::Matches(Matches::new(Via::Play { streams: STREAMS }, matches).with_in_flight(LIVE))
}

const fn rate(subject: Subject) -> (Subject, Figure) {
    (subject, Figure::PerSecond)
}

const fn beside(readers: Readers) -> Subject {
    Subject::Beside { readers, count: 1_000 }
}

/// All rows.
pub const ROWS: &[Row] = &[
    Row {
        name: "unary",
        what: "1,000 matches, Observe + Act ÷ unary echo, 1,000 in flight",
        unit: "actions/s",
        ours: &[rate(Subject::Matches(UNARY))],
        baseline: &[rate(echo(UNARY))],
        better: Better::Higher,
        bar: 0.4,
        reach: 0.6,
    },
    Row {
        name: "play",
        what: "1,000 matches, a Play stream each seat ÷ unary echo, 1,000 in flight",
        unit: "actions/s",
        ours: &[rate(Subject::Matches(PLAY))],
        baseline: &[rate(echo(PLAY))],
        better: Better::Higher,
        bar: 1.2,
        reach: 2.0,
    },
    Row {
        name: "relay",
        what: "1,000 pairs of streams of a bare server, messages of `play` ÷ unary echo, 1,000 in flight",
        unit: "actions/s",
        ours: &[rate(Subject::Relay { pairs: LIVE, like: PLAY })],
        baseline: &[rate(echo(PLAY))],
        better: Better::Higher,
        bar: 1.2,
        reach: 2.0,
    },
    Row {
        name: "play-by-connection",
        what: "1,000 matches, a Play stream each connection ÷ unary echo, 1,000 in flight",
        unit: "actions/s",
        ours: &[rate(Subject::Matches(PLAY_PER_CONNECTION))],
        baseline: &[rate(echo(PLAY))],
        better: Better::Higher,
        bar: 1.2,
        reach: 2.0,
    },
    Row {
        name: "ping-pong",
        what: "1,000 matches, a Play stream each seat ÷ ping-pong on 2,000 streams",
        unit: "actions/s",
        ours: &[rate(Subject::Matches(PLAY))],
        baseline: &[rate(PING_PONG)],
        better: Better::Higher,
        bar: 0.25,
        reach: 0.45,
    },
    Row {
        name: "ping-pong-by-connection",
        what: "1,000 matches, a Play stream each connection ÷ ping-pong on 2,000 streams",
        unit: "actions/s",
        ours: &[rate(Subject::Matches(PLAY_PER_CONNECTION))],
        baseline: &[rate(PING_PONG)],
        better: Better::Higher,
        bar: 0.25,
        reach: 0.45,
    },
    Row {
        name: "durable-unary",
        what: "1,000 matches, Observe + Act: the journal on the disk ÷ in memory",
        unit: "actions/s",
        ours: &[rate(Subject::Matches(UNARY))],
        baseline: &[rate(in_memory(UNARY))],
        better: Better::Higher,
        bar: 0.7,
        reach: 0.9,
    },
    Row {
        name: "durable-play",
        what: "1,000 matches, a Play stream each seat: the journal on the disk ÷ in memory",
        unit: "actions/s",
        ours: &[rate(Subject::Matches(PLAY))],
        baseline: &[rate(in_memory(PLAY))],
        better: Better::Higher,
        bar: 0.7,
        reach: 0.9,
    },
    Row {
        name: "durable-play-by-connection",
        what: "1,000 matches, a Play stream each connection: the journal on the disk ÷ in memory",
        unit: "actions/s",
        ours: &[rate(Subject::Matches(PLAY_PER_CONNECTION))],
        baseline: &[rate(in_memory(PLAY_PER_CONNECTION))],
        better: Better::Higher,
        bar: 0.7,
        reach: 0.9,
    },
    Row {
        name: "memory-unary",
        what: "the same as `unary`, in memory",
        unit: "actions/s",
        ours: &[rate(in_memory(UNARY))],
        baseline: &[rate(echo(UNARY))],
        better: Better::Higher,
        bar: 0.4,
        reach: 0.6,
    },
    Row {
        name: "memory-play",
        what: "the same as `play`, in memory",
        unit: "actions/s",
        ours: &[rate(in_memory(PLAY))],
        baseline: &[rate(echo(PLAY))],
        better: Better::Higher,
        bar: 1.2,
        reach: 2.0,
    },
    Row {
        name: "memory-ping-pong",
        what: "the same as `ping-pong`, in memory",
        unit: "actions/s",
        ours: &[rate(in_memory(PLAY))],
        baseline: &[rate(PING_PONG)],
        better: Better::Higher,
        bar: 0.25,
        reach: 0.45,
    },
    Row {
        name: "alone",
        what: "one match, Observe + Act, action to the next observation, p50 ÷ (echo p50 + fdatasync p50)",
        unit: "µs",
        ours: &[(Subject::Matches(ALONE), Figure::NextP50Us)],
        baseline: &[(echo(ALONE), Figure::P50Us), (Subject::Fdatasync, Figure::P50Us)],
        better: Better::Lower,
        bar: 2.2,
        reach: 1.5,
    },
    Row {
        name: "few",
        what: "64 matches, a Play stream each seat, action to receipt, p99 ÷ (echo p99, 64 in flight + fdatasync p99)",
        unit: "µs",
        ours: &[(Subject::Matches(FEW), Figure::P99Us)],
        baseline: &[(echo(FEW), Figure::P99Us), (Subject::Fdatasync, Figure::P99Us)],
        better: Better::Lower,
        bar: 2.0,
        reach: 1.2,
    },
    Row {
        name: "very-many",
        what: "50,000 matches, 1,000 in flight, 128 Play streams ÷ the same with 1,000 matches",
        unit: "actions/s",
        ours: &[rate(live(VERY_MANY))],
        baseline: &[rate(live(LIVE))],
        better: Better::Higher,
        bar: 0.8,
        reach: 0.95,
    },
    Row {
        name: "creation",
        what: "1,000 matches in one BatchCreateMatches until every seat has had a decision",
        unit: "matches/s",
        ours: &[(Subject::Creation { matches: LIVE }, Figure::MatchesPerSecond)],
        baseline: &[],
        better: Better::Higher,
        bar: 2_000.0,
        reach: 10_000.0,
    },
    Row {
        name: "appends",
        what: "records of 64 bytes to the journal, 128 in a commit ÷ to a preallocated file, as many in a write and a sync",
        unit: "records/s",
        ours: &[rate(Subject::Appends)],
        baseline: &[(Subject::Appends, Figure::RawPerSecond)],
        better: Better::Higher,
        bar: 0.5,
        reach: 0.9,
    },
    Row {
        name: "rules",
        what: "random play of two with the legal actions listed, the rules alone on one core",
        unit: "M actions/s",
        ours: &[(Subject::Rules, Figure::MillionsPerSecond)],
        baseline: &[],
        better: Better::Higher,
        bar: 10.0,
        reach: 20.0,
    },
    Row {
        name: "sdk",
        what: "1,000 matches by sessions of the SDK ÷ ping-pong on 1,000 streams: processor time of the clients",
        unit: "µs/action",
        ours: &[(Subject::Matches(SDK), Figure::ClientUs)],
        baseline: &[(Subject::PingPong { streams: LIVE, like: PLAY }, Figure::ClientUs)],
        better: Better::Lower,
        bar: 2.0,
        reach: 1.3,
    },
    Row {
        name: "bytes",
        what: "1,000 matches, a Play stream each seat, views with every decision: bytes on the wire, both ways, all seats",
        unit: "bytes/action",
        ours: &[(Subject::Matches(PLAY_WITH_VIEWS), Figure::WireBytes)],
        baseline: &[],
        better: Better::Lower,
        bar: 300.0,
        reach: 220.0,
    },
    Row {
        name: "bytes-snapshots",
        what: "the same, views in snapshots only",
        unit: "bytes/action",
        ours: &[(Subject::Matches(PLAY), Figure::WireBytes)],
        baseline: &[],
        better: Better::Lower,
        bar: 160.0,
        reach: 100.0,
    },
    Row {
        name: "idle-streams",
        what: "an idle Observe stream, of 10,000: memory of the server",
        unit: "bytes",
        ours: &[(Subject::IdleStreams { streams: 10_000 }, Figure::MemoryBytes)],
        baseline: &[],
        better: Better::Lower,
        bar: 16_000.0,
        reach: 10_000.0,
    },
    Row {
        name: "idle-matches",
        what: "an idle live match without streams, of 50,000: memory of the server",
        unit: "bytes",
        ours: &[(Subject::IdleMatches { matches: VERY_MANY }, Figure::MemoryBytes)],
        baseline: &[],
        better: Better::Lower,
        bar: 8_000.0,
        reach: 3_000.0,
    },
    Row {
        name: "restart",
        what: "10,000 live matches of 20 actions each and 90,000 finished ones: from the start of the process until it is healthy",
        unit: "s",
        ours: &[(Subject::Restart { live: 10_000, finished: 90_000 }, Figure::StartSeconds)],
        baseline: &[],
        better: Better::Lower,
        bar: 5.0,
        reach: 1.0,
    },
    Row {
        name: "readers",
        what: "500 seats that play, action to receipt, p99 beside 1,000 clients that never read ÷ without them",
        unit: "µs",
        ours: &[(beside(Readers::NotReading), Figure::P99Us)],
        baseline: &[(beside(Readers::None), Figure::P99Us)],
        better: Better::Lower,
        bar: 1.2,
        reach: 1.05,
    },
];

/// What is left of the row `play` if something slows the server, beside a server that nothing slows. It is caught if that is
/// less than the bar.
const CAUGHT: Row = Row {
    name: "play",
    what: "",
    unit: "actions/s",
    ours: &[],
    baseline: &[rate(Subject::Matches(PLAY))],
    better: Better::Lower,
    bar: 0.9,
    reach: 0.8,
};
const SLEEP: &[Row] = &[Row {
    what: "1,000 matches, a Play stream each seat: 50 µs slept in each append ÷ none",
    ours: &[rate(Subject::Matches(PLAY.slowed(Planted::Sleep)))],
    ..CAUGHT
}];
const WAKE: &[Row] = &[Row {
    what: "1,000 matches, a Play stream each seat: a wake of its own for each record ÷ none",
    ours: &[rate(Subject::Matches(PLAY.slowed(Planted::Wake)))],
    ..CAUGHT
}];
const LOCK: &[Row] = &[Row {
    what: "1,000 matches, a Play stream each seat: a lock held in each append ÷ none",
    ours: &[rate(Subject::Matches(PLAY.slowed(Planted::Lock)))],
    ..CAUGHT
}];

/// The rows of a server in which this is planted.
pub const fn planted(planted: Planted) -> &'static [Row] {
    match planted {
        Planted::Sleep => SLEEP,
        Planted::Wake => WAKE,
        Planted::Lock => LOCK,
    }
}
