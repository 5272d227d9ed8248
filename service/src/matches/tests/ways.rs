//! The way to a table, as who acts there keeps it.

use tokio::sync::oneshot;
use tokio::time::Instant;
use zetema_rules::Preset;

use super::fake::FakeJournal;
use super::harness::*;
use crate::matches::{Matches, NotTaken, Promise, Way};
use crate::table::{Choice, Command, DealSpec, Done, Rejection};
use crate::traces::Trace;

/// What is answered to who asks on this way; nothing by no table, and then the command comes back.
async fn ask(matches: &Matches, way: &Way, command: Command) -> Option<Result<Done, Rejection>> {
    let (answer, answered) = oneshot::channel();
    let (again, arrival) = (command.clone(), matches.arrival(None));
    let promise = Promise::new(command, arrival, |answered| drop(answer.send(answered)));
    way.command_at_once(promise, (Trace::none(), Instant::now()));
    match answered.await.unwrap() {
        Ok(answered) => Some(answered),
        Err(not_taken) => {
            assert_eq!(*not_taken, NotTaken { command: again, arrival });
            None
        }
    }
}

#[tokio::test]
async fn a_way_leads_to_its_table_until_the_match_is_over_and_then_to_none() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    let way = matches.way(info.match_id);
    way.fetch();
    let resign = |index| Command::Resign { access: access(index) };
    let stranger = Command::Resign { access: access(5) };
    assert_eq!(ask(&matches, &way, stranger).await, Some(Err(Rejection::NoSuchSeat { seat: seat(5) })));
    let act = |index| Command::Act { access: access(index), decision: 1, choice: Choice::LegalIndex(0) };
    let acted = [ask(&matches, &way, act(0)).await, ask(&matches, &way, act(1)).await];
    let receipts = acted.iter().filter(|acted| matches!(acted, Some(Ok(Done::Acted(_)))));
    assert_eq!(receipts.count(), 1, "{acted:?}");
    let resigned = ask(&matches, &way, resign(0)).await;
    let Some(Ok(Done::Resigned { seq })) = resigned else { panic!("{resigned:?}") };
    let found_later = matches.way(info.match_id);
    assert!(!way.leads_on(), "it keeps nothing of a match that is over");
    for way in [&way, &found_later, &Way::nowhere()] {
        assert_eq!(ask(&matches, way, resign(0)).await, None);
        way.fetch();
    }
    // Who asks the match itself still learns what came of it.
    assert_eq!(matches.resign(info.match_id, access(0)).await, Ok(seq));
}
