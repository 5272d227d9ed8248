//! House bots that play in this process, over connections as any other bot's.

mod account;
mod crew;
mod open;
mod playing;
mod serving;

pub(crate) use account::Account;
pub(crate) use crew::{Challenged, Crew, Failure, Opening};
pub(crate) use open::Open;
pub(crate) use playing::Playing;
pub(crate) use serving::HouseBots;
