//! What an attacker asks for.

use prost::Message;
use zetema_proto::v1;

/// A gRPC call.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Its path.
    pub(super) path: &'static str,
    /// Whose it is.
    pub(super) token: Option<String>,
    /// Its message, without the prefix.
    pub(super) body: Vec<u8>,
}

impl Request {
    /// A Play stream: anybody may open one.
    pub(super) const fn play() -> Self {
        Self { path: "/zetema.v1.PlayService/Play", token: None, body: Vec::new() }
    }

    /// The presets, which anybody may ask for.
    pub(super) const fn presets() -> Self {
        Self { path: "/zetema.v1.RulesService/ListPresets", token: None, body: Vec::new() }
    }

    /// As many matches as a page has, the largest answer that there is.
    pub(super) fn matches(token: &str) -> Self {
        let request = v1::ListMatchesRequest { page_size: 1_000, ..Default::default() };
        Self {
            path: "/zetema.v1.MatchService/ListMatches",
            token: Some(token.to_owned()),
            body: request.encode_to_vec(),
        }
    }

    /// All that a seat is sent.
    pub(super) fn observe(seat_token: &str) -> Self {
        let seat = v1::ObserveSeat { seat_token: seat_token.to_owned(), ..Default::default() };
        let request = v1::ObserveRequest { seats: vec![seat] };
        Self { path: "/zetema.v1.PlayService/Observe", token: None, body: request.encode_to_vec() }
    }

    /// The creation of a batch of matches, whose message may be the longest.
    pub(super) fn batch(token: &str) -> Self {
        Self {
            path: "/zetema.v1.MatchService/BatchCreateMatches",
            token: Some(token.to_owned()),
            body: Vec::new(),
        }
    }
}
