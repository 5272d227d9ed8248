//! For which of several ladders bots are kept free.

use super::*;

const TWO: usize = 0;
const FOUR: usize = 1;

/// At which call four bots play with one another who wait on a ladder for two as well, and play one match at once. Matches of two take so
/// many calls, one after the other and over again.
fn four_play_at(lengths: &[u64]) -> Option<u64> {
    let mut queues = [duel(), queue(options(4, Teams::Individual, SameOwner::Apart))];
    let mut hold = Hold::default();
    let mut running: Vec<(u64, Pairing)> = Vec::new();
    let mut lengths = lengths.iter().cycle();
    for call in 0..1_000 {
        let now_ms = call * 1_000;
        let (over, on): (Vec<_>, Vec<_>) = running.into_iter().partition(|(end, _)| *end <= call);
        running = on;
        for (_, pairing) in &over {
            queues[TWO].finish(pairing, now_ms).unwrap();
        }
        let starving = [TWO, FOUR].into_iter().filter_map(|at| Some((queues[at].starves_since(now_ms)?, at)));
        let kept = hold.next(starving, |&at| queues[at].could_pair());
        for at in [TWO, FOUR] {
            let mut busy = Vec::new();
            for (_, pairing) in &running {
                busy.extend(pairing.members().iter().map(|member| member.bot));
            }
            for number in 1..=4 {
                let bot = BotId::new(number);
                queues[at].join(entrant(number), now_ms);
                if busy.contains(&bot) {
                    queues[at].pass_over_busy(bot);
                } else if kept.is_some_and(|kept| kept != at && queues[kept].has_room(bot)) {
                    queues[at].pass_over(bot);
                }
            }
            for pairing in queues[at].pair(now_ms) {
                if at == FOUR {
                    return Some(call);
                }
                hold.served(&at);
                running.push((call + lengths.next().unwrap(), pairing));
            }
        }
    }
    None
}

#[test]
fn four_who_are_never_free_at_once_are_kept_until_they_are() {
    for (lengths, expected) in [(&[20, 25], 50), (&[40, 70], 70), (&[31, 149], 149)] {
        assert_eq!(four_play_at(lengths), Some(expected), "matches of {lengths:?} calls");
    }
}

/// For which ladders bots are kept one after the other, if it is in vain for all of these.
fn in_vain(hold: &mut Hold<&'static str>, starving: &[(u64, &'static str)]) -> Vec<&'static str> {
    let calls = Hold::<&str>::CALLS;
    let kept = (0..12 * calls).filter_map(|_| hold.next(starving.iter().copied(), |_| true));
    kept.step_by(usize::try_from(calls).unwrap()).collect()
}

#[test]
fn ladders_that_can_not_be_served_take_turns() {
    let mut hold = Hold::default();
    assert_eq!(in_vain(&mut hold, &[(2, "b"), (1, "a"), (3, "c")]), ["a", "b", "c", "a", "b", "c"]);
    hold.served(&"c");
    assert_eq!(in_vain(&mut hold, &[(2, "b"), (1, "a"), (3, "c")]), ["c", "a", "b", "c", "a", "b"]);
}

#[test]
fn bots_are_kept_for_a_ladder_until_it_has_a_match_or_could_have_none() {
    let mut hold = Hold::default();
    assert_eq!(hold.next([(1, "a")], |_| true), Some("a"));
    assert_eq!(hold.next([(0, "b")], |_| true), Some("a"), "whoever waits longer by now");
    assert_eq!(hold.next([(0, "b")], |_| false), Some("b"));
    hold.served(&"a");
    assert_eq!(hold.next([], |_| true), Some("b"), "a match of another");
    hold.served(&"b");
    assert_eq!(hold.next([], |_| true), None);
}
