//! Several generators that make the load of one run.
//!
//! The first one [waits](Meeting) for the others, which [join] it by its address. It divides the plan, has all begin when all are
//! ready, and adds up what they have measured: [`Generators::run`]. What goes between them are messages on a TCP connection
//! without encryption. No token is among them, nor the server's address: who joins brings both, so that nobody who answers at an address can
//! have a token sent anywhere.

mod generators;
mod greeting;
mod link;
mod meeting;
mod member;
mod message;
mod plan_text;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

pub use generators::Generators;
pub use link::Lost;
pub use meeting::{Arrival, Meeting, MeetingError, Met};
pub use member::{JoinError, Progress, join};
pub(crate) use plan_text::PlanText;
