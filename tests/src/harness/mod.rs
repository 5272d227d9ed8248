//! What the end-to-end tests share: servers, clients from the generated code, and players that are as
//! plain as can be.
//!
//! Nothing here sleeps, but for a client that is told to answer pings late: it waits for the event, and [`soon`] fails the
//! test when that does not come.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod bytes_codec;
mod certificates;
mod clients;
mod judge;
mod play_stream;
mod process;
mod program;
mod seat_log;
mod secrets;
mod server;
mod soon;
mod spec;
mod stream_table;
mod table;

pub use bytes_codec::{call, call_as};
pub use certificates::{Authority, Certificate};
pub use clients::{Bearer, Clients, Created};
pub use judge::check_by_reference;
pub use play_stream::{PlayStream, Pongs};
pub use process::{Process, Stopped};
pub use program::{Program, built};
pub use seat_log::{Acted, Open, SeatLog};
pub use secrets::{Secrets, faces};
pub use server::TestServer;
pub use soon::soon;
pub use spec::{clocked, fixed, joint, own, preset, sackson_to, shared, unhurried, with_bot};
pub use stream_table::StreamTable;
pub use table::{Table, join_all};
