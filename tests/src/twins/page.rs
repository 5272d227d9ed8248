//! What of the page of the metrics is compared.

use zetema_load::scrape::Scrape;

/// How the names of metrics end that are left out: how long something took is never the same twice. How often it was
/// measured, which ends in `_seconds_count`, is compared as all the others are.
const TIMES: [&str; 3] = ["_seconds", "_seconds_sum", "_seconds_bucket"];

/// The lines of a page that are not times, in an order of their own: the exporter lists them in that of a hash map,
/// which is another in every process.
pub(super) fn without_times(page: &str) -> String {
    let mut lines: Vec<&str> = page.split_inclusive('\n').filter(|line| !is_time(line)).collect();
    lines.sort_unstable();
    lines.concat()
}

/// The value of a metric on a page, when it has no labels.
pub(super) fn value(page: &str, name: &str) -> Option<u64> {
    let scrape = Scrape::parse(page).ok().filter(|scrape| scrape.has(name))?;
    scrape.sum(name).to_string().parse().ok()
}

fn is_time(line: &str) -> bool {
    let name = line.split(['{', ' ']).next().unwrap_or_default();
    TIMES.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_left_out_and_how_often_they_were_measured_is_not() {
        let page = "# TYPE zetema_action_seconds histogram\n\
                    zetema_action_seconds_bucket{le=\"+Inf\"} 3\n\
                    zetema_action_seconds_sum 0.25\n\
                    zetema_action_seconds_count 3\n\
                    zetema_age_seconds 7\n\
                    zetema_actions_total 3\n";
        let compared = "# TYPE zetema_action_seconds histogram\n\
                        zetema_action_seconds_count 3\n\
                        zetema_actions_total 3\n";
        assert_eq!(without_times(page), compared);
        assert_eq!(value(page, "zetema_actions_total"), Some(3));
        assert_eq!(value(page, "zetema_actions"), None);
    }
}
