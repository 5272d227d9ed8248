//! Lets six good bots play on a ladder, beside eight others that behave and beside one bad bot of every kind, and prints what the good ones felt and what
//! each bad one got.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin bad_bots -- --minutes 10
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    linux::main().await
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!(
        "bad bots have addresses of their own (127.0.0.10 and on), which only Linux has without more"
    )
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::time::Duration;

    use clap::{Parser, ValueEnum};
    use zetema_tests::bad_bots::{Lasts, Rate, Run};

    /// Lets six good bots play on a ladder, beside eight others that behave and beside one bad bot of every kind.
    #[derive(Parser)]
    struct Args {
        /// How long they play, beside others and beside the bad ones each
        #[arg(long, default_value = "10")]
        minutes: f64,
        /// How long a bot has to come to its match, in milliseconds
        #[arg(long, default_value = "20000")]
        join_timeout_ms: u64,
        /// How the report is printed
        #[arg(long, default_value = "table")]
        format: Format,
        /// Another program than that of this build
        #[arg(long)]
        program: Option<PathBuf>,
        /// A flag for the server, such as `--server-flag=--max-connections=100`; may be given several times
        #[arg(long, allow_hyphen_values = true)]
        server_flag: Vec<OsString>,
    }

    #[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
    enum Format {
        Table,
        Json,
    }

    pub(super) async fn main() -> anyhow::Result<()> {
        let Args { minutes, join_timeout_ms, format, program, server_flag } = Args::parse();
        let run = Run {
            program,
            flags: server_flag,
            join_timeout: Duration::from_millis(join_timeout_ms),
            requests: Rate::REQUESTS,
            connections: Rate::CONNECTIONS,
            lasts: Lasts::For(Duration::try_from_secs_f64(60.0 * minutes)?),
        };
        let report = run.run().await?;
        match format {
            Format::Table => print!("{}", report.table()),
            Format::Json => println!("{}", report.json()),
        }
        let problems = report.problems();
        anyhow::ensure!(problems.is_empty(), "not as docs/bad-bots.md says: {}", problems.join("; "));
        Ok(())
    }
}
