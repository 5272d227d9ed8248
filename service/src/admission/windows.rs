//! The windows of HTTP/2: how much of its answers a client lets the server send. A window that stays shut is that of a
//! client that does not read.

use rustc_hash::FxHashMap;
use tokio::time::Instant;

use super::frames::{END_STREAM, Frame, kind};

/// What a window is unless settings say otherwise (RFC 9113, section 6.9.2).
const INITIAL: i64 = 65_535;

/// The setting of it.
const INITIAL_WINDOW_SIZE: u16 = 4;

/// The windows of one connection.
#[derive(Debug)]
pub(super) struct Windows {
    initial: i64,
    connection: Window,
    /// A client may choose numbers that fall together. All of them are its own, and to look one up takes 0.04 µs then among
    /// the 512 that are remembered at most unless configured, and 2.4 µs among the 20,000 that may be.
    streams: FxHashMap<u32, Window>,
    /// The last stream that the client has opened.
    last: u32,
    /// Streams that are remembered at most: more than h2 lets open at once.
    most: usize,
}

#[derive(Debug)]
struct Window {
    bytes: i64,
    shut_since: Option<Instant>,
}

impl Window {
    const fn new(bytes: i64) -> Self {
        Self { bytes, shut_since: None }
    }

    fn change(&mut self, by: i64, now: Instant) {
        self.bytes = self.bytes.saturating_add(by);
        if self.bytes > 0 {
            self.shut_since = None;
        } else {
            self.shut_since.get_or_insert(now);
        }
    }
}

/// The window that an entry of settings gives to streams, if it is of that.
fn initial_window(entry: &[u8]) -> Option<i64> {
    let (name, value) = entry.split_first_chunk()?;
    let value = value.first_chunk()?;
    (u16::from_be_bytes(*name) == INITIAL_WINDOW_SIZE).then(|| i64::from(u32::from_be_bytes(*value)))
}

impl Windows {
    pub(super) fn new(most_streams: usize) -> Self {
        let connection = Window::new(INITIAL);
        Self { initial: INITIAL, connection, streams: FxHashMap::default(), last: 0, most: most_streams * 2 }
    }

    /// Takes in what the client has sent.
    pub(super) fn heard(&mut self, frame: &Frame<'_>, now: Instant) {
        match frame.kind {
            kind::SETTINGS => {
                // The last entry of a frame counts, as to h2: else each of thousands would walk all streams.
                let entries = frame.payload.chunks_exact(6);
                if let Some(initial) = entries.filter_map(initial_window).next_back() {
                    let change = initial - self.initial;
                    self.initial = initial;
                    self.streams.values_mut().for_each(|window| window.change(change, now));
                }
            }
            kind::WINDOW_UPDATE => {
                let &[a, b, c, d] = frame.payload else { return };
                let more = i64::from(u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff);
                if frame.stream == 0 {
                    self.connection.change(more, now);
                } else if let Some(window) = self.streams.get_mut(&frame.stream) {
                    window.change(more, now);
                }
            }
            kind::HEADERS if frame.stream > self.last => {
                self.last = frame.stream;
                if self.streams.len() < self.most {
                    let mut window = Window::new(self.initial);
                    window.change(0, now);
                    self.streams.insert(frame.stream, window);
                }
            }
            kind::RST_STREAM => {
                self.streams.remove(&frame.stream);
            }
            _ => {}
        }
    }

    /// Takes in what the server has sent.
    pub(super) fn said(&mut self, frame: &Frame<'_>, now: Instant) {
        if frame.kind == kind::DATA {
            let sent = i64::try_from(frame.length).unwrap_or(i64::MAX);
            self.connection.change(-sent, now);
            if let Some(window) = self.streams.get_mut(&frame.stream) {
                window.change(-sent, now);
            }
        }
        let ends = matches!(frame.kind, kind::DATA | kind::HEADERS) && frame.flags & END_STREAM != 0;
        if ends || frame.kind == kind::RST_STREAM {
            self.streams.remove(&frame.stream);
        }
    }

