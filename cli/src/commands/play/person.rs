//! A person as a bot: what it chooses is typed.

use std::io::{BufRead, Write};
use std::sync::mpsc;

use tokio::sync::mpsc::UnboundedSender;
use zetema_sdk::{Action, Bot, Decision, End, SeatEvent, View};

use super::answer::{self, Answer};
use crate::render::{self, Names};

/// A person wants to resign, and waits until this is dropped.
pub(super) struct Resignation {
    _done: mpsc::Sender<()>,
}

/// A person who plays a seat by a terminal.
pub(super) struct Person<R, W> {
    names: Names,
    input: R,
    output: W,
    resign: UnboundedSender<Resignation>,
    /// What happened since the last choice, a line each.
    happened: Vec<String>,
}

impl<R: BufRead, W: Write> Person<R, W> {
    /// A person who reads `output` and types `input`.
    pub(super) const fn new(names: Names, input: R, output: W, resign: UnboundedSender<Resignation>) -> Self {
        Self { names, input, output, resign, happened: Vec::new() }
    }

    /// Shows something. A terminal that is gone is noticed by what it no longer types.
    fn show(&mut self, text: &str) {
        let _ = write!(self.output, "{text}");
        let _ = self.output.flush();
    }

    fn show_happened(&mut self) {
        for line in std::mem::take(&mut self.happened) {
            self.show(&format!("  {line}\n"));
        }
    }

    /// A line that was typed; `None` if there will be none.
    fn typed(&mut self, prompt: &str) -> Option<String> {
        self.show(prompt);
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        }
    }

    /// Asks until there is an answer; `None` to resign.
    fn ask(&mut self, decision: &Decision) -> Option<Action> {
        let prompt = format!("Your choice (1 to {}, ? for help, q to resign): ", decision.legal.len());
        loop {
            match answer::read(&self.typed(&prompt)?, &decision.legal) {
                Answer::Action(action) => return Some(action),
                Answer::Help => self.show(&format!("\n{}\n\n", render::help(&decision.view.rules))),
                Answer::Unclear(says) => self.show(&format!("  {says}\n")),
                Answer::Resign => {
                    let sure = self.typed("Resign the match? (y/n) ")?;
                    if sure.trim().eq_ignore_ascii_case("y") {
                        return None;
                    }
                }
            }
        }
    }
}

impl<R: BufRead + Send, W: Write + Send> Bot for Person<R, W> {
    fn choose(&mut self, decision: &Decision) -> Action {
        let table = render::view(&decision.view, &self.names);
        self.show(&format!("\n{table}\n\n"));
        self.show_happened();
        self.show(&format!("\n{}\n", render::choices(&decision.view, &decision.legal)));
        self.ask(decision).unwrap_or_else(|| {
            let (done, resigned) = mpsc::channel();
            // Both fail once the session is over, as they should. The action goes nowhere then.
            let _ = self.resign.send(Resignation { _done: done });
            let _ = resigned.recv();
            decision.first()
        })
    }

    fn start(&mut self, view: Option<&View>) {
        if view.is_some() {
            self.show("  the cards were dealt before you joined: the match stands as follows\n");
        }
    }

    fn observe(&mut self, event: &SeatEvent) {
        self.happened.extend(render::event(event, &self.names));
    }

    fn end(&mut self, _: &End) {
        self.show("\n");
        self.show_happened();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};
    use std::sync::{Arc, Mutex};

    use tokio::sync::mpsc::unbounded_channel;
    use zetema_rules::Preset;
    use zetema_sdk::{Action, Bot, Decision, MatchInfo, numbered_seed, simulate};

    use super::Person;
    use crate::render::Names;

    #[derive(Clone, Default)]
    struct Shown(Arc<Mutex<Vec<u8>>>);

    impl Write for Shown {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    struct First;

    impl Bot for First {
        fn choose(&mut self, decision: &Decision) -> Action {
            decision.first()
        }
    }

    /// What a person in seat 0 sees who types this, and how often it wanted to resign.
    fn play(typed: &str) -> (String, usize) {
        console::set_colors_enabled(false);
        let rules = Preset::Victorian.rules(2, None).unwrap();
        let shown = Shown::default();
        let (resign, mut resignations) = unbounded_channel();
        let counting =
            std::thread::spawn(move || std::iter::from_fn(|| resignations.blocking_recv()).map(drop).count());
        simulate(rules, &numbered_seed(1), |info: &MatchInfo| -> Box<dyn Bot> {
            if info.seat.index() > 0 {
                return Box::new(First);
            }
            let names = Names::players(rules, vec!["you".to_owned(), "first".to_owned()]);
            Box::new(Person::new(names, Cursor::new(typed.to_owned()), shown.clone(), resign.clone()))
        })
        .unwrap();
        drop(resign);
        let text = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
        (text, counting.join().unwrap())
    }

    #[test]
    fn a_person_sees_the_table_and_the_choices_and_is_asked_again() {
        let (shown, _) = play("jump\n0\n?\nq\nn\n1\n");
        let second_table = shown.match_indices("  Zetema").nth(1).unwrap().0;
        insta::assert_snapshot!(&shown[..second_table]);
    }

    #[test]
    fn whoever_types_no_more_resigns() {
        assert!(play("1\n1\n").1 > 0);
    }

    #[test]
    fn a_match_that_is_played_out_shows_its_end() {
        let (shown, resigned) = play(&"1\n".repeat(100));
        assert_eq!(resigned, 0);
        assert!(shown.contains("the deal is over: "), "{shown}");
        assert!(shown.trim_end().lines().last().unwrap().contains("wins"), "{shown}");
    }
}
