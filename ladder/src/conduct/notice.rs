//! What a bot's author is told (`Notice`).

use std::fmt;

/// What a bot's author is told of a no-show, a forfeit or a quota. Its text says what follows and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It did not come to a match, which was not dealt.
    NoShow {
        /// How many strikes it has now.
        strikes: u32,
        /// For how long it is not paired, in milliseconds.
        cool_down_ms: u64,
        /// Until when, in milliseconds.
        until_ms: u64,
    },
    /// It came to a match and did not send the nonce that it had promised, so that the match was not dealt.
    NoNonce {
        /// How many strikes it has now.
        strikes: u32,
        /// For how long it is not paired, in milliseconds.
        cool_down_ms: u64,
        /// Until when, in milliseconds.
        until_ms: u64,
    },
    /// It forfeited a match that was dealt, and is not benched for it.
    Forfeit {
        /// How many it forfeited lately.
        forfeits: u32,
        /// Of so many matches.
        of_last: u32,
        /// With so many it is benched.
        benched_with: u32,
    },
    /// It forfeited too often, and is benched for a time.
    Benched {
        /// How many it forfeited lately.
        forfeits: u32,
        /// Of so many matches.
        of_last: u32,
        /// For how long, in milliseconds.
        bench_ms: u64,
        /// Until when, in milliseconds.
        until_ms: u64,
    },
    /// It forfeited too often again and again, and is benched until its author acts.
    BenchedUntilAuthor {
        /// How many it forfeited lately.
        forfeits: u32,
        /// Of so many matches.
        of_last: u32,
        /// How often it was benched, this time included.
        benches: u32,
    },
    /// It has played all matches of a day that it may play at any pace.
    Paced {
        /// How many it has played.
        played: u32,
        /// How many it may play in 24 hours.
        a_day: u32,
        /// How long after each match it is given the next one, in milliseconds.
        gap_ms: u64,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoShow { strikes, cool_down_ms, .. } => write!(
                f,
                "your bot did not come to its match, so it was not dealt and not rated. This is strike {strikes}: it is not paired \
                 for {} after that. Leave the queue before the bot goes away, and have it join its matches at once.",
                Spoken(cool_down_ms)
            ),
            Self::NoNonce { strikes, cool_down_ms, .. } => write!(
                f,
                "your bot joined its match and did not send the nonce that it had promised, so the match was not dealt and not rated. \
                 This is strike {strikes}: it is not paired for {} after that. Have it keep the secret of its nonces where it finds it \
                 again when it is started anew, or join without a nonce.",
                Spoken(cool_down_ms)
            ),
            Self::Forfeit { forfeits, of_last, benched_with } => write!(
                f,
                "your bot forfeited a match after the deal, which is rated as lost: {forfeits} of its last {of_last}. With \
                 {benched_with} it is benched. Its faults of that match say what went wrong."
            ),
            Self::Benched { forfeits, of_last, bench_ms, .. } => write!(
                f,
                "your bot forfeited {forfeits} of its last {of_last} matches and is benched: it is not paired for {} after that. Mend \
                 it meanwhile: its faults of those matches say what went wrong.",
                Spoken(bench_ms)
            ),
            Self::BenchedUntilAuthor { forfeits, of_last, benches } => write!(
                f,
                "your bot forfeited {forfeits} of its last {of_last} matches and is benched for the {benches}th time, until you put \
                 it back. Mend it first: its faults of those matches say what went wrong."
            ),
            Self::Paced { played, a_day, gap_ms } => write!(
                f,
                "your bot has played {played} of the {a_day} matches that it may in 24 hours, on all ladders together. Until fewer \
                 count it is given the next one {} after the last. It loses nothing by waiting; whoever runs the server sets the number.",
                Spoken(gap_ms)
            ),
        }
    }
}

/// Milliseconds as people say them: the two largest units, rounded up to the second.
struct Spoken(u64);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_ceil(1_000);
        let parts = [
            (seconds / 86_400, "d"),
            (seconds / 3_600 % 24, "h"),
            (seconds / 60 % 60, "min"),
            (seconds % 60, "s"),
        ];
        let Some(largest) = parts.iter().position(|&(count, _)| count > 0) else {
            return f.write_str("0 s");
        };
        let (count, unit) = parts[largest];
        write!(f, "{count} {unit}")?;
        match parts.get(largest + 1) {
            Some(&(count, unit)) if count > 0 => write!(f, " {count} {unit}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spoken;

    #[test]
    fn times_are_told_as_people_say_them() {
        for (ms, spoken) in [
            (0, "0 s"),
            (1, "1 s"),
            (30_000, "30 s"),
            (60_000, "1 min"),
            (90_000, "1 min 30 s"),
            (3_600_000, "1 h"),
            (3_605_000, "1 h"),
            (90_000_000, "1 d 1 h"),
        ] {
            assert_eq!(Spoken(ms).to_string(), spoken);
        }
    }
}
