//! What an attacker asks for.

use prost::Message;
use zetema_proto::v1;

/// The method of gRPC's calls.
const CALL: &str = "POST";

/// A gRPC call, or what else is asked.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Its method of HTTP.
    pub(super) method: &'static str,
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
        Self { method: CALL, path: "/zetema.v1.PlayService/Play", token: None, body: Vec::new() }
    }

    /// The presets, which anybody may ask for.
    pub(super) const fn presets() -> Self {
        Self { method: CALL, path: "/zetema.v1.RulesService/ListPresets", token: None, body: Vec::new() }
    }

    /// The page of the metrics.
    pub(super) const fn metrics() -> Self {
        Self { method: "GET", path: "/metrics", token: None, body: Vec::new() }
    }

    /// As many matches as a page has, the largest answer that there is.
    pub(super) fn matches(token: &str) -> Self {
        let request = v1::ListMatchesRequest { page_size: 1_000, ..Default::default() };
        Self {
            method: CALL,
            path: "/zetema.v1.MatchService/ListMatches",
            token: Some(token.to_owned()),
            body: request.encode_to_vec(),
        }
    }

    /// All that a seat is sent.
    pub(super) fn observe(seat_token: &str) -> Self {
        let seat = v1::ObserveSeat { seat_token: seat_token.to_owned(), ..Default::default() };
        let request = v1::ObserveRequest { seats: vec![seat] };
        Self {
            method: CALL,
            path: "/zetema.v1.PlayService/Observe",
            token: None,
            body: request.encode_to_vec(),
        }
    }

    /// The creation of a batch of matches, whose message may be the longest.
    pub(super) fn batch(token: &str) -> Self {
        Self {
            method: CALL,
            path: "/zetema.v1.MatchService/BatchCreateMatches",
            token: Some(token.to_owned()),
            body: Vec::new(),
        }
    }
}
