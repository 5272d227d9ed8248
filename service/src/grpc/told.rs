//! What is said on a stream that follows matches, and the bytes that are sent of it.
//!
//! Nearly all that is said are observations. They are written as bytes straight from what the table has shown
//! ([`encoded`](super::encoded)), and what is sent before one is written into the room that they have for it.

use bytes::{Buf, Bytes};
use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint},
};
use zetema_proto::v1;

use super::{PREFIX, fault::Fault};
use crate::limits;

/// A message of the stream `M`.
pub(crate) enum Told<M> {
    Message(Box<M>),
    /// One that has an observation, and stands for this handle; 0: for none.
    Observation {
        handle: u32,
        observation: EncodedObservation,
    },
}

/// The bytes of an `Observation`.
pub(crate) enum EncodedObservation {
    /// Behind [room](ROOM_BEFORE) for what is sent before them.
    Own(Vec<u8>),
    /// They are the same in memory for all who are shown them.
    Shared(Bytes),
}

impl EncodedObservation {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes.get(ROOM_BEFORE..).unwrap_or_default(),
            Self::Shared(bytes) => bytes,
        }
    }
}

/// Before an observation in its message: two keys of one byte, a number of 32 bits and one of 64.
const MOST_BEFORE: usize = 2 + 5 + 10;
/// The room of an observation for all that stands before it.
pub(super) const ROOM_BEFORE: usize = PREFIX + MOST_BEFORE;

/// Messages as they are sent, one behind the other.
pub(super) struct Framed {
    bytes: Vec<u8>,
    /// Where the first begins.
    start: usize,
    /// Bytes that there is room for once there are two.
    expected: usize,
}

impl Framed {
    /// None yet. If there will be more than one, all will have about so many bytes.
    pub(super) const fn like(expected: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, expected }
    }

    pub(super) const fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn into_bytes(self) -> Bytes {
        // In no more memory than it has bytes, by which it is counted until it is sent.
        let mut bytes = Bytes::from(self.bytes.into_boxed_slice());
        bytes.advance(self.start);
        bytes
    }

    /// Puts one behind those that are there.
    ///
    /// # Errors
    /// If it is longer than any message may be.
    pub(super) fn put<M: Follows>(&mut self, told: Told<M>) -> Result<(), Fault> {
        match told {
            Told::Message(message) => {
                let length = message.encoded_len();
                let prefix = prefix(length)?;
                self.make_room(PREFIX + length);
                self.bytes.extend_from_slice(&prefix);
                message.encode_raw(&mut self.bytes);
            }
            Told::Observation { handle, observation } => self.put_observation::<M>(handle, observation)?,
        }
        Ok(())
    }

    /// The message that has an observation and nothing but its handle. The first stays where it was encoded.
    fn put_observation<M: Follows>(
        &mut self,
        handle: u32,
        observation: EncodedObservation,
    ) -> Result<(), Fault> {
        let observed = observation.as_bytes().len();
        let mut room = [0; ROOM_BEFORE];
        let written = before::<M>(handle, observed, &mut room)?;
        let before = room.get(..written).unwrap_or_default();
        match observation {
            EncodedObservation::Own(bytes) if self.bytes.is_empty() => {
                self.bytes = bytes;
                self.start = ROOM_BEFORE - written;
                let room = self.bytes.get_mut(self.start..ROOM_BEFORE).unwrap_or_default();
                room.copy_from_slice(before);
            }
            observation => {
                self.make_room(written + observed);
                self.bytes.extend_from_slice(before);
                self.bytes.extend_from_slice(observation.as_bytes());
            }
        }
        Ok(())
    }

    fn make_room(&mut self, bytes: usize) {
        if self.bytes.capacity() - self.bytes.len() < bytes {
            let expected = if self.bytes.is_empty() { 0 } else { self.expected.saturating_sub(self.len()) };
            self.bytes.reserve(bytes.max(expected));
        }
    }
}

/// What stands before a message of so many bytes.
fn prefix(length: usize) -> Result<[u8; PREFIX], Fault> {
    match u32::try_from(length) {
        Ok(bytes) if length <= limits::MAX_RESPONSE_BYTES => {
            let [a, b, c, d] = bytes.to_be_bytes();
            Ok([0, a, b, c, d])
        }
        _ => Err(Fault::internal(&format_args!(
            "a message of {length} bytes was to be told, where none has more than {}",
            limits::MAX_RESPONSE_BYTES
        ))),
    }
}

/// Writes all that stands before an observation of so many bytes. The answer is how many bytes that has.
fn before<M: Follows>(handle: u32, observed: usize, room: &mut [u8; ROOM_BEFORE]) -> Result<usize, Fault> {
    let (prefix_room, message) = room.split_at_mut(PREFIX);
    let mut rest = message;
    if handle != 0 {
        encode_key(M::HANDLE, WireType::Varint, &mut rest);
        encode_varint(handle.into(), &mut rest);
    }
    encode_key(M::OBSERVATION, WireType::LengthDelimited, &mut rest);
    encode_varint(observed as u64, &mut rest);
    let written = MOST_BEFORE - rest.len();
    prefix_room.copy_from_slice(&prefix(written + observed)?);
    Ok(PREFIX + written)
}

/// What the messages of a stream are that follows matches.
pub(crate) trait Follows: Message {
    /// The field of the handle. 0: there is none.
    const HANDLE: u32;
    /// The field of an observation.
    const OBSERVATION: u32;
}

impl Follows for v1::PlayResponse {
    const HANDLE: u32 = 2;
    const OBSERVATION: u32 = 5;
}

impl Follows for v1::ObserveResponse {
    const HANDLE: u32 = 1;
    const OBSERVATION: u32 = 3;
}

