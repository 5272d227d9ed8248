//! HTTP/2 as it goes over a connection: frame by frame, of which only what is needed here is kept.

use crate::limits::{HTTP2_KEPT_PAYLOAD_BYTES, LARGE_FRAME_BYTES};

/// One frame that has gone over whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    /// Bytes of its payload.
    pub(super) length: usize,
    /// Its payload, if it is one of settings, of a window or a farewell, else nothing.
    pub(super) payload: &'a [u8],
}

/// Kinds of frames (RFC 9113, section 6).
pub(super) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
}

/// The flag of a frame that ends its stream, and of settings that acknowledge.
pub(super) const END_STREAM: u8 = 1;

const HEAD: usize = 9;

/// The code of a farewell to a client that floods (RFC 9113, section 7).
const ENHANCE_YOUR_CALM: [u8; 4] = [0, 0, 0, 0xb];

impl Frame<'_> {
    /// Whether it is h2's farewell to a client that floods.
    pub(super) fn cuts_a_flood(&self) -> bool {
        self.kind == kind::GOAWAY && self.payload.get(4..8) == Some(&ENHANCE_YOUR_CALM)
    }
}

/// Finds the frames in the bytes of one direction.
#[derive(Debug, Default)]
pub(super) struct Frames {
    head: [u8; HEAD],
    /// Bytes of the head that are there.
    have: usize,
    /// Bytes of the payload that are to come.
    left: usize,
    payload: Vec<u8>,
}

impl Frames {
    /// Takes the next bytes, and tells each frame that is whole with them.
    pub(super) fn take(&mut self, mut bytes: &[u8], mut tell: impl FnMut(Frame<'_>)) {
        loop {
            if self.have < HEAD {
                let new = bytes.len().min(HEAD - self.have);
                let (begin, rest) = bytes.split_at(new);
                if let Some(head) = self.head.get_mut(self.have..self.have + new) {
                    head.copy_from_slice(begin);
                }
                self.have += new;
                bytes = rest;
                if self.have < HEAD {
                    return;
                }
                self.left = self.length();
                self.payload.clear();
                // One large frame is no reason to keep as much for as long as the connection lives.
                self.payload.shrink_to(LARGE_FRAME_BYTES);
            }
            let new = bytes.len().min(self.left);
            let (begin, rest) = bytes.split_at(new);
            let kept = matches!(self.head[3], kind::SETTINGS | kind::GOAWAY | kind::WINDOW_UPDATE);
            if kept && self.payload.len() + new <= HTTP2_KEPT_PAYLOAD_BYTES {
                self.payload.extend_from_slice(begin);
            }
            self.left -= new;
            bytes = rest;
            if self.left > 0 {
                return;
            }
            let [_, _, _, kind, flags, a, b, c, d] = self.head;
            let stream = u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff;
            tell(Frame { kind, flags, stream, length: self.length(), payload: &self.payload });
            self.have = 0;
        }
    }

    fn length(&self) -> usize {
        let [a, b, c, ..] = self.head;
        usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings with one entry, data that end their stream, an empty ping, a window.
    const SAID: &[u8] =
        b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\x07\0\0\x03\0\x01\x80\0\0\x05abc\0\0\0\x06\0\0\0\0\0\
                          \0\0\x04\x08\0\0\0\0\x05\0\0\0\x09";

    #[test]
    fn frames_are_found_however_the_bytes_come() {
        for size in 1..=SAID.len() {
            let mut frames = Frames::default();
            let mut found = Vec::new();
            for bytes in SAID.chunks(size) {
                frames.take(bytes, |frame| {
                    let Frame { kind, flags, stream, length, payload } = frame;
                    found.push((kind, flags, stream, length, payload.to_vec()));
                });
            }
            let expected = [
                (kind::SETTINGS, 0, 0, 6, b"\0\x04\0\0\0\x07".to_vec()),
                (kind::DATA, END_STREAM, 5, 3, Vec::new()),
                (6, 0, 0, 0, Vec::new()),
                (kind::WINDOW_UPDATE, 0, 5, 4, b"\0\0\0\x09".to_vec()),
            ];
            assert_eq!(found, expected, "{size} bytes at once");
        }
    }

    #[test]
    fn a_length_that_is_a_lie_costs_no_memory() {
        let mut frames = Frames::default();
        frames.take(b"\xff\xff\xff\x04\0\0\0\0\0", |_| {});
        for _ in 0..100 {
            frames.take(&[0; 4096], |_| {});
        }
        assert!(frames.payload.len() <= HTTP2_KEPT_PAYLOAD_BYTES);
    }

    #[test]
    fn one_large_frame_leaves_nothing_behind_when_the_next_one_has_come() {
        let mut frames = Frames::default();
        frames.take(b"\0\x30\0\x04\0\0\0\0\0", |_| {});
        frames.take(&[0; 0x3000], |_| {});
        assert!(frames.payload.capacity() >= 0x3000);
        frames.take(b"\0\0\0\x04\x01\0\0\0\0", |_| {});
        assert!(frames.payload.capacity() <= LARGE_FRAME_BYTES, "{}", frames.payload.capacity());
    }
}
