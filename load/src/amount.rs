//! Times, sizes and rates for people.

use std::time::Duration;

/// A time in the unit that suits it, to three digits: `950 µs`, `18.2 ms`, `1.20 s`.
pub(crate) fn time(time: Duration) -> String {
    let us = time.as_secs_f64() * 1e6;
    // Where three digits would round up to the next unit, it is the next unit.
    match us {
        us if us < 0.5 => "0 µs".to_owned(),
        us if us < 999.5 => format!("{us:.0} µs"),
        us if us < 999_500.0 => format!("{} ms", digits(us / 1e3)),
        us => format!("{} s", digits(us / 1e6)),
    }
}

/// A number to three digits, as long as it is below 100.
pub fn digits(number: f64) -> String {
    match number.abs() {
        small if small < 9.995 => format!("{number:.2}"),
        middling if middling < 99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// A count with its thousands set apart: `1,234,567`.
pub fn count(count: u64) -> String {
    let plain = count.to_string();
    let mut grouped = String::with_capacity(plain.len() + plain.len() / 3);
    for (place, digit) in plain.char_indices() {
        if place > 0 && (plain.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// How many a second: `12,340/s`, `0.52/s`.
pub(crate) fn rate(per_second: f64) -> String {
    if per_second < 99.95 {
        format!("{}/s", digits(per_second))
    } else {
        format!("{}/s", count(whole(per_second)))
    }
}

/// A share of all, from 0 to 1, as a percentage: `0.031 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        none if none <= 0.0 => "0 %".to_owned(),
        tiny if tiny < 0.001 => "< 0.001 %".to_owned(),
        small if small < 1.0 => format!("{small:.3} %"),
        percent => format!("{} %", digits(percent)),
    }
}

/// A size: `310 MB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    #[expect(clippy::cast_precision_loss, reason = "a size is shown to three digits")]
    let mut size = bytes as f64 / 1e3;
    if size < 1.0 {
        return format!("{bytes} B");
    }
    for unit in UNITS {
        if size < 999.5 || unit == "TB" {
            return format!("{} {unit}", digits(size));
        }
        size /= 1e3;
    }
    unreachable!("the last unit takes all")
}

/// A size that is added or, with a minus sign, taken away: `-1.50 kB`.
pub(crate) fn change(size: f64) -> String {
    let sign = if size < 0.0 { "-" } else { "" };
    format!("{sign}{}", bytes(whole(size.abs())))
}

/// A size by which something grows in a minute: `310 kB a minute`.
pub(crate) fn a_minute(size: f64) -> String {
    format!("{} a minute", change(size))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate that is no number is 0")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// A text that somebody else chose: characters that a terminal would obey are shown as escapes.
pub(crate) fn plain(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_the_unit_that_suits_them() {
        for (us, expected) in [
            (0, "0 µs"),
            (1, "1 µs"),
            (999, "999 µs"),
            (1_000, "1.00 ms"),
            (9_994, "9.99 ms"),
            (9_996, "10.0 ms"),
            (18_240, "18.2 ms"),
            (999_499, "999 ms"),
            (999_500, "1.00 s"),
            (600_000_000, "600 s"),
        ] {
            assert_eq!(time(Duration::from_micros(us)), expected);
        }
        assert_eq!(time(Duration::from_nanos(999_700)), "1.00 ms");
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(count(number), expected);
        }
        for (number, expected) in
            [(0.0, "0.00/s"), (0.52, "0.52/s"), (99.94, "99.9/s"), (99.96, "100/s"), (12_340.4, "12,340/s")]
        {
            assert_eq!(rate(number), expected);
        }
        for (number, expected) in
            [(0.0, "0 %"), (0.000_001, "< 0.001 %"), (0.000_31, "0.031 %"), (0.25, "25.0 %"), (1.0, "100 %")]
        {
            assert_eq!(share(number), expected);
        }
        for (number, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_500, "1.50 kB"),
            (310_000_000, "310 MB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(bytes(number), expected);
        }
    }
}
