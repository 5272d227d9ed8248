//! Ladders, challenges and standings.

use std::time::Duration;

/// Ladders of one server.
pub const MAX_LADDERS: usize = 64;

/// Bytes of what a ladder is, for people.
pub const MAX_LADDER_DESCRIPTION_BYTES: usize = 256;

/// Results of one ladder that are in memory at most, however it is configured, some 500 bytes each with their luck; older ones are in files.
/// Ratings and head-to-heads are of all results.
pub const MAX_LADDER_RESULTS: usize = 200_000;

/// Results in one file of a ladder, which is read and written whole: some 150 bytes each of two players.
pub const LADDER_BLOCK_RESULTS: usize = 1_024;

/// More results of one ladder in memory while others are written to a file, or can't be. Of more, the oldest can't be looked up until the next start.
pub const UNWRITTEN_LADDER_RESULTS: usize = 16 * LADDER_BLOCK_RESULTS;

/// Files of older results that are in memory, of all ladders together: those that were read last.
pub const LADDER_BLOCKS_READ: usize = 64;

/// The latest results of all ladders of a server together that are in memory, unless configured: in equal parts, but with room for
/// [`LADDER_BLOCK_RESULTS`] of each ladder at least and [`MAX_LADDER_RESULTS`] at most. Few, so that the memory of a server whose bots play
/// on and on is flat after its first minutes: whoever asks for more reads files, of which those of the last [`LADDER_BLOCKS_READ`] are in
/// memory too.
pub const DEFAULT_LADDER_RESULTS_IN_MEMORY: usize = 8_192;

/// The latest results of a server, when it starts, of which the luck of the cards is known or computed. What is known is on the disk, in
/// files of [`LUCK_BLOCK_RESULTS`], of 130 bytes each result: 136 MB at most.
pub const LUCK_RESULTS: u64 = 256 * LUCK_BLOCK_RESULTS;

/// Results of the server whose luck is in one file, and in memory while it is written: of each ladder so many are in memory at least.
pub const LUCK_BLOCK_RESULTS: u64 = 4_096;

/// Files of luck that are in memory, of all ladders together: those that were read last for results that are older than those in memory. Some 400 kB
/// each, of six players 600.
pub const LUCK_BLOCKS_READ: usize = 16;

/// Results whose luck was computed and is not on the disk yet: after a crash it is computed anew, some 30 milliseconds each.
pub const LUCK_UNSAVED_RESULTS: usize = 256;

/// How long computed luck is not on the disk at most.
pub const LUCK_SAVED_EVERY: Duration = Duration::from_mins(1);

/// How often whoever follows standings is told of luck that was computed since, where no rating changes.
pub const LUCK_TOLD_EVERY: Duration = Duration::from_secs(1);

/// What places at a table are usually worth by other rules: so many are kept, on the disk and in memory, 100 bytes each.
pub const MAX_LUCK_BASELINES: usize = 2 * MAX_LADDERS;

/// For how long luck is computed until it is looked whether the server has more pressing things to do.
pub const LUCK_CHUNK: Duration = Duration::from_millis(10);

/// How long what nobody waits for is left alone when the server has.
pub const IDLE_PAUSE: Duration = Duration::from_millis(250);

/// Results of one season that is looked at for the admin, the latest of a ladder.
pub const SEASON_RESULTS: usize = 30_000;

/// Bytes of what seats did in one season until it has no more results, of one season at a time: 2 for each decision, and 4 for each other card
/// that could have been discarded. A match of two by the default preset takes some 3,000, one by `quick` half of that, so that [`SEASON_RESULTS`] of these have room.
pub const SEASON_BYTES: usize = 64 * 1024 * 1024;

/// How long a season that was looked at is shown until it is looked at anew.
pub const SEASON_KEPT: Duration = Duration::from_mins(10);

/// Seasons that are looked at or wait for that, of all ladders and times: one at a time.
pub const MAX_SEASONS_UNDER_WAY: usize = 4;

/// Seasons that are remembered, of all ladders and times, until there are more.
pub const MAX_SEASONS: usize = MAX_LADDERS;

/// How long whoever asks waits for a season that is looked at, before being told to ask again.
pub const SEASON_WAITED_FOR: Duration = Duration::from_secs(10);

/// Suspicions that are remembered of one season, some 2 kB each.
pub const MAX_SUSPICIONS: usize = 1_000;

/// Results that one suspicion names.
pub const MAX_CITED_RESULTS: usize = 50;

/// Results that one answer looks at, in as many files as they are.
pub const LADDER_RESULTS_LOOKED_AT: usize = 5_000;

