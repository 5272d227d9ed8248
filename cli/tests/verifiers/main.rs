//! The verifiers of deals in Python and JavaScript, over what the program exports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod played;
mod presets;
mod reading;
mod tampered;
mod vectors;
mod verifier;
