//! Whole records as text.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::fields::ParseFieldError;
use super::outcome::read_seat;
use crate::card::Card;
use crate::deck::Deck;
use crate::fair::{Commitment, Nonce, NonceHash, ServerSeed};
use crate::record::{Clocks, Dealing, Entrant, Outcome, PlayedBy, Record, RecordDeal, Step};
use crate::rules::Rules;

const HEADER: &str = "zetema record 1";

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Play { seat, action, points, by } => {
                write!(f, "{seat} ")?;
                if *by == PlayedBy::Autoplay {
                    f.write_str("autoplay ")?;
                }
                write!(f, "{action}")?;
                if *points > 0 {
                    write!(f, " = {points}")?;
                }
                Ok(())
            }
            Self::Fault { seat, card } => write!(f, "{seat} fault {card}"),
            Self::Forfeit { seat, reason } => write!(f, "{seat} forfeit {reason}"),
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        writeln!(f, "rules {}", self.rules)?;
        writeln!(f, "revision {}", self.revision)?;
        writeln!(f, "dealing {}", self.dealing.kind)?;
        writeln!(f, "commitment {}", Hex(&self.dealing.commitment.0))?;
        writeln!(f, "server_seed {}", Hex(self.dealing.server_seed.reveal()))?;
        for entrant in &self.dealing.entrants {
            f.write_str("entrant")?;
            if let Some(hash) = &entrant.hash {
                write!(f, " hash={}", Hex(&hash.0))?;
            }
            if let Some(nonce) = &entrant.nonce {
                write!(f, " nonce={}", Hex(nonce.reveal()))?;
            }
            writeln!(f)?;
        }
        if let Some(dealer) = self.dealer {
            writeln!(f, "dealer {dealer}")?;
        }
        for deal in &self.deals {
            f.write_str("deal")?;
            deal.deck.reveal().iter().try_for_each(|card| write!(f, " {card}"))?;
            f.write_str("\nscores")?;
            deal.scores.iter().try_for_each(|score| write!(f, " {score}"))?;
            writeln!(f)?;
        }
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        if let Some(Clocks { control, ledger }) = &self.clocks {
            writeln!(f, "time_control {control}")?;
            ledger.iter().try_for_each(|entry| writeln!(f, "ledger {entry}"))?;
        }
        writeln!(f, "{}", self.outcome)
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A text that is no record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct ParseRecordError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// The lines that say something, without comments.
struct Lines<'a> {
    lines: Vec<(usize, &'a str)>,
    next: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let lines = text.lines().enumerate().filter_map(|(i, line)| {
            let said = line.split('#').next().unwrap_or_default().trim();
            (!said.is_empty()).then_some((i + 1, said))
        });
        Self { lines: lines.collect(), next: 0 }
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).map(|&(_, line)| line)
    }

    fn error(&self, problem: impl fmt::Display) -> ParseRecordError {
        let last = self.lines.last().map_or(1, |&(line, _)| line);
        let line = self.lines.get(self.next).map_or(last, |&(line, _)| line);
        ParseRecordError { line, problem: problem.to_string() }
    }

    /// Reads the rest of the next line if it begins with this word.
    fn optional<T, E: fmt::Display>(
        &mut self,
        word: &str,
        read: impl FnOnce(&'a str) -> Result<T, E>,
    ) -> Result<Option<T>, ParseRecordError> {
        let Some(rest) = self.peek().and_then(|line| line.strip_prefix(word)) else { return Ok(None) };
        if !word.is_empty() && !rest.is_empty() && !rest.starts_with(' ') {
            return Ok(None);
        }
        let value = read(rest.trim()).map_err(|problem| self.error(problem))?;
        self.next += 1;
        Ok(Some(value))
    }

    fn required<T, E: fmt::Display>(
        &mut self,
        word: &str,
        read: impl FnOnce(&'a str) -> Result<T, E>,
    ) -> Result<T, ParseRecordError> {
        let found = self.peek().unwrap_or("the end");
        let missing = self.error(format!("{found:?} stands where {word:?} must"));
        self.optional(word, read)?.ok_or(missing)
    }
}

impl FromStr for Record {
    type Err = ParseRecordError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut lines = Lines::new(text);
        lines.required(HEADER, nothing)?;
        let rules: Rules = lines.required("rules", str::parse)?;
        let revision = lines.required("revision", str::parse::<u32>)?;
        let kind = lines.required("dealing", str::parse)?;
        let commitment = Commitment(lines.required("commitment", read_hash)?);
        let server_seed = ServerSeed::new(lines.required("server_seed", read_hash)?);
        let mut entrants = Vec::new();
        while let Some(entrant) = lines.optional("entrant", read_entrant)? {
            entrants.push(entrant);
        }
        let dealer = lines.optional("dealer", read_seat)?;
        let mut deals = Vec::new();
        while let Some(deck) = lines.optional("deal", |text| read_deck(text, &rules))? {
            let scores = lines.required("scores", |text| {
                text.split_whitespace().map(str::parse).collect::<Result<Vec<u16>, _>>()
            })?;
            deals.push(RecordDeal { deck, scores });
        }
        let mut steps = Vec::new();
        while lines.peek().is_some_and(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
            steps.push(lines.required("", str::parse)?);
        }
        let mut clocks = lines.optional("time_control", read_control)?;
        if let Some(Clocks { ledger, .. }) = &mut clocks {
            while let Some(entry) = lines.optional("ledger", str::parse)? {
                ledger.push(entry);
            }
        }
        let outcome = lines.required("", str::parse::<Outcome>)?;
        if lines.peek().is_some() {
            return Err(lines.error("nothing may follow the outcome"));
        }
        let dealing = Dealing { kind, commitment, server_seed, entrants };
        Ok(Self { revision, rules, dealing, dealer, deals, steps, outcome, clocks })
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (seat, rest) = text.trim().split_once(' ').ok_or("give a seat and what it did")?;
        let seat = read_seat(seat)?;
        let rest = rest.trim();
        if let Some(card) = rest.strip_prefix("fault ") {
            let card = card.trim().parse::<Card>().map_err(|error| error.to_string())?;
            return Ok(Self::Fault { seat, card });
        }
        if let Some(reason) = rest.strip_prefix("forfeit ") {
            return Ok(Self::Forfeit {
                seat,
                reason: reason.trim().parse().map_err(|error| format!("{error}"))?,
            });
        }
        let (rest, by) = match rest.strip_prefix("autoplay ") {
            Some(rest) => (rest, PlayedBy::Autoplay),
            None => (rest, PlayedBy::Player),
        };
        let (action, points) = match rest.split_once('=') {
            Some((action, points)) => {
                (action, points.trim().parse().map_err(|error| format!("{points:?}: {error}"))?)
            }
            None => (rest, 0),
        };
        let action = action.parse().map_err(|error| format!("{error}"))?;
        Ok(Self::Play { seat, action, points, by })
    }
}

