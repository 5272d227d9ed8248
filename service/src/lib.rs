//! The Zetema server: tables, journal and the gRPC adapters.

pub mod journal;
