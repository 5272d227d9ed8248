//! The codec of a Play stream.

use prost::Message;
use prost::bytes::{Buf, BufMut};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use zetema_proto::{WireDecoder, v1};

use super::Incoming;

/// Encodes what a session sends, and reads what it receives.
#[derive(Default)]
pub(crate) struct PlayCodec;

pub(crate) struct PlayEncoder;

pub(crate) struct PlayDecoder(WireDecoder<v1::PlayResponse>);

impl Codec for PlayCodec {
    type Encode = v1::PlayRequest;
    type Decode = Incoming;
    type Encoder = PlayEncoder;
    type Decoder = PlayDecoder;

    fn encoder(&mut self) -> PlayEncoder {
        PlayEncoder
    }

    fn decoder(&mut self) -> PlayDecoder {
        PlayDecoder(WireDecoder::default())
    }
}

impl Encoder for PlayEncoder {
    type Item = v1::PlayRequest;
    type Error = Status;

    fn encode(&mut self, item: v1::PlayRequest, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        // Into bytes of its own first: prost writes byte by byte, and each costs a look at the room that the buffer has.
        buf.put_slice(&item.encode_to_vec());
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
        Ok(self.0.decode(buf)?.map(Incoming::Message))
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}
