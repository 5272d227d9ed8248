//! Every bound of the server, with its unit and its reason (invariant I5: one bad client hurts nobody).
//!
//! The journal's own, which no client can reach, are beside it in `journal/sqlite/limits.rs`.
//!
//! What tonic, hyper and h2 leave unlimited by default is limited here too. A bound that an operator may want
//! to move has a key in [`Config`](crate::config::Config), whose default is here.

mod accounts;
mod connections;
mod faults;
mod ladders;
mod matches;
mod overload;
mod play;
mod replays;
mod requests;
mod telemetry;
mod webhooks;

pub use accounts::*;
pub use connections::*;
pub use faults::*;
pub use ladders::*;
pub use matches::*;
pub use overload::*;
pub use play::*;
pub use replays::*;
pub use requests::*;
pub use telemetry::*;
pub use webhooks::*;
