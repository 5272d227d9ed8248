//! What a session sends on a Play stream.

use zetema_proto::{Wire, v1};

use crate::session::Answer;

/// What a session sends on a Play stream.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// The answer to a decision, which nearly all are. Its message is made where it is encoded, as that is large.
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

    pub(crate) fn into_message(self) -> v1::PlayRequest {
        match self {
            Self::Act { tag, handle, answer: Answer { decision, action } } => {
                let choice = Some(v1::act::Choice::Action(action.to_wire()));
                let act = v1::Act { decision_number: decision, choice };
                v1::PlayRequest { tag, handle, kind: Some(v1::play_request::Kind::Act(act)) }
            }
            Self::Message(message) => *message,
        }
    }
}
