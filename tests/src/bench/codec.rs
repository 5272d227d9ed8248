//! Messages of protobuf, which are counted.

use std::marker::PhantomData;
use std::sync::Arc;

use prost::Message;
use prost::bytes::Buf;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic_prost::{ProstDecoder, ProstEncoder};

use super::meter::Meter;

/// A codec of messages `T` to the server and `U` from it.
pub(super) struct Counted<T, U> {
    meter: Arc<Meter>,
    messages: PhantomData<(T, U)>,
}

impl<T, U> Counted<T, U> {
    pub(super) const fn new(meter: Arc<Meter>) -> Self {
        Self { meter, messages: PhantomData }
    }
}

impl<T: Message + 'static, U: Message + Default + 'static> Codec for Counted<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = Sent<T>;
    type Decoder = Received<U>;

    fn encoder(&mut self) -> Sent<T> {
        Sent { meter: Arc::clone(&self.meter), encoder: ProstEncoder::default() }
    }

    fn decoder(&mut self) -> Received<U> {
        Received { meter: Arc::clone(&self.meter), decoder: ProstDecoder::default() }
    }
}

/// Encodes what is sent.
pub(super) struct Sent<T> {
    meter: Arc<Meter>,
    encoder: ProstEncoder<T>,
}

impl<T: Message> Encoder for Sent<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        self.meter.sent(message.encoded_len());
        self.encoder.encode(message, buffer)
    }
}

/// Decodes what is received.
pub(super) struct Received<U> {
    meter: Arc<Meter>,
    decoder: ProstDecoder<U>,
}

impl<U: Message + Default> Decoder for Received<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        self.meter.received(buffer.remaining());
        self.decoder.decode(buffer)
    }
}
