//! The clauses of the rules as data: the files in `tests/golden/clauses`.
//!
//! ```text
//! file     = "#" comment / case, with blank lines anywhere
//! case     = "case" name { clause }                what it shows, as a sentence; the clauses that it is about
//!            { setup } { step | "then" fact }
//! setup    = "rules" rules                         as in the text notation; `sackson` if left out
//!          | "hand" seat { card }                  empty if left out
//!          | "stock" { card }                      next card first
//!          | "tableau" { card } | "marriages" { card }
//!          | "zetemas" { rank } | "removed" { rank } | "assemblies" { rank }
//!          | "rest" ( "stock" | "played" )         where the cards lie that are not named: under the stock, which
//!                                                  is meant if left out; or played: five of a rank as a zetema,
//!                                                  others in the tableau
//!          | "turn" seat [ stage ]                 seat 0 may declare or discard, if left out
//!          | "known" seat { card } | "exposed" seat card | "penalty" seat cards | "last" seat { card }
//!          | "dealer" seat | "forfeited" { seat } | "totals" { points }
//!          | "dealt" seat { card }                 instead of all that: dealt by this dealer from a deck that
//!                                                  begins with these cards
//! step     = a step of the text notation, with its points
//!          | step "!" error { word }               refused with this error, whose message has these words
//!          | "deal"                                the next deal, of the pack in order
//! stage    = "declare-or-discard" | "discard" | "discard-declared" { card } | "discard-exposed" card
//! fact     = "to-act" seat [ stage ] | "deal-over" | "match-over" | "match-goes-on" | outcome
//!          | "hand" seat { card } | "count" seat cards | "stock" cards | …    as in the setup
//!          | "legal" action | "illegal" action     listed or not for the seat to act
//!          | "discards" { card } | "declarations" number | "faults" seat { card }
//!          | "decision" number | "deal" number
//! ```

mod facts;
mod position;

use std::collections::BTreeSet;
use std::path::Path;

use zetema_rules::{Cards, Deck, Event, Game, PlayError, Seat, SeatEvent, Stage, Step};

use crate::walk::public_events;

use position::Position;

/// A case with its lines, numbered as in its file.
struct Case {
    place: String,
    name: String,
    clauses: Vec<String>,
    lines: Vec<(usize, String)>,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/clauses");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases: Vec<Case> = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap().trim();
            if let Some(head) = line.strip_prefix("case ") {
                let mut words = head.split_whitespace().map(ToOwned::to_owned);
                let (case, clauses) = (words.next().unwrap(), words.collect());
                cases.push(Case {
                    place: format!("{name}:{number}"),
                    name: case,
                    clauses,
                    lines: Vec::new(),
                });
            } else if !line.is_empty() {
                let case =
                    cases.last_mut().unwrap_or_else(|| panic!("{name}:{number} stands before any case"));
                case.lines.push((number, line.to_owned()));
            }
        }
    }
    cases
}

/// Plays a case; what does not hold is named with its line.
fn check(case: &Case) -> Result<(), String> {
    let mut position = Position::default();
    let mut game: Option<Game> = None;
    let mut facts = 0;
    for (line, text) in &case.lines {
        let (word, rest) = split_word(text);
        let is_step = word.starts_with(|first: char| first.is_ascii_digit());
        let result = match (&mut game, word) {
            (None, _) if !is_step && word != "then" && word != "deal" => position.set(word, rest),
            (game, _) => with_game(game, &position).and_then(|game| match word {
                "then" => {
                    facts += 1;
                    facts::check(game, rest)
                }
                "deal" => deal(game),
                _ if is_step => {
                    facts += 1;
                    step(game, text)
                }
                _ => Err(format!("{word:?} after the first step")),
            }),
        };
        result.map_err(|problem| format!("line {line}: {text}\n        {problem}"))?;
    }
    if facts == 0 { Err("nothing is checked".to_owned()) } else { Ok(()) }
}

fn with_game<'a>(game: &'a mut Option<Game>, position: &Position) -> Result<&'a mut Game, String> {
    if game.is_none() {
        *game = Some(position.game()?);
    }
    game.as_mut().ok_or_else(|| "no match".to_owned())
}

fn deal(game: &mut Game) -> Result<(), String> {
    let pack: Vec<_> = Cards::pack(game.rules().imperial_suit).iter().collect();
    let deck = Deck::new(&pack, game.rules().imperial_suit).map_err(|error| error.to_string())?;
    game.deal(&deck, &mut Vec::new()).map_err(|error| error.to_string())
}

