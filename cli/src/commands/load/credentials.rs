//! With which token a server is loaded.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use secrecy::SecretString;

use crate::failure::Usage;

#[derive(Debug, Args)]
struct Flags {
    /// The token of the admin or an owner; unless given, it is read from the file in the server's data folder
    #[arg(long, env = "ZETEMA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<SecretString>,
    /// The server's data folder, whose file has the admin token
    #[arg(long, env = "ZETEMA_DATA", value_name = "DIR", default_value = "zetema-data")]
    data: PathBuf,
}

/// With which token a server is loaded.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    pub(super) token: Option<SecretString>,
    /// The folder whose file has it, if it is not given.
    pub(super) data: PathBuf,
    /// The first of the flags that was typed. What the environment says is of whatever server there is, and may go unused.
    typed: Option<&'static str>,
}

impl Credentials {
    /// Refuses what was typed where nothing has a use for it: a server that is started for the run has a token of its own.
    pub(super) fn check_unused(&self) -> Result<(), Usage> {
        self.typed.map_or(Ok(()), |flag| {
            Err(Usage::new(format!(
                "--{flag} is for a server that is there, and the one that is started has its own: give --server URL, or leave \
                 --{flag} out"
            )))
        })
    }
}

impl Args for Credentials {
    fn augment_args(command: Command) -> Command {
        Flags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::augment_args_for_update(command)
    }
}

impl FromArgMatches for Credentials {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Flags { token, data } = Flags::from_arg_matches(matches)?;
        let is_typed = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        Ok(Self { token, data, typed: ["token", "data"].into_iter().find(is_typed) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
