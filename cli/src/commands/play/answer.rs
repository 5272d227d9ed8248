//! What a person types, and what it means.

use zetema_rules::{Action, Card, LegalActions};

/// What a person means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// One of the choices.
    Action(Action),
    /// To be told how the game goes.
    Help,
    /// To resign.
    Resign,
    /// Nothing that could be told; this says what would do.
    Unclear(String),
}

/// Reads what was typed: the number of a choice, a card to discard, or an action in the text notation.
pub(super) fn read(typed: &str, legal: &LegalActions) -> Answer {
    let typed = typed.trim();
    match typed {
        "" => return Answer::Unclear(format!("give a number, 1 to {}", legal.len())),
        "?" | "h" | "help" => return Answer::Help,
        "q" | "quit" | "resign" => return Answer::Resign,
        _ => {}
    }
    if let Ok(number) = typed.parse::<usize>() {
        let action = number.checked_sub(1).and_then(|index| legal.get(index));
        return action.map_or_else(
            || Answer::Unclear(format!("{number} is no choice: give 1 to {}", legal.len())),
            Answer::Action,
        );
    }
    let action = card(typed).map(Action::Discard).or_else(|| typed.parse().ok());
    match action {
        Some(action) if legal.contains(&action) => Answer::Action(action),
        Some(action) => {
            Answer::Unclear(format!("{action} is not possible now: give a number, 1 to {}", legal.len()))
        }
        None => Answer::Unclear(format!(
            "{typed:?} is neither a number nor a card: give 1 to {}, or a card such as KS",
            legal.len()
        )),
    }
}

/// A card as people type it: in small letters too, or with the sign of its suit.
fn card(typed: &str) -> Option<Card> {
    let plain: String = typed
        .to_uppercase()
        .chars()
        .filter_map(|char| match char {
            '♣' => Some('C'),
            '♦' => Some('D'),
            '♥' => Some('H'),
            '♠' => Some('S'),
            '\u{fe0f}' => None,
            other => Some(other),
        })
        .collect();
    plain.replace("10", "T").parse().ok()
}

#[cfg(test)]
mod tests {
    use zetema_rules::{Action, Declaration, LegalActions};

    use super::{Answer, read};

    fn legal() -> LegalActions {
        LegalActions {
            discards: "TD QS KS".parse().unwrap(),
            declarations: vec!["marriages hand QS KS".parse().unwrap()],
        }
    }

    fn check(typed: &str, action: &str) {
        let action: Action = action.parse().unwrap();
        assert_eq!(read(typed, &legal()), Answer::Action(action), "{typed}");
    }

    #[test]
    fn a_choice_is_a_number_a_card_or_an_action() {
        check("1", "discard TD");
        check(" 3\n", "discard KS");
        check("ks", "discard KS");
        check("10d", "discard TD");
        check("Q♠", "discard QS");
        check("discard QS", "discard QS");
        check("4", "marriages hand QS KS");
        check("marriages hand KS QS", "marriages hand QS KS");
    }

    #[test]
    fn what_is_no_choice_says_what_would_be_one() {
        fn check(typed: &str, says: &str) {
            match read(typed, &legal()) {
                Answer::Unclear(text) => assert!(text.contains(says), "{typed}: {text}"),
                other => panic!("{typed}: {other:?}"),
            }
        }
        check("", "1 to 4");
        check("0", "0 is no choice: give 1 to 4");
        check("5", "5 is no choice");
        check("99999999999999999999999999", "neither a number nor a card");
        check("AC", "discard AC is not possible now");
        check("dance", "a card such as KS");
        let queens = Action::Declare(Declaration::Assembly("Q".parse().unwrap()));
        check(&queens.to_string(), "not possible now");
    }

    #[test]
    fn help_and_resigning_have_words() {
        assert_eq!(read("?", &legal()), Answer::Help);
        assert_eq!(read("q", &legal()), Answer::Resign);
    }
}
