//! How a run goes on, in a few lines.

use std::fmt::Write as _;
use std::time::Duration;

use crate::amount;
use crate::outcome::{Count, Measure, Packed, Reading, Second};

/// How a second was: throughput, errors and what the server tells of itself, where it can be read, in a line, and another for each
/// latency that was measured.
///
/// ```
/// use std::time::Duration;
/// use zetema_load::live;
/// use zetema_load::outcome::{Count, Description, Measure, Phase, Recorder};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
/// recorder.took(Measure::ActionToReceipt, Duration::from_micros(1_300));
/// recorder.count_many(Count::ActionAcknowledged, 12_000);
/// tokio::time::advance(Duration::from_secs(1)).await;
/// let second = recorder.tick().expect("a second is over");
/// assert_eq!(
///     live::lines("steady", recorder.elapsed(), &second, None),
///     "    1 s  steady  12,000/s actions  0.00/s matches  no errors\n\
///      \x20        receipt      p50 1.30 ms  p90 1.30 ms  p99 1.30 ms  p99.9 1.30 ms  max 1.30 ms"
/// );
/// # }
/// ```
pub fn lines(phase: &str, elapsed: Duration, second: &Second, server: Option<&Reading>) -> String {
    let rate = |count| {
        let lasted = second.lasted().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown to a few digits")]
        let counted = second.counts().of(count) as f64;
        amount::rate(if lasted > 0.0 { counted / lasted } else { 0.0 })
    };
    let mut parts = vec![
        format!("{:>5} s", elapsed.as_secs()),
        phase.to_owned(),
        format!("{} actions", rate(Count::ActionAcknowledged)),
        format!("{} matches", rate(Count::MatchFinished)),
        errors(second),
    ];
    if let Some(bytes) = server.and_then(|reading| reading.memory_bytes) {
        parts.push(format!("server {}", amount::bytes(bytes)));
    }
    if let Some(us) = server.and_then(|reading| reading.journal_lag_us) {
        parts.push(format!("journal lag {}", amount::time(Duration::from_micros(us))));
    }
    let mut lines = parts.join("  ");
    for measure in Measure::ALL {
        let Some(latencies) = second.latencies(measure).map(Packed::unpack) else { continue };
        let [p50, p90, p99, p99_9] =
            [0.5, 0.9, 0.99, 0.999].map(|wanted| amount::time(latencies.quantile(wanted)));
        let (name, max) = (measure.name(), amount::time(latencies.max()));
        // Nothing can go wrong with a text in memory.
        let _ =
            write!(lines, "\n         {name:<11}  p50 {p50}  p90 {p90}  p99 {p99}  p99.9 {p99_9}  max {max}");
    }
    lines
}

fn errors(second: &Second) -> String {
    let errors: Vec<_> = second
        .failures()
        .iter()
        .map(|(failure, times)| format!("{failure} {}", amount::count(times)))
        .collect();
    if errors.is_empty() { "no errors".to_owned() } else { format!("errors: {}", errors.join(", ")) }
}

#[cfg(test)]
mod tests {
    use tonic::Code;
    use zetema_proto::v1::ErrorReason;

    use super::*;
    use crate::outcome::{Description, Phase, Recorder};

    #[tokio::test(start_paused = true)]
    async fn a_second_is_told_in_a_line_and_one_for_each_latency() {
        let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
        for ms in 1..=100 {
            recorder.took(Measure::ActionToReceipt, Duration::from_millis(ms));
            recorder.took(Measure::CreateToDecision, Duration::from_millis(2 * ms));
        }
        recorder.count_many(Count::ActionAcknowledged, 1_234);
        recorder.count_many(Count::MatchFinished, 17);
        for _ in 0..3 {
            recorder.failed(ErrorReason::Overloaded, "later");
        }
        recorder.failed(Code::Unavailable, "gone");
        tokio::time::advance(Duration::from_secs(1)).await;
        let second = recorder.tick().unwrap();
        let reading =
            Reading { memory_bytes: Some(310_000_000), journal_lag_us: Some(1_200), ..Reading::default() };
        assert_eq!(
            lines("peak", Duration::from_secs(1), &second, Some(&reading)),
            "    1 s  peak  1,234/s actions  17.0/s matches  errors: OVERLOADED 3, transport UNAVAILABLE 1  \
             server 310 MB  journal lag 1.20 ms\n\
             \x20        receipt      p50 50.0 ms  p90 90.0 ms  p99 99.0 ms  p99.9 100 ms  max 100 ms\n\
             \x20        create       p50 100 ms  p90 180 ms  p99 198 ms  p99.9 200 ms  max 200 ms"
        );
    }
}
