//! Offers a server more matches than it can play, and shows what becomes of those that run.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin overload -- --plot overload.svg
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("the server is given a processor of its own by Linux alone")
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::time::Duration;

    use clap::Parser;
    use nix::sched::{CpuSet, sched_setaffinity};
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    use nix::unistd::Pid;
    use zetema_tests::overload::{Arrivals, Curve, Point, plot};

    /// Matches that are played at once to see what the server can do.
    const TABLES: usize = 500;
    /// What stands for never shedding.
    const NEVER: &str = "--max-late-ms=60000";

    /// Offers a server more matches than it can play, and shows what becomes of those that run.
    #[derive(Parser)]
    struct Args {
        /// What is offered, in parts of what the server can do.
        #[arg(long, value_delimiter = ',', default_value = "0.5,0.75,0.9,1,1.25,1.5,2,2.5,3")]
        offered: Vec<f64>,
        /// How long each is measured.
        #[arg(long, default_value_t = 15)]
        seconds: u64,
        /// How long each lasts before that.
        #[arg(long, default_value_t = 5)]
        warm_up: u64,
        /// Measures the same without shedding too.
        #[arg(long)]
        without: bool,
        /// Draws a plot into this SVG file.
        #[arg(long)]
        plot: Option<PathBuf>,
        /// Writes all figures into this JSON file.
        #[arg(long)]
        json: Option<PathBuf>,
        /// Another program than that of this build.
        #[arg(long)]
        program: Option<PathBuf>,
        /// One more flag of the server. May be repeated.
        #[arg(long, allow_hyphen_values = true)]
        server_flag: Vec<OsString>,
    }

    pub(super) fn main() -> anyhow::Result<()> {
        // Each connection is a file here.
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
        if std::thread::available_parallelism()?.get() > 1 {
            let mut own = CpuSet::new();
            own.set(1)?;
            sched_setaffinity(Pid::from_raw(0), &own)?;
        }
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run(Args::parse()))
    }

    async fn run(args: Args) -> anyhow::Result<()> {
        let never: Vec<OsString> = args.server_flag.iter().cloned().chain([NEVER.into()]).collect();
        let closed = args.point(&never, Arrivals::Closed(TABLES)).await?;
        let limit = closed.finished_per_second;
        println!(
            "{TABLES} matches at once: {limit:.0} matches a second, {:.0} actions a second, p99 {:.1} ms",
            closed.actions_per_second, closed.p99_ms
        );
        let mut curves = vec![args.curve("shedding", &args.server_flag, limit).await?];
        if args.without {
            curves.push(args.curve("without shedding", &never, limit).await?);
        }
        for curve in &curves {
            let best = curve.points.iter().map(|point| point.finished_per_second).fold(0.0, f64::max);
            let last = curve.points.last().map_or(0.0, |point| point.finished_per_second);
            println!("{}: goodput at the most that was offered ÷ peak {:.2}", curve.name, last / best);
        }
        if let Some(file) = &args.plot {
            plot(&curves, limit, file)?;
        }
        if let Some(file) = &args.json {
            let curves: Vec<_> = curves
                .iter()
                .map(|curve| serde_json::json!({ "name": curve.name, "points": curve.points }))
                .collect();
            let all = serde_json::json!({ "limit": closed, "curves": curves });
            std::fs::write(file, serde_json::to_vec_pretty(&all)?)?;
        }
        Ok(())
    }

    impl Args {
        async fn point(&self, flags: &[OsString], arrivals: Arrivals) -> anyhow::Result<Point> {
            let [warm_up, lasts] = [self.warm_up, self.seconds].map(Duration::from_secs);
            Point::measure(self.program.clone(), flags, arrivals, warm_up, lasts).await
        }

        async fn curve(&self, name: &str, flags: &[OsString], limit: f64) -> anyhow::Result<Curve> {
            println!("{name}");
            println!(
                "offered   asked created    shed   joins finished  actions  broken   p50 ms   p99 ms    CPU   MB"
            );
            let mut points = Vec::new();
            for offered in &self.offered {
                let point = self.point(flags, Arrivals::Open(offered * limit)).await?;
                println!(
                    "{offered:>7.2} {:>7.0} {:>7.0} {:>7.0} {:>7.0} {:>8.0} {:>8.0} {:>7} {:>8.1} {:>8.1} {:>6.2} {:>4}",
                    point.asked_per_second,
                    point.created_per_second,
                    point.shed_per_second,
                    point.joins_shed_per_second,
                    point.finished_per_second,
                    point.actions_per_second,
                    point.broken,
                    point.p50_ms,
                    point.p99_ms,
                    point.server_processors,
                    point.server_bytes >> 20,
                );
                if let Some(problem) = &point.problem {
                    println!("        broken off: {problem}");
                }
                points.push(point);
            }
            Ok(Curve { name: name.to_owned(), points })
        }
    }
}
