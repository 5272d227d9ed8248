//! Floods a server, and prints what became of the attacker, of the server's memory, and of another client.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin floods
//! cargo run --release -p zetema-tests --bin floods -- --flood rapid-reset --over tls --seconds 60
//! cargo run --release -p zetema-tests --bin floods -- --spectators 0,1000,10000 --over plaintext
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    linux::main().await
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("what a process costs is read from /proc, which only Linux has")
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::time::Duration;

    use clap::{Parser, ValueEnum};
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    use zetema_tests::floods::{
        Beside, Enough, Flood, Readers, Row, Run, Scarce, Setup, Transport, watch_one,
    };

    /// How long the server and its other clients are looked at before and after a flood.
    const CALM: Duration = Duration::from_secs(3);

    /// Floods a server, and prints what became of the attacker, of the server's memory, and of another client.
    #[derive(Parser)]
    struct Args {
        /// This flood only. May be given several times.
        #[arg(long)]
        flood: Vec<Flood>,
        /// What connections speak below HTTP.
        #[arg(long, default_value = "both")]
        over: Over,
        /// How long each flood goes on.
        #[arg(long, default_value = "15")]
        seconds: u64,
        /// How the rows are printed: for people, or one JSON object a line.
        #[arg(long, default_value = "table")]
        format: Format,
        /// Instead of a flood: so many streams that never read beside 500 seats that play, and beside as many that read.
        #[arg(long)]
        readers: Option<usize>,
        /// Instead of a flood: so many spectators of one match. May be given several times.
        #[arg(long, value_delimiter = ',')]
        spectators: Vec<usize>,
        /// Instead of a flood: let the server run short of this. May be given several times.
        #[arg(long)]
        scarce: Vec<Scarce>,
        /// Another program than that of this build.
        #[arg(long)]
        program: Option<PathBuf>,
        /// A flag for the server, such as `--server-flag=--max-connections=100`. May be given several times.
        #[arg(long, allow_hyphen_values = true)]
        server_flag: Vec<OsString>,
    }

    #[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
    enum Over {
        Plaintext,
        Tls,
        Both,
    }

    #[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
    enum Format {
        Table,
        Json,
    }

    pub(super) async fn main() -> anyhow::Result<()> {
        let Args { flood, over, seconds, format, readers, spectators, scarce, program, server_flag } =
            Args::parse();
        // Each attacker's connection is a file here.
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
        let floods = if flood.is_empty() { Flood::value_variants().to_vec() } else { flood };
        let transports: &[Transport] = match over {
            Over::Plaintext => &[Transport::Plaintext],
            Over::Tls => &[Transport::Tls],
            Over::Both => &[Transport::Plaintext, Transport::Tls],
        };
        let lasts = Duration::from_secs(seconds);
        let setup = |transport| Setup {
            program: program.clone(),
            transport,
            flags: server_flag.clone(),
            shell: None,
        };
        if let Some(count) = readers {
            for &transport in transports {
                readers_beside(&setup(transport), count, lasts).await?;
            }
            return Ok(());
        }
        for &count in &spectators {
            for &transport in transports {
                spectators_of_one(&setup(transport), count, lasts).await?;
            }
        }
        if !spectators.is_empty() {
            return Ok(());
        }
        for &scarce in &scarce {
            println!("{scarce:?}\n{}", scarce.run(&setup(Transport::Plaintext)).await?);
        }
        if !scarce.is_empty() {
            return Ok(());
        }
        if format == Format::Table {
            println!("{}", Row::heads());
        }
        for flood in floods {
            for &transport in transports {
                if flood.needs_tls() && transport == Transport::Plaintext {
                    continue;
                }
                let row = Run { flood, setup: setup(transport), lasts, enough: Enough::Never, calm: CALM }
                    .run()
                    .await?;
                match format {
                    Format::Table => println!("{}", row.line()),
                    Format::Json => println!("{}", row.json()),
                }
            }
        }
        Ok(())
    }

    async fn spectators_of_one(setup: &Setup, count: usize, lasts: Duration) -> anyhow::Result<()> {
        let row = watch_one(setup, count, lasts).await?;
        let [p50, p99] = row.players.percentiles();
        let [others_p50, others_p99] = row.others.percentiles();
        println!(
            "{:?}, {count} spectators: the match's players p50 {p50:.2} ms, p99 {p99:.2} ms of {} actions; other matches' \
             p50 {others_p50:.2} ms, p99 {others_p99:.2} ms of {}; {:.0} observations a second, {} gaps, {} streams ended; \
             {} bytes for each spectator, at most {} MB, {:.2} processors",
            setup.transport,
            row.players.round_trips.len(),
            row.others.round_trips.len(),
            row.shown_per_second,
            row.gaps,
            row.ended,
            row.bytes_each,
            row.peak / (1024 * 1024),
            row.processors,
        );
        Ok(())
    }

    async fn readers_beside(setup: &Setup, count: usize, lasts: Duration) -> anyhow::Result<()> {
        for (readers, beside) in [
            (Readers::None, "no readers"),
            (Readers::Reading, "readers who read"),
            (Readers::NotReading, "readers who never read"),
        ] {
            let scene = Beside { players: Beside::PLAYERS, readers: count, warm_up: Beside::WARM_UP, lasts };
            let row = readers.run(setup, tempfile::tempdir()?, scene).await?;
            let [p50, p99] = row.felt.percentiles();
            println!(
                "{:?}, 500 that play, {count} {beside}: p50 {p50:.2} ms, p99 {p99:.2} ms of {} actions; {} of {} readers' \
                 connections cut ({:?}); at most {} MB, {:.2} processors, {} matches broken off",
                setup.transport,
                row.felt.round_trips.len(),
                row.toll.cut.len(),
                row.toll.opened,
                row.toll.answers,
                row.peak / (1024 * 1024),
                row.processors,
                row.felt.broken,
            );
        }
        Ok(())
    }
}
