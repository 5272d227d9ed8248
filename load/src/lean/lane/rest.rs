//! The end of a load: what has no answer is measured as far as it has gone, and then it is waited for.

use super::{
    Acted, Activity, Count, Duration, Fault, HashSet, Instant, Lane, Measure, Origin, Sender, Table, Wrong,
};

/// How long nothing may come to an action on a connection that is up.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

impl Lane {
    /// The schedule is over. What it has left has waited so long at least: left out, the longest times would be those that don't count.
    pub(super) fn end_owed(&mut self, now: Instant) {
        for due in self.pacer.take_owed(now).into_moments() {
            self.unanswered(now, due);
        }
        self.count_offered();
    }

    /// No decision is answered any more. What has no answer has waited so long at least. `answered` is dropped when nothing is left that
    /// was sent.
    pub(in crate::lean) fn rest(&mut self, now: Instant, answered: Sender<()>) {
        self.end_owed(now);
        self.pacer.follow_none(now);
        self.activity = Activity::Rests(Some(answered));
        let since = |begin: Instant| now.saturating_duration_since(begin);
        for Table { seats, asked, last, .. } in self.tables.values() {
            for Acted { due, origin, .. } in seats.iter().flat_map(|seat| &seat.acted) {
                match origin {
                    Origin::Schedule => self.unanswered(now, *due),
                    Origin::Thought => self.recorder.took(Measure::ActionToReceipt, since(*due)),
                }
            }
            if let Some(asked) = asked {
                self.recorder.took(Measure::CreateToDecision, since(*asked));
            }
            if let Some((_, due)) = last {
                self.recorder.took(Measure::ActionToObservation, since(*due));
            }
        }
        self.rest_if_answered();
    }

    /// Something that was due then has no answer.
    fn unanswered(&self, now: Instant, due: Instant) {
        self.recorder.took(Measure::ActionToReceipt, now.saturating_duration_since(due));
        self.recorder.count(Count::Unanswered);
    }

    /// Counts what has been due by the schedule.
    pub(super) fn count_offered(&mut self) {
        let offered = self.pacer.take_offered();
        if offered > 0 {
            self.recorder.count_many(Count::Offered, offered);
        }
    }

    /// Says that all that was sent has its answer, when it has.
    pub(super) fn rest_if_answered(&mut self) {
        if let Activity::Rests(answered @ Some(_)) = &mut self.activity
            && self.tables.values().flat_map(|table| &table.seats).all(|seat| seat.acted.is_empty())
        {
            *answered = None;
        }
    }

    /// Whether what was sent then may wait behind what was sent before: a server reads as slowly as it will, and answers in turn. Answers come, and
    /// none to what was sent later.
    fn is_queued(&self, now: Instant, sent: Instant) -> bool {
        let hears =
            self.last_heard.is_some_and(|heard| now.saturating_duration_since(heard) < ANSWERED_WITHIN);
        hears && self.last_answered.is_none_or(|last| last < sent)
    }

    /// Says what has not come, though it was not cut off: answers to what was sent, and the ends of matches that are over by their
    /// results.
    pub(in crate::lean) fn tell_missing(&self, now: Instant, ended: &HashSet<String>) {
        for Table { match_id, seats, .. } in self.tables.values() {
            for seat in
                seats.iter().filter(|seat| !seat.over && seat.cut.is_none() && seat.check.has_started())
            {
                let fault = |wrong| {
                    let fault = Fault { match_id: match_id.clone(), seat: Some(seat.number), wrong };
                    fault.report(&self.recorder);
                };
                let silent = |acted: &Acted| {
                    let sent = acted.sent?;
                    let waited = now.saturating_duration_since(sent);
                    let is_late = waited >= ANSWERED_WITHIN && !self.is_queued(now, sent);
                    is_late.then_some((acted.decision, waited.as_secs()))
                };
                for (decision, waited_s) in seat.acted.iter().filter_map(silent) {
                    fault(Wrong::NoAnswer { decision, waited_s });
                }
                if ended.contains(match_id) {
                    fault(Wrong::NoEnd);
                }
            }
        }
    }
}
