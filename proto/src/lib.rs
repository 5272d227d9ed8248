//! The wire contract `zetema.v1`, its generated code, and the conversions to and from the rules.
//!
//! The `.proto` files in `zetema/v1/` are the reference: one file per noun, a comment on every field with
//! its unit, range and presence. [`v1`] holds what is generated from them, clients and servers included;
//! [`FILE_DESCRIPTOR_SET`] is what a reflection service serves.
//!
//! `Debug` of a message never shows a token, a nonce, a seed or a hand.
//!
//! ```
//! use zetema_proto::v1;
//!
//! let token = v1::SeatToken { seat: 1, token: "secret".to_owned() };
//! assert!(!format!("{token:?}").contains("secret"));
//! ```

mod codec;
mod convert;
mod encode;
mod redacted;
mod status;

pub use codec::{WireDecoder, decode};
pub use convert::{
    DealSet, FieldError, Problem, RecordHeader, Views, Visibility, Wire, record_from_wire, record_to_wire,
    seat_event_from_wire, seat_event_to_wire, stored_time_control, view_from_wire, view_to_wire,
};
pub use encode::{Fields, encode_legal_actions, encode_seat_event, encode_view};
pub use status::ERROR_DOMAIN;

/// The public package `zetema.v1`.
#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::expect_used,
    clippy::unwrap_used,
    rustdoc::all
)]
pub mod v1 {
    tonic::include_proto!("zetema.v1");
}

/// The journal's records: private to the server, whose journal alone reads and writes them.
pub mod journal {
    /// The package `zetema.journal.v1`.
    #[allow(
        missing_docs,
        unreachable_pub,
        unused_qualifications,
        clippy::all,
        clippy::pedantic,
        rustdoc::all
    )]
    pub mod v1 {
        tonic::include_proto!("zetema.journal.v1");
    }
}

/// Every `.proto` file of `zetema.v1` and what it imports, encoded, with the comments: for gRPC
/// reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// The revision of the protocol that these files describe, which `Hello` and `Welcome` name.
pub const PROTOCOL_REVISION: u32 = 1;

/// Bytes of what a `BotPanic` says, at most.
pub const MAX_PANIC_MESSAGE_BYTES: usize = 256;
