//! What is to be audited, as the command line and the environment say.

use std::fmt;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::args::DEFAULT_SERVER;

/// What is to be audited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A server that runs, and the folder that may have the admin token.
    Server { server: String, data: PathBuf },
    /// The folder of one that does not.
    Folder(PathBuf),
}

#[derive(Debug, Args)]
struct PlaceArgs {
    /// The server's address, as in `http://127.0.0.1:4680`; that one, if no --data is given either
    #[arg(long, env = "ZETEMA_SERVER", value_name = "URL")]
    server: Option<String>,
    /// A data folder: with --server the one that has the admin token, else the one to audit
    #[arg(long, env = "ZETEMA_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Args for Place {
    fn augment_args(command: Command) -> Command {
        PlaceArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        PlaceArgs::augment_args_for_update(command)
    }
}

impl FromArgMatches for Place {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let PlaceArgs { server, data } = PlaceArgs::from_arg_matches(matches)?;
        let is_typed = |name| matches.value_source(name) == Some(ValueSource::CommandLine);
        // What is typed counts for more than what the environment says.
        let server = server.filter(|_| is_typed("server") || !is_typed("data"));
        Ok(match (server, data) {
            (None, Some(data)) => Self::Folder(data),
            (server, data) => Self::Server {
                server: server.unwrap_or_else(|| DEFAULT_SERVER.to_owned()),
                data: data.unwrap_or_else(|| "zetema-data".into()),
            },
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { server, .. } => write!(f, "the server at {server}"),
            Self::Folder(data) => write!(f, "the data folder {}", data.display()),
        }
    }
}
