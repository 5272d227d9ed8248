//! Another load begins: the matches of the one before are no part of it.

use super::{Control, Created, FutureExt, Instant, Kind, Measure, TOLD_WITHIN, timeout, v1};
use crate::finished::Why;

/// Matches that are cancelled at once.
pub(super) const CANCELLED_AT_ONCE: usize = 64;

impl Control {
    /// The load is over, and another begins. What it has left is measured as far as it has gone, and its matches are left and then
    /// cancelled: those that the next load wants are its own, so that it is what its phase says from its beginning.
    pub(super) async fn end_load(&mut self) {
        self.end_arrivals(Instant::now());
        let mut all_noted = self.lanes.end_load();
        // Who is late for it counts in the next phase. Nobody is told of a cancelled match who still plays it.
        let _ = timeout(TOLD_WITHIN, all_noted.recv()).await;
        for (match_id, _) in self.state.live.drain() {
            self.onlookers.over(&match_id, &Why::GivenUp);
            self.state.check.given_up(&match_id);
            self.state.left.push(match_id);
        }
        self.state.past.extend(std::mem::take(&mut self.state.creating));
    }

    /// A match was created for a load that is over: it has waited so long at least, and nobody plays it.
    pub(super) fn created_late(&mut self, created: Option<(Kind, Created)>) {
        let Some((_, Created { match_id, asked, .. })) = created else { return };
        self.recorder.took(Measure::CreateToDecision, asked.elapsed());
        self.state.left.push(match_id);
    }

    /// Cancels matches of loads that are over, a few at a time.
    pub(super) fn cancel_left(&mut self) {
        while self.state.cancelling.len() < CANCELLED_AT_ONCE
            && let Some(match_id) = self.state.left.pop()
        {
            let mut matches = self.matches.clone();
            let cancelling = async move {
                // One that ended meanwhile can't be cancelled; of others the server may be left with.
                let _ = matches.cancel_match(v1::CancelMatchRequest { match_id }).await;
            };
            self.state.cancelling.push(cancelling.boxed());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;
    use tonic::transport::Endpoint;
    use zetema_sdk::Tls;

    use super::*;
    use crate::lanes::Lanes;
    use crate::onlookers::Onlookers;
    use crate::outcome::{Count, Description, Phase, Recorder};
    use crate::scenario::scenario;
    use crate::target::Target;

    const NOBODY: &str = "http://127.0.0.1:9";

    /// Two loads, of which the first has five matches of sessions and the second another number of lean ones.
    const TWO: &str = "
        [[phase]]
        name = \"before\"
        duration = \"2s\"
        matches = 5
        [[phase.mix]]
        client = \"sdk\"
        [[phase]]
        name = \"after\"
        duration = \"3s\"
        rate = \"100actions/s\"
        matches = 3
    ";

    fn created_for(kind: &Kind, number: usize) -> (Kind, Created) {
        let tokens = (0..kind.players()).map(|seat| format!("{number}-{seat}")).collect();
        let (match_id, asked) = (number.to_string(), Instant::now());
        (kind.clone(), Created { match_id, tokens, asked, think: kind.think, seed: 0 })
    }

    #[tokio::test]
    async fn another_load_has_all_its_matches_and_none_of_the_one_before() {
        let plan = scenario(TWO).unwrap();
        let [before, after] = plan.stages() else { panic!("two phases") };
        let target = Target::new(NOBODY, Endpoint::from_static(NOBODY), Tls::default(), "t").unwrap();
        let recorder = Recorder::start(Description::default(), Phase::measured("before"));
        let ((finished, ends), (_results, results)) = (unbounded_channel(), unbounded_channel());
        let onlookers = Onlookers::new(target.clone(), recorder.clone(), 1);
        let lanes = Lanes::new(target.clone(), recorder.clone(), finished);
        let (matches, reference) = (target.matches_lazy(), String::new());
        let mut control =
            Control::new(matches, recorder.clone(), lanes, onlookers, reference, ends, results, &plan);

        control.begin(before).await;
        control.ask_for_due(before, Instant::now());
        assert_eq!(control.state.creating.len(), 5);
        for number in 0..4 {
            control.created(Some(created_for(&before.kinds[0], number)));
        }
        control.begin(after).await;
        assert!(control.state.live.is_empty() && control.state.creating.is_empty());
        control.ask_for_due(after, Instant::now());
        assert_eq!(control.state.creating.len(), 3, "as many as the load says");
        // One that was asked for by the load before.
        control.created_late(Some(created_for(&before.kinds[0], 4)));
        control.state.left.sort_unstable();
        assert_eq!(control.state.left, ["0", "1", "2", "3", "4"]);
        control.cancel_left();
        assert_eq!((control.state.left.len(), control.state.cancelling.len()), (0, 5));
        // The same load goes on with what there is.
        control.created(Some(created_for(&after.kinds[0], 5)));
        control.begin(after).await;
        assert_eq!((control.state.live.len(), control.state.creating.len()), (1, 3));

        let outcome = recorder.finish();
        let totals = outcome.totals();
        assert_eq!(outcome.faults().all(), 0, "{:?}", outcome.faults());
        assert_eq!(totals.counts().of(Count::MatchBrokenOff) + totals.counts().of(Count::Unanswered), 0);
    }
}
