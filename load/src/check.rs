//! Whether what clients receive is what the wire promises: a run that finds anything else has failed.

mod results;

use zetema_proto::v1;

use crate::fault::{Source, Wrong};

pub(crate) use results::Results;

/// What one seat, or a spectator, has received of a match: numbers without a gap, and each receipt once.
#[derive(Debug, Default)]
pub(crate) struct SeatCheck {
    /// The last observation.
    seen: Option<u64>,
    /// Answers that have no receipt yet: one, and after a cut that before it.
    pending: Vec<Pending>,
    /// Receipts that still come, for what was sent again: the decision, and the observation that shows it.
    owed: Vec<(u32, u64)>,
    /// The last two receipts that observations had: that of a unary call may come after the seat has acted again.
    shown: [Option<(u32, u64)>; 2],
    /// The last receipt that a unary call had.
    returned: Option<(u32, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    decision: u32,
    /// How often it was sent again on the present stream.
    again: usize,
    /// Whether it may be that no receipt comes: it is not known what became of it, or the decision was closed otherwise.
    is_uncertain: bool,
}

impl SeatCheck {
    /// A subscription has started, with what is included.
    ///
    /// # Errors
    /// If it is older than what was seen.
    pub(crate) fn started(&mut self, snapshot_seq: u64) -> Result<(), Wrong> {
        match self.seen.replace(snapshot_seq) {
            Some(seen) if seen > snapshot_seq => Err(Wrong::OldSnapshot { seen, found: snapshot_seq }),
            _ => Ok(()),
        }
    }

    /// Whether a subscription has started, at any time.
    pub(crate) const fn has_started(&self) -> bool {
        self.seen.is_some()
    }

    /// An answer was sent: for the first time, or again.
    pub(crate) fn sent(&mut self, decision: u32) {
        match self.pending.iter_mut().find(|pending| pending.decision == decision) {
            Some(pending) => pending.again += 1,
            None => self.pending.push(Pending { decision, again: 0, is_uncertain: false }),
        }
    }

    /// The answer to this decision was refused for good: no receipt will come.
    pub(crate) fn refused(&mut self, decision: u32) {
        self.pending.retain(|pending| pending.decision != decision);
    }

    /// The stream was cut: what it owed will not come.
    pub(crate) fn cut(&mut self) {
        self.owed.clear();
        for pending in &mut self.pending {
            pending.again = 0;
            pending.is_uncertain = true;
        }
    }

    /// It is not known what became of the answer to this decision.
    pub(crate) fn unknown(&mut self, decision: u32) {
        for pending in self.pending.iter_mut().filter(|pending| pending.decision == decision) {
            pending.is_uncertain = true;
        }
    }

    /// Something was observed.
    ///
    /// # Errors
    /// If it has another number than was due, or a receipt that was not.
    pub(crate) fn observed(&mut self, observation: &v1::Observation) -> Result<(), Wrong> {
        let seq = observation.seq;
        let expected = self.seen.map_or(1, |seen| seen + 1);
        self.seen = Some(seq);
        if seq != expected {
            return Err(Wrong::Sequence { expected, found: seq });
        }
        let Some(decision) = observation.answered_decision_number else {
            return self.shown_without(observation);
        };
        let Some(pending) = self.take(decision) else {
            return Err(Wrong::ExtraReceipt { decision });
        };
        self.owed.extend(std::iter::repeat_n((decision, seq), pending.again));
        self.shown = [Some((decision, seq)), self.shown[0]];
        match self.returned.filter(|(returned, _)| *returned == decision) {
            Some((_, named)) => elsewhere(decision, named, seq),
            None => Ok(()),
        }
    }

    /// Something that was no action of this seat.
    fn shown_without(&mut self, observation: &v1::Observation) -> Result<(), Wrong> {
        let is_closed = |pending: &&mut Pending| observation.decision_number != Some(pending.decision);
        let closed = self.pending.iter_mut().filter(is_closed).find(|pending| !pending.is_uncertain);
        let Some(pending) = closed else { return Ok(()) };
        if observation.events.iter().any(closes) {
            pending.is_uncertain = true;
            return Ok(());
        }
        let decision = pending.decision;
        self.refused(decision);
        Err(Wrong::MissingReceipt { decision })
    }

    fn take(&mut self, decision: u32) -> Option<Pending> {
        let place = self.pending.iter().position(|pending| pending.decision == decision)?;
        Some(self.pending.remove(place))
    }