fn step(game: &mut Game, text: &str) -> Result<(), String> {
    let (text, refusal) = text.split_once('!').map_or((text, None), |(text, error)| (text, Some(error)));
    let step: Step = text.parse()?;
    let (before, mut events) = (game.clone(), Vec::new());
    let result = apply(game, &step, &mut events);
    match (result, refusal) {
        (Ok(()), None) => match step {
            Step::Play { points, .. } if points_of(&events) != points => {
                Err(format!("it scored {}", points_of(&events)))
            }
            _ => Ok(()),
        },
        (Ok(()), Some(_)) => Err("it was accepted".to_owned()),
        (Err(error), None) => Err(format!("refused: {error}")),
        (Err(error), Some(expected)) => {
            let (kind, words) = split_word(expected.trim());
            if *game != before || !events.is_empty() {
                return Err("the refusal changed something (R27)".to_owned());
            }
            if error.kind() == kind && error.to_string().contains(words) {
                Ok(())
            } else {
                Err(format!("refused with {}: {error}", error.kind()))
            }
        }
    }
}

fn apply(game: &mut Game, step: &Step, events: &mut Vec<Event>) -> Result<(), PlayError> {
    match *step {
        Step::Play { seat, action, .. } => game.play(seat, &action, events),
        Step::Fault { seat, card } => game.fault(seat, card, events),
        Step::Forfeit { seat, .. } => game.forfeit(seat, events),
    }
}

fn points_of(events: &[Event]) -> u16 {
    public_events(events)
        .map(|event| match event {
            SeatEvent::Declared { points, .. } | SeatEvent::Zetema { points, .. } => points,
            _ => 0,
        })
        .sum()
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_once(' ').map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

fn read<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{text:?}: {error}"))
}

fn read_list<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<Vec<T>, String> {
    text.split_whitespace().map(read).collect()
}

fn read_seat(text: &str) -> Result<Seat, String> {
    Seat::new(read(text)?).ok_or_else(|| format!("no seat {text}"))
}

fn read_stage(text: &str) -> Result<Stage, String> {
    let (word, cards) = split_word(text);
    match word {
        "declare-or-discard" => Ok(Stage::DeclareOrDiscard),
        "discard" => Ok(Stage::Discard),
        "discard-declared" => Ok(Stage::DiscardDeclared(read(cards)?)),
        "discard-exposed" => Ok(Stage::DiscardExposed(read(cards)?)),
        _ => Err(format!("no stage {word:?}")),
    }
}

#[test]
fn every_case_holds() {
    let failures: Vec<String> = cases()
        .iter()
        .filter_map(|case| check(case).err().map(|why| format!("{} {}\n    {why}", case.place, case.name)))
        .collect();
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_clause_has_a_case() {
    let named: BTreeSet<String> = cases().into_iter().flat_map(|case| case.clauses).collect();
    let clauses: BTreeSet<String> = (1..=28).map(|clause| format!("R{clause}")).collect();
    let without: Vec<_> = clauses.difference(&named).collect();
    assert!(without.is_empty(), "clauses without a case: {without:?}");
    let unknown: Vec<_> = named.difference(&clauses).collect();
    assert!(unknown.is_empty(), "no such clauses: {unknown:?}");
}

#[test]
fn no_two_cases_have_the_same_name() {
    let mut names = BTreeSet::new();
    for case in cases() {
        assert!(names.insert(case.name.clone()), "{}: {} is there already", case.place, case.name);
    }
}

#[test]
fn a_case_that_does_not_hold_is_found() {
    let case = |lines: &[&str]| Case {
        place: String::new(),
        name: String::new(),
        clauses: Vec::new(),
        lines: (1..).zip(lines.iter().map(|&line| line.to_owned())).collect(),
    };
    let setup = ["hand 0 KS 2C", "hand 1 3C"];
    for (wrong, why) in [
        ("0 discard 2C = 5", "it scored 0"),
        ("0 discard 4C", "refused: 4C is not in the hand"),
        ("0 discard 2C ! CardNotHeld", "it was accepted"),
        ("0 discard 4C ! NotDeclared", "refused with CardNotHeld"),
        ("then tableau 2C", "it is \"\""),
        ("then to-act 1", "it is \"0 "),
        ("then legal discard 3C", "it is illegal"),
        ("then illegal discard 2C", "it is legal"),
        ("then nonsense", "no fact"),
        ("nonsense", "no setup"),
    ] {
        let error = check(&case(&[&setup[..], &[wrong]].concat())).unwrap_err();
        assert!(error.contains(why), "{wrong}: {error}");
    }
    assert_eq!(check(&case(&setup)).unwrap_err(), "nothing is checked");
}
