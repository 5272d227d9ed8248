//! How long the way to a client is: from each ping to its pong.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use crate::limits::ROUND_TRIPS_KEPT;

/// The round trips of one stream that were measured lately.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    /// Pings that wait for their pongs.
    sent: VecDeque<(u64, Instant)>,
    measured: VecDeque<Duration>,
    /// The smallest of these: each action asks for it, and what is measured is elsewhere in memory.
    smallest: Option<Duration>,
}

impl RoundTrips {
    /// A ping with this number goes out.
    pub(super) fn ping(&mut self, number: u64, now: Instant) {
        push(&mut self.sent, (number, now));
    }

    /// A pong with this number came in. One that answers no ping, or again, counts nothing.
    pub(super) fn pong(&mut self, number: u64, now: Instant) {
        if let Some(place) = self.sent.iter().position(|(sent, _)| *sent == number)
            && let Some((_, sent)) = self.sent.remove(place)
        {
            push(&mut self.measured, now.duration_since(sent));
            self.smallest = self.measured.iter().min().copied();
        }
    }

    /// The smallest that is remembered, in whole milliseconds; `None` before the first pong.
    pub(super) fn smallest_ms(&self) -> Option<u32> {
        let smallest = self.smallest?;
        Some(u32::try_from(smallest.as_millis()).unwrap_or(u32::MAX))
    }
}

/// The oldest makes room.
fn push<T>(queue: &mut VecDeque<T>, value: T) {
    if queue.len() >= ROUND_TRIPS_KEPT {
        queue.pop_front();
    }
    queue.push_back(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pings and pongs at these times in milliseconds, and the smallest round trip after them.
    fn check(said: &[(&str, u64, u64)], smallest_ms: Option<u32>) {
        let begin = Instant::now();
        let mut trips = RoundTrips::default();
        for &(kind, number, at_ms) in said {
            let now = begin + Duration::from_millis(at_ms);
            match kind {
                "ping" => trips.ping(number, now),
                _ => trips.pong(number, now),
            }
        }
        assert_eq!(trips.smallest_ms(), smallest_ms, "{said:?}");
    }

    #[test]
    fn a_round_trip_is_from_a_ping_to_its_own_pong() {
        check(&[], None);
        check(&[("ping", 1, 0)], None);
        check(&[("ping", 1, 0), ("pong", 1, 30)], Some(30));
        // Pongs out of order, the second of two that wait the first.
        check(&[("ping", 1, 0), ("ping", 2, 10), ("pong", 2, 15), ("pong", 1, 50)], Some(5));
    }

    #[test]
    fn unknown_and_repeated_pongs_count_nothing() {
        check(&[("pong", 0, 0), ("pong", 1, 0), ("ping", 1, 5), ("pong", 7, 5)], None);
        check(&[("ping", 1, 0), ("pong", 1, 30), ("pong", 1, 31), ("ping", 1, 40)], Some(30));
    }

    #[test]
    fn the_smallest_of_the_last_eight_counts() {
        let trip = |number, ms| [("ping", number, number * 1_000), ("pong", number, number * 1_000 + ms)];
        let quick_first: Vec<_> = (1..=8).flat_map(|n| trip(n, if n == 1 { 5 } else { 40 + n })).collect();
        check(&quick_first, Some(5));
        // The ninth drives out the first.
        check(&[quick_first, trip(9, 90).to_vec()].concat(), Some(42));
    }

    #[test]
    fn a_client_that_answers_no_ping_is_remembered_no_more_of_than_one_that_does() {
        let mut trips = RoundTrips::default();
        (0..1_000).for_each(|number| trips.ping(number, Instant::now()));
        assert_eq!(trips.sent.len(), ROUND_TRIPS_KEPT);
    }
}
