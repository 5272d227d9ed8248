//! Measures the service beside bare baselines, and says which bars are met.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin bench
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is what the program is for")]

/// The program's own, for the service and for what it is compared with alike.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<std::process::ExitCode> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("the server is given a core of its own by Linux alone")
}

#[cfg(target_os = "linux")]
mod linux {
    use std::num::NonZeroUsize;
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::time::Duration;

    use anyhow::{Context, bail};
    use clap::{Parser, Subcommand, ValueEnum};
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    use zetema_tests::bench::{
        CLIENT_CORE, Compared, Journaled, Machine, Planted, ROWS, Role, Row, Run, Scale, Setting, compared,
        holds_in_turn, in_turn, instructions, markdown, missed, pin, planted, select, serve, table,
    };
    use zetema_tests::harness::built;

    /// What stands before the figure in its file.
    const RENEWED: &str = "\
# Instructions of one action, server and clients together, as callgrind counts them. After a change that is worth what it costs:
# cargo run --release -p zetema-tests --bin bench -- --instructions tests/instructions --renew
";

    /// Measures the service beside bare baselines, and says which bars are met. Ends with 1 if one was missed.
    #[derive(Parser)]
    struct Args {
        #[command(subcommand)]
        part: Option<Part>,
        /// Names the rows, and ends.
        #[arg(long)]
        list: bool,
        /// Measures this row alone. May be repeated.
        #[arg(long, value_name = "NAME")]
        row: Vec<String>,
        /// How often all is measured. The medians count.
        #[arg(long, default_value = "5")]
        rounds: NonZeroUsize,
        /// How long each is measured.
        #[arg(long, default_value_t = 20.0)]
        seconds: f64,
        /// How long each runs before that.
        #[arg(long, default_value_t = 5.0)]
        warm_up: f64,
        /// Measures next to nothing, once: it is seen that all works. No bar is judged.
        #[arg(long)]
        smoke: bool,
        /// The folder of what is written while it is measured. It should be on the disk whose speed counts.
        #[arg(long)]
        folder: Option<PathBuf>,
        /// Plants this in the server, and measures it beside one without: that it is noticed. With `--instructions` it is counted.
        #[arg(long, value_enum)]
        planted: Option<Planted>,
        /// Another program `zetema` than that of this build, for the rows that measure it.
        #[arg(long)]
        program: Option<PathBuf>,
        /// Another build of this program, such as that of the commit before. Both measure in turn, each standing still while the
        /// other runs, and what this one has is shown ÷ what that one has. No bar is judged.
        #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["json", "markdown", "planted", "instructions", "program", "list"])]
        against: Option<PathBuf>,
        /// Counts the instructions of an action under valgrind instead, and holds them against the figure in this file. Ends with
        /// 1 if there are over a tenth more.
        #[arg(long, value_name = "FILE")]
        instructions: Option<PathBuf>,
        /// Writes what was counted into that file, in the place of the figure there.
        #[arg(long, requires = "instructions", conflicts_with = "planted")]
        renew: bool,
        /// Writes all figures into this file.
        #[arg(long)]
        json: Option<PathBuf>,
        /// Writes the table for docs/performance.md into this file.
        #[arg(long)]
        markdown: Option<PathBuf>,
    }

    #[derive(Subcommand)]
    enum Part {
        /// What this program starts itself as.
        #[command(hide = true)]
        Serve {
            #[command(subcommand)]
            role: Role,
        },
        /// What it counts the instructions of.
        #[command(hide = true)]
        Play {
            /// The folder of what is written.
            #[arg(long)]
            folder: PathBuf,
            /// Where the server keeps its matches.
            #[arg(long, value_enum)]
            journal: Journaled,
            /// How many actions.
            actions: u64,
        },
    }

    pub(super) fn main() -> anyhow::Result<ExitCode> {
        let args = Args::parse();
        // Each connection is a file here.
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        match args.part {
            Some(Part::Serve { role }) => {
                runtime.block_on(serve(role))?;
                Ok(ExitCode::SUCCESS)
            }
            Some(Part::Play { folder, journal, actions }) => {
                instructions::play(actions, &folder, journal)?;
                Ok(ExitCode::SUCCESS)
            }
            None if args.instructions.is_some() => count(&args),
            None if args.list => {
                for row in args.planted.map_or(ROWS, planted) {
                    println!("{:24} {} ({})", row.name, row.what, row.unit);
                }
                Ok(ExitCode::SUCCESS)
            }
            None if args.against.is_some() => runtime.block_on(beside(&args)),
            None => runtime.block_on(run(args)),
        }
    }

