//! The lines of the log on their way to stderr.
//!
//! A thread of its own writes them: whoever reads stderr may be slow, or read nothing for ever, as a terminal that hangs, and must not hold up
//! the matches. Whoever logs waits until its line is written, so that a server that is killed has said all that it had to say, but no longer
//! than a moment, and for nothing while lines wait that nobody reads.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tracing_subscriber::fmt::MakeWriter;

/// How long a line is waited for. A server that stands still for as long is not late yet.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long nobody waits after that: a reader that is slow all the time holds up a server for a twentieth of it at most.
const REST: Duration = Duration::from_secs(1);
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
    waiting: VecDeque<Vec<u8>>,
    /// Of those that wait and the one that is being written.
    bytes: usize,
    /// Lines that have come, and those of them that have gone.
    come: u64,
    gone: u64,
    dropped: u64,
    /// Nobody waits before that, nor as long as it is stuck, which it is from a line that was waited for in vain until none is left.
    rests_until: Option<Instant>,
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
                let line = writer.next();
                let written = to.write_all(&line);
                writer.gone(&line, written.is_ok());
            }
        };
        thread::Builder::new().name("log".to_owned()).spawn(write)?;
        Ok(lines)
    }

    /// Hands a line in, and waits for a moment until it is written.
    pub(super) fn put(&self, line: Vec<u8>) {
        let mut state = self.lock();
        if state.bytes > 0 && state.bytes + line.len() > MOST_BYTES {
            state.dropped += 1;
            return;
        }
        state.bytes += line.len();
        state.come += 1;
        state.waiting.push_back(line);
        self.has_come.notify_one();
        let number = state.come;
        if state.is_stuck || state.rests_until.is_some_and(|until| Instant::now() < until) {
            return;
        }
        let waited = self.has_gone.wait_timeout_while(state, PATIENCE, |state| state.gone < number);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            state.is_stuck = true;
            state.rests_until = Some(Instant::now() + REST);
        }
    }

    /// How many lines were dropped since the program was started, if lines go out now, so that it can be told.
    pub(super) fn dropped(&self) -> (u64, Goes) {
        let state = self.lock();
        (state.dropped, if state.is_stuck { Goes::Nowhere } else { Goes::Out })
    }

    /// Waits until all are written, for no longer than may be.
    pub(super) fn finish(&self) {
        drop(self.has_gone.wait_timeout_while(self.lock(), LAST, |state| state.gone < state.come));
    }

    fn next(&self) -> Vec<u8> {
        let mut state = self.lock();
        loop {
            match state.waiting.pop_front() {
                Some(line) => return line,
                None => state = self.has_come.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn gone(&self, line: &[u8], is_written: bool) {
        let mut state = self.lock();
        state.bytes -= line.len();
        state.gone += 1;
        state.dropped += u64::from(!is_written);
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
    /// It waits behind others that nobody reads, if there is room.
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
        self.0.put(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// A reader that takes a line when a test has it do so.
    struct Reader(SyncSender<Vec<u8>>);

    impl Write for Reader {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.send(line.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(line.len())
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

    #[test]
    fn lines_that_nobody_reads_wait_or_are_dropped_and_what_waits_is_read_whole_and_in_order() {
        let (lines, reader) = unread();
        let room = MOST_BYTES / line(0).len();
        (0..room + 10).for_each(|number| lines.put(line(number)));
        assert_eq!(lines.dropped(), (10, Goes::Nowhere));
        (0..room).for_each(|number| assert_eq!(reader.recv().unwrap(), line(number)));
        lines.finish();
        assert_eq!(lines.dropped(), (10, Goes::Out));
        // It goes on.
        thread::scope(|scope| {
            scope.spawn(|| lines.put(line(1)));
            assert_eq!(reader.recv().unwrap(), line(1));
        });
    }

    #[test]
    fn whoever_logs_has_been_read_when_it_goes_on() {
        let (lines, reader) = unread();
        let reading = thread::spawn(move || reader.iter().take(1_000).count());
        (0..1_000).for_each(|number| lines.put(line(number)));
        let State { gone, dropped, .. } = *lines.lock();
        assert!(gone == 1_000 && dropped == 0 || lines.lock().rests_until.is_some(), "{gone}, {dropped}");
        assert_eq!(reading.join().unwrap(), 1_000);
    }

    #[test]
    fn a_line_that_can_not_be_written_counts_as_dropped() {
        let (lines, reader) = unread();
        drop(reader);
        (0..3).for_each(|number| lines.put(line(number)));
        lines.finish();
        assert_eq!(lines.dropped(), (3, Goes::Out));
    }
}
