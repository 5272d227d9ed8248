//! The codecs of a Play stream, and of a call for a record.

use prost::Message;
use prost::bytes::{Buf, BufMut};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use zetema_proto::{WireDecoder, record_from_wire, v1};
use zetema_rules::Record;

use super::record::read_record;
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
        item.encode(&mut self.bytes);
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

/// A record, or what is wrong with it: that counts once the call has ended well.
pub(crate) type Decoded = Result<Box<Record>, Status>;

/// Reads the answer to a call for a record.
#[derive(Default)]
pub(crate) struct RecordCodec;

pub(crate) struct RecordEncoder;

pub(crate) struct RecordDecoder(WireDecoder<v1::GetRecordResponse>);

impl Codec for RecordCodec {
    type Encode = v1::GetRecordRequest;
    type Decode = Decoded;
    type Encoder = RecordEncoder;
    type Decoder = RecordDecoder;

    fn encoder(&mut self) -> RecordEncoder {
        RecordEncoder
    }

    fn decoder(&mut self) -> RecordDecoder {
        RecordDecoder(WireDecoder::default())
    }
}

impl Encoder for RecordEncoder {
    type Item = v1::GetRecordRequest;
    type Error = Status;

    fn encode(&mut self, item: v1::GetRecordRequest, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buf).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for RecordDecoder {
    type Item = Decoded;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<Decoded>, Status> {
        let length = buf.remaining();
        if let Some(read) = buf.chunk().get(..length).and_then(read_record) {
            buf.advance(length);
            return Ok(Some(Ok(read)));
        }
        Ok(self.0.decode(buf)?.map(|message| of_message(&message)))
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}

fn of_message(message: &v1::GetRecordResponse) -> Decoded {
    let v1::GetRecordResponse { record } = message;
    let record = record.as_ref().ok_or_else(|| Status::data_loss("the answer has no record"))?;
    let (record, _) = record_from_wire(record)
        .map_err(|error| Status::data_loss(format!("the record is not valid: {error}")))?;
    Ok(Box::new(record))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(record: Option<v1::Record>, message: &str) {
        let refused = of_message(&v1::GetRecordResponse { record }).unwrap_err();
        assert_eq!((refused.code(), refused.message()), (tonic::Code::DataLoss, message));
    }

    #[test]
    fn what_is_wrong_with_a_record_is_told() {
        check(None, "the answer has no record");
        check(Some(v1::Record::default()), "the record is not valid: rules: missing: give a value");
    }
}
