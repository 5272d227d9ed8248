//! The gRPC adapters: messages in, calls to the core, messages out. What tonic has stays in here and in
//! [`server`](crate::server).

mod fault;
mod rules_service;
mod tonic_faults;

pub(crate) use rules_service::RulesAdapter;
pub(crate) use tonic_faults::{explain, unknown_method};
