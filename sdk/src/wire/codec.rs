//! The codec of a Play stream.

use prost::Message;
use prost::bytes::{Buf, BufMut};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use zetema_proto::{WireDecoder, v1};

use super::{Incoming, Outgoing};

/// Encodes what a session sends, and reads what it receives.
#[derive(Default)]
pub(crate) struct PlayCodec;

#[derive(Default)]
pub(crate) struct PlayEncoder {
    /// The message that was encoded last.
    bytes: Vec<u8>,
}

pub(crate) struct PlayDecoder(WireDecoder<v1::PlayResponse>);

impl Codec for PlayCodec {
    type Encode = Outgoing;
    type Decode = Incoming;
    type Encoder = PlayEncoder;
    type Decoder = PlayDecoder;

    fn encoder(&mut self) -> PlayEncoder {
        PlayEncoder::default()
    }

    fn decoder(&mut self) -> PlayDecoder {
        PlayDecoder(WireDecoder::default())
    }
}

impl Encoder for PlayEncoder {
    type Item = Outgoing;
    type Error = Status;

    fn encode(&mut self, item: Outgoing, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        // Into bytes of its own first: prost writes byte by byte, and each costs a look at the room that the buffer has.
        self.bytes.clear();
        let message = item.into_message();
        message.encode(&mut self.bytes).map_err(|error| Status::internal(error.to_string()))?;
        buf.put_slice(&self.bytes);
        Ok(())
    }
}

impl Decoder for PlayDecoder {
    type Item = Incoming;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<Incoming>, Status> {
        let length = buf.remaining();
        if let Some(read) = buf.chunk().get(..length).and_then(Incoming::read) {
            buf.advance(length);
            return Ok(Some(read));
        }
        Ok(self.0.decode(buf)?.map(|message| Incoming::Message(Box::new(message))))
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}
