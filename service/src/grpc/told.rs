//! What is said on a stream that follows matches, and its codec.
//!
//! Nearly all that is said are observations. They are written as bytes straight from what the table has shown
//! ([`encoded`](super::encoded)), and put into the message of the stream as they are.

use std::marker::PhantomData;

use bytes::{BufMut, Bytes};
use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint},
};
use tonic::{
    Status,
    codec::{BufferSettings, Codec, EncodeBuf, Encoder},
};
use zetema_proto::{WireDecoder, v1};

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
    Own(Vec<u8>),
    /// They are the same in memory for all who are shown them.
    Shared(Bytes),
}

impl EncodedObservation {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
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

/// Encodes what is told by messages of `M`, and decodes `U`.
pub(super) struct ToldCodec<M, U>(PhantomData<(M, U)>);

impl<M, U> Default for ToldCodec<M, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: Follows + 'static, U: Message + Default + 'static> Codec for ToldCodec<M, U> {
    type Encode = Told<M>;
    type Decode = U;
    type Encoder = ToldEncoder<M>;
    type Decoder = WireDecoder<U>;

    fn encoder(&mut self) -> ToldEncoder<M> {
        ToldEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        WireDecoder::default()
    }
}

/// Encodes what is told.
pub(super) struct ToldEncoder<M>(PhantomData<M>);

impl<M: Follows + 'static> Encoder for ToldEncoder<M> {
    type Item = Told<M>;
    type Error = Status;

    fn encode(&mut self, told: Told<M>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        match told {
            // Into bytes of its own first: prost writes byte by byte, and each costs a look at the room that the buffer has.
            Told::Message(message) => buffer.put_slice(&message.encode_to_vec()),
            Told::Observation { handle, observation } => {
                put_observation::<M>(handle, observation.as_bytes(), buffer);
            }
        }
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(limits::TOLD_BUFFER_BYTES, limits::HTTP2_MAX_SEND_BUFFER_BYTES)
    }
}

/// The message that has an observation and nothing but its handle.
fn put_observation<M: Follows>(handle: u32, observation: &[u8], buffer: &mut impl BufMut) {
    /// Two keys of one byte, a number of 32 bits and one of 64.
    const MOST: usize = 2 + 5 + 10;
    let mut before = [0; MOST];
    let mut rest = &mut before[..];
    if handle != 0 {
        encode_key(M::HANDLE, WireType::Varint, &mut rest);
        encode_varint(handle.into(), &mut rest);
    }
    encode_key(M::OBSERVATION, WireType::LengthDelimited, &mut rest);
    encode_varint(observation.len() as u64, &mut rest);
    let written = MOST - rest.len();
    buffer.put_slice(&before[..written]);
    buffer.put_slice(observation);
}

#[cfg(test)]
mod tests {
    use zetema_proto::v1::{observe_response, play_response, watch_match_response};

    use super::*;

    fn check<M: Follows + std::fmt::Debug>(handle: u32, observation: &v1::Observation, expected: &M) {
        let mut bytes = Vec::new();
        put_observation::<M>(handle, &observation.encode_to_vec(), &mut bytes);
        assert_eq!(bytes, expected.encode_to_vec(), "{expected:?}");
    }

    #[test]
    fn an_observation_is_put_into_the_messages_of_each_stream_as_prost_does() {
        let short = v1::Observation { seq: 7, ..v1::Observation::default() };
        let long = v1::Observation { events: vec![v1::Event::default(); 5000], ..short.clone() };
        for (handle, observation) in [(1, &short), (300, &long), (u32::MAX, &short)] {
            let it = || observation.clone();
            let kind = Some(play_response::Kind::Observation(it()));
            check(handle, observation, &v1::PlayResponse { tag: 0, handle, kind });
            let kind = Some(observe_response::Kind::Observation(it()));
            check(handle, observation, &v1::ObserveResponse { handle, kind });
            let kind = Some(watch_match_response::Kind::Observation(it()));
            check(0, observation, &v1::WatchMatchResponse { kind });
        }
    }
}
