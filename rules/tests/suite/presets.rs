//! The table of presets, cell by cell, and what a preset refuses.

use std::collections::BTreeSet;
use std::fmt::Debug;

use zetema_rules::{Draw, Players, Preset, Rank, Rules, RulesError, Teams};

const TABLE: &str = include_str!("../golden/presets.txt");

/// The rows: the option's name with what narrows it down, then a cell for each preset.
fn rows() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let mut cells = line.split('|').map(str::trim);
        (cells.next().unwrap(), cells.collect())
    })
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

fn variant(value: impl Debug) -> String {
    snake_case(&format!("{value:?}"))
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or("none".to_owned(), |value| value.to_string())
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

fn draw(draw: Draw) -> String {
    match draw {
        Draw::None => "none",
        Draw::ToHandSize => "H",
        Draw::ToHandSizePlusOne => "H+1",
    }
    .to_owned()
}

/// The cell that these rules give to an option.
fn cell(rules: &Rules, option: &str, ranks: &[Rank]) -> String {
    match option {
        "hand_size" => rules.hand_size.to_string(),
        "imperial_suit" => rules.imperial_suit.letter().to_string(),
        "draw_at_start" => draw(rules.draw_at_start),
        "draw_at_end" => draw(rules.draw_at_end),
        "sequence_score" => rules.sequence_score.to_string(),
        "flush_score" => rules.flush_score.to_string(),
        "flush_sequence_score" => rules.flush_sequence_score.to_string(),
        "ace" => variant(rules.ace),
        "flush_suits" => variant(rules.flush_suits),
        "meld_size" => variant(rules.meld_size),
        "max_reused" => number(rules.max_reused),
        "assembly_scores" => {
            let scores: BTreeSet<u16> = ranks.iter().map(|&rank| rules.assembly_scores.of(rank)).collect();
            scores.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")
        }
        "assembly" => variant(rules.assembly),
        "imperial_bonus" => variant(rules.imperial_bonus),
        "marriage_hand_min" => variant(rules.marriage_hand_min),
        "marriage_then_discard" => yes_no(rules.marriage_then_discard),
        "royal_zetema" => variant(rules.royal_zetema),
        "melds_after_stock" => yes_no(rules.melds_after_stock),
        "extra_turn" => variant(rules.extra_turn),
        "target" => number(rules.target),
        "match_end" => variant(rules.match_end),
        "exposed_card_penalty" => yes_no(rules.exposed_card_penalty),
        _ => panic!("the table has a row {option:?} that is no option"),
    }
}

/// Holds one cell against every number of players and team form that it speaks of.
fn check(preset: Preset, row: &str, expected: &str) {
    let mut words = row.split(' ');
    let option = words.next().unwrap();
    let narrowed: Vec<&str> = words.collect();
    let listed = |count: &usize| preset.players().iter().any(|&players| usize::from(players) == *count);
    if option == "players" {
        let players: Vec<String> = (0..=10).filter(listed).map(|count| count.to_string()).collect();
        assert_eq!(players.join(" "), expected, "{preset}: {row}");
        return;
    }
    let (counts, ranks): (Vec<usize>, Vec<Rank>) = match option {
        "assembly_scores" => {
            ((2..=6).filter(listed).collect(), narrowed.iter().map(|word| word.parse().unwrap()).collect())
        }
        _ if narrowed.is_empty() => ((2..=6).filter(listed).collect(), Vec::new()),
        _ => (narrowed.iter().map(|word| word.parse().unwrap()).collect(), Vec::new()),
    };
    for count in counts {
        if expected == "-" {
            let refused = preset.rules(count, None).unwrap_err();
            assert!(matches!(refused, RulesError::PresetPlayers { .. }), "{preset}: {row}");
            continue;
        }
        let forms = preset.teams(Players::new(count).unwrap());
        if option == "teams" {
            let names: Vec<&str> = forms.iter().map(|form| form.name()).collect();
            assert_eq!(names.join(" "), expected, "{preset}: {row}");
            assert_eq!(preset.rules(count, None).unwrap().teams, forms[0], "{preset}: {row}");
            continue;
        }
        for &form in forms {
            let rules = preset.rules(count, Some(form)).unwrap();
            assert_eq!((usize::from(rules.players), rules.teams), (count, form));
            assert_eq!(cell(&rules, option, &ranks), expected, "{preset} with {count} players: {row}");
        }
    }
}

#[test]
fn every_cell_of_the_table() {
    let mut rows = rows();
    let (_, names) = rows.next().unwrap();
    let presets: Vec<Preset> = names.iter().map(|name| name.parse().unwrap()).collect();
    assert_eq!(presets, Preset::ALL);
    for (row, cells) in rows {
        assert_eq!(cells.len(), presets.len(), "{row}");
        for (&preset, expected) in presets.iter().zip(cells) {
            check(preset, row, expected);
        }
    }
}

/// Every field of `Options` has its row, so that a new option can't be forgotten in the table.
#[test]
fn every_option_has_a_row() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let shown = format!("{:#?}", *rules);
    let fields: BTreeSet<&str> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("    ").filter(|line| line.starts_with(char::is_alphabetic)))
        .filter_map(|line| line.split(':').next())
        .collect();
    let options: BTreeSet<&str> = rows().skip(1).filter_map(|(row, _)| row.split(' ').next()).collect();
    assert_eq!(fields, options);
}

#[test]
fn a_preset_refuses_players_and_teams_that_it_does_not_list() {
    for preset in Preset::ALL {
        for count in 0..=10 {
            let listed = preset.players().iter().any(|&players| usize::from(players) == count);
            if !listed {
                let refused = preset.rules(count, None).unwrap_err();
                assert_eq!(refused.field(), "players", "{preset} with {count} players");
                continue;
            }
            let forms = preset.teams(Players::new(count).unwrap());
            for form in Teams::ALL.into_iter().filter(|form| !forms.contains(form)) {
                let refused = preset.rules(count, Some(form)).unwrap_err();
                assert_eq!(refused.field(), "teams", "{preset} with {count} players as {}", form.name());
            }
        }
    }
}

#[test]
fn a_refusal_names_what_may_be_given_instead() {
    let players = Preset::Akagiri.rules(5, None).unwrap_err();
    assert_eq!(players.to_string(), "the preset akagiri is not played by 5: give 2, 3, 4, 6");
    let teams = Preset::Fosdick.rules(4, Some(Teams::Trios)).unwrap_err();
    assert_eq!(
        teams.to_string(),
        "the preset fosdick with 4 players is not played as trios: give pairs or individual"
    );
}

#[test]
fn an_unknown_preset_is_an_error() {
    for name in ["", "Sackson", "sackson ", "sakson"] {
        assert_eq!(name.parse::<Preset>().unwrap_err().name, name);
    }
    for preset in Preset::ALL {
        assert_eq!(preset.to_string().parse(), Ok(preset));
    }
}
