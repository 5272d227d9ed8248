//! Rules as text: a preset's name and what differs from it.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use thiserror::Error;

use crate::card::Suit;
use crate::options::Options;
use crate::preset::{Preset, UnknownPreset};
use crate::rules::{Rules, RulesError};

/// A text that is no rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseOptionError {
    /// The first word is no preset.
    #[error(transparent)]
    Preset(#[from] UnknownPreset),
    /// Not of the form `option=value`.
    #[error("{word:?} is no option: give option=value")]
    Form {
        /// What was given.
        word: String,
    },
    /// No option has this name.
    #[error("{name:?} is no option: give one of {}", OPTIONS.map(|option| option.name).join(", "))]
    Name {
        /// What was given.
        name: String,
    },
    /// An option is given twice.
    #[error("{name} is given twice: give it once")]
    Twice {
        /// The option.
        name: String,
    },
    /// The option does not take this value.
    #[error("{name}={value}: {problem}")]
    Value {
        /// The option.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The options are no rules together.
    #[error(transparent)]
    Rules(#[from] RulesError),
}

/// One option as text.
struct TextOption {
    name: &'static str,
    print: fn(&Options) -> String,
    read: fn(&mut Options, &str) -> Result<(), String>,
}

fn read<T: FromStr<Err: fmt::Display>>(field: &mut T, value: &str) -> Result<(), String> {
    *field = value.parse().map_err(|error: T::Err| error.to_string())?;
    Ok(())
}

fn read_optional<T: FromStr<Err: fmt::Display>>(field: &mut Option<T>, value: &str) -> Result<(), String> {
    *field = match value {
        "none" => None,
        _ => Some(value.parse().map_err(|error: T::Err| format!("{error}: give a number or none"))?),
    };
    Ok(())
}

fn print_optional<T: ToString>(field: Option<T>) -> String {
    field.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn read_yes_no(field: &mut bool, value: &str) -> Result<(), String> {
    *field = match value {
        "yes" => true,
        "no" => false,
        _ => return Err("give yes or no".to_owned()),
    };
    Ok(())
}

fn print_yes_no(field: bool) -> String {
    if field { "yes" } else { "no" }.to_owned()
}

fn print<T: fmt::Display>(field: T) -> String {
    field.to_string()
}

fn print_suit(suit: Suit) -> String {
    suit.letter().to_string()
}

macro_rules! option {
    ($($field:ident).+) => {
        option!($($field).+, print, read)
    };
    ($($field:ident).+, $print:ident, $read:ident) => {
        TextOption {
            name: stringify!($($field).+),
            print: |options| $print(options.$($field).+),
            read: |options, value| $read(&mut options.$($field).+, value),
        }
    };
}

const OPTIONS: [TextOption; 27] = [
    option!(players),
    option!(teams),
    option!(hand_size),
    option!(imperial_suit, print_suit, read),
    option!(draw_at_start),
    option!(draw_at_end),
    option!(sequence_score),
    option!(flush_score),
    option!(flush_sequence_score),
    option!(assembly_scores.royal),
    option!(assembly_scores.jack),
    option!(assembly_scores.ace_and_five),
    option!(assembly_scores.other),
    option!(ace),
    option!(flush_suits),
    option!(meld_size),
    option!(max_reused, print_optional, read_optional),
    option!(assembly),
    option!(imperial_bonus),
    option!(marriage_hand_min),
    option!(marriage_then_discard, print_yes_no, read_yes_no),
    option!(royal_zetema),
    option!(melds_after_stock, print_yes_no, read_yes_no),
    option!(extra_turn),
    option!(target, print_optional, read_optional),
    option!(match_end),
    option!(exposed_card_penalty, print_yes_no, read_yes_no),
];

impl Options {
    /// Every option's name and value as text, in a fixed order.
    pub fn as_text(&self) -> impl Iterator<Item = (&'static str, String)> + use<'_> {
        OPTIONS.iter().map(|option| (option.name, (option.print)(self)))
    }

    /// These options with one replaced, given as text.
    ///
    /// # Errors
    /// [`ParseOptionError`] names the option.
    pub fn with(mut self, name: &str, value: &str) -> Result<Self, ParseOptionError> {
        let option = OPTIONS
            .iter()
            .find(|option| option.name == name)
            .ok_or_else(|| ParseOptionError::Name { name: name.to_owned() })?;
        (option.read)(&mut self, value).map_err(|problem| ParseOptionError::Value {
            name: option.name,
            value: value.to_owned(),
            problem,
        })?;
        Ok(self)
    }

    /// The options in which two sets differ, as text of this one.
    fn differences(&self, other: &Self) -> String {
        self.as_text().zip(other.as_text()).filter(|(own, other)| own != other).fold(
            String::new(),
            |mut text, ((name, value), _)| {
                let _ = write!(text, " {name}={value}");
                text
            },
        )
    }
}

/// `sackson players=2 teams=individual target=500`: the nearest preset that these players and teams
/// can play, then all that differs from it.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let players = self.player_count().count();
        let nearest = Preset::ALL
            .into_iter()
            .filter_map(|preset| Some((preset, preset.rules(players, Some(self.teams)).ok()?)))
            .map(|(preset, rules)| (preset, self.differences(&rules)))
            .min_by_key(|(preset, text)| (text.split(' ').count(), *preset != Preset::default()));
        // `fosdick` takes every number of players in every team form.
        let (preset, text) = nearest.unwrap_or_default();
        write!(f, "{preset} players={players} teams={}{text}", self.teams)
    }
}

/// Reads what `Display` prints. The numbers of players and the teams may be left out: then there are
/// two players, and the preset's default team form.
impl FromStr for Rules {
    type Err = ParseOptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split_whitespace();
        let preset: Preset = words.next().unwrap_or_default().parse()?;
        let pairs: Vec<(&str, &str)> = words
            .map(|word| word.split_once('=').ok_or_else(|| ParseOptionError::Form { word: word.to_owned() }))
            .collect::<Result<_, _>>()?;
        for (i, (name, _)) in pairs.iter().enumerate() {
            if pairs[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(ParseOptionError::Twice { name: (*name).to_owned() });
            }
        }
        let mut base: Options = *Preset::default().rules(2, None)?;
        let mut teams = None;
        for &(name, value) in &pairs {
            match name {
                "players" => base = base.with(name, value)?,
                "teams" => teams = Some(base.with(name, value)?.teams),
                _ => {}
            }
        }
        let mut options: Options = *preset.rules(usize::from(base.players), teams)?;
        for (name, value) in pairs {
            options = options.with(name, value)?;
        }
        Ok(Self::new(options)?)
    }
}
