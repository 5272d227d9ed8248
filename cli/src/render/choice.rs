//! What a person may do, as a numbered list.

use console::{measure_text_width, style};
use zetema_rules::{Action, LegalActions, View};

use super::{WIDTH, event, face, text};

/// The legal actions with their numbers from 1: the discards side by side, then a line for each
/// declaration. What scores has its points.
pub(crate) fn choices(view: &View, legal: &LegalActions) -> String {
    let points = |action: &Action| match view.points(action) {
        0 => String::new(),
        points => style(format!(" +{points}")).green().to_string(),
    };
    let number = |n: usize| style(format!("{n:>3})")).cyan().to_string();
    let mut lines = Vec::new();
    let mut line = "  discard".to_owned();
    let discards = legal.discards.len();
    for (i, card) in legal.discards.faces_in_order().enumerate() {
        let choice = format!(" {} {}{} ", number(i + 1), face(card), points(&Action::Discard(card)));
        if measure_text_width(&line) + measure_text_width(&choice) > WIDTH {
            lines.push(std::mem::replace(&mut line, " ".repeat(9)));
        }
        line += &choice;
    }
    if discards > 0 {
        lines.push(line);
    }
    for (i, declaration) in legal.declarations.iter().enumerate() {
        lines.push(format!(
            "  declare {} {}{}",
            number(discards + i + 1),
            event::declaration(declaration),
            points(&Action::Declare(*declaration))
        ));
    }
    text(&lines)
}
