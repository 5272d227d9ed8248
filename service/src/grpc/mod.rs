//! The gRPC adapters: messages in, calls to the core, messages out. What tonic has stays in here and in
//! [`server`](crate::server).

mod backend;
mod bot_service;
mod caller;
mod drain;
mod encoded;
mod fault;
mod handed;
mod heard;
mod ladder_service;
mod lists;
mod luck;
mod match_service;
mod named_bots;
mod play;
mod result_streams;
mod rules_service;
mod spectators;
mod standings;
mod suspicions;
mod token_service;
mod told;
mod told_body;
mod tonic_faults;
mod webhook_service;
mod wire;

pub(crate) use backend::Backend;
pub(crate) use bot_service::BotAdapter;
pub(crate) use drain::Drain;
pub(crate) use fault::Fault;
pub(crate) use ladder_service::LadderAdapter;
pub(crate) use match_service::MatchServer;
pub(crate) use play::{PlayAdapter, PlayServer};
pub(crate) use rules_service::RulesAdapter;
pub(crate) use token_service::TokenAdapter;
pub(crate) use tonic_faults::{explain, is_grpc, is_grpc_web, unknown_method};
pub(crate) use webhook_service::WebhookAdapter;

/// Bytes before a message: whether it is compressed, and its length (gRPC over HTTP/2, "Length-Prefixed-Message").
pub(crate) const PREFIX: usize = 5;
