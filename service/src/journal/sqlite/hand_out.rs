//! How the answers of a commit come to those who wait for them.

use tokio::sync::{mpsc, watch};

use super::limits;
use super::request::{Answer, Batch};
use crate::journal::ResultNumber;

/// Hands the answers of each commit to those who wait, on their own runtime: waking a task from within it costs a
/// fraction of waking it from the writer's thread.
pub(super) async fn hand_out(mut batches: mpsc::Receiver<Batch>, latest: watch::Sender<ResultNumber>) {
    while let Some(Batch { answers, latest_result }) = batches.recv().await {
        latest.send_if_modified(|latest| {
            let changed = *latest != latest_result;
            *latest = latest_result;
            changed
        });
        let closes = answers.iter().any(|answer| matches!(answer, Answer::Closed(_)));
        let mut answers = answers.into_iter();
        loop {
            let some: Vec<Answer> = answers.by_ref().take(limits::ANSWERS_AT_ONCE).collect();
            // Who closes is answered when all others were.
            if answers.len() == 0 || closes {
                some.into_iter().chain(answers).for_each(Answer::send);
                break;
            }
            // Where there are more threads than this one, they share what follows from a large commit.
            tokio::spawn(async move { some.into_iter().for_each(Answer::send) });
        }
    }
}
