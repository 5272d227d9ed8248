//! What makes the tables of the journal, but for the segments of its log: one text for each version that added some. None is ever changed,
//! as journals of that version have it letter for letter.

/// What version 1 had.
pub(super) const TABLES: &str = "
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE records (
    result_number INTEGER PRIMARY KEY,
    match_id BLOB NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    owner TEXT,
    visibility INTEGER NOT NULL,
    client_reference TEXT,
    finished_ms INTEGER NOT NULL,
    summary BLOB NOT NULL,
    record BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE INDEX records_by_owner ON records (owner) WHERE owner IS NOT NULL;
CREATE INDEX records_by_client_reference ON records (client_reference) WHERE client_reference IS NOT NULL;
CREATE INDEX records_by_visibility ON records (visibility);
CREATE TABLE requests (
    caller TEXT NOT NULL,
    request_id TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    response BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (caller, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_age ON requests (created_ms);
CREATE TABLE quarantine (
    match_id BLOB PRIMARY KEY,
    intact INTEGER NOT NULL,
    damage TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

/// What version 2 added.
pub(super) const TOKENS: &str = "
CREATE TABLE tokens (
    token_number INTEGER PRIMARY KEY,
    token_id BLOB NOT NULL UNIQUE,
    secret_sha256 BLOB NOT NULL,
    scope INTEGER NOT NULL,
    account TEXT,
    label TEXT,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER
) STRICT;
";

/// What version 3 added: a hash over each row of the small tables, and over what lists show of a finished match.
pub(super) const SEALS: &str = "
ALTER TABLE meta ADD COLUMN seal BLOB;
ALTER TABLE requests ADD COLUMN seal BLOB;
ALTER TABLE tokens ADD COLUMN seal BLOB;
ALTER TABLE records ADD COLUMN seal BLOB;
ALTER TABLE quarantine ADD COLUMN result_number INTEGER;
ALTER TABLE quarantine ADD COLUMN seal BLOB;
";

/// What version 5 added.
pub(super) const WEBHOOKS: &str = "
CREATE TABLE webhooks (
    webhook_number INTEGER PRIMARY KEY,
    webhook_id BLOB NOT NULL UNIQUE,
    owner TEXT,
    url TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    seal BLOB
) STRICT;
CREATE TABLE dead_letters (
    webhook_id BLOB NOT NULL,
    result_number INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT NOT NULL,
    died_ms INTEGER NOT NULL,
    state INTEGER NOT NULL,
    seal BLOB,
    PRIMARY KEY (webhook_id, result_number)
) STRICT, WITHOUT ROWID;
";

/// What version 6 added: for each list that somebody can ask for an index in which its matches, and no others, stand in order.
pub(super) const INDEXES: &str = "
CREATE INDEX records_by_owner_and_client_reference ON records (owner, client_reference)
    WHERE owner IS NOT NULL AND client_reference IS NOT NULL;
CREATE INDEX records_by_visibility_and_client_reference ON records (visibility, client_reference)
    WHERE client_reference IS NOT NULL;
CREATE TABLE bots (
    bot TEXT NOT NULL,
    result_number INTEGER NOT NULL,
    client_reference TEXT,
    PRIMARY KEY (bot, result_number)
) STRICT, WITHOUT ROWID;
CREATE INDEX bots_by_client_reference ON bots (bot, client_reference, result_number)
    WHERE client_reference IS NOT NULL;
";

/// What version 7 added.
pub(super) const ACCOUNTS: &str = "
CREATE TABLE registered_bots (
    bot_number INTEGER PRIMARY KEY,
    bot TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    description TEXT,
    version TEXT,
    fault_contact TEXT,
    created_ms INTEGER NOT NULL,
    retired_ms INTEGER,
    seal BLOB
) STRICT;
CREATE TABLE registered_owners (
    owner TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    seal BLOB
) STRICT, WITHOUT ROWID;
";

/// What version 9 added: the tokens that were rotated and play on.
pub(super) const ROTATIONS: &str = "
CREATE TABLE rotated_tokens (
    token_id BLOB PRIMARY KEY,
    rotated_ms INTEGER NOT NULL,
    seal BLOB
) STRICT, WITHOUT ROWID;
";

/// What version 8 added. SQLite keeps a number of 64 bits in a column of type REAL as it is.
pub(super) const RATINGS: &str = "
CREATE TABLE ladders (
    ladder TEXT PRIMARY KEY,
    result_number INTEGER NOT NULL,
    mu REAL NOT NULL,
    sigma REAL NOT NULL,
    beta REAL NOT NULL,
    kappa REAL NOT NULL,
    tau REAL NOT NULL,
    provisional_sigma REAL NOT NULL,
    seal BLOB
) STRICT, WITHOUT ROWID;
CREATE TABLE ladder_ratings (
    ladder TEXT NOT NULL,
    bot TEXT NOT NULL,
    mu REAL NOT NULL,
    sigma REAL NOT NULL,
    matches INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    draws INTEGER NOT NULL,
    forfeits INTEGER NOT NULL,
    opponents INTEGER NOT NULL,
    margin INTEGER NOT NULL,
    seal BLOB,
    PRIMARY KEY (ladder, bot)
) STRICT, WITHOUT ROWID;
";
