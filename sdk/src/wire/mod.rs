//! What comes on a Play stream, and the records of matches, read straight into the types of the rules.
//!
//! Nearly all that comes are observations of plain play. To decode one into messages and to convert these costs several
//! times what the rest of the session does about it, so [`Observed::read`] reads the bytes of such an observation itself. It
//! gives up on whatever is not plain: a field or value that it does not know, one that is out of range, an event that is rare.
//! Then the message is decoded as any other, which also says what is wrong with it. So it is with a record, whose lists of
//! steps and times are nearly all of it.

mod action;
mod codec;
mod event;
mod fields;
mod observed;
mod outgoing;
mod record;
#[cfg(test)]
mod tests;
mod view;

use zetema_proto::v1;

pub(crate) use codec::{PlayCodec, RecordCodec};
pub(crate) use observed::{Asked, Happened, Observed};
pub(crate) use outgoing::Outgoing;

/// What the server sends on a Play stream.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// An observation of plain play.
    Observed {
        /// What stands for the seat on this stream.
        handle: u32,
        observed: Observed,
    },
    /// Anything.
    Message(Box<v1::PlayResponse>),
}

impl Incoming {
    /// Reads an observation of plain play; `None` if it is something else.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (handle, observed) = observed::read_response(bytes).ok()?;
        Some(Self::Observed { handle, observed })
    }
}
