//! The codec of the generated code: prost's, but bytes that are no message get a typed error where
//! tonic alone answers INTERNAL, as if the server were at fault.

use std::marker::PhantomData;

use prost::Message;
use prost::bytes::{Buf, BufMut};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::v1::{Error, ErrorReason};

/// How large a buffer of a stream is to begin with, in bytes: it has room for some messages of a match. tonic's own 8 KiB for
/// each of very many streams are memory that each message touches at another place; and larger messages make their room.
const BUFFER_BYTES: usize = 1024;
/// So much is encoded before it is handed on, in bytes, as by tonic unless told otherwise.
const YIELD_BYTES: usize = 32 * 1024;

fn buffers() -> BufferSettings {
    BufferSettings::new(BUFFER_BYTES, YIELD_BYTES)
}

/// Encodes `T` and decodes `U`.
pub(crate) struct WireCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for WireCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for WireCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = WireEncoder<T>;
    type Decoder = WireDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        WireEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        WireDecoder::default()
    }
}

/// Encodes `T`.
pub(crate) struct WireEncoder<T>(PhantomData<T>);

impl<T: Message> Encoder for WireEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        // Into bytes of its own first: prost writes byte by byte, and each costs a look at the room that the buffer has.
        buf.put_slice(&item.encode_to_vec());
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }
}

/// The message that all of these bytes are.
///
/// # Errors
/// `UNDECODABLE`, if they are none of this kind.
pub fn decode<U: Message + Default>(bytes: impl Buf) -> Result<U, Error> {
    U::decode(bytes).map_err(|error| {
        let message = format!("these bytes are no message of this kind ({error}): send what the .proto says");
        Error::new(ErrorReason::Undecodable, message)
    })
}

/// Decodes `U`. For those who read it by a codec of their own.
pub struct WireDecoder<U>(PhantomData<U>);

impl<U> Default for WireDecoder<U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<U: Message + Default> Decoder for WireDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        Ok(decode(buf).map(Some)?)
    }

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }
}
