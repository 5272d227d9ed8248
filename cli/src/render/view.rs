//! A whole view: the table as a seat or a spectator sees it.

use console::{measure_text_width, pad_str, style};
use zetema_rules::{Phase, PublicState, Ranks, Seat, Teams, View, Viewer};

use super::tableau::tableau;
use super::{Names, cards, text};

/// Columns that a view takes at most, but for long names.
pub(crate) const WIDTH: usize = 78;

/// The table in some fifteen lines: what is on it, who is to act, the scores, and the
/// viewer's hand.
pub(crate) fn view(view: &View, names: &Names) -> String {
    let public = &view.public;
    let mut lines = vec![heading(view), String::new()];
    lines.extend(tableau(public).into_iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    lines.push(format!("  {}", piles(public)));
    lines.push(String::new());
    lines.extend(view.rules.seats().map(|seat| seat_line(view, names, seat)));
    if let Viewer::Seat(seat) = view.viewer {
        lines.push(String::new());
        let hand = if view.hand.is_empty() { "no cards".to_owned() } else { cards(view.hand) };
        lines.push(format!("  your hand (seat {seat})   {hand}"));
    }
    text(&lines)
}

fn heading(view: &View) -> String {
    let public = &view.public;
    let rules = &view.rules;
    let target = match rules.target {
        Some(target) => format!("to {target} points"),
        None => "one deal".to_owned(),
    };
    let left = format!("  {} · {} players · {target}", style("Zetema").bold(), rules.player_count());
    let right = format!(
        "deal {} · decision {} · stock {}",
        public.deal,
        public.decision,
        style(public.stock_count).bold()
    );
    let gap = WIDTH.saturating_sub(measure_text_width(&left) + measure_text_width(&right)).max(2);
    format!("{left}{}{right}", " ".repeat(gap))
}

fn piles(public: &PublicState) -> String {
    let mut piles = Vec::new();
    if !public.zetemas.is_empty() {
        piles.push(format!("{} zetemas {}", style("★").yellow(), letters(public.zetemas)));
    }
    if !public.removed.is_empty() {
        piles.push(format!("{} assemblies {}", style("■").cyan(), letters(public.removed)));
    }
    if !public.marriages.is_empty() {
        piles.push(format!("{} marriages {}", style("♥").magenta(), cards(public.marriages)));
    }
    if piles.is_empty() {
        style("no zetema and no marriage yet").dim().to_string()
    } else {
        piles.join("   ")
    }
}

fn letters(ranks: Ranks) -> String {
    ranks.iter().map(|rank| rank.letter().to_string()).collect::<Vec<_>>().join(" ")
}

fn seat_line(view: &View, names: &Names, seat: Seat) -> String {
    let (public, rules) = (&view.public, &view.rules);
    let to_act = matches!(public.phase, Phase::Turn { seat: acting, .. } if acting == seat);
    let mark = if to_act { style("▶").green().bold().to_string() } else { " ".to_owned() };
    let player = names.player(seat);
    let who = format!("{seat} {player}");
    let who = if to_act { style(who).bold().to_string() } else { who };
    let hand = "▮".repeat(public.hand_counts[seat.index()].into());
    let side = rules.side(seat);
    let team = if rules.teams == Teams::Individual { String::new() } else { format!("side {side}  ") };
    let score = format!(
        "{team}{:>4} points  {}",
        public.totals[side.index()],
        style(format!("+{} in this deal", public.deal_scores[side.index()])).dim()
    );
    let mut line = format!(
        "{mark} {} {} {score}",
        pad_str(&who, 16, console::Alignment::Left, Some("…")),
        pad_str(&hand, 11, console::Alignment::Left, None),
    );
    let mut notes = Vec::new();
    if public.forfeited.contains(seat) {
        notes.push(style("forfeited").red().to_string());
    }
    if let Some(card) = public.exposed[seat.index()] {
        notes.push(format!("exposed {}", super::face(card)));
    }
    let known = public.known_held[seat.index()];
    if !known.is_empty() && view.viewer != Viewer::Seat(seat) {
        notes.push(format!("holds {}", cards(known)));
    }
    if !notes.is_empty() {
        line = format!("{}  {}", line, notes.join(", "));
    }
    line
}
