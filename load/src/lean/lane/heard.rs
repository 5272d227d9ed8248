//! What a lane hears of its seats: how they begin, what comes and what is refused, and that it is over.

use rand::RngExt;
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason as R;

use super::{
    AGAIN_AFTER, Acted, Count, Failure, Instant, Lane, Later, Measure, Open, Origin, SeatKey, Table, Why,
    Wrong, retry_after,
};
use crate::fault::Source;

impl Lane {
    /// A subscription has started.
    pub(in crate::lean) fn joined(&mut self, now: Instant, key: SeatKey, start: v1::SubscriptionStart) {
        self.hears(now, key);
        let Some((_, _, seat)) = self.parts(key) else { return };
        let Some(v1::subscription_start::Kind::Snapshot(snapshot)) = start.kind else {
            self.fault(
                key,
                Wrong::Malformed { what: "a subscription without after_seq began without a snapshot" },
            );
            return;
        };
        let checked = seat.check.started(snapshot.seq);
        let cut = seat.cut.take();
        // What it had answered when its stream was cut may have come there or not: the same again gets the receipt.
        let again: Vec<u32> =
            seat.acted.iter().filter(|_| cut.is_some()).map(|acted| acted.decision).collect();
        // A snapshot may have been on its way when the receipt of a unary call came.
        let is_new = snapshot
            .decision_number
            .is_some_and(|number| seat.acted(number).is_none() && !seat.check.has_returned(number));
        let decision = snapshot.decision.filter(|_| is_new);
        self.taken(now, key);
        if let Err(wrong) = checked {
            self.fault(key, wrong);
        }
        if let Some(cut) = cut {
            self.recorder.took(Measure::ReconnectToSnapshot, now.saturating_duration_since(cut));
        }
        for decision in again {
            self.again(now, key, decision);
        }
        self.decide(now, key, snapshot.decision_number, decision);
    }

    /// Something was observed.
    pub(in crate::lean) fn observed(&mut self, now: Instant, key: SeatKey, observation: v1::Observation) {
        self.hears(now, key);
        let Some((_, _, seat)) = self.parts(key) else { return };
        if let Err(wrong) = seat.check.observed(&observation) {
            self.fault(key, wrong);
        }
        self.recorder.count(Count::Observation);
        let v1::Observation { answered_decision_number, decision_number, decision, .. } = observation;
        if let Some(answered) = answered_decision_number {
            self.receipt(now, key, answered);
        }
        self.decide(now, key, decision_number, decision);
    }

    /// A receipt came on its own.
    pub(in crate::lean) fn acknowledged(&mut self, now: Instant, key: SeatKey, receipt: &v1::Receipt) {
        let Some((match_id, _, seat)) = self.parts(key) else { return };
        if let Err(wrong) = seat.check.acknowledged(match_id, receipt) {
            self.fault(key, wrong);
        }
        self.receipt(now, key, receipt.decision_number);
    }

    /// A unary call has returned a receipt.
    pub(in crate::lean) fn returned(
        &mut self,
        now: Instant,
        key: SeatKey,
        decision: u32,
        receipt: &v1::Receipt,
    ) {
        let Some((match_id, _, seat)) = self.parts(key) else { return };
        if let Err(wrong) = seat.check.returned(match_id, decision, receipt) {
            self.fault(key, wrong);
        }
        self.receipt(now, key, receipt.decision_number);
    }

    /// A seat could not be taken.
    pub(in crate::lean) fn join_refused(&mut self, now: Instant, key: SeatKey, error: &v1::Error) {
        if self.seat(key).is_none() {
            return;
        }
        self.recorder.failed(error.reason(), &error.message);
        let may_pass =
            matches!(error.reason(), R::Overloaded | R::OutcomeUnknown | R::LimitExceeded | R::Superseded);
        if !may_pass {
            self.give_up_refused(key.table, error.reason().into(), &error.message);
            return;
        }
        self.recorder.count(Count::JoinRefused);
        self.refused_for_now(now, key.table);
        // Not all at the same moment.
        let part = self.tables.get_mut(&key.table).map_or(1.0, |table| table.random.random_range(0.5..1.5));
        self.pacer.at(now + retry_after(error).mul_f64(part), Later::Join(key));
    }

