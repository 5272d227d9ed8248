//! Calls whose request is any bytes at all, so that a table of inputs can hold what is no message.

use prost::bytes::{Buf, BufMut};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Status};

use super::soon;

/// Bytes as they are.
#[derive(Clone, Copy, Debug)]
struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for BytesCodec {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, bytes: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&bytes);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let length = buffer.remaining();
        Ok(Some(buffer.copy_to_bytes(length).to_vec()))
    }
}

/// Sends these messages to a method, such as `/zetema.v1.MatchService/GetMatch`, whatever its kind, and
/// gives all that comes, up to the status.
pub async fn call(
    channel: &Channel,
    method: &str,
    token: Option<&str>,
    bodies: Vec<Vec<u8>>,
) -> (Vec<Vec<u8>>, Result<(), Status>) {
    let authorization: Vec<String> = token.map(|token| format!("Bearer {token}")).into_iter().collect();
    call_as(channel, method, &authorization, bodies).await
}

/// The same, with any number of `authorization` headers, whatever they say.
pub async fn call_as(
    channel: &Channel,
    method: &str,
    authorization: &[String],
    bodies: Vec<Vec<u8>>,
) -> (Vec<Vec<u8>>, Result<(), Status>) {
    let mut grpc = Grpc::new(channel.clone());
    soon("a connection", grpc.ready()).await.expect("the server is there");
    let mut request = Request::new(tokio_stream::iter(bodies));
    for value in authorization {
        let value = MetadataValue::try_from(value.as_str()).expect("headers are ASCII");
        request.metadata_mut().append("authorization", value);
    }
    let path = PathAndQuery::try_from(method).expect("a path");
    let mut messages = Vec::new();
    let answers = match soon(method, grpc.streaming(request, path, BytesCodec)).await {
        Ok(answers) => answers,
        Err(status) => return (messages, Err(status)),
    };
    let mut answers = answers.into_inner();
    loop {
        match soon(method, answers.message()).await {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (messages, Ok(())),
            Err(status) => return (messages, Err(status)),
        }
    }
}
