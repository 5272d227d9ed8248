//! The end of a load: what has no answer is measured as far as it has gone, and then it is waited for.

use super::{
    Acted, Activity, Count, Duration, Fault, HashSet, Instant, Lane, Measure, Origin, Output, Seat, Sender,
    Table, Wrong,
};

/// How long nothing may come to what was sent, or in a match in which the server is to speak.
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
    /// was sent, and nothing that the server is to say of itself.
    pub(in crate::lean) fn rest(&mut self, now: Instant, answered: Sender<()>) {
        self.end_owed(now);
        self.pacer.follow_none(now);
        self.activity = Activity::Rests(Some(answered));
        self.measure_waiting(now);
        self.rest_if_answered();
    }

    /// Another load begins: what this one has left has waited so long at least, and its matches are left. What is sent in them is no more
    /// waited for, so what has waited too long is told now.
    pub(in crate::lean) fn end_load(&mut self, now: Instant) {
        self.end_owed(now);
        self.measure_waiting(now);
        self.tell_missing(now, &HashSet::new());
        // What was to be sent was in these matches, and so was what was to be answered later.
        self.outputs.clear();
        self.pacer.end();
        let mut left: Vec<u32> = self.tables.drain().map(|(number, _)| number).collect();
        left.sort_unstable();
        self.outputs.extend(left.into_iter().map(Output::Leave));
    }

    /// What has no answer has waited so long at least.
    fn measure_waiting(&self, now: Instant) {
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

    /// Says that all has come that is waited for, when it has.
    pub(super) fn rest_if_answered(&mut self) {
        if let Activity::Rests(answered @ Some(_)) = &mut self.activity
            && !self.tables.values().any(Table::is_awaited)
        {
            *answered = None;
        }
    }

    /// Whether what was sent then may wait behind what was sent before: a server reads as slowly as it will, and answers in turn. Answers come, and
    /// none to what was sent later.
    fn is_queued(&self, now: Instant, sent: Instant) -> bool {
        is_recent(now, self.last_heard) && self.last_answered.is_none_or(|last| last < sent)
    }

    /// Says what has not come: answers to what was sent, seats that were asked for, the next decision, and the ends of matches that are
    /// over by their results.
    pub(in crate::lean) fn tell_missing(&self, now: Instant, ended: &HashSet<String>) {
        for table in self.tables.values() {
            let Table { match_id, seats, .. } = table;
            let tell = |seat: Option<u8>, wrong| {
                Fault { match_id: match_id.clone(), seat, wrong }.report(&self.recorder);
            };
            let has_ended = ended.contains(match_id);
            for seat in seats.iter().filter(|seat| !seat.over) {
                for wrong in self.missing_of(now, table, seat) {
                    tell(Some(seat.number), wrong);
                }
                if has_ended && seat.cut.is_none() && seat.check.has_started() {
                    tell(Some(seat.number), Wrong::NoEnd);
                }
            }
            if let Some(waited_s) = self.silent_for(now, table).filter(|_| !has_ended && table.stands_still())
            {
                tell(None, Wrong::StandsStill { waited_s });
            }
        }
    }

    /// What has not come for a seat.
    fn missing_of(&self, now: Instant, table: &Table, seat: &Seat) -> Vec<Wrong> {
        let long = |since: Instant| {
            let waited = now.saturating_duration_since(since);
            (waited >= ANSWERED_WITHIN).then_some(waited.as_secs())
        };
        let no_answer = |decision, waited_s| Wrong::NoAnswer { decision, waited_s };
        // That it is refused for now is an answer too.
        let is_refused = is_recent(now, table.refused);
        match seat.cut {
            None if !seat.check.has_started() => {
                let silent = self.silent_for(now, table).filter(|_| !is_refused);
                silent.map(|waited_s| Wrong::NotTaken { waited_s }).into_iter().collect()
            }
            None => {
                let late = |acted: &Acted| match acted.sent {
                    Some(last) => long(last).filter(|_| !self.is_queued(now, last)),
                    None => acted.waits_since.and_then(long),
                };
                let late = seat.acted.iter().filter_map(|acted| Some((acted.decision, late(acted)?)));
                late.map(|(decision, waited_s)| no_answer(decision, waited_s)).collect()
            }
            Some(cut) => {
                let Some(waited_s) = long(cut).filter(|_| !is_refused) else { return Vec::new() };
                let late = |acted: &Acted| Some(no_answer(acted.decision, acted.waits_since.and_then(long)?));
                let late: Vec<Wrong> = seat.acted.iter().filter_map(late).collect();
                if late.is_empty() { vec![Wrong::NotBack { waited_s }] } else { late }
            }
        }
    }

    /// For how many seconds nothing was heard in a match, if that is too long: where other matches of the connection still have receipts, or
    /// their seats, this one may wait behind them.
    fn silent_for(&self, now: Instant, table: &Table) -> Option<u64> {
        let hears = is_recent(now, self.last_heard) || is_recent(now, self.last_taken);
        let waited = now.saturating_duration_since(table.heard);
        (waited >= ANSWERED_WITHIN && !hears).then_some(waited.as_secs())
    }
}

/// Whether it is not so long ago that something would be missing since.
fn is_recent(now: Instant, moment: Option<Instant>) -> bool {
    moment.is_some_and(|moment| now.saturating_duration_since(moment) < ANSWERED_WITHIN)
}
