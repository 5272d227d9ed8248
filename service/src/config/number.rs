//! The settings that are numbers, as data: each a row with its key, unit, range and default.
//!
//! What a server starts with, `zetema serve --help` and the table of docs/server.md come from these rows. Every range has an
//! end, so no bound can be switched off.

use std::{ops::RangeInclusive, time::Duration};

use super::ConfigError;
use crate::limits;

/// What is known of a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) key: &'static str,
    pub(super) unit: &'static str,
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) default: u64,
    pub(super) what: &'static str,
}

macro_rules! numbers {
    ($(#[doc = $what:literal] $name:ident $key:literal $unit:literal $least:literal $most:literal $default:expr;)+) => {
        /// A setting that is a number.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Number {
            $(#[doc = $what] $name,)+
        }

        /// In the order of the enum.
        const ROWS: &[Row] = &[$(Row {
            key: $key,
            unit: $unit,
            least: $least,
            most: $most,
            default: $default as u64,
            what: $what,
        },)+];

        impl Number {
            /// Every number.
            pub const ALL: &[Self] = &[$(Self::$name,)+];
        }
    };
}

numbers! {
    /// Connections open at once
    MaxConnections "max_connections" "connections" 1 1_000_000 limits::DEFAULT_MAX_CONNECTIONS;
    /// Connections open at once from one address (of IPv6 from one /64)
    MaxConnectionsPerAddress "max_connections_per_address" "connections" 1 1_000_000 limits::DEFAULT_MAX_CONNECTIONS_PER_ADDRESS;
    /// Calls and streams open at once on one connection
    MaxStreamsPerConnection "max_streams_per_connection" "streams" 1 10_000 limits::DEFAULT_MAX_STREAMS_PER_CONNECTION;
    /// Calls and streams open at once on all connections
    MaxStreams "max_streams" "streams" 1 1_000_000 limits::DEFAULT_MAX_STREAMS;
    /// Calls and streams open at once from one address (of IPv6 from one /64)
    MaxStreamsPerAddress "max_streams_per_address" "streams" 1 1_000_000 limits::DEFAULT_MAX_STREAMS_PER_ADDRESS;
    /// How long a request message, and the hello of a Play stream, may take to come
    RequestTimeoutMs "request_timeout_ms" "milliseconds" 100 600_000 limits::DEFAULT_REQUEST_TIMEOUT_MS;
    /// How long a new connection may take until it has said who it is, the TLS handshake not counted
    PrefaceTimeoutMs "preface_timeout_ms" "milliseconds" 100 60_000 limits::DEFAULT_PREFACE_TIMEOUT_MS;
    /// How long a TLS handshake may take
    TlsHandshakeTimeoutMs "tls_handshake_timeout_ms" "milliseconds" 100 60_000 limits::DEFAULT_TLS_HANDSHAKE_TIMEOUT_MS;
    /// How long a connection may be open without a call or a stream
    IdleTimeoutMs "idle_timeout_ms" "milliseconds" 100 86_400_000 limits::DEFAULT_IDLE_TIMEOUT_MS;
    /// How long a client may take nothing, or next to nothing, of what it is sent
    WriteStallTimeoutMs "write_stall_timeout_ms" "milliseconds" 100 600_000 limits::DEFAULT_WRITE_STALL_TIMEOUT_MS;
    /// Bytes of one request message
    MaxRequestBytes "max_request_bytes" "bytes" 65_536 16_777_216 limits::DEFAULT_MAX_REQUEST_BYTES;
    /// Bytes of all headers of one request
    MaxHeaderListBytes "max_header_list_bytes" "bytes" 4_096 65_536 limits::DEFAULT_MAX_HEADER_LIST_BYTES;
    /// Bytes of answers that wait to be sent on one connection
    MaxQueuedBytesPerConnection "max_queued_bytes_per_connection" "bytes" 65_536 67_108_864 limits::DEFAULT_MAX_QUEUED_BYTES_PER_CONNECTION;
    /// Bytes of answers that wait to be sent on all connections
    MaxQueuedBytes "max_queued_bytes" "bytes" 1_048_576 68_719_476_736 limits::DEFAULT_MAX_QUEUED_BYTES;
    /// Bytes of answers that wait to be sent to one address (of IPv6 to one /64)
    MaxQueuedBytesPerAddress "max_queued_bytes_per_address" "bytes" 1_048_576 68_719_476_736 limits::DEFAULT_MAX_QUEUED_BYTES_PER_ADDRESS;
    /// Bytes of observations that wait for one seat, or for whoever watches
    MaxQueuedBytesPerSeat "max_queued_bytes_per_seat" "bytes" 16_384 16_777_216 limits::DEFAULT_MAX_QUEUED_BYTES_PER_SEAT;
    /// Bytes of observations that wait for all seats and all who watch: when half of them wait, 64 KiB may wait for one, and 4 KiB when all do
    MaxQueuedObservationBytes "max_queued_observation_bytes" "bytes" 1_048_576 68_719_476_736 limits::DEFAULT_MAX_QUEUED_OBSERVATION_BYTES;
    /// How late the server may be with its work until it refuses what is new: a part of creates and spectators, from a quarter of this (at least 2 ms) on up to all at three quarters, and at four times this joins too; it is over at a quarter
    MaxLateMs "max_late_ms" "milliseconds" 5 60_000 limits::DEFAULT_MAX_LATE_MS;
    /// Matches that are not over, at once
    MaxLiveMatches "max_live_matches" "matches" 1 10_000_000 limits::DEFAULT_MAX_LIVE_MATCHES;
    /// Matches of one owner that are not over, at once
    MaxLiveMatchesPerOwner "max_live_matches_per_owner" "matches" 1 10_000_000 limits::DEFAULT_MAX_LIVE_MATCHES_PER_OWNER;
    /// Bytes of memory that what has happened in the matches that are not over may take: beyond that no match is created and no seat gets another token, while what runs is played on
    MaxLiveMatchBytes "max_live_match_bytes" "bytes" 1_048_576 68_719_476_736 limits::DEFAULT_MAX_LIVE_MATCH_BYTES;
    /// Bytes that have to be free on the disk of the data folder, or a tenth of it if that is less: while fewer are, no match is created
    MinFreeDiskBytes "min_free_disk_bytes" "bytes" 1_048_576 68_719_476_736 limits::DEFAULT_MIN_FREE_DISK_BYTES;
    /// Spectators of one match, and those who observe one of its seats
    MaxObserversPerMatch "max_observers_per_match" "streams" 1 100_000 limits::DEFAULT_MAX_OBSERVERS_PER_MATCH;
    /// Seats that are followed at once on Play and Observe streams
    MaxFollowedSeats "max_followed_seats" "seats" 1 10_000_000 limits::DEFAULT_MAX_FOLLOWED_SEATS;
    /// Seats that are followed at once from one address (of IPv6 from one /64)
    MaxFollowedSeatsPerAddress "max_followed_seats_per_address" "seats" 1 10_000_000 limits::DEFAULT_MAX_FOLLOWED_SEATS_PER_ADDRESS;
    /// Places for replays of matches that are read at once by who has missed something, one for each 1,000 entries of the match, and as many again for seats of matches that run
    MaxReplays "max_replays" "places" 1 1_000_000 limits::DEFAULT_MAX_REPLAYS;
    /// The same from one address (of IPv6 from one /64)
    MaxReplaysPerAddress "max_replays_per_address" "places" 1 1_000_000 limits::DEFAULT_MAX_REPLAYS_PER_ADDRESS;
    /// Calls and Play messages by one token
    RequestsPerSecondPerToken "requests_per_second_per_token" "per second" 1 10_000_000 limits::DEFAULT_REQUESTS_PER_SECOND;
    /// Calls and Play messages by one token at once, after a pause
    RequestBurstPerToken "request_burst_per_token" "requests" 1 10_000_000 limits::DEFAULT_REQUEST_BURST;
    /// Calls and Play messages from one address (of IPv6 from one /64)
    RequestsPerSecondPerAddress "requests_per_second_per_address" "per second" 1 10_000_000 limits::DEFAULT_REQUESTS_PER_SECOND;
    /// Calls and Play messages from one address at once, after a pause
    RequestBurstPerAddress "request_burst_per_address" "requests" 1 10_000_000 limits::DEFAULT_REQUEST_BURST;
    /// Matches created by one token, and changes of accounts and webhooks
    CreatesPerSecondPerToken "creates_per_second_per_token" "per second" 1 1_000_000 limits::DEFAULT_CREATES_PER_SECOND;
    /// Matches created by one token at once, after a pause: a whole batch must fit in
    CreateBurstPerToken "create_burst_per_token" "matches" 1_000 10_000_000 limits::DEFAULT_CREATE_BURST;
    /// Matches created from one address (of IPv6 from one /64), and changes of accounts and webhooks
    CreatesPerSecondPerAddress "creates_per_second_per_address" "per second" 1 1_000_000 limits::DEFAULT_CREATES_PER_SECOND;
    /// Matches created from one address at once, after a pause: a whole batch must fit in
    CreateBurstPerAddress "create_burst_per_address" "matches" 1_000 10_000_000 limits::DEFAULT_CREATE_BURST;
    /// Connections opened from one address (of IPv6 from one /64). One that was cut for flooding counts as 20
    ConnectionsPerSecondPerAddress "connections_per_second_per_address" "per second" 1 1_000_000 limits::DEFAULT_CONNECTIONS_PER_SECOND;
    /// Connections opened from one address at once, after a pause
    ConnectionBurstPerAddress "connection_burst_per_address" "connections" 1 10_000_000 limits::DEFAULT_CONNECTION_BURST;
    /// How often a Play stream is pinged
    PingIntervalMs "ping_interval_ms" "milliseconds" 100 600_000 limits::DEFAULT_PING_INTERVAL_MS;
    /// Bots of one owner that are not retired
    MaxBotsPerOwner "max_bots_per_owner" "bots" 1 200 limits::DEFAULT_MAX_BOTS_PER_OWNER;
    /// Owners that may register themselves where `open_registration` is on, in all
    MaxRegisteredOwners "max_registered_owners" "owners" 1 1_000 limits::DEFAULT_MAX_REGISTERED_OWNERS;
    /// Matches that a registered bot may be paired for at once
    BotMatchesAtOnce "bot_matches_at_once" "matches" 1 10_000 limits::DEFAULT_BOT_MATCHES_AT_ONCE;
    /// Matches that a registered bot may be paired for in any 24 hours
    BotMatchesADay "bot_matches_a_day" "matches" 1 10_000_000 limits::DEFAULT_BOT_MATCHES_A_DAY;
    /// How long an attempt to deliver to a webhook may take
    WebhookTimeoutMs "webhook_timeout_ms" "milliseconds" 100 60_000 limits::DEFAULT_WEBHOOK_TIMEOUT_MS;
    /// The most that a webhook waits after its first attempt in vain; it doubles each time
    WebhookFirstRetryMs "webhook_first_retry_ms" "milliseconds" 10 60_000 limits::DEFAULT_WEBHOOK_FIRST_RETRY_MS;
    /// The most that a webhook ever waits between two attempts
    WebhookLastRetryMs "webhook_last_retry_ms" "milliseconds" 100 3_600_000 limits::DEFAULT_WEBHOOK_LAST_RETRY_MS;
    /// How long a result is tried whose receiver is not there, until it is a dead letter
    WebhookGiveUpS "webhook_give_up_s" "seconds" 1 2_592_000 limits::DEFAULT_WEBHOOK_GIVE_UP_S;
    /// How often the ratings of ladders that have changed are stored, to be held against the results
    LadderRatingsStoredEveryMs "ladder_ratings_stored_every_ms" "milliseconds" 100 600_000 limits::DEFAULT_LADDER_RATINGS_STORED_EVERY_MS;
    /// The latest results of all ladders that are in memory, in equal parts, with room for 1,024 of each ladder at least and 200,000 at most: older ones are read from files
    LadderResultsInMemory "ladder_results_in_memory" "results" 1_024 10_000_000 limits::DEFAULT_LADDER_RESULTS_IN_MEMORY;
    /// How long matches go on when the server is told to stop
    DrainTimeoutMs "drain_timeout_ms" "milliseconds" 0 600_000 limits::DEFAULT_DRAIN_TIMEOUT_MS;
    /// Of a million actions and other commands of players, so many are traced to `otlp_endpoint`
    OtlpSampledPerMillion "otlp_sampled_per_million" "commands" 1 1_000_000 limits::DEFAULT_OTLP_SAMPLED_PER_MILLION;
}

impl Number {
    /// Its key in the file.
    pub(crate) const fn key(self) -> &'static str {
        self.row().key
    }

    pub(super) const fn row(self) -> &'static Row {
        // The enum and the rows are made from the same list.
        &ROWS[self as usize]
    }

    /// What it may be, in its unit.
    pub const fn range(self) -> RangeInclusive<u64> {
        let row = self.row();
        row.least..=row.most
    }

    /// What it is unless it is set.
    pub const fn default_value(self) -> u64 {
        self.row().default
    }
}

