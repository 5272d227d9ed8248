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
    use std::num::{NonZeroU32, NonZeroUsize};
    use std::path::PathBuf;
    use std::time::Duration;

    use anyhow::Context;
    use clap::Parser;
    use nix::sched::{CpuSet, sched_setaffinity};
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    use nix::unistd::Pid;
    use zetema_load::{Load, Rate};
    use zetema_tests::overload::{Curve, Point, median, plot};

    /// Matches that are played at once to see what the server can do.
    const TABLES: NonZeroU32 = NonZeroU32::MIN.saturating_add(499);
    /// How late a server may be.
    const MAX_LATE: &str = "--max-late-ms=";
    /// What stands for never shedding.
    const NEVER: &str = "60000";

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
        /// How often all is measured. The medians count.
        #[arg(long, default_value = "3")]
        rounds: NonZeroUsize,
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
        /// One more flag of the server, with its value behind a `=`. May be repeated.
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

    /// What is measured in a round: how many matches a second the server plays when as many are always there, and what becomes
    /// of more than that.
    struct Round {
        limit: f64,
        curves: Vec<Curve>,
    }

    async fn run(args: Args) -> anyhow::Result<()> {
        let mut rounds = Vec::new();
        let mut closed = Vec::new();
        for number in 1..=args.rounds.get() {
            println!("round {number}");
            let limit = args.point(&args.never(), Load::Closed(TABLES)).await?;
            println!("{HEAD}");
            line("closed", &limit);
            rounds.push(args.round(limit.finished_per_second).await?);
            closed.push(limit);
        }
        let closed = Point::median(&closed).context("no round")?;
        let limit = closed.finished_per_second;
        println!("medians of {} rounds", rounds.len());
        println!(
            "{TABLES} matches at once: {limit:.0} matches a second, {:.0} actions a second, p99 {:.1} ms",
            closed.actions_per_second, closed.p99_ms
        );
        let curves = args.medians(&rounds)?;
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

    const HEAD: &str =
        "offered   asked created    shed   joins finished  actions  broken   p50 ms   p99 ms    CPU   MB";

    fn line(offered: &str, point: &Point) {
        println!(
            "{offered:>7} {:>7.0} {:>7.0} {:>7.0} {:>7.0} {:>8.0} {:>8.0} {:>7} {:>8.1} {:>8.1} {:>6.2} {:>4}",
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
    }

    impl Args {
        fn never(&self) -> Vec<OsString> {
            let others = self
                .server_flag
                .iter()
                .filter(|flag| !flag.as_encoded_bytes().starts_with(MAX_LATE.as_bytes()));
            others.cloned().chain([format!("{MAX_LATE}{NEVER}").into()]).collect()
        }

        async fn round(&self, limit: f64) -> anyhow::Result<Round> {
            let mut curves = vec![self.curve("shedding", &self.server_flag, limit).await?];
            if self.without {
                curves.push(self.curve("without shedding", &self.never(), limit).await?);
            }
            Ok(Round { limit, curves })
        }

        async fn curve(&self, name: &str, flags: &[OsString], limit: f64) -> anyhow::Result<Curve> {
            println!("{name}");
            let mut points = Vec::new();
            for offered in &self.offered {
                let point = self.point(flags, Load::Matches(Rate::new(offered * limit)?)).await?;
                line(&format!("{offered:.2}"), &point);
                points.push(point);
            }
            Ok(Curve { name: name.to_owned(), points })
        }

        async fn point(&self, flags: &[OsString], load: Load) -> anyhow::Result<Point> {
            let [warm_up, lasts] = [self.warm_up, self.seconds].map(Duration::from_secs);
            Point::measure(self.program.clone(), flags, load, warm_up, lasts).await
        }

        /// Prints what came out in the middle, for each curve and what was offered.
        fn medians(&self, rounds: &[Round]) -> anyhow::Result<Vec<Curve>> {
            let mut medians = Vec::new();
            let first = rounds.first().context("no round")?;
            for (index, Curve { name, .. }) in first.curves.iter().enumerate() {
                println!("{name}: of every row below, finished ÷ limit: median, least, most\n{HEAD}");
                let mut points = Vec::new();
                for (at, offered) in self.offered.iter().enumerate() {
                    let of_rounds: Vec<Point> =
                        rounds.iter().map(|round| round.curves[index].points[at].clone()).collect();
                    let point = Point::median(&of_rounds).context("no round")?;
                    let goodput: Vec<f64> = rounds
                        .iter()
                        .map(|round| round.curves[index].points[at].finished_per_second / round.limit)
                        .collect();
                    line(&format!("{offered:.2}"), &point);
                    let middle = median(goodput.iter().copied()).context("no round")?;
                    let least = goodput.iter().copied().fold(f64::MAX, f64::min);
                    let most = goodput.iter().copied().fold(0.0, f64::max);
                    println!("        {middle:.2} {least:.2} {most:.2}");
                    points.push(point);
                }
                medians.push(Curve { name: name.clone(), points });
            }
            Ok(medians)
        }
    }
}
