//! Every bound of the SQLite journal, with its unit. Those of single values are with the values.

use std::time::Duration;

/// How often a write is tried while none goes through.
pub(super) const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// Requests that wait for the writer. More wait with whoever asks.
pub(super) const WAITING_REQUESTS: usize = 4096;
/// Commits whose answers wait for the runtime. Then the writer waits.
pub(super) const WAITING_BATCHES: usize = 8;
/// Answers of a commit that one task hands out, with all that follows from them.
pub(super) const ANSWERS_AT_ONCE: usize = 32;
/// Answers of a commit up to which a runtime of one thread runs those who are called by the first of them before it hands out the
/// rest. Behind a larger commit the next one waits already, and nobody has nothing to do meanwhile.
pub(super) const FEW_ANSWERS: usize = 4 * ANSWERS_AT_ONCE;
/// KiB of pages that the writer keeps in memory. They are those of the segments that it has written last: on a busy server one of
/// them is read to be dropped soon after.
pub(super) const CACHE_KIB: i64 = 8 * 1024;
/// Reads that wait for each reading thread. More wait with whoever asks.
pub(super) const WAITING_READS: usize = 64;
/// Threads that read, each with a connection.
pub(super) const READERS: usize = 2;
/// How often a commit lets other threads run before it takes what waits for all there is.
pub(super) const LINGERS: usize = 4;
/// How long that may take before it does so no more: where others than the tables run on the same core, it is far longer.
pub(super) const MAX_LINGER: Duration = Duration::from_micros(500);
/// Writes of one commit.
pub(super) const COMMIT_WRITES: usize = 4096;
/// Bytes of the log after which a commit takes no more writes.
pub(super) const COMMIT_BYTES: usize = 4 * 1024 * 1024;
/// Pages in the WAL after which they are copied into the database.
pub(super) const WAL_PAGES: i64 = 2000;
/// Commits after which the length of the WAL is looked at.
pub(super) const COMMITS_UNSEEN: u32 = 16;
/// Bytes of what was written after which it is, however few commits they came in.
pub(super) const BYTES_UNSEEN: usize = 256 * 1024;
/// Bytes to which the WAL's file is cut when all of it was copied and it begins anew: twice what it grows to when nothing delays that.
pub(super) const WAL_FILE_BYTES: i64 = 2 * WAL_PAGES * 4096;
/// Live rows after which a step of cleaning the log reads no more.
pub(super) const COPIED_ROWS: usize = 512;
/// Bytes of packs after which it doesn't either.
pub(super) const COPIED_BYTES: usize = 1024 * 1024;
/// Packs that a step of cleaning reads, in a few hundred microseconds.
pub(super) const PACKS_READ: usize = 128;
/// Finished matches that one read of a list visits, should a damaged index give such as are not wanted: more than a page has.
pub(super) const ROWS_VISITED: usize = 1_024;
/// Commits to wait for after a step of cleaning has failed.
pub(super) const COMMITS_BEFORE_CLEANING_AGAIN: u32 = 1000;
/// Rows of a segment of the log, unless told otherwise.
pub(super) const SEGMENT_ROWS: u32 = 16 * 1024;
/// How often a read looks again for records that are being copied from segment to segment.
pub(super) const READ_ATTEMPTS: usize = 16;
/// Pages of a database of which everything is checked at the start, the indexes too: 64 MiB.
pub(super) const PAGES_CHECKED: i64 = 16 * 1024;
/// Pages of a database of which each is looked at at the start: 4 GiB, half a second for each GiB. Of a larger one only
/// what the running matches need.
pub(super) const PAGES_WALKED: i64 = 1024 * 1024;
/// Results that are checked at the start, from the last on.
pub(super) const RESULTS_CHECKED: u64 = 1000;
/// Rows that are looked for one by one where a damaged table can't be read in order.
pub(super) const ROWS_PROBED: usize = 1024 * 1024;
/// Bytes of the redo log for each row that it is to have room for: twice what one takes, which some dozens are written with.
pub(super) const REDO_BYTES_A_ROW: u64 = 256;
/// Bytes of finished matches and answers in the redo log after which they go into the database.
pub(super) const PENDING_BYTES: usize = 8 * 1024 * 1024;
/// How many of them do.
pub(super) const PENDING_ENTRIES: usize = 4096;
/// How long they stay there at most, while the server runs.
pub(super) const PENDING_INTERVAL: Duration = Duration::from_secs(1);
/// How long a file of the redo log is at least. In tests it is soon full.
pub(super) const LEAST_REDO_BYTES: u64 = if cfg!(test) { 4 * 1024 } else { 64 * 1024 };
/// And at most, but for one commit that is longer.
pub(super) const MOST_REDO_BYTES: u64 = 16 * 1024 * 1024;
