//! What the tests share: a server in a folder of its own, and a channel to it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test file uses its own part, and a test may fail"
)]

use bytes::{Buf, BufMut};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    transport::{Channel, Endpoint},
};
use zetema_proto::v1::{
    self, match_service_client::MatchServiceClient, play_request, play_response,
    play_service_client::PlayServiceClient, rules_service_client::RulesServiceClient,
};
use zetema_service::{
    config::{Config, Number},
    server::Server,
};

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

/// A public match of two that is so long that it fits into no buffer.
pub(crate) async fn long(server: &Server) -> v1::MatchSpec {
    let preset = v1::PresetRules { preset: v1::Preset::Sackson.into(), teams: None, imperial_suit: None };
    let preset = v1::GetPresetRequest { preset: Some(preset), players: 2 };
    let mut client = RulesServiceClient::new(channel(server).await);
    let rules = client.get_preset(preset).await.unwrap().into_inner().rules.unwrap();
    let rules = v1::match_spec::Rules::Own(v1::Rules { target: Some(2_000), ..rules });
    v1::MatchSpec { rules: Some(rules), ..spec(2, v1::Visibility::Public) }
}

/// Creates a match: its id, and the tokens of its seats.
pub(crate) async fn create(server: &Server, spec: v1::MatchSpec) -> (String, Vec<String>) {
    let mut client = MatchServiceClient::new(channel(server).await);
    let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
    let created = client.create_match(as_admin(server, request)).await.unwrap().into_inner();
    let tokens = created.seat_tokens.into_iter().map(|token| token.token).collect();
    (created.r#match.unwrap().match_id, tokens)
}

/// Plays all seats on one stream, each decision by its first legal action, to the end.
pub(crate) async fn play_to_the_end(channel: Channel, tokens: &[String]) {
    play_to(channel, tokens, u32::MAX).await;
}

/// The same until this decision is open, or to the end.
pub(crate) async fn play_to(channel: Channel, tokens: &[String], last: u32) {
    let (requests, sent) = mpsc::channel(64);
    let mut answers =
        PlayServiceClient::new(channel).play(ReceiverStream::new(sent)).await.unwrap().into_inner();
    let say = async |handle, kind| {
        requests.send(v1::PlayRequest { tag: 0, handle, kind: Some(kind) }).await.unwrap();
    };
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    say(0, play_request::Kind::Hello(hello)).await;
    for token in tokens {
        let join = v1::Join {
            by: Some(v1::join::By::SeatToken(token.clone())),
            nonce_hash: Vec::new(),
            after_seq: None,
            views: None,
        };
        say(0, play_request::Kind::Join(join)).await;
    }
    let mut left = tokens.len();
    while left > 0 {
        let v1::PlayResponse { handle, kind, .. } = answers.message().await.unwrap().unwrap();
        let number = match kind.unwrap() {
            play_response::Kind::Observation(observation) if observation.decision.is_some() => {
                observation.decision_number.unwrap()
            }
            play_response::Kind::Joined(start) => match start.kind {
                Some(v1::subscription_start::Kind::Snapshot(snapshot)) if snapshot.decision.is_some() => {
                    snapshot.decision_number.unwrap()
                }
                _ => continue,
            },
            play_response::Kind::End(_) => {
                left -= 1;
                continue;
            }
            play_response::Kind::Rejection(error) => panic!("{error:?}"),
            _ => continue,
        };
        if number >= last {
            return;
        }
        let choice = Some(v1::act::Choice::LegalIndex(0));
        say(handle, play_request::Kind::Act(v1::Act { decision_number: number, choice })).await;
    }
}

/// A server with these settings, and its folder.
pub(crate) async fn start_with(changes: &[(Number, u64)]) -> (TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::embedded(folder.path().join("data"));
    let config = changes.iter().fold(config, |config, &(number, value)| config.with(number, value).unwrap());
    (folder, Server::start(config).await.unwrap())
}
