//! HTTP/2 frames as an attacker writes them: RFC 9113, section 6.

use super::Request;

/// What a client says first (section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The kinds of frames, by their numbers.
pub(super) mod kind {
    /// Bytes of a stream.
    pub(in super::super) const DATA: u8 = 0;
    /// A request's or an answer's headers.
    pub(in super::super) const HEADERS: u8 = 1;
    /// Which stream comes first.
    pub(in super::super) const PRIORITY: u8 = 2;
    /// The end of a stream, at once.
    pub(in super::super) const RST_STREAM: u8 = 3;
    /// What a side asks the other to keep to.
    pub(in super::super) const SETTINGS: u8 = 4;
    /// A question whether the other is there.
    pub(in super::super) const PING: u8 = 6;
    /// The end of a connection, and why.
    pub(in super::super) const GOAWAY: u8 = 7;
    /// Room for more bytes.
    pub(in super::super) const WINDOW_UPDATE: u8 = 8;
    /// More headers.
    pub(in super::super) const CONTINUATION: u8 = 9;
}

/// The flag of the answer to a PING or to SETTINGS.
pub(super) const ACK: u8 = 1;
/// The flag of the last frame of a stream.
pub(super) const END_STREAM: u8 = 1;
/// The flag of the last frame of headers.
pub(super) const END_HEADERS: u8 = 4;

/// The error code CANCEL of `RST_STREAM`.
const CANCEL: u32 = 8;
/// The settings' number for the window of a new stream.
const INITIAL_WINDOW_SIZE: u16 = 4;

/// A frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// SETTINGS that change nothing.
pub(super) fn settings() -> Vec<u8> {
    frame(kind::SETTINGS, 0, 0, &[])
}

/// SETTINGS for streams that begin with a window of so many bytes.
pub(super) fn window_of(bytes: u32) -> Vec<u8> {
    let setting = [&INITIAL_WINDOW_SIZE.to_be_bytes()[..], &bytes.to_be_bytes()].concat();
    frame(kind::SETTINGS, 0, 0, &setting)
}

/// Gives a stream, or with 0 the connection, room for so many bytes more.
pub(super) fn window_update(stream: u32, bytes: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}

/// Ends a stream.
pub(super) fn cancel(stream: u32) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, stream, &CANCEL.to_be_bytes())
}

/// Begins a gRPC call, of which DATA is still to come.
pub(super) fn call(stream: u32, request: &Request) -> Vec<u8> {
    frame(kind::HEADERS, END_HEADERS, stream, &header_block(request))
}

/// A gRPC call of one message, whole.
pub(super) fn whole_call(stream: u32, request: &Request) -> Vec<u8> {
    let data = frame(kind::DATA, END_STREAM, stream, &message(&request.body));
    [call(stream, request), data].concat()
}

/// A gRPC message with its prefix.
pub(super) fn message(body: &[u8]) -> Vec<u8> {
    [&prefix(u32::try_from(body.len()).unwrap()), body].concat()
}

/// The prefix of a gRPC message that is said to be so long.
pub(super) fn prefix(bytes: u32) -> [u8; 5] {
    let [a, b, c, d] = bytes.to_be_bytes();
    [0, a, b, c, d]
}

/// The headers of a gRPC call as HPACK (RFC 7541, section 6.2.2): literals that the table does not keep.
pub(super) fn header_block(request: &Request) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in [
        (":method", request.method),
        (":scheme", "http"),
        (":path", request.path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ] {
        literal(&mut block, name, value);
    }
    if let Some(token) = &request.token {
        literal(&mut block, "authorization", &format!("Bearer {token}"));
    }
    block
}

/// One header, both of its texts shorter than 127 bytes.
pub(super) fn literal(block: &mut Vec<u8>, name: &str, value: &str) {
    block.push(0);
    for text in [name, value] {
        let length = u8::try_from(text.len()).ok().filter(|length| *length < 127);
        block.push(length.expect("a length of seven bits"));
        block.extend(text.as_bytes());
    }
}
