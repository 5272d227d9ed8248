//! HTTP/2 frames, as bytes that are passed on: RFC 9113, section 4.1.

use std::fmt;

use prost::bytes::{Bytes, BytesMut};

/// What a client says first (RFC 9113, section 3.4). It is counted as a frame of its own.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame before its payload.
const HEADER: usize = 9;

/// The kind of a DATA frame.
const DATA: u8 = 0;

/// The flag of a DATA frame that is padded.
const PADDED: u8 = 0x8;

/// One frame, or the preface, whole.
#[derive(Clone)]
pub struct Frame {
    bytes: Bytes,
}

impl Frame {
    /// Takes the first frame, if it has come in full.
    pub fn take(buffer: &mut BytesMut) -> Option<Self> {
        let length = match buffer.get(..HEADER)? {
            start if PREFACE.starts_with(start) => PREFACE.len(),
            start => {
                HEADER + (usize::from(start[0]) << 16 | usize::from(start[1]) << 8 | usize::from(start[2]))
            }
        };
        (buffer.len() >= length).then(|| Self { bytes: buffer.split_to(length).freeze() })
    }

    /// The frame as it came.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn is_preface(&self) -> bool {
        self.bytes == PREFACE
    }

    /// The stream that it is about; 0 for the connection.
    pub fn stream(&self) -> u32 {
        if self.is_preface() {
            return 0;
        }
        let number = u32::from_be_bytes([self.bytes[5], self.bytes[6], self.bytes[7], self.bytes[8]]);
        number & 0x7fff_ffff
    }

    /// The number of its kind; `None` for the preface.
    pub fn kind(&self) -> Option<u8> {
        (!self.is_preface()).then(|| self.bytes[3])
    }

    /// Its flags; none for the preface.
    pub fn flags(&self) -> u8 {
        if self.is_preface() { 0 } else { self.bytes[4] }
    }

    /// What comes after its header; nothing for the preface.
    pub fn payload(&self) -> &[u8] {
        if self.is_preface() { &[] } else { &self.bytes[HEADER..] }
    }

    /// What it carries of its stream, if it is a DATA frame.
    pub fn data(&self) -> Option<&[u8]> {
        if self.is_preface() || self.bytes[3] != DATA {
            return None;
        }
        let payload = &self.bytes[HEADER..];
        if self.bytes[4] & PADDED == 0 {
            return Some(payload);
        }
        let (padding, rest) = payload.split_first()?;
        rest.get(..rest.len().checked_sub(usize::from(*padding))?)
    }
}

/// As in "DATA of 34 bytes on stream 1".
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_preface() {
            return f.write_str("the preface");
        }
        let kind = match self.bytes[3] {
            DATA => "DATA",
            1 => "HEADERS",
            2 => "PRIORITY",
            3 => "RST_STREAM",
            4 => "SETTINGS",
            5 => "PUSH_PROMISE",
            6 => "PING",
            7 => "GOAWAY",
            8 => "WINDOW_UPDATE",
            9 => "CONTINUATION",
            _ => "a frame of an unknown kind",
        };
        write!(f, "{kind} of {} bytes on stream {}", self.bytes.len() - HEADER, self.stream())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_whole_however_the_bytes_come() {
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let data = [0, 0, 3, 0, 1, 0, 0, 0, 5, 7, 8, 9];
        let padded = [0, 0, 4, 0, 8, 0, 0, 0, 5, 2, 7, 0, 0];
        let whole = [PREFACE, &settings, &data, &padded].concat();
        let mut buffer = BytesMut::new();
        let mut frames = Vec::new();
        for byte in whole {
            buffer.extend_from_slice(&[byte]);
            frames.extend(Frame::take(&mut buffer));
        }
        let said: Vec<String> = frames.iter().map(ToString::to_string).collect();
        let expected = [
            "the preface",
            "SETTINGS of 0 bytes on stream 0",
            "DATA of 3 bytes on stream 5",
            "DATA of 4 bytes on stream 5",
        ];
        assert_eq!(said, expected);
        let carried: Vec<Option<&[u8]>> = frames.iter().map(Frame::data).collect();
        assert_eq!(carried, [None, None, Some(&[7, 8, 9][..]), Some(&[7][..])]);
        assert!(buffer.is_empty());
    }
}