    /// An answer was refused.
    pub(in crate::lean) fn act_refused(
        &mut self,
        now: Instant,
        (key, decision): (SeatKey, u32),
        failure: Failure,
        error: Option<&v1::Error>,
        text: &str,
    ) {
        let Some(seat) = self.seat(key) else { return };
        if seat.acted(decision).is_none() {
            return;
        }
        let again = match failure {
            Failure::Refused(reason) => {
                matches!(reason, R::OutcomeUnknown | R::LimitExceeded | R::Overloaded | R::Draining)
            }
            // Whether it came there is not known.
            Failure::Transport(_) => true,
        };
        if again {
            seat.check.unknown(decision);
            match failure {
                Failure::Refused(_) => seat.refused(decision),
                Failure::Transport(_) => seat.not_sent(decision),
            }
        } else {
            seat.check.refused(decision);
            if seat.settle(decision).is_some_and(|acted| acted.origin == Origin::Schedule) {
                self.recorder.count(Count::Unanswered);
            }
        }
        self.recorder.failed(failure, text);
        if again {
            let after = error.map_or(AGAIN_AFTER, retry_after);
            self.pacer.at(now + after, Later::Again(key, decision));
        } else if !matches!(failure, Failure::Refused(R::DecisionOver | R::MatchOver | R::SeatForfeited)) {
            self.give_up_refused(key.table, failure, text);
        }
    }

    /// The match ended for a seat.
    pub(in crate::lean) fn ended(&mut self, key: SeatKey, end: v1::SubscriptionEnd) {
        let Some((_, ending, seat)) = self.parts(key) else { return };
        let number = seat.number;
        seat.over = true;
        let receipts = seat.check.ended();
        let told = match end.outcome {
            Some(outcome) => ending.told(Source::Seat(number), outcome),
            None => Err(Wrong::Malformed { what: "its end came without an outcome" }),
        };
        for wrong in [receipts, told].into_iter().filter_map(Result::err) {
            self.fault(key, wrong);
        }
        if self.tables.get(&key.table).is_some_and(Table::is_over)
            && let Some(Table { match_id, ending, .. }) = self.tables.remove(&key.table)
        {
            self.finish(match_id, Why::Told(ending));
        }
    }

    /// Seats of a match can't be taken now, as the server says.
    pub(in crate::lean) fn refused_for_now(&mut self, now: Instant, table: u32) {
        if let Some(table) = self.tables.get_mut(&table) {
            table.refused = Some(now);
        }
    }

    /// A seat is taken.
    fn taken(&mut self, now: Instant, key: SeatKey) {
        self.last_taken = Some(now);
        if let Some(table) = self.tables.get_mut(&key.table) {
            table.refused = None;
        }
    }

    /// Something is heard in the match of this seat.
    fn hears(&mut self, now: Instant, key: SeatKey) {
        if let Some(table) = self.tables.get_mut(&key.table) {
            table.heard = now;
        }
    }

    /// A decision may have come.
    fn decide(&mut self, now: Instant, key: SeatKey, number: Option<u32>, decision: Option<v1::Decision>) {
        let (Some(number), Some(decision)) = (number, decision) else { return };
        let Some(table) = self.tables.get_mut(&key.table) else { return };
        if let Some(asked) = table.asked.take() {
            self.recorder.took(Measure::CreateToDecision, now.saturating_duration_since(asked));
        }
        if let Some((_, due)) = table.last.take_if(|(last, _)| *last < number) {
            self.recorder.took(Measure::ActionToObservation, now.saturating_duration_since(due));
        }
        let legal = decision.legal_actions.unwrap_or_default();
        let choices = u32::try_from(legal.discards.len() + legal.declarations.len()).unwrap_or(u32::MAX);
        if choices == 0 {
            self.fault(key, Wrong::Malformed { what: "a decision came without a legal action" });
            return;
        }
        let open = Open { seat: key.seat, decision: number, choices };
        // A snapshot shows what was open before.
        if table.open.replace(open) != Some(open) {
            let think = table.think.sample(&mut table.random);
            self.pacer.open(now, think, Later::Answer(key, number));
        }
    }

    fn receipt(&mut self, now: Instant, key: SeatKey, decision: u32) {
        self.hears(now, key);
        let Some(seat) = self.seat(key) else { return };
        let Some(Acted { due, sent, .. }) = seat.settle(decision) else { return };
        self.last_answered = self.last_answered.max(sent);
        self.last_heard = Some(now);
        self.recorder.took(Measure::ActionToReceipt, now.saturating_duration_since(due));
        self.recorder.count(Count::ActionAcknowledged);
    }
}
