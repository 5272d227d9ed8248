//! What was found, with its evidence.

use std::fmt;

use super::finding::Finding;
use crate::ratings::ResultNumber;

/// Something that honest play is very unlikely to give, with what it was seen by. It proves nothing: somebody has to look.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion<B> {
    /// Who is suspected of what, and the numbers.
    pub finding: Finding<B>,
    /// How likely it is if all played honestly.
    pub significance: Significance,
    /// The matches in which it was seen, in the order of their numbers.
    pub matches: Vec<Cited>,
}

/// How likely a finding is if all played honestly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Significance {
    /// The chance of what was seen, or of something farther out, 0 to 1.
    pub p_value: f64,
    /// It is listed because that is at most this: the chance that is left to this kind of suspicion, over `compared`.
    pub bar: f64,
    /// How many bots or pairs of bots were looked at for the same. The more there are, the lower is the bar.
    pub compared: usize,
}

/// A match of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cited {
    /// Its place among all results of the server.
    pub number: ResultNumber,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
}

/// How many matches a line names.
const NAMED: usize = 10;

/// One line for the admin.
impl<B: fmt::Display> fmt::Display for Suspicion<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { finding, significance: Significance { p_value, bar, compared }, matches } = self;
        write!(
            f,
            "{finding} (p = {p_value:.1e}; listed up to {bar:.1e}, as {compared} were looked at); matches"
        )?;
        for (place, Cited { number, .. }) in matches.iter().take(NAMED).enumerate() {
            write!(f, "{} {number}", if place == 0 { "" } else { "," })?;
        }
        match matches.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