    /// A receipt came on its own, for what was sent again.
    ///
    /// # Errors
    /// If nothing was.
    pub(crate) fn acknowledged(&mut self, match_id: &str, receipt: &v1::Receipt) -> Result<(), Wrong> {
        of_match(match_id, receipt)?;
        let (decision, seq) = (receipt.decision_number, receipt.seq);
        let again = |pending: &&Pending| pending.decision == decision && pending.again > 0;
        if let Some(pending) = self.pending.iter().find(again).copied() {
            self.refused(decision);
            self.owed.extend(std::iter::repeat_n((decision, seq), pending.again - 1));
            return Ok(());
        }
        let Some(owed) = self.owed.iter().position(|(owed, _)| *owed == decision) else {
            return Err(Wrong::ExtraReceipt { decision });
        };
        let (_, shown) = self.owed.swap_remove(owed);
        elsewhere(decision, seq, shown)
    }

    /// A unary call for this decision has returned its receipt.
    ///
    /// # Errors
    /// If it is another's.
    pub(crate) fn returned(
        &mut self,
        match_id: &str,
        decision: u32,
        receipt: &v1::Receipt,
    ) -> Result<(), Wrong> {
        of_match(match_id, receipt)?;
        if receipt.decision_number != decision {
            return Err(Wrong::ExtraReceipt { decision: receipt.decision_number });
        }
        self.returned = Some((decision, receipt.seq));
        match self.shown.into_iter().flatten().find(|(shown, _)| *shown == decision) {
            Some((_, shown)) => elsewhere(decision, receipt.seq, shown),
            None => Ok(()),
        }
    }

    /// Whether a unary call has returned the receipt of this decision, or of a later one.
    pub(crate) fn has_returned(&self, decision: u32) -> bool {
        self.returned.is_some_and(|(returned, _)| returned >= decision)
    }

    /// The match ended for this seat.
    ///
    /// # Errors
    /// If a receipt has not come.
    pub(crate) fn ended(&mut self) -> Result<(), Wrong> {
        let missing = self.pending.drain(..).find(|pending| !pending.is_uncertain);
        missing.map_or(Ok(()), |Pending { decision, .. }| Err(Wrong::MissingReceipt { decision }))
    }
}

/// Whether a decision may be closed by this, without an answer.
const fn closes(event: &v1::Event) -> bool {
    use v1::event::Kind;
    matches!(event.kind, Some(Kind::TimedOut(_) | Kind::Forfeited(_) | Kind::Resigned(_) | Kind::Aborted(_)))
}

fn of_match(match_id: &str, receipt: &v1::Receipt) -> Result<(), Wrong> {
    if receipt.match_id == match_id {
        Ok(())
    } else {
        Err(Wrong::OtherMatch { found: receipt.match_id.clone() })
    }
}

const fn elsewhere(decision: u32, named: u64, shown: u64) -> Result<(), Wrong> {
    if named == shown { Ok(()) } else { Err(Wrong::ReceiptElsewhere { decision, named, shown }) }
}

/// How a match ended, as all say who were told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ending(Option<(Source, v1::Outcome)>);

impl Ending {
    /// Somebody says how it ended.
    ///
    /// # Errors
    /// If somebody else said otherwise.
    pub(crate) fn told(&mut self, by: Source, outcome: v1::Outcome) -> Result<(), Wrong> {
        match &self.0 {
            Some((first, told)) if *told != outcome => {
                Err(Wrong::Outcome { first: *first, told: shown(told), other: by, found: shown(&outcome) })
            }
            Some(_) => Ok(()),
            None => {
                self.0 = Some((by, outcome));
                Ok(())
            }
        }
    }

    /// Another says how it ended.
    ///
    /// # Errors
    /// If it is something else.
    pub(crate) fn agree(&mut self, other: Self) -> Result<(), Wrong> {
        other.0.map_or(Ok(()), |(by, outcome)| self.told(by, outcome))
    }

    /// Whether somebody has said how it ended.
    pub(crate) const fn is_told(&self) -> bool {
        self.0.is_some()
    }

    /// Whether it was played to a result. `false` if nobody has said how it ended.
    pub(crate) const fn is_result(&self) -> bool {
        matches!(self.0, Some((_, v1::Outcome { kind: Some(v1::outcome::Kind::Result(_)) })))
    }
}

fn shown(outcome: &v1::Outcome) -> String {
    match &outcome.kind {
        Some(v1::outcome::Kind::Result(result)) => {
            let totals: Vec<String> = result.sides.iter().map(|side| side.total.to_string()).collect();
            format!("points {} ({})", totals.join(", "), result.reason().as_str_name())
        }
        Some(v1::outcome::Kind::Aborted(abort)) => format!("{:?}", abort.reason().as_str_name()),
        None => "nothing".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
