//! Whether what clients receive is what the wire promises: a run that finds anything else has failed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tokio::time::Instant;
use zetema_proto::v1;

use crate::fault::{Fault, Source, Wrong};

/// What one seat, or a spectator, has received of a match: numbers without a gap, and each receipt once.
#[derive(Debug, Default)]
pub(crate) struct SeatCheck {
    /// The last observation.
    seen: Option<u64>,
    /// Answers that have no receipt yet: one, and after a cut that before it.
    pending: Vec<Pending>,
    /// Receipts that still come, for what was sent again: the decision, and the observation that shows it.
    owed: Vec<(u32, u64)>,
    /// The last receipt that an observation had.
    shown: Option<(u32, u64)>,
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
    pub(crate) fn observed(&mut self, match_id: &str, observation: &v1::Observation) -> Result<(), Wrong> {
        let seq = observation.seq;
        let expected = self.seen.map_or(1, |seen| seen + 1);
        self.seen = Some(seq);
        if seq != expected {
            return Err(Wrong::Sequence { expected, found: seq });
        }
        let Some(receipt) = &observation.receipt else { return self.shown_without(observation) };
        let decision = receipt.decision_number;
        let Some(pending) = self.take(decision) else {
            return Err(Wrong::ExtraReceipt { decision });
        };
        self.owed.extend(std::iter::repeat_n((decision, seq), pending.again));
        self.shown = Some((decision, seq));
        of_match(match_id, receipt)?;
        if let Some((_, named)) = self.returned.filter(|(returned, _)| *returned == decision) {
            elsewhere(decision, named, seq)?;
        }
        elsewhere(decision, receipt.seq, seq)
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
        match self.shown.filter(|(shown, _)| *shown == decision) {
            Some((_, shown)) => elsewhere(decision, receipt.seq, shown),
            None => Ok(()),
        }
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

/// Whether the result of each match came, once, and says what its seats were told.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// Matches that are over for their seats and whose result has not come, with when they were over.
    awaited: HashMap<String, (Ending, Instant)>,
    /// Results that came, with their numbers, and what they say until the seats say it too.
    come: HashMap<String, (u64, Option<v1::Outcome>)>,
    /// The number of the last one.
    last: u64,
}

impl Results {
    /// A match is over for all its seats.
    ///
    /// # Errors
    /// If its result, which has come, says otherwise.
    pub(crate) fn over(&mut self, now: Instant, match_id: &str, mut ending: Ending) -> Result<(), Fault> {
        let come = self.come.get_mut(match_id).and_then(|(_, outcome)| outcome.take());
        let told = if let Some(outcome) = come {
            ending.told(Source::Result, outcome)
        } else {
            self.awaited.insert(match_id.to_owned(), (ending, now));
            Ok(())
        };
        told.map_err(|wrong| of(match_id, wrong))
    }

    /// A result has come.
    ///
    /// # Errors
    /// If it came before, or says something else than the seats were told.
    pub(crate) fn came(&mut self, number: u64, match_id: &str, outcome: v1::Outcome) -> Result<(), Fault> {
        let before = std::mem::replace(&mut self.last, number);
        if before >= number {
            return Err(of(match_id, Wrong::ResultOrder { before, found: number }));
        }
        let come = match self.come.entry(match_id.to_owned()) {
            Entry::Occupied(come) => {
                return Err(of(match_id, Wrong::ResultTwice { first: come.get().0, again: number }));
            }
            Entry::Vacant(come) => come.insert((number, None)),
        };
        if let Some((mut ending, _)) = self.awaited.remove(match_id) {
            ending.told(Source::Result, outcome).map_err(|wrong| of(match_id, wrong))
        } else {
            come.1 = Some(outcome);
            Ok(())
        }
    }

    /// How many are waited for.
    pub(crate) fn awaited(&self) -> usize {
        self.awaited.len()
    }

    /// What is not waited for any more.
    pub(crate) fn give_up(&mut self, now: Instant) -> impl Iterator<Item = Fault> + use<'_> {
        self.awaited.drain().map(move |(match_id, (_, since))| {
            let waited_s = now.saturating_duration_since(since).as_secs();
            Fault { match_id, seat: None, wrong: Wrong::MissingResult { waited_s } }
        })
    }
}

