//! End-to-end tests over real sockets and real processes.

#[cfg(target_os = "linux")]
pub mod bad_bots;
#[cfg(target_os = "linux")]
pub mod bench;
pub mod crash;
pub mod damage;
#[cfg(target_os = "linux")]
pub mod disk;
pub mod fault_runs;
#[cfg(target_os = "linux")]
pub mod floods;
pub mod harness;
pub mod lists;
#[cfg(target_os = "linux")]
pub mod overload;
pub mod proxy;
pub mod reference;
pub mod simulation;
pub mod twins;
