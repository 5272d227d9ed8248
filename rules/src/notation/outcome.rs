//! Outcomes as text.

use std::fmt;
use std::str::FromStr;

use crate::public::MatchResult;
use crate::record::Outcome;
use crate::seat::Seat;

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(MatchResult { reason, ranks, totals }) => {
                write!(f, "result {reason} ranks")?;
                let sides = ranks.iter().take_while(|&&rank| rank > 0).count();
                ranks[..sides].iter().try_for_each(|rank| write!(f, " {rank}"))?;
                f.write_str(" totals")?;
                totals[..sides].iter().try_for_each(|total| write!(f, " {total}"))
            }
            Self::Aborted { reason, seats } => {
                write!(f, "aborted {reason}")?;
                seats.iter().try_for_each(|seat| write!(f, " {seat}"))
            }
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (reason, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "result" => {
                let lists = rest.strip_prefix("ranks ").and_then(|rest| rest.split_once("totals"));
                let (ranks, totals) = lists.ok_or("give ranks and totals by side")?;
                let reason = reason.parse().map_err(|error| format!("{error}"))?;
                let (ranks, sides) = by_side(ranks)?;
                let (totals, total_sides) = by_side(totals)?;
                if sides != total_sides || ranks[..sides].contains(&0) {
                    return Err(format!(
                        "{sides} ranks and {total_sides} totals: give one rank from 1 and one total for each side"
                    ));
                }
                Ok(Self::Result(MatchResult { reason, ranks, totals }))
            }
            "aborted" => {
                let reason = reason.parse().map_err(|error| format!("{error}"))?;
                let seats = rest.split_whitespace().map(read_seat).collect::<Result<_, _>>()?;
                Ok(Self::Aborted { reason, seats })
            }
            _ => Err(format!("{word:?} is no outcome: give result or aborted")),
        }
    }
}

pub(super) fn read_seat(word: &str) -> Result<Seat, String> {
    word.parse().ok().and_then(Seat::new).ok_or_else(|| format!("{word:?} is no seat: give 0 to 5"))
}

fn by_side<T: FromStr + Copy + Default>(text: &str) -> Result<([T; Seat::MAX], usize), String> {
    let mut values = [T::default(); Seat::MAX];
    let mut sides = 0;
    for word in text.split_whitespace() {
        let value = word.parse().map_err(|_| format!("{word:?} is no number that fits here"))?;
        *values.get_mut(sides).ok_or("there are at most 6 sides")? = value;
        sides += 1;
    }
    Ok((values, sides))
}