impl Follows for v1::WatchMatchResponse {
    const HANDLE: u32 = 0;
    const OBSERVATION: u32 = 2;
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use zetema_proto::v1::{observe_response, play_response, watch_match_response};

    use super::*;

    fn own(observation: &v1::Observation) -> EncodedObservation {
        let mut bytes = Vec::with_capacity(1 << 10);
        bytes.resize(ROOM_BEFORE, 0);
        observation.encode_raw(&mut bytes);
        EncodedObservation::Own(bytes)
    }

    fn shared(observation: &v1::Observation) -> EncodedObservation {
        EncodedObservation::Shared(observation.encode_to_vec().into())
    }

    /// A message as gRPC sends it.
    fn sent(message: &impl Message) -> Vec<u8> {
        let bytes = message.encode_to_vec();
        let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
        [&[0], &length[..], &bytes].concat()
    }

    /// All that is told is sent as these bytes, and in no more memory, of whatever length the last piece was.
    fn check<M: Follows>(told: &dyn Fn() -> Vec<Told<M>>, expected: &[u8]) {
        for last in [0, 1 << 20] {
            let mut framed = Framed::like(last);
            assert!(framed.is_empty());
            for told in told() {
                framed.put(told).unwrap();
            }
            assert_eq!((framed.len(), framed.is_empty()), (expected.len(), expected.is_empty()));
            let sent = framed.into_bytes().try_into_mut().unwrap();
            assert_eq!(sent, expected);
            assert!(sent.capacity() <= expected.len(), "{} for {}", sent.capacity(), expected.len());
        }
    }

    /// The observation, told for this handle, is sent as the message: alone, behind others, and before others.
    fn check_observation<M: Follows>(handle: u32, observation: &v1::Observation, expected: &M) {
        let alone = sent(expected);
        for encoded in [own, shared] {
            let told = || Told::<M>::Observation { handle, observation: encoded(observation) };
            check(&|| vec![told()], &alone);
            check(&|| vec![told(), told(), told()], &alone.repeat(3));
        }
    }

    #[test]
    fn an_observation_is_sent_in_the_message_of_each_stream_as_prost_encodes_it() {
        let short = v1::Observation { seq: 7, ..v1::Observation::default() };
        let long = v1::Observation { events: vec![v1::Event::default(); 5000], ..short.clone() };
        let none = v1::Observation::default();
        for (handle, observation) in [(1, &short), (300, &long), (u32::MAX, &short), (1, &none)] {
            let it = || observation.clone();
            let kind = Some(play_response::Kind::Observation(it()));
            check_observation(handle, observation, &v1::PlayResponse { tag: 0, handle, kind });
            let kind = Some(observe_response::Kind::Observation(it()));
            check_observation(handle, observation, &v1::ObserveResponse { handle, kind });
            let kind = Some(watch_match_response::Kind::Observation(it()));
            check_observation(0, observation, &v1::WatchMatchResponse { kind });
        }
    }

    #[test]
    fn messages_and_observations_are_sent_in_the_order_in_which_they_are_told() {
        let kind = |kind| v1::PlayResponse { tag: 3, handle: 2, kind: Some(kind) };
        let ping = kind(play_response::Kind::Ping(v1::Ping { number: 9 }));
        let observation = v1::Observation { seq: 7, ..v1::Observation::default() };
        let observed = kind(play_response::Kind::Observation(observation.clone()));
        let observed = v1::PlayResponse { tag: 0, ..observed };
        let message = || Told::Message(Box::new(ping.clone()));
        let seen = || Told::Observation { handle: 2, observation: own(&observation) };
        let (ping, observed) = (sent(&ping), sent(&observed));
        check(&|| vec![message(), seen()], &[&ping[..], &observed].concat());
        check(&|| vec![seen(), message(), seen()], &[&observed[..], &ping, &observed].concat());
        assert!(Framed::like(1 << 20).into_bytes().is_empty());
    }

    #[test]
    fn a_message_that_is_longer_than_any_may_be_is_not_sent_and_what_was_told_before_is() {
        let most = limits::MAX_RESPONSE_BYTES;
        let ping = v1::PlayResponse { tag: 1, ..v1::PlayResponse::default() };
        let short = || Told::Message(Box::new(ping.clone()));
        let observed = |observation| Told::Observation { handle: 1, observation };
        let long: [&dyn Fn(usize) -> Told<v1::PlayResponse>; 2] =
            [&|bytes| observed(EncodedObservation::Shared(vec![0; bytes].into())), &|bytes| {
                observed(EncodedObservation::Own(vec![0; ROOM_BEFORE + bytes]))
            }];
        // The handle, two keys and a length of four bytes.
        let longest = most - 7;
        for long in long {
            for before in [0, 1] {
                let mut framed = Framed::like(0);
                (0..before).for_each(|_| framed.put(short()).unwrap());
                assert!(framed.put(long(longest + 1)).is_err());
                assert_eq!(framed.len(), before * sent(&ping).len());
                framed.put(long(longest)).unwrap();
                assert_eq!(framed.len(), before * sent(&ping).len() + PREFIX + most);
            }
        }
    }

    #[test]
    fn the_first_takes_no_more_room_than_it_has_however_long_the_last_piece_was() {
        let ping = v1::PlayResponse { tag: 1, ..v1::PlayResponse::default() };
        let mut framed = Framed::like(1 << 20);
        framed.put(Told::Message(Box::new(ping.clone()))).unwrap();
        assert!(framed.bytes.capacity() < 100);
        framed.put(Told::Message(Box::new(ping))).unwrap();
        assert!(framed.bytes.capacity() >= 1 << 20);
    }
}
