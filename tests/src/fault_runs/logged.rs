//! A bot on the SDK that writes down what it is told and what it chooses.

use std::sync::{Arc, Mutex};

use zetema_proto::Wire;
use zetema_rules::{Outcome, SeatEvent, View};
use zetema_sdk::{Action, Bot, Decision, End};

use super::choice::choose;
use super::{Chosen, Ledger};

/// A bot that writes into a ledger what it sees, what it chooses and how the match ends.
pub struct Logged(pub Arc<Mutex<Ledger>>);

impl Bot for Logged {
    fn choose(&mut self, decision: &Decision) -> Action {
        let (_, action) = choose(&decision.legal);
        self.0.lock().unwrap().chosen.push(Chosen { decision: decision.number(), action });
        action
    }

    fn start(&mut self, _: Option<&View>) {
        // What was seen before counts no more; that never happens unless the server lost it.
        self.0.lock().unwrap().seen.clear();
    }

    fn observe(&mut self, event: &SeatEvent) {
        self.0.lock().unwrap().seen.push(*event);
    }

    fn end(&mut self, end: &End) {
        let outcome = match end.clone() {
            End::Result(result) => Outcome::Result(result),
            End::Aborted { reason, seats } => Outcome::Aborted { reason, seats },
            // No end of the match: the outcome of the seat tells of it.
            _ => return,
        };
        self.0.lock().unwrap().ends.push(outcome.to_wire());
    }
}
