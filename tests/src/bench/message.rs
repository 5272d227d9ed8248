//! What clients send and receive: bytes for a bare server, and of the service's messages what a lean client needs. Fields that are not
//! here are passed over.

use prost::bytes::Bytes;
use prost::{Message, Oneof};
use zetema_proto::v1;

/// Bytes, as a bare server gets and gives them.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Payload {
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) bytes: Bytes,
}

impl Payload {
    /// One that takes so many bytes on the wire; three at least, and 129 for 130, which no message takes.
    pub(super) fn of_size(bytes: usize) -> Self {
        // The tag and the length take two bytes, and from 128 bytes on three.
        let head = if bytes < 130 { 2 } else { 3 };
        Self { bytes: Bytes::from(vec![0x5a; bytes.saturating_sub(head).max(1)]) }
    }
}

/// Of a `PlayResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct PlayResponse {
    #[prost(uint64, tag = "1")]
    pub(super) tag: u64,
    #[prost(uint32, tag = "2")]
    pub(super) handle: u32,
    #[prost(oneof = "Played", tags = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")]
    pub(super) kind: Option<Played>,
}

/// Of its kinds.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Played {
    #[prost(message, tag = "3")]
    Welcome(Nothing),
    #[prost(message, tag = "4")]
    Joined(Start),
    #[prost(message, tag = "5")]
    Observation(Observation),
    #[prost(message, tag = "6")]
    Acknowledgement(Nothing),
    #[prost(message, tag = "7")]
    Rejection(v1::Error),
    #[prost(message, tag = "8")]
    End(Nothing),
    #[prost(message, tag = "9")]
    Ping(v1::Ping),
    #[prost(message, tag = "10")]
    Draining(Nothing),
    #[prost(message, tag = "11")]
    Superseded(Nothing),
    #[prost(message, tag = "12")]
    Left(Nothing),
    #[prost(message, tag = "13")]
    SeatAssigned(Nothing),
}

/// Of an `ObserveResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ObserveResponse {
    #[prost(uint32, tag = "1")]
    pub(super) handle: u32,
    #[prost(oneof = "Observed", tags = "2, 3, 4, 5, 6")]
    pub(super) kind: Option<Observed>,
}

/// Of its kinds.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Observed {
    #[prost(message, tag = "2")]
    Start(Start),
    #[prost(message, tag = "3")]
    Observation(Observation),
    #[prost(message, tag = "4")]
    End(Nothing),
    #[prost(message, tag = "5")]
    Draining(Nothing),
    #[prost(message, tag = "6")]
    Superseded(Nothing),
}

/// Of a `SubscriptionStart`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Start {
    #[prost(message, optional, tag = "3")]
    pub(super) snapshot: Option<Snapshot>,
}

/// Of a `Snapshot`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Snapshot {
    #[prost(uint64, tag = "1")]
    pub(super) seq: u64,
    #[prost(uint32, optional, tag = "2")]
    pub(super) decision_number: Option<u32>,
    #[prost(message, optional, tag = "5")]
    pub(super) decision: Option<Decision>,
}

/// Of an `Observation`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Observation {
    #[prost(uint64, tag = "1")]
    pub(super) seq: u64,
    #[prost(uint32, optional, tag = "2")]
    pub(super) decision_number: Option<u32>,
    #[prost(message, optional, tag = "5")]
    pub(super) decision: Option<Decision>,
    #[prost(uint32, optional, tag = "7")]
    pub(super) answered_decision_number: Option<u32>,
}

/// Of a `Decision`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Decision {
    #[prost(message, optional, tag = "1")]
    pub(super) legal_actions: Option<LegalActions>,
}

/// Of `LegalActions`: how many there are.
#[derive(Clone, PartialEq, Message)]
pub(super) struct LegalActions {
    /// A byte for each.
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) discards: Bytes,
    #[prost(message, repeated, tag = "2")]
    pub(super) declarations: Vec<Nothing>,
}

/// Of a `Receipt`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Receipt {
    #[prost(uint32, tag = "2")]
    pub(super) decision_number: u32,
}

/// Of an `ActResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ActResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) receipt: Option<Receipt>,
}

/// Of a message nothing.
#[derive(Clone, PartialEq, Eq, Message)]
pub(super) struct Nothing {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_as_long_as_is_asked() {
        for bytes in [3, 60, 129, 131, 200, 4000] {
            assert_eq!(Payload::of_size(bytes).encoded_len(), bytes);
        }
    }

    #[test]
    fn what_a_lean_client_reads_is_what_the_whole_message_says() {
        let legal = v1::LegalActions {
            discards: vec![1, 7, 52],
            declarations: vec![v1::Declaration::default(), v1::Declaration::default()],
        };
        let observation = v1::Observation {
            seq: 9,
            decision_number: Some(8),
            events: vec![v1::Event::default(); 3],
            view: Some(Box::default()),
            decision: Some(v1::Decision { legal_actions: Some(legal), ..v1::Decision::default() }),
            answered_decision_number: Some(7),
        };
        let whole = v1::PlayResponse {
            tag: 3,
            handle: 5,
            kind: Some(v1::play_response::Kind::Observation(observation)),
        };
        let lean = PlayResponse::decode(whole.encode_to_vec().as_slice()).unwrap();
        let legal =
            LegalActions { discards: Bytes::from_static(&[1, 7, 52]), declarations: vec![Nothing {}; 2] };
        let observation = Observation {
            seq: 9,
            decision_number: Some(8),
            decision: Some(Decision { legal_actions: Some(legal) }),
            answered_decision_number: Some(7),
        };
        assert_eq!(lean, PlayResponse { tag: 3, handle: 5, kind: Some(Played::Observation(observation)) });
    }
}
