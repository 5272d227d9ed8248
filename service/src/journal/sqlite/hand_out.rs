//! How the answers of a commit come to those who wait for them.

use std::collections::VecDeque;

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{mpsc, watch},
    task::yield_now,
};

use super::limits;
use super::request::{Answer, Batch};
use crate::journal::{Fetch, ResultNumber};
use crate::prefetch;

/// Hands the answers of each commit to those who wait, on their own runtime: waking a task from within it costs a
/// fraction of waking it from the writer's thread.
pub(super) async fn hand_out(mut batches: mpsc::Receiver<Batch>, latest: watch::Sender<ResultNumber>) {
    // Who is called is run by this thread and no other.
    let is_alone = Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread;
    while let Some(Batch { answers, latest_result }) = batches.recv().await {
        latest.send_if_modified(|latest| {
            let changed = *latest != latest_result;
            *latest = latest_result;
            changed
        });
        let closes = answers.iter().any(|answer| matches!(answer, Answer::Closed(_)));
        let mut gives_way = is_alone && answers.len() <= limits::FEW_ANSWERS;
        let mut answers = answers.into_iter();
        loop {
            let some: Vec<Answer> = answers.by_ref().take(limits::ANSWERS_AT_ONCE).collect();
            // Who closes is answered when all others were.
            if answers.len() == 0 || closes {
                send_all(some);
                answers.for_each(Answer::send);
                break;
            }
            // Where there are more threads than this one, they share what follows from a large commit.
            tokio::spawn(async move { send_all(some) });
            if gives_way {
                // What those who are called do goes out while the others are answered, and their clients go on meanwhile.
                gives_way = false;
                yield_now().await;
            }
        }
    }
}

/// Answers those who wait, one after the other. What the next ones need is fetched before.
fn send_all(some: Vec<Answer>) {
    let mut some = VecDeque::from(some);
    while !some.is_empty() {
        let next = some.len().min(prefetch::AT_ONCE);
        some.iter().take(next).for_each(Answer::prefetch_waiting);
        for step in Fetch::STEPS {
            some.iter().take(next).for_each(|answer| answer.prefetch(step));
        }
        some.drain(..next).for_each(Answer::send);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;
    use crate::journal::{AppendOutcome, Completion, Outcome, Version, sqlite::request::AppendTo};

    /// How many of so many answers were handed out when a task ran that the first of them had called.
    async fn answered_before_the_first_had_its_turn(answers: usize) -> usize {
        let (handed_out, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let answer = |number| {
            let (handed_out, seen) = (Arc::clone(&handed_out), Arc::clone(&seen));
            let told = move |_| {
                handed_out.fetch_add(1, Ordering::Relaxed);
                if number == 0 {
                    tokio::spawn(
                        async move { seen.store(handed_out.load(Ordering::Relaxed), Ordering::Relaxed) },
                    );
                }
            };
            Answer::Append(AppendTo::Told(Box::new(told)), Outcome::Done(Version::new(1)))
        };
        let latest_result = ResultNumber::ZERO;
        let (batches, taken) = mpsc::channel(1);
        let batch = Batch { answers: (0..answers).map(answer).collect(), latest_result };
        assert!(batches.send(batch).await.is_ok());
        drop(batches);
        hand_out(taken, watch::Sender::new(latest_result)).await;
        for _ in 0..answers {
            yield_now().await;
        }
        assert_eq!(handed_out.load(Ordering::Relaxed), answers, "each once");
        seen.load(Ordering::Relaxed)
    }

    /// Notes what it is told, by its number.
    struct Noted {
        number: usize,
        notes: Arc<Mutex<Vec<Note>>>,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Note {
        Prefetched(usize, Fetch),
        Answered(usize),
    }

    impl Completion for Noted {
        fn prefetch(&self, step: Fetch) {
            self.notes.lock().unwrap().push(Note::Prefetched(self.number, step));
        }

        fn complete(self: Box<Self>, _outcome: AppendOutcome) {
            self.notes.lock().unwrap().push(Note::Answered(self.number));
        }
    }

    #[test]
    fn what_the_next_ones_need_is_fetched_before_the_first_of_them_is_answered() {
        for (answers, ends) in [(1, vec![1]), (16, vec![16]), (17, vec![16, 17]), (40, vec![16, 32, 40])] {
            let notes = Arc::<Mutex<Vec<Note>>>::default();
            let answer = |number| {
                let told = Noted { number, notes: Arc::clone(&notes) };
                Answer::Append(AppendTo::Told(Box::new(told)), Outcome::Done(Version::new(1)))
            };
            send_all((0..answers).map(answer).collect());
            let mut expected = Vec::new();
            let mut begin = 0;
            for end in ends {
                for step in Fetch::STEPS {
                    expected.extend((begin..end).map(|number| Note::Prefetched(number, step)));
                }
                expected.extend((begin..end).map(Note::Answered));
                begin = end;
            }
            assert_eq!(*notes.lock().unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn the_first_who_are_answered_have_their_turn_before_the_rest_of_few() {
        let (at_once, few) = (limits::ANSWERS_AT_ONCE, limits::FEW_ANSWERS);
        for (answers, before) in
            [(1, 1), (at_once, at_once), (2 * at_once, at_once), (few, at_once), (few + 1, few + 1)]
        {
            assert_eq!(answered_before_the_first_had_its_turn(answers).await, before, "of {answers}");
        }
    }
}
