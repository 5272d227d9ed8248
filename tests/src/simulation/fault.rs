//! What goes wrong, and when.

use std::fmt;

use super::random::Random;

/// One thing that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When, in milliseconds from the start.
    pub(super) at_ms: u64,
    /// What.
    pub(super) kind: Kind,
}

/// What goes wrong. A `place` is a seat of a match: they are counted over all matches, and beyond the last from the first again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The server is killed and is away for a time. What it was writing is stored or lost.
    Kill { away_ms: u64, writes: Writes },
    /// The server stops in order and is away for a time.
    Stop { away_ms: u64 },
    /// Everything stands still: whoever looks finds that the time has passed.
    Stall { ms: u64 },
    /// The wall clock is set.
    WallClock { by_ms: i64 },
    /// The next writes of the journal end so.
    Append { fate: Fate, times: u8 },
    /// The next write has no answer until the server is killed, which it is after a time.
    NoAnswer { writes: Writes, kill_after_ms: u64, away_ms: u64 },
    /// Writes take up to so long for a time.
    SlowDisk { for_ms: u64, up_to_ms: u64 },
    /// The next reads of the journal fail.
    Reads { times: u8 },
    /// The streams of a place are cut.
    Cut { place: usize },
    /// Requests of a place, or their answers, are lost for a time, about every second one.
    Loss { place: usize, for_ms: u64, lost: Lost },
    /// Requests, answers and observations of a place take up to so long for a time: requests overtake each other.
    Delay { place: usize, for_ms: u64, up_to_ms: u64 },
    /// Each request of a place arrives twice for a time, the second one later.
    Twice { place: usize, for_ms: u64 },
    /// Another program takes a place over for a time.
    Takeover { place: usize, for_ms: u64 },
    /// The player of a place decides nothing for a time.
    Silence { place: usize, for_ms: u64 },
    /// A place resigns, and again.
    Resign { place: usize },
    /// The match of a place is cancelled, and again.
    Cancel { place: usize },
    /// A place gets a new token.
    NewToken { place: usize },
    /// A place sends the nonce that it sent once more, and then another.
    AnotherNonce { place: usize },
    /// A place sends its last answers once more, and then another answer to the last.
    OldAnswers { place: usize },
    /// A place answers a decision that has not come.
    EarlyAnswer { place: usize },
    /// A place offers a discard when another is to act, twice (R28).
    OutOfTurn { place: usize },
}

/// What becomes of what is being written when the server is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    /// It is stored.
    Stored,
    /// It is lost.
    Lost,
}

/// How a write ends that does not go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It fails, and nothing is stored.
    Fails,
    /// It is said to have failed, and is stored.
    FailsAndIsStored,
    /// It is not known, and is stored.
    UnknownAndIsStored,
    /// It is not known, and nothing is stored.
    UnknownAndIsLost,
}

/// What a bad network loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Requests.
    Requests,
    /// Answers to requests.
    Answers,
}

impl Kind {
    /// Its name, such as `takeover`.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Kill { writes: Writes::Stored, .. } => "kill, writes stored",
            Self::Kill { writes: Writes::Lost, .. } => "kill, writes lost",
            Self::Stop { .. } => "stop",
            Self::Stall { .. } => "stall",
            Self::WallClock { .. } => "wall clock set",
            Self::Append { fate: Fate::Fails, .. } => "append fails",
            Self::Append { fate: Fate::FailsAndIsStored, .. } => "append fails and is stored",
            Self::Append { fate: Fate::UnknownAndIsStored, .. } => "append unknown, stored",
            Self::Append { fate: Fate::UnknownAndIsLost, .. } => "append unknown, lost",
            Self::NoAnswer { .. } => "append without an answer",
            Self::SlowDisk { .. } => "slow disk",
            Self::Reads { .. } => "reads fail",
            Self::Cut { .. } => "cut",
            Self::Loss { lost: Lost::Requests, .. } => "requests lost",
            Self::Loss { lost: Lost::Answers, .. } => "answers lost",
            Self::Delay { .. } => "delay, reordering",
            Self::Twice { .. } => "requests twice",
            Self::Takeover { .. } => "takeover",
            Self::Silence { .. } => "silence",
            Self::Resign { .. } => "resign",
            Self::Cancel { .. } => "cancel",
            Self::NewToken { .. } => "new token",
            Self::AnotherNonce { .. } => "another nonce",
            Self::OldAnswers { .. } => "old answers again",
            Self::EarlyAnswer { .. } => "early answer",
            Self::OutOfTurn { .. } => "out of turn",
        }
    }

    fn random(random: &mut Random) -> Self {
        let place = random.index(64);
        let writes = random.pick(&[Writes::Stored, Writes::Lost]);
        let away_ms = random.pick(&[20, 500, 5_000, 60_000]);
        let away_ms = random.within(1, away_ms);
        let for_ms = random.within(100, 8_000);
        match random.below(100) {
            0..10 => Self::Kill { away_ms, writes },
            10..13 => Self::Stop { away_ms },
            13..17 => Self::Stall { ms: random.pick(&[110, 300, 2_000, 30_000]) },
            17..19 => Self::WallClock { by_ms: random.pick(&[-86_400_000, -1_500, 1_500, 86_400_000]) },
            19..33 => Self::Append {
                fate: random.pick(&[
                    Fate::Fails,
                    Fate::FailsAndIsStored,
                    Fate::UnknownAndIsStored,
                    Fate::UnknownAndIsLost,
                ]),
                times: random.pick(&[1, 1, 3, 8]),
            },
            33..37 => Self::NoAnswer { writes, kill_after_ms: random.within(1, 5_000), away_ms },
            37..41 => Self::SlowDisk { for_ms, up_to_ms: random.pick(&[20, 300, 1_500]) },
            41..44 => Self::Reads { times: random.pick(&[1, 2, 6]) },
            44..52 => Self::Cut { place },
            52..60 => Self::Loss {
                place,
                for_ms,
                lost: random.pick(&[Lost::Requests, Lost::Answers, Lost::Answers]),
            },
            60..66 => Self::Delay { place, for_ms, up_to_ms: random.pick(&[100, 700, 2_500]) },
            66..71 => Self::Twice { place, for_ms },
            71..76 => Self::Takeover { place, for_ms },
            76..80 => Self::Silence { place, for_ms: random.pick(&[500, 5_000, 100_000]) },
            80..82 => Self::Resign { place },
            82..83 => Self::Cancel { place },
            83..86 => Self::NewToken { place },
            86..89 => Self::AnotherNonce { place },
            89..95 => Self::OldAnswers { place },
            95..97 => Self::EarlyAnswer { place },
            _ => Self::OutOfTurn { place },
        }
    }
}

/// The faults of a seed: some few, or very many, one after another.
pub fn faults_of(seed: u64) -> Vec<Fault> {
    let mut random = Random::new(seed, &[1]);
    let most = random.pick(&[3, 10, 40]);
    let count = random.within(0, most);
    let end_ms = random.pick(&[2_000, 20_000, 90_000]);
    let at_ms = |random: &mut Random| {
        // Joins, nonces and the first deal are over soon.
        let end_ms = if random.percent(25) { 200 } else { end_ms };
        random.within(1, end_ms)
    };
    let mut faults: Vec<Fault> =
        (0..count).map(|_| Fault { at_ms: at_ms(&mut random), kind: Kind::random(&mut random) }).collect();
    faults.sort_by_key(|fault| fault.at_ms);
    faults
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {} ms: {:?}", self.at_ms, self.kind)
    }
}
