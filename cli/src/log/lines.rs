//! The lines of the log on their way to stderr.
//!
//! A thread of its own writes them: whoever reads stderr may be slow, or read nothing for ever, as a terminal that hangs, and must not hold up
//! the matches. Whoever logs waits until its line is written, so that a server that is killed has said all that it had to say, but all of them
//! for no longer than a moment of each second, and for nothing while lines wait that nobody reads.

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tracing_subscriber::fmt::MakeWriter;

/// How long lines are waited for in a [`SPAN`], in all. A server that stands still for as long is not late yet.
const PATIENCE: Duration = Duration::from_millis(50);
const SPAN: Duration = Duration::from_secs(1);
/// How long the end of a program waits for the last lines.
const LAST: Duration = Duration::from_secs(1);
/// Bytes of lines that may wait: more are dropped.
const MOST_BYTES: usize = 256 * 1024;

/// Lines that wait to be written, and what became of those before.
#[derive(Debug, Default)]
pub(super) struct Lines {
    state: Mutex<State>,
    has_come: Condvar,
    has_gone: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    /// Of those that wait and the one that is being written.
    bytes: usize,
    /// Lines that have come, and those of them that have gone.
    come: u64,
    gone: u64,
    dropped: u64,
    /// Whether one was written since the last that was dropped.
    goes_on: bool,
    /// When the span began, and how long was waited in it.
    since: Option<Instant>,
    waited: Duration,
    /// Nobody waits from a line that was waited for in vain until none is left.
    is_stuck: bool,
}

impl Lines {
    /// Has a thread write them to stderr for as long as the program runs.
    pub(super) fn to_stderr() -> io::Result<Arc<Self>> {
        Self::to(io::stderr())
    }

    fn to(mut to: impl Write + Send + 'static) -> io::Result<Arc<Self>> {
        let lines = Arc::<Self>::default();
        let writer = Arc::clone(&lines);
        let write = move || {
            loop {
                let (lines, many) = writer.next();
                let written = to.write_all(&lines);
                writer.gone(lines.len(), many, written.is_ok());
            }
        };
        thread::Builder::new().name("log".to_owned()).spawn(write)?;
        Ok(lines)
    }

    /// Hands a line in, and waits for a moment until it is written.
    pub(super) fn put(&self, line: &[u8]) {
        let mut state = self.lock();
        if state.bytes > 0 && state.bytes + line.len() > MOST_BYTES {
            state.dropped += 1;
            state.goes_on = false;
            return;
        }
        state.bytes += line.len();
        state.come += 1;
        state.waiting.extend_from_slice(line);
        self.has_come.notify_one();
        let (number, begun) = (state.come, Instant::now());
        if state.since.is_none_or(|since| begun.duration_since(since) >= SPAN) {
            (state.since, state.waited) = (Some(begun), Duration::ZERO);
        }
        let patience = PATIENCE.saturating_sub(state.waited);
        if state.is_stuck || patience.is_zero() {
            return;
        }
        let waited = self.has_gone.wait_timeout_while(state, patience, |state| state.gone < number);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_stuck |= waited.timed_out();
        state.waited += begun.elapsed();
    }

    /// How many lines were dropped since the program was started, and what becomes of one that tells of them.
    pub(super) fn dropped(&self) -> (u64, Goes) {
        let state = self.lock();
        (state.dropped, if state.goes_on { Goes::Out } else { Goes::Nowhere })
    }

    /// Waits until all are written, for no longer than may be.
    pub(super) fn finish(&self) {
        drop(self.has_gone.wait_timeout_while(self.lock(), LAST, |state| state.gone < state.come));
    }

    /// Waits for lines, and takes all that are there: these, and how many they are.
    fn next(&self) -> (Vec<u8>, u64) {
        let state = self.has_come.wait_while(self.lock(), |state| state.waiting.is_empty());
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let many = state.come - state.gone;
        (mem::take(&mut state.waiting), many)
    }

    fn gone(&self, bytes: usize, lines: u64, is_written: bool) {
        let mut state = self.lock();
        state.bytes -= bytes;
        state.gone += lines;
        state.dropped += if is_written { 0 } else { lines };
        state.goes_on = is_written;
        state.is_stuck &= !state.waiting.is_empty();
        self.has_gone.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // It is whole, whatever panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of a line that comes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goes {
    Out,
    /// None was written since the last was dropped.
    Nowhere,
}

/// Writes the lines of a log, each as one.
pub(super) struct Writer(pub(super) Arc<Lines>);

impl<'a> MakeWriter<'a> for Writer {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(&self.0)
    }
}

pub(super) struct Line<'a>(&'a Lines);

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.put(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::{
        ops::Range,
        sync::mpsc::{Receiver, SyncSender, sync_channel},
    };

    use super::*;

    /// How long a busy machine may take for anything.
    const LONG: Duration = Duration::from_mins(1);

    /// A reader that takes what is written when a test has it do so.
    struct Reader(SyncSender<Vec<u8>>);

    impl Write for Reader {
        fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
            self.0.send(lines.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(lines.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn unread() -> (Arc<Lines>, Receiver<Vec<u8>>) {
        let (sender, lines) = sync_channel(0);
        (Lines::to(Reader(sender)).unwrap(), lines)
    }

    fn line(number: usize) -> Vec<u8> {
        format!("{number:01023}\n").into_bytes()
    }

    fn lines(numbers: Range<usize>) -> Vec<u8> {
        numbers.flat_map(line).collect()
    }

    /// Reads so many bytes.
    fn read(reader: &Receiver<Vec<u8>>, bytes: usize) -> Vec<u8> {
        let mut read = Vec::new();
        while read.len() < bytes {
            read.extend(reader.recv_timeout(LONG).unwrap());
        }
        read
    }

    #[test]
    fn lines_that_nobody_reads_wait_or_are_dropped_and_what_waits_is_read_whole_and_in_order() {
        let (log, reader) = unread();
        let room = MOST_BYTES / line(0).len();
        (0..room + 10).for_each(|number| log.put(&line(number)));
        assert_eq!(log.dropped(), (10, Goes::Nowhere));
        assert!(read(&reader, MOST_BYTES) == lines(0..room));
        log.finish();
        assert_eq!(log.dropped(), (10, Goes::Out));
        // It goes on.
        log.put(&line(room));
        assert!(read(&reader, 1) == line(room));
    }

    #[test]
    fn whoever_logs_waits_for_no_longer_than_a_moment_of_each_second() {
        let (log, reader) = unread();
        let waits = |since: Option<Instant>, line: &[u8]| {
            let mut state = log.lock();
            (state.since, state.waited) = (since, PATIENCE);
            drop(state);
            log.put(line);
            // Nobody reads, so whoever waits does in vain.
            log.lock().is_stuck
        };
        assert!(!waits(Some(Instant::now() + LONG), &line(0)), "a moment of this one was waited");
        assert!(waits(None, &line(1)), "another second has begun");
        assert!(read(&reader, 2 * line(0).len()) == lines(0..2));
        log.finish();
        assert!(!log.lock().is_stuck);
    }

    #[test]
    fn lines_that_can_not_be_written_count_as_dropped_and_are_told_of_when_others_are() {
        let (log, reader) = unread();
        drop(reader);
        (0..3).for_each(|number| log.put(&line(number)));
        log.finish();
        assert_eq!(log.dropped(), (3, Goes::Nowhere));
    }
}
