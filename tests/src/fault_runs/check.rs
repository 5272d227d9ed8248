//! Whether a player's ledger, the record and the server's observations agree.

use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::{Wire, record_from_wire, v1};
use zetema_rules::{Outcome, PlayedBy, Record, Seat, SeatEvent, Step};
use zetema_sdk::PlayerToken;

use super::{Chosen, Ledger, Problem, Receipted, Subscription, game_events};
use crate::harness::{Clients, Created, PlayStream, Table};

/// What is known of a match that is over from elsewhere than its player.
#[derive(Clone)]
pub struct Truth {
    /// The match's id.
    pub match_id: String,
    /// The record.
    pub record: Record,
    /// The player's seat.
    pub seat: Seat,
    /// All observations of that seat, read by a connection that was not cut.
    pub observations: Vec<v1::Observation>,
}

impl Truth {
    /// What is true of each seat of a match that is over, seat 0 first.
    ///
    /// # Errors
    /// If there is no record.
    ///
    /// # Panics
    /// If the server does not show what the seats observed.
    pub async fn of_match(clients: &Clients, created: &Created) -> Result<Vec<Self>, Problem> {
        let tokens: Vec<PlayerToken> = created.tokens.iter().map(|token| token.as_str().into()).collect();
        Self::of_seats(clients, created.id(), &tokens).await
    }

    /// The same of a match whose seats are played by these tokens.
    ///
    /// # Errors
    /// If there is no record.
    ///
    /// # Panics
    /// If the server does not show what the seats observed.
    pub async fn of_seats(
        clients: &Clients,
        match_id: &str,
        tokens: &[PlayerToken],
    ) -> Result<Vec<Self>, Problem> {
        let message = clients.get_record(match_id).await;
        let message = message.map_err(|status| Problem::Record(status.to_string()))?;
        let (record, _) = record_from_wire(&message).map_err(|error| Problem::Record(error.to_string()))?;
        let mut truths = Vec::new();
        for (seat, token) in tokens.iter().enumerate() {
            let observations = match token {
                PlayerToken::Seat(token) => observed(clients, token.reveal()).await,
                PlayerToken::Bot(token) => observed_by_bot(clients, token.reveal(), match_id, seat).await,
            };
            let (match_id, record) = (match_id.to_owned(), record.clone());
            truths.push(Self { match_id, record, seat: Seat::new(seat).unwrap(), observations });
        }
        Ok(truths)
    }