    /// Counts instructions.
    fn count(args: &Args) -> anyhow::Result<ExitCode> {
        let file = args.instructions.as_ref().context("no file")?;
        let folder = args.folder.clone().unwrap_or_else(std::env::temp_dir);
        let folder = folder.to_str().context("the folder has a name that is no text")?;
        let program = std::env::current_exe()?;
        let journal = args.planted.map_or(Journaled::Disk, Journaled::Slowed).to_possible_value();
        let journal = journal.context("a journal has no name")?;
        let played = ["play", "--folder", folder, "--journal", journal.get_name()];
        let counted = instructions::count(&program, &played)?;
        if args.renew {
            std::fs::write(file, format!("{RENEWED}{counted}\n"))?;
            println!("{counted} instructions for an action");
            return Ok(ExitCode::SUCCESS);
        }
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let (told, is_little) = instructions::judge(counted, instructions::stored(&text)?);
        println!("{told}");
        Ok(if is_little { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Measures beside another build.
    async fn beside(args: &Args) -> anyhow::Result<ExitCode> {
        let that = args.against.as_ref().context("no other program")?;
        let that = that.canonicalize().with_context(|| that.display().to_string())?;
        let mut rows = select(ROWS, &args.row)?;
        if args.row.is_empty() {
            rows.retain(holds_in_turn);
        } else if let Some(row) = rows.iter().find(|row| !holds_in_turn(row)) {
            let held: Vec<&str> = ROWS.iter().filter(|row| holds_in_turn(row)).map(|row| row.name).collect();
            bail!("{} can't be measured in turn: those that can are {}", row.name, held.join(", "));
        }
        let mut arguments = vec![
            format!("--rounds={}", args.rounds),
            format!("--seconds={}", args.seconds),
            format!("--warm-up={}", args.warm_up),
        ];
        arguments.extend(rows.iter().map(|row| format!("--row={}", row.name)));
        arguments.extend(args.smoke.then(|| "--smoke".to_owned()));
        let folder = args.folder.clone().unwrap_or_else(std::env::temp_dir);
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        eprintln!("{} in turn with {}, {} rounds", names.join(", "), that.display(), args.rounds);
        let measured = Duration::try_from_secs_f64(args.seconds).context("no number of seconds")?;
        let programs = [&*std::env::current_exe()?, &*that];
        let [this, that] = in_turn(programs, &arguments, &folder, measured).await?;
        let found = |row: &Row| {
            let lacks = || format!("one of them has no {}: compare builds that measure it alike", row.name);
            Compared::of(row, &this, &that).with_context(lacks)
        };
        print!("{}", compared(&rows.iter().map(found).collect::<anyhow::Result<Vec<_>>>()?));
        Ok(ExitCode::SUCCESS)
    }

    async fn run(args: Args) -> anyhow::Result<ExitCode> {
        let rows = select(args.planted.map_or(ROWS, planted), &args.row)?;
        let folder = args.folder.unwrap_or_else(std::env::temp_dir);
        let machine = Machine::here(&folder);
        // It may have to be built, which one core would take long for.
        let needed = rows.iter().any(Row::needs_program);
        let program = args.program.or_else(|| needed.then(|| built("zetema").to_owned()));
        pin(CLIENT_CORE)?;
        let seconds = |seconds| Duration::try_from_secs_f64(seconds).context("no number of seconds");
        let (setting, rounds) = if args.smoke {
            let [warm_up, lasts] = [50, 150].map(Duration::from_millis);
            (Setting { warm_up, lasts, scale: Scale::Smoke, folder, program }, 1)
        } else {
            let (warm_up, lasts) = (seconds(args.warm_up)?, seconds(args.seconds)?);
            (Setting { warm_up, lasts, scale: Scale::Full, folder, program }, args.rounds.get())
        };
        let run = Run { rows, setting, rounds, machine };
        let report = run.run(|told| eprintln!("{told}")).await?;
        println!(
            "bounds of the server that are wide open, as one address stands for many: {}",
            report.wide_open
        );
        print!("{}", table(&report));
        if let Some(file) = args.json {
            std::fs::write(&file, serde_json::to_vec_pretty(&report)?)
                .with_context(|| file.display().to_string())?;
        }
        if let Some(file) = args.markdown {
            std::fs::write(&file, markdown(&report)).with_context(|| file.display().to_string())?;
        }
        match missed(&report) {
            Some(missed) => {
                println!("{missed}");
                Ok(ExitCode::FAILURE)
            }
            None => Ok(ExitCode::SUCCESS),
        }
    }
}
