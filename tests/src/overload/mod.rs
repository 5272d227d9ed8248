//! More matches than the server can play: what is refused, and what becomes of those that run.
//!
//! Matches arrive on schedule, whatever the server does, and lean clients of `zetema-load` play them, which know no rules. A
//! [`Point`] is one rate of arrivals on a server of its own, which has one processor for itself; the clients have another. The
//! program `overload` puts points from below to far above what the server can do into a table and a plot.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod plot;
mod point;
mod rounds;

pub use plot::{Curve, plot};
pub use point::Point;
pub use rounds::median;