fn read_control(text: &str) -> Result<Clocks, ParseFieldError> {
    Ok(Clocks { control: text.parse()?, ledger: Vec::new() })
}

fn nothing(rest: &str) -> Result<(), String> {
    if rest.is_empty() { Ok(()) } else { Err(format!("{rest:?} is too much here")) }
}

fn read_hex(text: &str) -> Result<Vec<u8>, String> {
    let error = || format!("{text:?} is no hexadecimal text of whole bytes");
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return Err(error());
    }
    let digit = |byte: u8| (byte as char).to_digit(16);
    let bytes = text.as_bytes().chunks_exact(2).map(|pair| {
        let byte = digit(pair[0])? * 16 + digit(pair[1])?;
        u8::try_from(byte).ok()
    });
    bytes.collect::<Option<_>>().ok_or_else(error)
}

fn read_hash(text: &str) -> Result<[u8; 32], String> {
    let bytes = read_hex(text)?;
    let given = bytes.len();
    bytes.try_into().map_err(|_| format!("{given} bytes: give 32"))
}

fn read_entrant(text: &str) -> Result<Entrant, String> {
    let mut entrant = Entrant { hash: None, nonce: None };
    for word in text.split_whitespace() {
        match word.split_once('=') {
            Some(("hash", _)) if entrant.hash.is_some() => {
                return Err("hash is given twice: give it once".into());
            }
            Some(("nonce", _)) if entrant.nonce.is_some() => {
                return Err("nonce is given twice: give it once".into());
            }
            Some(("hash", hex)) => entrant.hash = Some(NonceHash(read_hash(hex)?)),
            Some(("nonce", hex)) => {
                entrant.nonce = Some(Nonce::new(&read_hex(hex)?).map_err(|error| error.to_string())?);
            }
            _ => return Err(format!("{word:?}: give hash=… or nonce=…")),
        }
    }
    Ok(entrant)
}

fn read_deck(text: &str, rules: &Rules) -> Result<Deck, String> {
    let cards: Result<Vec<Card>, _> = text.split_whitespace().map(str::parse).collect();
    let cards = cards.map_err(|error| error.to_string())?;
    Deck::new(&cards, rules.imperial_suit).map_err(|error| error.to_string())
}
