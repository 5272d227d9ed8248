//! What a session sends on a Play stream.

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use zetema_proto::{Wire, v1};
use zetema_rules::{Action, Card};

use crate::work::Answer;

/// What a session sends on a Play stream.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// The answer to a decision, which nearly all are.
    Act {
        tag: u64,
        /// What stands for the seat on this stream.
        handle: u32,
        answer: Answer,
    },
    /// Anything.
    Message(Box<v1::PlayRequest>),
}

impl Outgoing {
    pub(crate) fn new(tag: u64, handle: u32, kind: v1::play_request::Kind) -> Self {
        Self::Message(Box::new(v1::PlayRequest { tag, handle, kind: Some(kind) }))
    }

    /// Puts its bytes behind these.
    pub(crate) fn encode(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Act { tag, handle, answer: Answer { decision, action: Action::Discard(card) } } => {
                encode_discard(tag, handle, decision, card, bytes);
            }
            Self::Act { tag, handle, answer: Answer { decision, action } } => {
                let choice = Some(v1::act::Choice::Action(action.to_wire()));
                let act = v1::Act { decision_number: decision, choice };
                let kind = Some(v1::play_request::Kind::Act(act));
                bytes.extend(v1::PlayRequest { tag, handle, kind }.encode_to_vec());
            }
            Self::Message(message) => bytes.extend(message.encode_to_vec()),
        }
    }
}

/// A discard is what nearly all answers are: its message would take longer to make than to write. Tag and decision
/// are never 0, nor is the handle of a server of ours: a 0 is written out, and means the same.
fn encode_discard(tag: u64, handle: u32, decision: u32, card: Card, bytes: &mut Vec<u8>) {
    let number = |field, number, bytes: &mut Vec<u8>| {
        encode_key(field, WireType::Varint, bytes);
        encode_varint(number, bytes);
    };
    number(1, tag, bytes);
    number(2, handle.into(), bytes);
    encode_key(6, WireType::LengthDelimited, bytes);
    let length_at = bytes.len();
    bytes.push(0);
    number(1, decision.into(), bytes);
    encode_key(2, WireType::LengthDelimited, bytes);
    let action_at = bytes.len();
    bytes.push(0);
    number(1, card.to_wire().unsigned_abs().into(), bytes);
    // Both are shorter than 128.
    bytes[action_at] = length_since(action_at, bytes);
    bytes[length_at] = length_since(length_at, bytes);
}

#[expect(clippy::cast_possible_truncation, reason = "the whole message is short")]
const fn length_since(at: usize, bytes: &[u8]) -> u8 {
    (bytes.len() - at - 1) as u8
}

#[cfg(test)]
mod tests {
    use zetema_rules::{Declaration, Rank};

    use super::*;

    fn check(tag: u64, handle: u32, decision: u32, action: Action) {
        let act =
            v1::Act { decision_number: decision, choice: Some(v1::act::Choice::Action(action.to_wire())) };
        let expected = v1::PlayRequest { tag, handle, kind: Some(v1::play_request::Kind::Act(act)) };
        let mut bytes = b"before".to_vec();
        Outgoing::Act { tag, handle, answer: Answer { decision, action } }.encode(&mut bytes);
        assert_eq!(bytes, [b"before", &expected.encode_to_vec()[..]].concat());
        Outgoing::Message(Box::new(expected.clone())).encode(&mut bytes);
        assert!(bytes.ends_with(&expected.encode_to_vec()));
    }

    #[test]
    fn an_answer_has_the_bytes_of_its_message() {
        let numbers = [1, 127, 128, 1 << 20, u32::MAX];
        for (i, handle) in numbers.into_iter().enumerate() {
            let (tag, decision) = (u64::from(handle) << (i * 8), numbers[numbers.len() - 1 - i]);
            Card::all().for_each(|card| check(tag, handle, decision, Action::Discard(card)));
            check(tag, handle, decision, Action::Declare(Declaration::Assembly(Rank::Two)));
        }
    }
}
