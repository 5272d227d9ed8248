//! Histograms for other tools.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;

use crate::outcome::{Latencies, Measure, Outcome};

/// Steps of the percentiles until the distance to 100 % is halved.
const STEPS_PER_HALF: u32 = 5;
/// How the names of the files end: percentiles, and the log of each second.
const ENDINGS: [&str; 2] = ["hgrm", "hlog"];
/// Values are microseconds, and are shown in milliseconds.
const US_PER_MS: f64 = 1_000.0;

/// Writes two files for each measure of which something was measured, and returns their names: `receipt.hgrm`, the percentiles of the
/// whole run in milliseconds as a text, and `receipt.hlog`, a histogram of microseconds for each second that was measured, both as the
/// tools of `HdrHistogram` read them. The folder is made if it is not there; files of these names in it are replaced, and those of measures of which
/// nothing was measured removed: they are of a run before, and would be taken for this one's.
///
/// # Errors
/// If a file can't be written or removed. The error names it.
pub fn write(outcome: &Outcome, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let named = |path: &Path, result: io::Result<()>| {
        result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    };
    named(folder, fs::create_dir_all(folder))?;
    let totals = outcome.totals();
    let mut written = Vec::new();
    for measure in Measure::ALL {
        let path = |ending| folder.join(format!("{}.{ending}", measure.name()));
        let Some(latencies) = totals.latencies(measure) else {
            for path in ENDINGS.map(path).iter().filter(|path| path.is_file()) {
                named(path, fs::remove_file(path))?;
            }
            continue;
        };
        let mut log = Vec::new();
        intervals(outcome, measure, &mut log)?;
        for (path, bytes) in ENDINGS.map(path).into_iter().zip([percentiles(latencies).into_bytes(), log]) {
            named(&path, fs::write(&path, bytes))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// The text that every tool of `HdrHistogram` writes of percentiles.
fn percentiles(latencies: &Latencies) -> String {
    let histogram = latencies.histogram();
    #[expect(clippy::cast_precision_loss, reason = "microseconds of ten minutes")]
    let ms = |us: u64| us as f64 / US_PER_MS;
    let mut lines = vec!["       Value     Percentile TotalCount 1/(1-Percentile)".to_owned(), String::new()];
    let mut total = 0;
    for step in histogram.iter_quantiles(STEPS_PER_HALF) {
        total += step.count_since_last_iteration();
        let quantile = step.quantile_iterated_to();
        let value = ms(step.value_iterated_to());
        lines.push(if quantile < 1.0 {
            format!("{value:12.3} {quantile:2.12} {total:10} {:14.2}", 1.0 / (1.0 - quantile))
        } else {
            format!("{value:12.3} {quantile:2.12} {total:10}")
        });
    }
    let (mean, deviation) = (histogram.mean() / US_PER_MS, histogram.stdev() / US_PER_MS);
    lines.push(format!("#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]"));
    lines.push(format!("#[Max     = {:12.3}, Total count    = {:12}]", ms(histogram.max()), histogram.len()));
    lines.join("\n") + "\n"
}

/// A log of each measured second.
fn intervals(outcome: &Outcome, measure: Measure, to: &mut impl Write) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment(&format!("zetema load: {}, in microseconds; maxima in milliseconds", measure.title()))
        .with_start_time(outcome.started())
        .with_base_time(outcome.started())
        .with_max_value_divisor(US_PER_MS);
    let mut log = builder.begin_log_with(to, &mut serializer)?;
    for second in outcome.measured() {
        let Some(packed) = second.latencies(measure) else { continue };
        log.write_histogram(packed.unpack().histogram(), outcome.began(second), second.lasted(), None)
            .map_err(|error| io::Error::other(format!("{error:?}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use base64::Engine;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;
    use crate::outcome::sample;

    #[test]
    fn files_are_written_for_what_was_measured() {
        let outcome = sample::run(3, 1_500.0);
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let written = write(&outcome, &folder).unwrap();
        let names: Vec<_> = written.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "receipt.hgrm",
                "receipt.hlog",
                "observation.hgrm",
                "observation.hlog",
                "create.hgrm",
                "create.hlog"
            ]
        );
        assert_eq!(write(&outcome, &folder).unwrap(), written, "they are replaced");
        insta::assert_snapshot!(fs::read_to_string(folder.join("create.hgrm")).unwrap());

        let log = fs::read(folder.join("receipt.hlog")).unwrap();
        let mut all = Histogram::<u64>::new_with_bounds(1, 600_000_000, 3).unwrap();
        let mut times = Vec::new();
        for entry in IntervalLogIterator::new(&log) {
            let LogEntry::Interval(interval) = entry.unwrap() else { continue };
            let bytes = base64::prelude::BASE64_STANDARD.decode(interval.encoded_histogram()).unwrap();
            all.add(Deserializer::new().deserialize::<u64, _>(&mut bytes.as_slice()).unwrap()).unwrap();
            times.push((interval.start_timestamp(), interval.duration()));
        }
        let second = Duration::from_secs(1);
        assert_eq!(times, [2, 3, 4].map(|began| (began * second, second)), "what warmed up is left out");
        assert_eq!(&all, outcome.totals().latencies(Measure::ActionToReceipt).unwrap().histogram());
    }

    #[test]
    fn nothing_of_a_run_before_is_left_and_other_files_are() {
        let folder = tempfile::tempdir().unwrap();
        let there = |name: &str| folder.path().join(name).exists();
        for name in ["reconnect.hgrm", "reconnect.hlog", "receipt.hlog", "notes.hlog", "reconnect.txt"] {
            fs::write(folder.path().join(name), "of a run before").unwrap();
        }
        fs::create_dir(folder.path().join("wait.hgrm")).unwrap();
        let written = write(&sample::run(3, 1_500.0), folder.path()).unwrap();
        assert!(written.iter().all(|path| !fs::read_to_string(path).unwrap().contains("before")));
        assert!(!there("reconnect.hgrm") && !there("reconnect.hlog"), "nobody came back in this run");
        assert!(
            there("notes.hlog") && there("reconnect.txt") && there("wait.hgrm"),
            "it writes no such files"
        );
    }

    #[test]
    fn a_folder_that_can_not_be_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = write(&sample::run(1, 1_500.0), file.path()).unwrap_err();
        assert!(error.to_string().contains(file.path().to_str().unwrap()), "{error}");
    }
}
