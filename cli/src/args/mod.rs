//! Flags that several commands share.

mod bots;
mod from_one;
mod rules;
mod seed;
mod server;
mod spec;
mod time_control;
mod tls;

pub(crate) use bots::{BotsArgs, house};
pub(crate) use from_one::from_one;
pub(crate) use rules::{PlayersAndTeams, RulesArgs, preset};
pub(crate) use seed::Seed;
pub(crate) use server::{AddressArgs, DEFAULT_SERVER, ServerArgs};
pub(crate) use spec::{SpecArgs, spec};
pub(crate) use time_control::{Seconds, TimeControlArgs};
pub(crate) use tls::TlsArgs;

use crate::output::Format;

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct FormatArgs {
    /// How results are printed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