/// How often the bots that wait on ladders are paired, and what is shown of ladders is made anew.
pub const PAIRING_INTERVAL: Duration = Duration::from_secs(1);

/// Words of ladders to one bot's author that wait to be read. What has no room is said when the bot is there by something else.
pub const LADDER_WORDS: usize = 64;

/// Words of ladders to one bot's author that are kept for when it is there again, some 200 bytes each: the latest.
pub const LADDER_WORDS_KEPT: usize = 8;

/// For how long they are.
pub const LADDER_WORDS_KEPT_FOR: Duration = Duration::from_hours(24);

/// What a bot was told so long before its stream ended it may not have read, and is told again: longer than a stream of a program that has
/// died is left open by [`DEFAULT_PING_INTERVAL_MS`](super::DEFAULT_PING_INTERVAL_MS).
pub const LADDER_WORDS_UNREAD: Duration = Duration::from_mins(1);

/// Results that wait for the task of the ladders to count them.
pub const UNCOUNTED_RESULTS: usize = 64;

/// What is asked of the ladders and their task has not looked at. Whoever asks more waits.
pub const LADDER_COMMANDS: usize = 64;

/// How long whoever looks at a bot waits for what its conduct on the ladders is: then the answer leaves that out.
pub const BEHAVIOUR_WAITED_FOR: Duration = Duration::from_secs(2);

/// How often the ratings of ladders that have changed are stored, unless configured, in milliseconds.
pub const DEFAULT_LADDER_RATINGS_STORED_EVERY_MS: u32 = 5_000;

/// How long a server that stops waits until they are stored once more.
pub const LADDER_RATINGS_STORED_LAST: Duration = Duration::from_secs(2);

/// Bots of one ladder that the log names when their stored ratings are not those of the results; of more it has the number.
pub const LADDER_DIFFERENCES_LOGGED: usize = 100;

/// How long after a fault of theirs the ladders begin anew.
pub const LADDERS_BREAK: Duration = Duration::from_secs(1);

/// How long a call waits until the results of before the start are counted.
pub const CATCHING_UP_WAITED_FOR: Duration = Duration::from_secs(10);

/// When whoever can't wait on ladders that stand still asks again.
pub const STAND_STILL_ASKED_AGAIN: Duration = Duration::from_mins(1);

/// Ladders that one bot waits on by one stream.
pub const MAX_QUEUES_PER_STREAM: usize = MAX_LADDERS;

/// How long a bot waits on ladders and for challenges without a stream, until it says so again.
pub const QUEUE_LEASE: Duration = Duration::from_mins(1);

/// Matches of one ladder that a bot may want at once by one stream.
pub const MAX_PLACES_PER_QUEUE: u16 = 1_000;

/// Challenges that a bot may accept at once by one stream.
pub const MAX_CHALLENGES_PER_STREAM: u16 = 1_000;

/// How long a challenge's seats may have to join. A bot's places are few, and whoever challenges it has them until then at least.
pub const MAX_CHALLENGE_JOIN_TIMEOUT: Duration = Duration::from_mins(1);

/// How long a bot takes no challenge of an owner whose challenges have held its places for [`MAX_CHALLENGE_JOIN_TIMEOUT`] in all without
/// being played. It doubles each time, until [`IDLE_CHALLENGES_LONGEST_COOL_DOWN`], and is halved by each that is played.
pub const IDLE_CHALLENGES_COOL_DOWN: Duration = Duration::from_secs(30);

/// The longest of these: then whoever never plays has a place for a minute of an hour.
pub const IDLE_CHALLENGES_LONGEST_COOL_DOWN: Duration = Duration::from_hours(1);

/// How long after the last challenge that was not played that is forgotten.
pub const IDLE_CHALLENGES_LAST: Duration = Duration::from_hours(24);

/// Owners of whom that is remembered for one bot, some 100 bytes each: whoever did it longest ago is forgotten first.
pub const MAX_IDLE_CHALLENGERS: usize = 1_000;

/// How long a challenge's clock may be: each of its budgets, its bank and its increment.
pub const MAX_CHALLENGE_CLOCK: Duration = Duration::from_mins(10);

/// `WatchStandings` streams open at once.
pub const MAX_STANDINGS_STREAMS: usize = 1_000;

/// Those of one address, so that nobody can keep the others out.
pub const MAX_STANDINGS_STREAMS_PER_ADDRESS: usize = 50;

/// Standings in one message of such a stream.
pub const MAX_STANDINGS_IN_MESSAGE: usize = 1_000;

/// How long the record of a result is waited for, to compute its luck, until later results are looked at without it.
pub const LUCK_WAITS_FOR_RECORD: Duration = Duration::from_mins(5);
