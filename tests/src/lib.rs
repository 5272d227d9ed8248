//! End-to-end tests over real sockets and real processes.

pub mod crash;
pub mod damage;
pub mod fault_runs;
pub mod harness;
pub mod proxy;
pub mod reference;
pub mod twins;
