//! How late the server usually was, of the times that it was looked at.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits;

/// How late the server was, each time that it was looked at for a while.
#[derive(Debug)]
pub(super) struct Window {
    begun: Instant,
    at_least: Duration,
    seen: Vec<Duration>,
}

impl Window {
    pub(super) const fn new(begun: Instant, at_least: Duration) -> Self {
        Self { begun, at_least, seen: Vec::new() }
    }

    /// It was so late. At the end of the window the answer is how late it usually was: one thing may be late at any time, and
    /// a stall of the whole server is one, however long it takes.
    pub(super) fn note(&mut self, now: Instant, late: Duration) -> Option<Duration> {
        self.seen.push(late);
        if self.seen.len() < limits::PRESSURE_BEATS || now - self.begun < self.at_least {
            return None;
        }
        let middle = self.seen.len() / 2;
        let (_, usual, _) = self.seen.select_nth_unstable(middle);
        let usual = *usual;
        self.seen.clear();
        self.begun = now;
        Some(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_no_pressure_however_long() {
        let begun = Instant::now();
        let mut window = Window::new(begun, limits::PRESSURE_WINDOW);
        let stalled = Duration::from_secs(10);
        let mut now = begun + stalled;
        assert_eq!(window.note(now, stalled), None);
        for beat in 2..=limits::PRESSURE_BEATS {
            now += limits::PRESSURE_BEAT;
            let usual = window.note(now, Duration::ZERO);
            assert_eq!(usual, (beat == limits::PRESSURE_BEATS).then_some(Duration::ZERO));
        }
    }
}