/// A value for every number, each within its range.
///
/// ```
/// use zetema_service::config::{Number, Numbers};
///
/// let numbers = Numbers::default().with(Number::MaxConnections, 9)?;
/// assert_eq!(numbers.get(Number::MaxConnections), 9);
/// assert!(numbers.with(Number::MaxConnections, 0).is_err());
/// # Ok::<(), zetema_service::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers([u64; ROWS.len()]);

impl Default for Numbers {
    fn default() -> Self {
        let mut values = [0; ROWS.len()];
        for (value, row) in values.iter_mut().zip(ROWS) {
            *value = row.default;
        }
        Self(values)
    }
}

impl Numbers {
    /// What a number is.
    pub const fn get(&self, number: Number) -> u64 {
        self.0[number as usize]
    }

    /// A number of things that are counted in memory.
    pub fn count(&self, number: Number) -> usize {
        usize::try_from(self.get(number)).unwrap_or(usize::MAX)
    }

    /// A number of milliseconds.
    pub const fn millis(&self, number: Number) -> Duration {
        Duration::from_millis(self.get(number))
    }

    /// A number of this size at most.
    pub(crate) fn small(&self, number: Number) -> u32 {
        u32::try_from(self.get(number)).unwrap_or(u32::MAX)
    }

    /// These, but for one.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub fn with(mut self, number: Number, value: u64) -> Result<Self, ConfigError> {
        if !number.range().contains(&value) {
            return Err(ConfigError::OutOfRange { number, value });
        }
        self.0[number as usize] = value;
        Ok(self)
    }
}
