//! How long each step of a show stands: the match is over in no time, a person wants to follow it.

use std::time::Duration;

use zetema_rules::SeatEvent;

/// How long a whole show takes at most.
const SHOW: Duration = Duration::from_millis(6_500);
/// How long a beat is, as long as nobody knows how many there will be.
const USUAL_BEAT: Duration = Duration::from_millis(20);
/// How long a beat is at most.
const LONGEST_BEAT: Duration = Duration::from_millis(60);

/// How many beats a step deserves, by what happened in it.
pub(super) fn beats(events: &[SeatEvent]) -> u32 {
    let of_event = |event: &SeatEvent| match event {
        SeatEvent::Drew { .. } => 0,
        SeatEvent::Discarded { .. } | SeatEvent::ExtraTurn { .. } => 2,
        SeatEvent::Zetema { .. } | SeatEvent::Exposed { .. } => 6,
        SeatEvent::Declared { .. } | SeatEvent::Forfeited { .. } => 8,
        SeatEvent::DealStarted { .. } | SeatEvent::DealOver { .. } | SeatEvent::MatchOver { .. } => 12,
    };
    events.iter().map(of_event).sum()
}

/// What is known of the steps after this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// The match goes on.
    Unknown,
    /// The match is over: all steps left have so many beats.
    Beats(u32),
}

/// How long a step of so many beats stands, when the show has gone on for so long.
pub(super) fn pause(beats: u32, ahead: Ahead, shown: Duration) -> Duration {
    let left = SHOW.saturating_sub(shown);
    let beat = match ahead {
        Ahead::Unknown => USUAL_BEAT,
        Ahead::Beats(ahead) => (left / (beats + ahead).max(1)).min(LONGEST_BEAT),
    };
    (beat * beats).min(left)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Ahead, LONGEST_BEAT, SHOW, pause};

    /// How long a show takes that learns after `unknown` steps that there are `steps` in all.
    fn show(steps: u32, unknown: u32, beats: u32) -> Duration {
        let mut shown = Duration::ZERO;
        for step in 0..steps {
            let ahead =
                if step < unknown { Ahead::Unknown } else { Ahead::Beats((steps - step - 1) * beats) };
            shown += pause(beats, ahead, shown);
        }
        shown
    }

    #[test]
    fn a_show_ends_in_time_however_long_the_match() {
        for (steps, unknown, beats) in [(10, 0, 2), (200, 10, 3), (5_000, 100, 8), (300, 300, 9)] {
            assert!(show(steps, unknown, beats) <= SHOW, "{steps} {unknown} {beats}");
        }
    }

    #[test]
    fn a_long_show_takes_all_of_its_time_and_a_short_one_does_not_drag() {
        assert!(show(400, 0, 3) + Duration::from_millis(50) > SHOW);
        assert_eq!(show(4, 0, 2), LONGEST_BEAT * 8);
    }
}
