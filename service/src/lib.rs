//! The Zetema server: tables, journal and the gRPC adapters.

pub mod access;
pub mod config;
pub mod encoding;
mod grpc;
pub mod journal;
pub mod limits;
pub mod matches;
pub mod metrics;
pub mod restore;
pub mod server;
pub mod table;