fn of(match_id: &str, wrong: Wrong) -> Fault {
    Fault { match_id: match_id.to_owned(), seat: None, wrong }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MATCH: &str = "m";

    fn observation(seq: u64, receipt: Option<(u32, u64)>) -> v1::Observation {
        let receipt = receipt.map(|(decision_number, seq)| receipt_of(MATCH, decision_number, seq));
        v1::Observation { seq, receipt, decision_number: Some(3), ..v1::Observation::default() }
    }

    fn receipt_of(match_id: &str, decision_number: u32, seq: u64) -> v1::Receipt {
        v1::Receipt { match_id: match_id.to_owned(), decision_number, seq }
    }

    fn outcome(totals: [u32; 2]) -> v1::Outcome {
        let sides = totals.map(|total| v1::SideResult { rank: 1, total }).to_vec();
        let result = v1::MatchResult { reason: v1::EndReason::Target.into(), sides };
        v1::Outcome { kind: Some(v1::outcome::Kind::Result(result)) }
    }

    /// What comes with a number is as of decision 3, but for what shows an action or advances.
    enum Step {
        Start(u64),
        Send(u32),
        Cut,
        Refuse,
        Observe(u64, Option<(u32, u64)>),
        Advance(u64),
        TimeOut(u64),
        Acknowledge(u32, u64),
        Return(u32, u64),
        End,
    }
    use Step::{Acknowledge, Advance, Cut, End, Observe, Refuse, Return, Send, Start, TimeOut};

    /// The steps are all right but for the last, which is wrong in this way.
    fn check(steps: impl IntoIterator<Item = Step>, expected: impl Into<Option<Wrong>>) {
        let mut seat = SeatCheck::default();
        let told = |step, seat: &mut SeatCheck| match step {
            Start(seq) => seat.started(seq),
            Observe(seq, receipt) => seat.observed(MATCH, &observation(seq, receipt)),
            Advance(seq) => {
                let advanced = v1::Observation { decision_number: Some(4), ..observation(seq, None) };
                seat.observed(MATCH, &advanced)
            }
            TimeOut(seq) => {
                let timed_out = v1::event::Kind::TimedOut(v1::TimedOut::default());
                let events = vec![v1::Event { kind: Some(timed_out) }];
                let advanced = v1::Observation { decision_number: Some(4), events, ..observation(seq, None) };
                seat.observed(MATCH, &advanced)
            }
            Acknowledge(decision, seq) => seat.acknowledged(MATCH, &receipt_of(MATCH, decision, seq)),
            Return(decision, seq) => seat.returned(MATCH, 1, &receipt_of(MATCH, decision, seq)),
            End => seat.ended(),
            Send(decision) => {
                seat.sent(decision);
                Ok(())
            }
            Cut => {
                seat.cut();
                Ok(())
            }
            Refuse => {
                seat.refused(4);
                Ok(())
            }
        };
        let mut found: Vec<Result<(), Wrong>> = steps.into_iter().map(|step| told(step, &mut seat)).collect();
        let last = found.pop().unwrap();
        assert_eq!(found.iter().find(|found| found.is_err()), None);
        assert_eq!(last.err(), expected.into());
    }

    #[test]
    fn what_a_right_server_sends_is_no_fault() {
        check([Start(0), Observe(1, None), Send(1), Observe(2, Some((1, 2))), Observe(3, None), End], None);
        check([Start(7), Send(4), Refuse, Observe(8, None), End], None);
        // Out of time before the answer came there.
        check([Start(0), Send(3), TimeOut(1), End], None);
        check([Start(0), Send(3), Cut, Start(1), Advance(2), End], None);
        // Cut before the action came there, and after.
        check([Start(0), Send(1), Cut, Start(1), Send(1), Observe(2, Some((1, 2))), End], None);
        check([Start(0), Send(1), Cut, Start(2), Send(1), Acknowledge(1, 2), Observe(3, None), End], None);
        // Cut after the action came there, and the seat is to act again before the receipt comes.
        check(
            [
                Start(0),
                Send(1),
                Cut,
                Start(2),
                Send(1),
                Send(3),
                Acknowledge(1, 2),
                Observe(3, Some((3, 3))),
                End,
            ],
            None,
        );
        // Sent again on the same stream: the one is shown, the other acknowledged.
        check([Start(0), Send(1), Send(1), Observe(1, Some((1, 1))), Acknowledge(1, 1), End], None);
        check([Start(0), Send(1), Observe(1, Some((1, 1))), Return(1, 1)], None);
        check([Start(0), Send(1), Return(1, 1), Observe(1, Some((1, 1))), End], None);
    }

    #[test]
    fn a_gap_or_an_observation_that_comes_twice_is_found() {
        let wrong = |expected, found| Some(Wrong::Sequence { expected, found });
        check([Start(0), Observe(1, None), Observe(3, None)], wrong(2, 3));
        check([Start(5), Observe(6, None), Observe(6, None)], wrong(7, 6));
        check([Observe(2, None)], wrong(1, 2));
        check([Start(0), Observe(1, None), Cut, Start(0)], Some(Wrong::OldSnapshot { seen: 1, found: 0 }));
    }

    #[test]
    fn a_receipt_that_comes_twice_or_is_another_s_or_does_not_come_is_found() {
        let extra = |decision| Some(Wrong::ExtraReceipt { decision });
        check([Start(0), Send(1), Observe(1, Some((1, 1))), Observe(2, Some((1, 2)))], extra(1));
        check([Start(0), Send(1), Observe(1, Some((1, 1))), Acknowledge(1, 1)], extra(1));
        check([Start(0), Send(1), Acknowledge(1, 1)], extra(1));
        check([Start(0), Send(1), Cut, Send(1), Acknowledge(1, 1), Acknowledge(1, 1)], extra(1));
        check([Start(0), Observe(1, Some((1, 1)))], extra(1));
        check([Start(0), Send(1), Observe(1, Some((2, 1)))], extra(2));
        check([Start(0), Send(1), Return(2, 1)], extra(2));
        check([Start(0), Send(3), Observe(1, None), End], Some(Wrong::MissingReceipt { decision: 3 }));
        check([Start(0), Send(3), Advance(1)], Some(Wrong::MissingReceipt { decision: 3 }));
        let elsewhere = |named, shown| Some(Wrong::ReceiptElsewhere { decision: 1, named, shown });
        check([Start(0), Send(1), Observe(1, Some((1, 2)))], elsewhere(2, 1));
        check([Start(0), Send(1), Observe(1, Some((1, 1))), Return(1, 2)], elsewhere(2, 1));
        check([Start(0), Send(1), Return(1, 2), Observe(1, Some((1, 1)))], elsewhere(2, 1));
        check([Start(0), Send(1), Send(1), Observe(1, Some((1, 1))), Acknowledge(1, 3)], elsewhere(3, 1));
        let mut seat = SeatCheck::default();
        seat.sent(1);
        let wrong = seat.returned(MATCH, 1, &receipt_of("other", 1, 1)).unwrap_err();
        assert_eq!(wrong, Wrong::OtherMatch { found: "other".to_owned() });
    }

    #[test]
    fn two_that_say_differently_how_a_match_ended_are_found() {
        let mut ending = Ending::default();
        ending.told(Source::Seat(0), outcome([120, 80])).unwrap();
        ending.told(Source::Seat(1), outcome([120, 80])).unwrap();
        let fault = ending.told(Source::Record, outcome([120, 81])).unwrap_err().to_string();
        for told in ["points 120, 80", "what seat 0 was told", "points 120, 81", "its record"] {
            assert!(fault.contains(told), "{fault}");
        }
    }

    #[test]
    fn each_result_comes_once_and_says_what_the_seats_were_told() {
        let now = Instant::now();
        let ended = |totals| {
            let mut ending = Ending::default();
            ending.told(Source::Seat(0), outcome(totals)).unwrap();
            ending
        };
        let mut results = Results::default();
        // The one before its seats are told, the other after.
        results.came(3, "a", outcome([1, 2])).unwrap();
        results.over(now, "a", ended([1, 2])).unwrap();
        results.over(now, "b", ended([3, 4])).unwrap();
        results.came(4, "b", outcome([3, 4])).unwrap();
        assert_eq!(results.awaited(), 0);
        let wrong = |result: Result<(), Fault>| result.unwrap_err().wrong;
        assert_eq!(wrong(results.came(9, "a", outcome([1, 2]))), Wrong::ResultTwice { first: 3, again: 9 });
        assert_eq!(wrong(results.came(9, "c", outcome([1, 2]))), Wrong::ResultOrder { before: 9, found: 9 });
        results.came(10, "d", outcome([5, 6])).unwrap();
        assert!(matches!(wrong(results.over(now, "d", ended([5, 7]))), Wrong::Outcome { .. }));
        results.over(now, "e", ended([5, 7])).unwrap();
        assert!(matches!(wrong(results.came(11, "e", outcome([5, 6]))), Wrong::Outcome { .. }));
        results.over(now, "f", ended([5, 7])).unwrap();
        let given_up: Vec<Fault> = results.give_up(now).collect();
        assert_eq!(given_up.len(), 1);
        assert_eq!(given_up[0].to_string(), "match f: its result has not come within 0 s after its end");
    }
}
