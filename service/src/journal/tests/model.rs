//! Random writes and reopenings, beside a map that does the same.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::journal::{AppendRefusal, ResultNumber};

/// What is done to one of a few matches.
#[derive(Debug, Clone, Copy)]
enum Step {
    Create,
    Append,
    AppendAtAnotherVersion,
    Finish,
    Reopen,
    /// Opened again as a kill leaves it.
    Kill,
    /// The same with the other kind of log.
    Change,
}

fn step() -> impl Strategy<Value = (u32, Step)> {
    let step = prop_oneof![
        3 => Just(Step::Create),
        10 => Just(Step::Append),
        1 => Just(Step::AppendAtAnotherVersion),
        2 => Just(Step::Finish),
        1 => Just(Step::Reopen),
        1 => Just(Step::Kill),
        1 => Just(Step::Change),
    ];
    (0..6_u32, step)
}

/// A match as it has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    Running(Vec<String>),
    Finished,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_journal_is_what_was_acknowledged(
        steps in vec(step(), 1..120),
        log in prop_oneof![Just(LogStore::Redo), Just(LogStore::Tables)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(&steps, log));
    }
}

async fn run(steps: &[(u32, Step)], log: LogStore) {
    // The smallest segments, so that rows are copied on and segments dropped all the time.
    let mut f = Fixture::with(Options { segment_rows: 2, log, ..Options::default() }).await;
    let mut expected: HashMap<u32, Expected> = HashMap::new();
    let mut results = 0;
    for (number, step) in steps {
        let number = *number;
        let there = expected.get_mut(&number);
        let version = match &there {
            Some(Expected::Running(texts)) => u32::try_from(texts.len()).unwrap(),
            Some(Expected::Finished) | None => 0,
        };
        match (step, there) {
            (Step::Create, None) => {
                f.created([number]).await;
                expected.insert(number, Expected::Running(vec!["created".to_owned()]));
            }
            (Step::Create, Some(_)) => {
                assert!(matches!(f.create([number]).await, Outcome::Refused(_)));
            }
            (Step::Append, Some(Expected::Running(texts))) => {
                let text = format!("record {version} of {number}");
                f.appended(number, version, &text).await;
                texts.push(text);
            }
            (Step::AppendAtAnotherVersion, Some(Expected::Running(_))) => {
                let refused = AppendRefusal::Version { actual: Version::new(version) };
                assert_eq!(f.append(number, version + 1, "").await, Outcome::Refused(refused));
            }
            (Step::Finish, Some(there @ Expected::Running(_))) => {
                results += 1;
                assert_eq!(f.finish(number, version).await, Outcome::Done(ResultNumber::new(results)));
                *there = Expected::Finished;
            }
            (Step::Reopen, _) => f = f.reopen().await,
            (Step::Kill, _) => f = f.kill().await,
            (Step::Change, _) => {
                f.options.log = match f.options.log {
                    LogStore::Redo => LogStore::Tables,
                    LogStore::Tables => LogStore::Redo,
                };
                f = f.kill().await;
            }
            (_, Some(Expected::Finished)) => {
                let outcome = f.append(number, 1, "").await;
                assert!(matches!(outcome, Outcome::Refused(AppendRefusal::Finished(_))), "{outcome:?}");
            }
            (_, None) => {
                let outcome = f.finish(number, 0).await;
                assert_eq!(outcome, Outcome::Refused(AppendRefusal::NoMatch));
            }
        }
        check(&f, number, expected.get(&number)).await;
    }
    f = f.reopen().await;
    assert_eq!((&f.recovery.quarantined, &f.recovery.stray), (&vec![], &vec![]));
    for number in 0..6 {
        check(&f, number, expected.get(&number)).await;
    }
}

async fn check(f: &Fixture, number: u32, expected: Option<&Expected>) {
    let read = f.journal.read(id(number)).await.unwrap().map(|read| match read {
        StoredMatch::Running(history) => Expected::Running(texts(&history)),
        StoredMatch::Finished(_) => Expected::Finished,
        StoredMatch::Quarantined { damage, .. } => panic!("{damage}"),
    });
    assert_eq!(read.as_ref(), expected);
}