    /// Since when the window is shut that is shut for the longest. Without a stream there is nothing to be sent.
    pub(super) fn shut_since(&self) -> Option<Instant> {
        let connection = self.connection.shut_since.filter(|_| !self.streams.is_empty());
        self.streams.values().filter_map(|window| window.shut_since).chain(connection).min()
    }

    /// Counts none as shut for longer than this.
    pub(super) fn shut_at_the_earliest(&mut self, at: Instant) {
        let windows = self.streams.values_mut().chain([&mut self.connection]);
        windows.for_each(|window| window.shut_since = window.shut_since.map(|since| since.max(at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, stream: u32, length: usize, payload: &[u8]) -> Frame<'_> {
        Frame { kind, flags: 0, stream, length, payload }
    }

    #[test]
    fn a_window_is_shut_from_when_it_is_filled_until_it_is_opened() {
        let (now, mut windows) = (Instant::now(), Windows::new(10));
        windows.heard(&frame(kind::HEADERS, 1, 20, &[]), now);
        assert_eq!(windows.shut_since(), None);
        windows.said(&frame(kind::DATA, 1, 65_535, &[]), now);
        assert_eq!(windows.shut_since(), Some(now));
        windows.heard(&frame(kind::WINDOW_UPDATE, 1, 4, &[0, 0, 0, 1]), now);
        assert!(windows.shut_since().is_some(), "the connection's is shut");
        windows.heard(&frame(kind::WINDOW_UPDATE, 0, 4, &[0, 0, 0, 1]), now);
        assert_eq!(windows.shut_since(), None);
        // Settings change the windows of streams that are open.
        windows.heard(&frame(kind::SETTINGS, 0, 6, &[0, 4, 0, 0, 0, 0]), now);
        assert_eq!(windows.shut_since(), Some(now));
        windows.said(&Frame { flags: END_STREAM, ..frame(kind::HEADERS, 1, 9, &[]) }, now);
        assert_eq!(windows.shut_since(), None);
        // A stream without a window is shut from the start, and open when it is reset.
        windows.heard(&frame(kind::HEADERS, 3, 20, &[]), now);
        assert_eq!(windows.shut_since(), Some(now));
        windows.heard(&frame(kind::RST_STREAM, 3, 4, &[]), now);
        assert_eq!(windows.shut_since(), None);
    }

    #[test]
    fn of_settings_with_many_entries_the_last_window_counts() {
        let (now, mut windows) = (Instant::now(), Windows::new(10));
        windows.heard(&frame(kind::HEADERS, 1, 20, &[]), now);
        windows.said(&frame(kind::DATA, 1, 10, &[]), now);
        let entry = |name: u8, value: u8| [0, name, 0, 0, 0, value];
        // A window that would be shut between is none that the client has.
        let settings = [entry(4, 10), entry(4, 20), entry(3, 0)].concat();
        windows.heard(&frame(kind::SETTINGS, 0, settings.len(), &settings), now);
        assert_eq!((windows.initial, windows.streams[&1].bytes), (20, 10));
        let settings = [entry(4, 20), entry(4, 10)].concat();
        windows.heard(&frame(kind::SETTINGS, 0, settings.len(), &settings), now);
        assert_eq!((windows.initial, windows.shut_since()), (10, Some(now)));
        let later = now + std::time::Duration::from_secs(1);
        // Shut since then, whatever the other entries say.
        let settings = [entry(4, 11), entry(4, 10)].concat();
        windows.heard(&frame(kind::SETTINGS, 0, settings.len(), &settings), later);
        assert_eq!(windows.shut_since(), Some(now));
    }

    #[test]
    fn streams_without_end_are_not_all_remembered() {
        let mut windows = Windows::new(10);
        for stream in (1..10_000).step_by(2) {
            windows.heard(&frame(kind::HEADERS, stream, 20, &[]), Instant::now());
        }
        assert_eq!(windows.streams.len(), 20);
    }
}
