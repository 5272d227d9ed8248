//! What the tests share: a server in a folder of its own, and a channel to it.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its own part, and a test may fail")]

use bytes::{Buf, BufMut};
use tempfile::TempDir;
use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    transport::{Channel, Endpoint},
};
use zetema_proto::v1;
use zetema_service::{config::Config, server::Server};

/// A server with its data in a new folder.
pub(crate) async fn start() -> (TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = restart(&folder).await;
    (folder, server)
}

/// A server with the data of this folder.
pub(crate) async fn restart(folder: &TempDir) -> Server {
    Server::start(Config::embedded(folder.path().join("data"))).await.unwrap()
}

/// A connection to a server.
pub(crate) async fn channel(server: &Server) -> Channel {
    let address = format!("http://{}", server.local_addr());
    Endpoint::from_shared(address).unwrap().connect().await.unwrap()
}

/// Bytes as they are, so that a test can send what is no message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BytesCodec;

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

/// A request of the admin.
pub(crate) fn as_admin<T>(server: &Server, message: T) -> tonic::Request<T> {
    as_bearer(server.admin_token().unwrap().expose(), message)
}

/// A request of whoever has this token.
pub(crate) fn as_bearer<T>(token: &str, message: T) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

/// A match of the default preset for so many seats.
pub(crate) fn spec(seats: usize, visibility: v1::Visibility) -> v1::MatchSpec {
    v1::MatchSpec {
        rules: Some(v1::match_spec::Rules::Preset(v1::PresetRules {
            preset: v1::Preset::Sackson.into(),
            teams: None,
            imperial_suit: None,
        })),
        seats: vec![v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) }; seats],
        time_control: None,
        deals: None,
        visibility: Some(visibility.into()),
        client_reference: "smoke".to_owned(),
    }
}
