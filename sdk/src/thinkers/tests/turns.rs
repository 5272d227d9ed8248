//! Sessions that share threads have turns on them.

use std::cell::Cell;

use futures::future::join_all;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::*;
use crate::thinkers::pool::{TURN, UNSEEN};

fn ask_again(thinkers: &mut Thinkers, key: Key, bot: SeatBot) {
    thinkers.work(key, bot, vec![Call::Choose(decision().1)]);
    start(thinkers);
}

/// Runs sessions.
fn run<T>(sessions: impl Future<Output = T>) -> Option<T> {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { timeout(Duration::from_secs(20), sessions).await.ok() })
}

#[test]
fn a_session_whose_bots_are_slow_behind_quick_ones_leaves_the_thread_after_few_of_them() {
    let asked = async {
        let (threads, few) = (threads(1), usize::try_from(UNSEEN).unwrap());
        let ((mut busy, open), (mut other, _open)) = (thinkers_on(&threads, 1), thinkers_on(&threads, 1));
        let names = [vec!["quick"; 20], vec!["waits"; 2 * few]].concat();
        for (key, name) in (1..).zip(names) {
            busy.work(Key(key), SeatBot::default(), first_calls(name));
        }
        other.work(Key(1), SeatBot::default(), first_calls("quick"));
        assert_eq!((busy.start(), other.start()), (Started::Something, Started::Something));
        busy.wake();
        until(|| (busy.pool.jobs().waiting.len() == 2 * few - 1).then_some(())).await;
        let slow = std::time::Instant::now();
        until(|| (slow.elapsed() > TURN).then_some(())).await;
        (0..few).for_each(|_| open.send(()).unwrap());
        check_chose(&mut other, &[1]).await;
        (0..few).for_each(|_| open.send(()).unwrap());
        assert_eq!(told(&mut busy, 20 + 2 * few).await.len(), 20 + 2 * few);
    };
    assert!(run(asked).is_some(), "the other session's bot was never asked");
}

/// How often the bots of so many sessions have chosen when each has a hundred times, where each is asked again as soon as
/// it has.
fn turns(sessions: usize, at_most: usize) -> Vec<u32> {
    let (chosen, threads) = (vec![Cell::new(0); sessions], threads(at_most));
    let all = || chosen.iter().all(|chosen| chosen.get() >= 100);
    let session = async |chosen: &Cell<u32>| {
        let (mut thinkers, _open) = thinkers_on(&threads, 4);
        begin(&mut thinkers, ["quick"]);
        while !all() {
            let bot = check_chose(&mut thinkers, &[1]).await.remove(0);
            chosen.update(|chosen| chosen + 1);
            ask_again(&mut thinkers, Key(1), bot);
            // They are one task here: it goes to the next before this one may be told again.
            yield_now().await;
        }
    };
    assert!(run(join_all(chosen.iter().map(session))).is_some(), "{chosen:?}");
    chosen.iter().map(Cell::get).collect()
}

#[test]
fn sessions_that_are_always_asked_again_have_turns_on_fewer_threads_than_they_are() {
    let chosen = turns(3, 1);
    assert!(chosen.iter().all(|chosen| *chosen < 250), "{chosen:?}");
    turns(6, 2);
}

#[test]
fn a_session_in_which_a_bot_always_waits_for_its_turn_leaves_the_thread_to_others() {
    let asked = async {
        let threads = threads(1);
        let (mut busy, open) = thinkers_on(&threads, 1);
        begin(&mut busy, ["waits", "waits"]);
        let (mut other, _open) = thinkers_on(&threads, 1);
        begin(&mut other, ["quick"]);
        // Of the two one waits for the thread whenever the other has chosen.
        let is_busy = async {
            loop {
                open.send(()).unwrap();
                for (key, bot, _) in told(&mut busy, 1).await {
                    ask_again(&mut busy, key, bot);
                }
            }
        };
        tokio::select! {
            _ = check_chose(&mut other, &[1]) => {}
            () = is_busy => {}
        }
    };
    assert!(run(asked).is_some(), "the other session's bot was never asked");
}

#[tokio::test]
async fn bots_of_several_sessions_that_are_asked_together_think_on_one_thread() {
    let threads = threads(9);
    let mut sessions: Vec<_> = (0..3).map(|_| thinkers_on(&threads, 4)).collect();
    for (thinkers, _) in &mut sessions {
        thinkers.work(Key(1), SeatBot::default(), first_calls("quick"));
        assert_eq!(thinkers.start(), Started::Something);
    }
    assert_eq!(threads.count(), 0, "nobody was woken yet");
    // Whoever comes first wakes it for all.
    sessions[0].0.wake();
    for (thinkers, _) in &mut sessions {
        check_chose(thinkers, &[1]).await;
    }
}

#[tokio::test]
async fn a_slow_bot_of_one_session_holds_up_no_other_session() {
    let threads = threads(2);
    let (mut slow, open) = thinkers_on(&threads, 1);
    begin(&mut slow, ["waits"]);
    for _ in 0..3 {
        let (mut quick, _open) = thinkers_on(&threads, 1);
        begin(&mut quick, ["quick", "quick too"]);
        check_chose(&mut quick, &[1, 2]).await;
    }
    open.send(()).unwrap();
    check_chose(&mut slow, &[1]).await;
}
