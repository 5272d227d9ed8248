//! What a client may: how many connections of an address, how many requests of a token, and what goes over one connection.
//!
//! None of it knows what is asked. `server` asks it at every connection and request, and the adapters for what one request
//! costs more.

mod address;
mod allowance;
mod disk_room;
mod frames;
mod pace;
mod pool;
mod pressure;
mod purpose;
mod queued;
mod rates;
mod replays;
mod traffic;
mod turns;
mod verdict;
mod windows;

pub(crate) use address::{Address, Crowd, Full, Room};
pub(crate) use disk_room::{DiskRoom, DiskShort};
pub(crate) use pool::Taken;
pub(crate) use pressure::{Overloaded, Pressure, Work};
pub(crate) use purpose::Purpose;
pub(crate) use queued::Queued;
pub(crate) use rates::{Debt, Origin, Rates, Share, TooFast};
pub(crate) use replays::LongQueue;
pub(crate) use traffic::{Bounds, OpenCall, Traffic};
pub(crate) use turns::Turn;
pub(crate) use verdict::Verdict;
