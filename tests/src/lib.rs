//! End-to-end tests over real sockets and real processes.

pub mod harness;
pub mod reference;
