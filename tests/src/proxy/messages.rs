//! The gRPC messages in the frames that went through a proxy.

use prost::bytes::{Buf, Bytes, BytesMut};

use super::{Direction, Passed};

/// Bytes before a message: a flag and the length.
const PREFIX: usize = 5;

/// One call, with the messages of both sides that came in full.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The client's.
    pub to_server: Vec<Bytes>,
    /// The server's.
    pub to_client: Vec<Bytes>,
}

/// The calls in these frames, in the order in which they began.
///
/// # Panics
/// If a message is compressed: no client here asks for that.
pub fn calls(passed: &[Passed]) -> Vec<Call> {
    let mut streams: Vec<((u64, u32), [BytesMut; 2])> = Vec::new();
    for Passed { connection, direction, frame } in passed {
        let Some(data) = frame.data() else { continue };
        let key = (*connection, frame.stream());
        let at = streams.iter().position(|(stream, _)| *stream == key).unwrap_or_else(|| {
            streams.push((key, Default::default()));
            streams.len() - 1
        });
        streams[at].1[usize::from(*direction == Direction::ToClient)].extend_from_slice(data);
    }
    let calls = streams.into_iter().map(|(_, [to_server, to_client])| Call {
        to_server: messages(to_server),
        to_client: messages(to_client),
    });
    calls.collect()
}

fn messages(mut bytes: BytesMut) -> Vec<Bytes> {
    let mut messages = Vec::new();
    while bytes.len() >= PREFIX {
        assert_eq!(bytes[0], 0, "a message is compressed");
        let length = u32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]) as usize;
        if bytes.len() < PREFIX + length {
            break;
        }
        bytes.advance(PREFIX);
        messages.push(bytes.split_to(length).freeze());
    }
    messages
}
