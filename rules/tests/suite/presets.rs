//! The table of presets, cell by cell, and what a preset refuses.

use std::collections::BTreeSet;

use zetema_rules::{Players, Preset, Rank, RulesError, Teams};

const TABLE: &str = include_str!("../golden/presets.txt");

/// The rows: the option's name with what narrows it down, then a cell for each preset.
fn rows() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let mut cells = line.split('|').map(str::trim);
        (cells.next().unwrap(), cells.collect())
    })
}

/// Holds one cell against every number of players and team form that it speaks of.
fn check(preset: Preset, row: &str, expected: &str) {
    let (option, narrowed) = row.split_once(' ').map_or((row, None), |(option, count)| (option, Some(count)));
    let listed: Vec<usize> = preset.players().iter().map(|&count| usize::from(count)).collect();
    if option == "players" {
        let players: Vec<String> = listed.iter().map(ToString::to_string).collect();
        assert_eq!(players.join(" "), expected, "{preset}: {row}");
        return;
    }
    let counts = narrowed.map_or(listed, |count| vec![count.parse().unwrap()]);
    for count in counts {
        if expected == "-" {
            let refused = preset.rules(count, None).unwrap_err();
            assert!(matches!(refused, RulesError::PresetPlayers { .. }), "{preset}: {row}");
            continue;
        }
        let forms = preset.teams(Players::new(count).unwrap());
        if option == "teams" {
            let words: Vec<&str> = forms.iter().map(|form| form.word()).collect();
            assert_eq!(words.join(" "), expected, "{preset}: {row}");
            assert_eq!(preset.rules(count, None).unwrap().teams, forms[0], "{preset}: {row}");
            continue;
        }
        for &form in forms {
            let rules = preset.rules(count, Some(form)).unwrap();
            assert_eq!((usize::from(rules.players), rules.teams), (count, form));
            let (_, value) = rules.as_text().find(|(name, _)| *name == option).unwrap();
            assert_eq!(value, expected, "{preset} with {count} players: {row}");
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

/// So that a new option can't be forgotten in the table.
#[test]
fn every_option_has_a_row() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let options: BTreeSet<&str> = rules.as_text().map(|(name, _)| name).collect();
    let rows: BTreeSet<&str> = rows().skip(1).filter_map(|(row, _)| row.split(' ').next()).collect();
    assert_eq!(options, rows);
}

#[test]
fn assemblies_score_by_their_rank() {
    let scores = Preset::Sackson.rules(2, None).unwrap().assembly_scores;
    let by_rank: Vec<u16> = Rank::ALL.into_iter().map(|rank| scores.of(rank)).collect();
    assert_eq!(by_rank, [110, 100, 100, 100, 110, 100, 100, 100, 100, 100, 120, 130, 130]);
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
                assert_eq!(refused.field(), "teams", "{preset} with {count} players as {form}");
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
