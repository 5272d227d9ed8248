//! Stderr as the log writes it: whoever reads it may be slow, or read nothing for ever, as a terminal that was stopped or a collector that
//! hangs, and must not hold up the matches.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tracing_subscriber::fmt::MakeWriter;

/// Stderr, of which each line is written at once, or after a moment, or dropped and counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Stderr(Arc<Dropped>);

/// How many lines were dropped.
#[derive(Debug, Default)]
pub(crate) struct Dropped(AtomicU64);

impl Dropped {
    /// So many, since the program was started.
    pub(crate) fn lines(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Stderr {
    pub(super) fn dropped(&self) -> Arc<Dropped> {
        Arc::clone(&self.0)
    }
}

impl<'a> MakeWriter<'a> for Stderr {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl Write for &Stderr {
    /// Writes a line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !write(line)? {
            self.0.0.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) use patient::write;

#[cfg(unix)]
mod patient {
    use std::{
        io::{self, Write},
        os::fd::AsFd,
        sync::{Mutex, PoisonError},
        time::{Duration, Instant},
    };

    use nix::{
        errno::Errno,
        poll::{PollFd, PollFlags, PollTimeout, poll},
    };

    /// How long a line waits for its reader. A server that stands still for as long is not late yet.
    const PATIENCE: Duration = Duration::from_millis(50);
    /// What a pipe takes without waiting where it takes anything, but for the end of a line that was cut.
    const AT_ONCE: usize = nix::libc::PIPE_BUF - 1;

    /// What became of the line before.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Before {
        Written,
        /// Nobody waits for the reader until it has read again.
        Dropped,
        /// The same, and the end of what was written last is missing.
        Cut,
    }

    static BEFORE: Mutex<Before> = Mutex::new(Before::Written);

    /// Writes a line to stderr, if that takes it within a moment. The answer is whether all of it was.
    pub(in crate::log) fn write(line: &[u8]) -> io::Result<bool> {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        let before = &mut *before;
        write_behind(before, line, &mut io::stderr().lock())?;
        Ok(*before == Before::Written)
    }

    /// Writes a line behind what became of the one before, which says then what became of it.
    pub(super) fn write_behind(
        before: &mut Before,
        line: &[u8],
        to: &mut (impl Write + AsFd),
    ) -> io::Result<()> {
        let until = Instant::now() + if *before == Before::Written { PATIENCE } else { Duration::ZERO };
        let was_cut = *before == Before::Cut;
        for (number, part) in line.chunks(AT_ONCE).enumerate() {
            if !takes_some(to, until)? {
                *before = if number > 0 || was_cut { Before::Cut } else { Before::Dropped };
                return Ok(());
            }
            if number == 0 && was_cut {
                to.write_all(&[b"\n", part].concat())?;
            } else {
                to.write_all(part)?;
            }
        }
        *before = Before::Written;
        Ok(())
    }

    /// Whether it takes something before then.
    fn takes_some(to: &impl AsFd, until: Instant) -> io::Result<bool> {
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            let rest = PollTimeout::try_from(rest).unwrap_or(PollTimeout::ZERO);
            match poll(&mut [PollFd::new(to.as_fd(), PollFlags::POLLOUT)], rest) {
                // A reader that is gone is told of by the write.
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(not(unix))]
mod patient {
    use std::io::{self, Write};

    /// Writes a line, however long that takes.
    pub(in crate::log) fn write(line: &[u8]) -> io::Result<bool> {
        io::stderr().lock().write_all(line).map(|()| true)
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::io::{PipeReader, PipeWriter, Read, pipe};

    use super::patient::{Before, write_behind};

    const LINE: &[u8] = b"a line of a log\n";

    fn written(before: &mut Before, line: &[u8], to: &mut PipeWriter) -> bool {
        write_behind(before, line, to).unwrap();
        *before == Before::Written
    }

    /// Fills a pipe with lines. The answer is how many it has.
    fn filled(before: &mut Before, to: &mut PipeWriter) -> usize {
        (0..1_000_000).find(|_| !written(before, LINE, to)).unwrap()
    }

    fn read_all((from, to): (PipeReader, PipeWriter)) -> String {
        drop(to);
        std::io::read_to_string(from).unwrap()
    }

    #[test]
    fn what_nobody_reads_is_dropped_and_what_comes_when_it_is_read_again_is_written() {
        let (mut from, mut to) = pipe().unwrap();
        let mut before = Before::Written;
        let lines = filled(&mut before, &mut to);
        assert!(lines > 1_000 && before == Before::Dropped, "{lines}");
        assert!(!written(&mut before, b"dropped\n", &mut to));
        from.read_exact(&mut vec![0; 1_000 * LINE.len()]).unwrap();
        assert!(written(&mut before, b"written\n", &mut to));
        let left = read_all((from, to));
        let expected = String::from_utf8(LINE.repeat(lines - 1_000)).unwrap() + "written\n";
        assert!(left == expected, "{} bytes", left.len());
    }

    #[test]
    fn behind_a_long_line_that_was_cut_the_next_begins_anew() {
        let (mut from, mut to) = pipe().unwrap();
        let mut before = Before::Written;
        let long = "long".repeat(100_000);
        assert!(!written(&mut before, long.as_bytes(), &mut to));
        assert_eq!(before, Before::Cut);
        assert!(!written(&mut before, LINE, &mut to));
        assert_eq!(before, Before::Cut);
        from.read_exact(&mut [0; 10_000]).unwrap();
        assert!(written(&mut before, LINE, &mut to));
        let left = read_all((from, to));
        let (cut, line) = left.split_once('\n').unwrap();
        assert!(long.starts_with(cut) && line.as_bytes() == LINE, "{line}");
    }
}
