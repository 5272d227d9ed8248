//! What a server is started with to be loaded from here.

/// The flags of `zetema serve` for a server that is there for one load run: all that is asked of it comes from one address with one
/// token, and nothing else does, so that the limits of a single client would be reached at once. All else stays as it is.
///
/// ```
/// assert!(zetema_load::SERVER_FLAGS.iter().all(|flag| flag.starts_with("--") && flag.contains('=')));
/// ```
pub const SERVER_FLAGS: [&str; 18] = [
    "--requests-per-second-per-token=10000000",
    "--request-burst-per-token=10000000",
    "--requests-per-second-per-address=10000000",
    "--request-burst-per-address=10000000",
    "--creates-per-second-per-token=1000000",
    "--create-burst-per-token=10000000",
    "--creates-per-second-per-address=1000000",
    "--create-burst-per-address=10000000",
    "--max-connections=8192",
    "--max-connections-per-address=8192",
    "--connections-per-second-per-address=1000000",
    "--connection-burst-per-address=10000000",
    "--max-streams-per-address=16384",
    "--max-followed-seats-per-address=250000",
    "--max-bots-per-owner=200",
    "--bot-matches-at-once=10000",
    "--bot-matches-a-day=10000000",
    "--drain-timeout-ms=0",
];
