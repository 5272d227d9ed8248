//! Every metric by its name, as data: docs/server.md has the same table, and the tests hold the page of a running server and
//! the dashboard against it.
//!
//! No label grows with users: each has values that are known when the server starts. Whatever is measured in seconds is
//! called so, and nothing else depends on chance: what a count comes to must not show what is hidden.

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows, until the server starts again.
    Counter,
    /// It goes up and down.
    Gauge,
    /// How many were how large, in buckets.
    Histogram,
}

impl Kind {
    /// As the page and the documentation call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Its name, with its unit at the end.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// What it tells, in a few words.
    pub what: &'static str,
}

macro_rules! metrics {
    ($(#[doc = $what:literal] $constant:ident $name:literal $kind:ident [$($label:literal),*];)+) => {
        $(#[doc = $what] pub const $constant: &str = $name;)+

        /// Every metric of the server; those of its process, which begin with `process_`, are beside them.
        pub const ALL: &[Metric] = &[$(Metric {
            name: $name,
            kind: Kind::$kind,
            labels: &[$($label),*],
            what: $what.trim_ascii(),
        },)+];
    };
}

metrics! {
    /// Calls and streams that were begun.
    RPC_REQUESTS "zetema_rpc_requests_total" Counter ["rpc"];
    /// Calls and streams that are over, by the gRPC code that they ended with; `CANCELLED` too when the client was gone before.
    RPC_ANSWERS "zetema_rpc_answers_total" Counter ["rpc", "code"];
    /// What browsers ask before the calls of a page (`OPTIONS`).
    PREFLIGHTS "zetema_preflights_total" Counter [];
    /// From a unary call to the beginning of its answer.
    RPC_SECONDS "zetema_rpc_seconds" Histogram ["rpc"];
    /// Messages of clients.
    RPC_MESSAGES_RECEIVED "zetema_rpc_messages_received_total" Counter ["rpc"];
    /// Messages to clients.
    RPC_MESSAGES_SENT "zetema_rpc_messages_sent_total" Counter ["rpc"];
    /// Streams that are open.
    STREAMS "zetema_streams" Gauge ["rpc"];
    /// Calls and streams that are open on all connections: the setting `max_streams` bounds it.
    OPEN_CALLS "zetema_open_calls" Gauge [];
    /// Requests that were refused, and streams that were cut, by the reason that the client was told.
    REJECTIONS "zetema_rejections_total" Counter ["reason"];
    /// Actions and faults that were acknowledged by a receipt, repeated ones included.
    ACTIONS "zetema_actions_total" Counter [];
    /// From an action's arrival to its receipt.
    ACTION_SECONDS "zetema_action_seconds" Histogram [];
    /// The parts of that: `inbox` until the match takes up what is asked, which is at once unless it is at work, `journal` until what comes of it is durable and the match has its turn again, `publish` until it is in every reader's queue.
    STAGE_SECONDS "zetema_stage_seconds" Histogram ["stage"];
    /// Matches that are not over.
    LIVE_MATCHES "zetema_live_matches" Gauge [];
    /// Bytes of memory that what has happened in them takes: the setting `max_live_match_bytes` bounds it for new matches.
    LIVE_MATCH_BYTES "zetema_live_match_bytes" Gauge [];
    /// Matches that are not over and can't go on, beside them: each keeps its place until it is cancelled. Those that the journal has under quarantine are not counted.
    DAMAGED_MATCHES "zetema_damaged_matches" Gauge [];
    /// Matches that were created.
    MATCHES_CREATED "zetema_matches_created_total" Counter [];
    /// What waits in the inboxes of all matches.
    INBOX_MESSAGES "zetema_inbox_messages" Gauge [];
    /// What waits in the fullest of them.
    INBOX_MESSAGES_MOST "zetema_inbox_messages_most" Gauge [];
    /// Commits of the journal that are durable.
    JOURNAL_COMMITS "zetema_journal_commits_total" Counter [];
    /// Commits of the journal that did not go through.
    JOURNAL_FAILED_COMMITS "zetema_journal_failed_commits_total" Counter [];
    /// Records that those commits added: divided by the commits it is the size of a batch.
    JOURNAL_RECORDS "zetema_journal_records_total" Counter [];
    /// Segments of the journal's log that cleaning found damaged, and that stay: a live row of theirs can't be read, or they can't be dropped.
    JOURNAL_DAMAGED_SEGMENTS "zetema_journal_damaged_segments" Gauge [];
    /// Requests that wait for the journal's writer, those in its hands too.
    JOURNAL_WAITING "zetema_journal_waiting_requests" Gauge [];
    /// For how long the oldest of them has waited: 0 when none does.
    JOURNAL_LAG_SECONDS "zetema_journal_lag_seconds" Gauge [];
    /// Size of the database's file.
    DATABASE_BYTES "zetema_database_bytes" Gauge [];
    /// Size of the write-ahead log's file.
    WAL_BYTES "zetema_wal_bytes" Gauge [];
    /// Size of the files of the redo log, those that are kept to be written again too.
    REDO_LOG_BYTES "zetema_redo_log_bytes" Gauge [];
    /// What is free on the disk of the data folder, for the server's user.
    DISK_FREE_BYTES "zetema_disk_free_bytes" Gauge [];
    /// The size of that disk.
    DISK_SIZE_BYTES "zetema_disk_size_bytes" Gauge [];
    /// Connections that are open.
    CONNECTIONS "zetema_connections" Gauge [];
    /// Answers that wait to be sent, on all connections.
    QUEUED_BYTES "zetema_queued_bytes" Gauge [];
    /// Observations that wait for players and for those who look on.
    QUEUED_OBSERVATION_BYTES "zetema_queued_observation_bytes" Gauge [];
    /// What some of these may come to, by the setting that says so.
    LIMIT "zetema_limit" Gauge ["setting"];
    /// Connections that were closed as soon as they came: `all` (too many are open), `address` (too many of one address), `rate` (one address opens them too fast), `descriptors` (the system has no more).
    REFUSED_CONNECTIONS "zetema_refused_connections_total" Counter ["reason"];
    /// Connections that the server closed: `preface` (not finished in time), `silent`, `idle`, `stalled` (the client takes nothing), `flooding` (frames that carry nothing, or requests in spite of refusals).
    CLOSED_CONNECTIONS "zetema_closed_connections_total" Counter ["reason"];
    /// TLS handshakes that failed or took too long.
    TLS_FAILURES "zetema_tls_failures_total" Counter [];
    /// What was asked too fast (`request`, `message`, `create`), by whose share was used up (`token`, `address`; `disk`: too little of it is free): requests and creates are refused, messages on a Play stream wait.
    THROTTLED "zetema_throttled_total" Counter ["what", "by"];
    /// What was refused because the server was late: `create`, `watch`, `join`.
    SHED "zetema_shed_total" Counter ["work"];
    /// What is refused because the server is late: 0 nothing, 1 a part of creates and spectators, 2 all of them, and joins.
    OVERLOAD_LEVEL "zetema_overload_level" Gauge [];
    /// How late the last thing was that was due and waited behind all that is ready, as an action does. It is looked at every 10 ms.
    LATE "zetema_late_seconds" Gauge [];
    /// Streams that were cut because their reader fell behind.
    SLOW_READERS "zetema_slow_readers_total" Counter [];
    /// Stalls of the server, whose time is charged to nobody.
    STALLS "zetema_stalls_total" Counter [];
    /// Cursors of results beyond the last result, by whose token they came with (`admin`, `owner`): a sign that results were lost, or made up.
    RESULT_CURSORS_AHEAD "zetema_result_cursors_ahead_total" Counter ["by"];
    /// Bots of ladders whose stored ratings were found at a start not to be those of the results, which count, by more than rounding, and ladders whose stored ratings can't be read or are after a result that is lost, as one each. The log names each.
    LADDER_RATINGS_DIFFER "zetema_ladder_ratings_differ_total" Counter [];
    /// Bots of ladders whose stored ratings were found at a start to be those of the results but for rounding (10⁻⁹ rating points), as those that another build or platform has stored may be.
    LADDER_RATINGS_ROUNDED "zetema_ladder_ratings_rounded_total" Counter [];
    /// Faults of the server, each time, and damaged matches, each once. The log has them under their `incident`; of one fault that comes again and again it has a line a second.
    INCIDENTS "zetema_incidents_total" Counter [];
    /// Lines of the program's log that were not written, as whoever reads it did not take them in time, or its file could not.
    LOG_LINES_DROPPED "zetema_log_lines_dropped_total" Counter [];
    /// Attempts to deliver a result to the receiver of a webhook: `taken`, `refused`, `unavailable`.
    WEBHOOK_ATTEMPTS "zetema_webhook_attempts_total" Counter ["outcome"];
    /// Results that webhooks gave up.
    WEBHOOK_DEAD_LETTERS "zetema_webhook_dead_letters_total" Counter [];
    /// Results that the webhook that is furthest behind has not done with.
    WEBHOOK_LAG "zetema_webhook_lag_results" Gauge [];
    /// How long the webhook that is stuck longest has waited for the same result to be taken: 0 as long as each goes on, however far behind.
    WEBHOOK_STUCK "zetema_webhook_stuck_seconds" Gauge [];
    /// 1 while health is `SERVING`, 0 when the journal takes no writes or the server is told to stop.
    READY "zetema_ready" Gauge [];
    /// When the server was started, in seconds since 1970: `time()` less this is the uptime.
    START_TIME "zetema_start_time_seconds" Gauge [];
    /// 1, with the version of the program.
    BUILD_INFO "zetema_build_info" Gauge ["version"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_metric_and_no_other() {
        let page = include_str!("../../../docs/server.md");
        let line = |&Metric { name, kind, labels, what }: &Metric| {
            let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
            format!("| `{name}` | {} | {} | {what} |", kind.name(), labels.join(", "))
        };
        let expected: Vec<String> = ALL.iter().map(line).collect();
        let listed: Vec<&str> = page.lines().filter(|line| line.starts_with("| `zetema_")).collect();
        assert!(listed == expected, "docs/server.md should have:\n{}", expected.join("\n"));
    }

    #[test]
    fn a_name_says_its_unit() {
        for Metric { name, kind, .. } in ALL {
            assert_eq!(*kind == Kind::Counter, name.ends_with("_total"), "{name}");
            assert!(*kind != Kind::Histogram || name.ends_with("_seconds"), "{name}");
        }
    }
}
