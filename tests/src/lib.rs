//! End-to-end tests over real sockets and real processes.

pub mod reference;
