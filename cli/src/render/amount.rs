//! Amounts as people read them.

use std::time::Duration;

/// A count with its thousands apart: `12,345`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the largest unit that leaves one before the point: `1.5 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    // What would be rounded up to the next unit is shown in it.
    while amount >= 1023.95 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS.get(unit).copied().unwrap_or_default())
}

/// A time by its two largest units: `3 h 12 min`.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_their_thousands_apart() {
        for (value, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(count(value), text);
        }
    }

    #[test]
    fn bytes_are_in_the_unit_that_fits() {
        let mebi = 1024 * 1024;
        for (value, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (mebi - 1, "1.0 MiB"),
            (3 * mebi / 2, "1.5 MiB"),
            (u64::MAX, "16384.0 PiB"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn times_have_two_units() {
        for (seconds, text) in
            [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3_600, "1 h 0 min"), (90_061, "1 d 1 h")]
        {
            assert_eq!(time(Duration::from_secs(seconds)), text);
        }
    }
}
