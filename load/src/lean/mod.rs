//! Clients that cost little: they know no rules, answer every decision by the index of a legal action, and read of a message only
//! what they need. One task drives all matches of a connection.

mod drive;
mod lane;
mod play;
mod table;
mod unary;

pub(crate) use lane::{Bot, Lane};
pub(crate) use play::drive as play;
pub(crate) use table::Created;
pub(crate) use unary::drive as unary;
