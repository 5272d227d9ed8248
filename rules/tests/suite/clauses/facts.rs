//! What a case says of a match.

use std::fmt::Display;

use zetema_rules::{Action, Cards, Game, Outcome, Phase, Rank, Ranks, Stage, Viewer};

use super::{read, read_list, read_seat, read_stage, split_word};

/// Whether the fact holds. Facts are compared as text, so that what is there instead can be shown.
pub(super) fn check(game: &Game, fact: &str) -> Result<(), String> {
    let public = game.public();
    let (word, rest) = split_word(fact);
    let (first, more) = split_word(rest);
    let seat = || read_seat(first);
    let sides = game.rules().sides();
    match word {
        "to-act" => {
            let there = match public.phase {
                Phase::Turn { seat, .. } if more.is_empty() => format!("{seat} "),
                Phase::Turn { seat, stage } => format!("{seat} {}", show_stage(stage)),
                Phase::DealOver | Phase::MatchOver => "nobody".to_owned(),
            };
            let expected = if more.is_empty() { String::new() } else { show_stage(read_stage(more)?) };
            equal(&there, &format!("{first} {expected}"))
        }
        "deal-over" => equal(&(public.phase == Phase::DealOver), &true),
        "match-over" => equal(&(public.phase == Phase::MatchOver), &true),
        "match-goes-on" => equal(&(public.phase == Phase::MatchOver), &false),
        "result" => match public.result {
            Some(result) => equal(&Outcome::Result(result), &fact),
            None => Err("there is none".to_owned()),
        },
        "hand" => same_cards(game.view(Viewer::Seat(seat()?)).hand, more),
        "count" => equal(&public.hand_counts[seat()?.index()], &more),
        "stock" => equal(&public.stock_count, &rest),
        "tableau" => same_cards(public.tableau, rest),
        "marriages" => same_cards(public.marriages, rest),
        "zetemas" => same_ranks(public.zetemas, rest),
        "removed" => same_ranks(public.removed, rest),
        "assemblies" => same_ranks(public.assemblies, rest),
        "known" => same_cards(public.known_held[seat()?.index()], more),
        "exposed" => same_cards(public.exposed[seat()?.index()].map_or(Cards::EMPTY, Cards::from), more),
        "penalty" => equal(&public.draw_penalties[seat()?.index()], &more),
        "last" => same_cards(public.last_melds[seat()?.index()].unwrap_or_default(), more),
        "dealer" => equal(&public.dealer, &rest),
        "deal" => equal(&public.deal, &rest),
        "decision" => equal(&public.decision, &rest),
        "totals" => equal(&numbers(&public.totals[..sides]), &rest),
        "deal-scores" => equal(&numbers(&public.deal_scores[..sides]), &rest),
        "legal" if listed(game, rest)? => Ok(()),
        "legal" => Err("it is illegal".to_owned()),
        "illegal" if listed(game, rest)? => Err("it is legal".to_owned()),
        "illegal" => Ok(()),
        "discards" => same_cards(game.legal_actions().discards, rest),
        "declarations" => equal(&game.legal_actions().declarations.len(), &rest),
        "faults" => same_cards(game.faults(seat()?), more),
        _ => Err(format!("no fact {word:?}")),
    }
}

fn equal(there: &impl Display, expected: &impl Display) -> Result<(), String> {
    let (there, expected) = (there.to_string(), expected.to_string());
    if there == expected { Ok(()) } else { Err(format!("it is {there:?}")) }
}

fn same_cards(there: Cards, expected: &str) -> Result<(), String> {
    equal(&there, &read::<Cards>(expected)?)
}

fn same_ranks(there: Ranks, expected: &str) -> Result<(), String> {
    let expected: Vec<Rank> = read_list(expected)?;
    let show = |ranks: Ranks| ranks.iter().map(Rank::letter).collect::<String>();
    equal(&show(there), &show(expected.into_iter().fold(Ranks::EMPTY, Ranks::with)))
}

fn numbers(all: &[u16]) -> String {
    all.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")
}

fn listed(game: &Game, action: &str) -> Result<bool, String> {
    Ok(game.legal_actions().contains(&read::<Action>(action)?))
}

fn show_stage(stage: Stage) -> String {
    match stage {
        Stage::DeclareOrDiscard => "declare-or-discard".to_owned(),
        Stage::Discard => "discard".to_owned(),
        Stage::DiscardDeclared(cards) => format!("discard-declared {cards}"),
        Stage::DiscardExposed(card) => format!("discard-exposed {card}"),
    }
}