    /// All that is wrong.
    pub fn problems(&self, ledger: &Ledger) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.check_record(&mut problems);
        self.check_actions(ledger, &mut problems);
        self.check_receipts(ledger, &mut problems);
        self.check_observations(ledger, &mut problems);
        self.check_end(ledger, &mut problems);
        problems
    }

    fn check_record(&self, problems: &mut Vec<Problem>) {
        if let Err(error) = self.record.verify() {
            problems.push(Problem::Record(error.to_string()));
        }
        for (step, taken) in self.record.steps.iter().enumerate() {
            let what = match taken {
                Step::Play { by: PlayedBy::Player, .. } => continue,
                Step::Play { by: PlayedBy::Autoplay, .. } => {
                    "the server's own, for a seat that had forfeited"
                }
                Step::Fault { .. } => "a discard out of turn, which nobody offered",
                Step::Forfeit { .. } => "a forfeit, which nobody asked for",
            };
            problems.push(Problem::Step { step, what });
        }
    }

    /// The seat's actions by the record. Each action answers the decision of its number.
    fn recorded(&self) -> Vec<Chosen> {
        let mut decision = 0;
        let mut recorded = Vec::new();
        for step in &self.record.steps {
            if let Step::Play { seat, action, .. } = *step {
                decision += 1;
                if seat == self.seat {
                    recorded.push(Chosen { decision, action });
                }
            }
        }
        recorded
    }

    fn check_actions(&self, ledger: &Ledger, problems: &mut Vec<Problem>) {
        let recorded = self.recorded();
        for one in &recorded {
            if !ledger.chosen.contains(one) || !ledger.sent.contains(one) {
                problems.push(Problem::NotChosen { decision: one.decision });
            }
        }
        for one in ledger.chosen.iter().filter(|one| !recorded.contains(one)) {
            problems.push(Problem::NotRecorded { decision: one.decision });
        }
        for two in ledger.chosen.windows(2).filter(|two| two[1].decision <= two[0].decision) {
            problems.push(Problem::AskedAgain { decision: two[1].decision, before: two[0].decision });
        }
        for one in ledger.sent.iter().filter(|one| !ledger.chosen.contains(one)) {
            problems.push(Problem::SentOther { decision: one.decision });
        }
    }

    fn check_receipts(&self, ledger: &Ledger, problems: &mut Vec<Problem>) {
        let due = |receipt: &Receipted| {
            let Receipted { ref match_id, decision_number, seq } = *receipt;
            let shows = |observation: &v1::Observation| {
                (observation.answered_decision_number, observation.seq) == (Some(decision_number), seq)
            };
            *match_id == self.match_id && self.observations.iter().any(shows)
        };
        for Chosen { decision, .. } in self.recorded() {
            if !ledger.receipts.iter().any(|receipt| receipt.decision_number == decision) {
                problems.push(Problem::NoReceipt { decision });
            }
        }
        for receipt in ledger.receipts.iter().filter(|receipt| !due(receipt)) {
            let Receipted { decision_number: decision, seq, .. } = *receipt;
            problems.push(Problem::WrongReceipt { decision, seq });
        }
        problems
            .extend(ledger.refused.iter().map(|&(decision, reason)| Problem::Refused { decision, reason }));
    }

    fn check_observations(&self, ledger: &Ledger, problems: &mut Vec<Problem>) {
        for (stream, Subscription { match_id: _, after_seq, snapshot: _, seqs }) in
            (1..).zip(&ledger.subscriptions)
        {
            let mut after = *after_seq;
            for &came in seqs {
                if came > after + 1 {
                    problems.push(Problem::Gap { stream, after, came });
                } else if came <= after {
                    problems.push(Problem::Repeat { stream, after, came });
                }
                after = after.max(came);
            }
        }
        // A snapshot that did not reach the player is followed by another one.
        let Some(began) = ledger.subscriptions.iter().rev().find(|stream| stream.snapshot) else {
            return problems.push(Problem::NoSnapshot);
        };
        let later = self.observations.iter().filter(|observation| observation.seq > began.after_seq);
        let had: Vec<SeatEvent> = later.flat_map(game_events).collect();
        if ledger.seen != had {
            let same = ledger.seen.iter().zip(&had).take_while(|(told, had)| told == had).count();
            problems.push(Problem::Events { told: ledger.seen.len(), had: had.len(), same });
        }
    }

    fn check_end(&self, ledger: &Ledger, problems: &mut Vec<Problem>) {
        if !matches!(self.record.outcome, Outcome::Result(_)) {
            problems.push(Problem::Outcome(format!("{:?}", self.record.outcome)));
        }
        let right = ledger.ends.last() == Some(&self.record.outcome.to_wire());
        if ledger.ends.len() != 1 || !right {
            let last = if right { "that of the record" } else { "another than that of the record" };
            problems.push(Problem::Ends { told: ledger.ends.len(), last });
        }
    }
}

/// All observations of the seat of this token.
async fn observed(clients: &Clients, token: &str) -> Vec<v1::Observation> {
    let mut whole = Table::resume(clients, &[token.to_owned()], &[Some(0)]).await;
    while whole.read().await.unwrap() {}
    whole.seats.remove(0).observations
}

/// All observations of a seat of the bot with this token.
async fn observed_by_bot(
    clients: &Clients,
    token: &str,
    match_id: &str,
    seat: usize,
) -> Vec<v1::Observation> {
    let (mut stream, _) = PlayStream::open_by(clients, token).await;
    let seat = v1::AssignedSeat { match_id: match_id.to_owned(), seat: u32::try_from(seat).unwrap() };
    let by = Some(v1::join::By::Assigned(seat));
    stream.join(v1::Join { by, after_seq: Some(0), ..v1::Join::default() }).await;
    let mut observations = Vec::new();
    while let Some(Answer::Observation(observation)) = stream.next().await.unwrap().unwrap().kind {
        observations.push(observation);
    }
    observations
}
