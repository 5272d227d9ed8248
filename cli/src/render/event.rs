//! Events, a line each.

use console::style;
use zetema_rules::{Declaration, OwnCards, Rank, Seat, SeatEvent};

use super::{Names, cards, face, result};

/// What happened, in a line. `None` for a draw by another: drawing is automatic.
pub(crate) fn event(event: &SeatEvent, names: &Names) -> Option<String> {
    Some(match event {
        SeatEvent::DealStarted { deal, dealer } => {
            style(format!("deal {deal} begins, {} deals", names.seat(*dealer))).dim().to_string()
        }
        SeatEvent::Drew { cards: None, .. } => return None,
        SeatEvent::Drew { cards: Some(OwnCards(drawn)), .. } => format!("you draw {}", cards(*drawn)),
        SeatEvent::Declared { seat, declaration, points } => {
            scoring(&format!("{} declares {}", names.seat(*seat), self::declaration(declaration)), *points)
        }
        SeatEvent::Discarded { seat, card } => format!("{} discards {}", names.seat(*seat), face(*card)),
        SeatEvent::Zetema { seat, rank, points } => {
            scoring(&format!("{} makes a zetema of {}", names.seat(*seat), plural(*rank)), *points)
        }
        SeatEvent::Exposed { seat, card } => {
            format!("{} offers {} out of turn: it lies exposed", names.seat(*seat), face(*card))
        }
        SeatEvent::ExtraTurn { seat } => format!("{} goes on", names.seat(*seat)),
        SeatEvent::DealOver { deal, deal_scores } => {
            let scores: Vec<String> = names
                .sides()
                .map(|side| format!("{} {}", names.side(side), deal_scores[side.index()]))
                .collect();
            style(format!("deal {deal} is over: {}", scores.join(", "))).dim().to_string()
        }
        SeatEvent::Forfeited { seat } => forfeited(names, *seat),
        SeatEvent::MatchOver { result: given } => result(given, names),
    })
}

fn forfeited(names: &Names, seat: Seat) -> String {
    style(format!("{} forfeits the match", names.seat(seat))).red().to_string()
}

fn scoring(what: &str, points: u16) -> String {
    format!("{what}: {}", style(format!("{points} points")).green().bold())
}

/// What is declared, with its article.
pub(super) fn declaration(declaration: &Declaration) -> String {
    match *declaration {
        Declaration::Sequence(all) => format!("a sequence {}", cards(all)),
        Declaration::Flush(all) => format!("a flush {}", cards(all)),
        Declaration::FlushSequence(all) => format!("a flush sequence {}", cards(all)),
        Declaration::Assembly(rank) => format!("an assembly of {}", plural(rank)),
        Declaration::Marriages { hand, tableau } => {
            let many = if hand.len() + tableau.len() == 2 { "a marriage" } else { "marriages" };
            let parts = [(hand, "from hand"), (tableau, "from the tableau")]
                .into_iter()
                .filter(|(part, _)| !part.is_empty())
                .map(|(part, place)| format!("{} {place}", cards(part)));
            format!("{many}, {}", parts.collect::<Vec<_>>().join(", "))
        }
    }
}

const fn plural(rank: Rank) -> &'static str {
    match rank {
        Rank::Ace => "aces",
        Rank::Two => "twos",
        Rank::Three => "threes",
        Rank::Four => "fours",
        Rank::Five => "fives",
        Rank::Six => "sixes",
        Rank::Seven => "sevens",
        Rank::Eight => "eights",
        Rank::Nine => "nines",
        Rank::Ten => "tens",
        Rank::Jack => "jacks",
        Rank::Queen => "queens",
        Rank::King => "kings",
    }
}
