//! Good bots on a ladder, alone and then beside bad ones.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::time::interval;
use tokio_util::sync::CancellationToken;
use tonic::Request;
use zetema_load::scrape::Page;
use zetema_proto::v1;
use zetema_proto::v1::ladder_service_client::LadderServiceClient;

use super::evidence::{Evidence, Rate, ends};
use super::line::Place;
use super::{BadRow, Bars, Felt, Figures, Kind, Manner, Player, Report, Seen, nuisance};
use crate::floods::{Host, Setup, Transport};
use crate::harness::{Clients, soon};

/// The ladder.
const LADDER: &str = "meadow";
/// Good bots.
const GOOD: usize = 6;
/// Matches that each of these plays at once.
const GOOD_PLACES: u32 = 2;
/// The count of the connections that the server has closed as soon as they came.
const CLOSED: &str = "zetema_refused_connections_total";
/// How often it is looked whether there has been enough.
const LOOKS: Duration = Duration::from_millis(500);
/// Results or faults of one page.
const PAGE: u32 = 1_000;

/// How long bots play.
#[derive(Clone, Copy, Debug)]
pub enum Lasts {
    /// So long beside the bad ones, without a break, and half of it beside others that behave before that and after it each.
    For(Duration),
    /// Until good bots have finished a match among themselves, beside others and beside the bad ones, and each of these has got what it
    /// gets; at most so long each.
    UntilAllHaveTheirs {
        /// At most, beside others and beside the bad ones each.
        at_most: Duration,
    },
}

/// Good bots on a ladder, beside others that behave and beside bad ones.
#[derive(Clone, Debug)]
pub struct Run {
    /// The program. `None`: that of this build.
    pub program: Option<PathBuf>,
    /// More flags for the server.
    pub flags: Vec<OsString>,
    /// How long a bot has to come to its match.
    pub join_timeout: Duration,
    /// How many requests of one token the server reads.
    pub requests: Rate,
    /// How many connections from one address the server accepts.
    pub connections: Rate,
    /// How long they play.
    pub lasts: Lasts,
}

/// A bad bot, since when it is there, and its clients, each with what it felt.
type Began = (Kind, Instant, (Vec<Bots>, Vec<Felt>));

/// Bots with a thread of their own. They end with this.
struct Bots {
    enough: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

/// Connections that the server has closed as soon as they came.
struct Closed {
    /// One address opens them too fast.
    by_rate: u64,
    /// Too many are open.
    by_number: u64,
}

/// A server with the ladder.
struct Scene {
    host: Host,
    admin: Clients,
}

impl Run {
    /// Runs it.
    ///
    /// # Errors
    /// If the server does not start.
    pub async fn run(&self) -> anyhow::Result<Report> {
        let (without, with, bad) = match self.lasts {
            Lasts::For(lasts) => {
                let mut without = self.beside_others(lasts / 2).await?;
                let (with, bad) = self.beside(lasts).await?;
                without.add(&self.beside_others(lasts / 2).await?);
                (without, with, bad)
            }
            Lasts::UntilAllHaveTheirs { at_most } => {
                let without = self.beside_others(at_most).await?;
                let (with, bad) = self.beside(at_most).await?;
                (without, with, bad)
            }
        };
        Ok(Report { without, with, bad, bars: self.bars() })
    }

    /// Whether it is for long enough to see all that bad bots get, and what good ones feel of it.
    const fn bars(&self) -> Bars {
        match self.lasts {
            Lasts::For(_) => Bars::Held,
            Lasts::UntilAllHaveTheirs { .. } => Bars::TooShort,
        }
    }

    /// Good bots beside as many others that behave as there are bad ones, on a server of their own, for so long at most. So the ladder
    /// has as many to pair as beside the bad ones.
    async fn beside_others(&self, at_most: Duration) -> anyhow::Result<Figures> {
        let scene = self.scene().await?;
        let (_good, felt) = scene.good().await;
        let mut others = Vec::new();
        for kind in Kind::ALL {
            others.extend(scene.other(kind).await);
        }
        let (began, mut looks) = (Instant::now(), interval(LOOKS));
        while began.elapsed() < at_most {
            looks.tick().await;
            if matches!(self.lasts, Lasts::UntilAllHaveTheirs { .. })
                && scene.figures(began.elapsed(), &felt).await.among_themselves > 0
            {
                break;
            }
        }
        Ok(scene.figures(began.elapsed(), &felt).await)
    }

    /// Good bots beside bad ones, of whom each has a row in the order of [`Kind::ALL`].
    async fn beside(&self, at_most: Duration) -> anyhow::Result<(Figures, Vec<BadRow>)> {
        let scene = self.scene().await?;
        let (_good, felt) = scene.good().await;
        let mut bad = Vec::new();
        for kind in Kind::ALL {
            bad.push((kind, Instant::now(), scene.bad(kind).await));
        }
        let (began, mut looks) = (Instant::now(), interval(LOOKS));
        while began.elapsed() < at_most {
            looks.tick().await;
            if matches!(self.lasts, Lasts::UntilAllHaveTheirs { .. }) {
                let rows = self.rows(&scene, &bad).await?;
                let figures = scene.figures(began.elapsed(), &felt).await;
                if figures.among_themselves > 0 && rows.iter().all(|row| row.evidence.missing().is_empty()) {
                    return Ok((figures, rows));
                }
            }
        }
        let figures = scene.figures(began.elapsed(), &felt).await;
        let rows = self.rows(&scene, &bad).await?;
        Ok((figures, rows))
    }

    async fn scene(&self) -> anyhow::Result<Scene> {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("zetema.toml");
        let join_timeout_ms = self.join_timeout.as_millis();
        // With a large bank a bot that is slow would have to be so for long.
        let control = format!(
            "join_timeout_ms={join_timeout_ms} budget_ms=1000 first_budget_ms=2000 bank_ms=2000 increment_ms=0 \
             network_credit_ms=0 network_credit_total_ms=0 time_out=forfeit"
        );
        let ladder = format!(
            "[[ladder]]\nname = \"{LADDER}\"\npreset = \"quick\"\nplayers = 2\ntime_control = \"{control}\"\n"
        );
        std::fs::write(&config, ladder)?;
        let mut flags = vec!["--config".into(), config.into()];
        let Rate { per_second, burst } = self.requests;
        flags.push(format!("--requests-per-second-per-token={per_second}").into());
        flags.push(format!("--request-burst-per-token={burst}").into());
        let Rate { per_second, burst } = self.connections;
        flags.push(format!("--connections-per-second-per-address={per_second}").into());
        flags.push(format!("--connection-burst-per-address={burst}").into());
        flags.extend(self.flags.iter().cloned());
        let setup = Setup { program: self.program.clone(), flags, ..Setup::usual(Transport::Plaintext) };
        let host = Host::start(&setup, folder).await?;
        let admin = host.admin().await;
        Ok(Scene { host, admin })
    }

    /// What each bad bot has got until now.
    async fn rows(&self, scene: &Scene, bad: &[Began]) -> anyhow::Result<Vec<BadRow>> {
        let mut rows = Vec::new();
        for (kind, began, (_, felt)) in bad {
            let seen = felt.iter().map(Felt::seen).collect();
            let closed = scene.closed().await?;
            let evidence = Evidence {
                kind: *kind,
                seen,
                results: scene.results(kind.name()).await,
                faults: scene.faults(kind.name()).await,
                // Of the time until it was asked what it saw, and before: so nothing is seen outside of it.
                lasted: began.elapsed(),
                bars: self.bars(),
                join_timeout: self.join_timeout,
                requests: self.requests,
                connections: self.connections,
                closed_by_rate: closed.by_rate,
                closed_by_number: closed.by_number,
            };
            rows.push(BadRow { evidence });
        }
        Ok(rows)
    }
}

/// Who has a processor first where bots and server want the same one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Priority {
    /// As the server has it.
    Usual,
    /// After all others: what the bots of another machine do to it comes by the network alone.
    Last,
}

impl Priority {
    /// Gives this to the thread that asks.
    fn take(self) {
        if self == Self::Last {
            let thread = std::fs::read_link("/proc/thread-self").unwrap();
            let mut renice = Command::new("renice");
            let told = renice.args(["-n", "19", "-p"]).arg(thread.file_name().unwrap()).output().unwrap();
            assert!(told.status.success(), "{told:?}");
        }
    }
}

impl Bots {
    /// Begins what these do.
    fn start(priority: Priority, tasks: impl FnOnce(&mut tokio::task::JoinSet<()>) + Send + 'static) -> Self {
        let enough = CancellationToken::new();
        let stop = enough.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let thread = std::thread::spawn(move || {
            priority.take();
            runtime.block_on(async {
                let mut set = tokio::task::JoinSet::new();
                tasks(&mut set);
                tokio::select! {
                    () = stop.cancelled() => {}
                    // They play for ever.
                    Some(ended) = set.join_next() => match ended {
                        Ok(()) => panic!("a bot has ended by itself"),
                        Err(error) => std::panic::resume_unwind(error.into_panic()),
                    },
                }
            });
        });
        Self { enough, thread: Some(thread) }
    }
}

impl Drop for Bots {
    fn drop(&mut self) {
        self.enough.cancel();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            // What the server did is in what they felt. A bot that has a fault of its own proves nothing.
            if let Err(panic) = ended
                && !std::thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

fn good_name(number: usize) -> String {
    format!("good-{number}")
}

impl Scene {
    async fn place(&self, name: &str, from: IpAddr, places: u32) -> Place {
        let (_, token) = self.admin.register_bot(name, &format!("owner-of-{name}")).await;
        Place { url: self.host.url(), from, token, ladder: LADDER.to_owned(), places }
    }

    /// The good bots begin to play.
    async fn good(&self) -> (Bots, Vec<Felt>) {
        let mut players = Vec::new();
        let felt: Vec<Felt> = (0..GOOD).map(|_| Felt::default()).collect();
        for (number, felt) in (0..).zip(&felt) {
            let from = IpAddr::V4(Ipv4Addr::LOCALHOST);
            let place = self.place(&good_name(number), from, GOOD_PLACES).await;
            players.push(Player::new(place, Manner::Good, felt.clone(), number as u64));
        }
        let bots = Bots::start(Priority::Usual, move |set| {
            for player in players {
                set.spawn(player.play_on());
            }
        });
        (bots, felt)
    }

    /// One that behaves begins to play in the place of a bad bot.
    async fn other(&self, kind: Kind) -> Vec<Bots> {
        let place = self.place(&format!("not-{}", kind.name()), kind.address(), 1).await;
        elsewhere(Player::new(place, Manner::Good, Felt::default(), 200 + kind as u64).play_on())
    }

    /// A bad bot begins to do what it does.
    async fn bad(&self, kind: Kind) -> (Vec<Bots>, Vec<Felt>) {
        let place = self.place(kind.name(), kind.address(), 1).await;
        let felt = vec![Felt::default()];
        let first = felt[0].clone();
        let manner = match kind {
            Kind::Silent => Manner::Silent,
            Kind::Slow => Manner::Slow,
            Kind::Illegal => Manner::Illegal,
            Kind::Crashing => Manner::Crashing,
            Kind::Reconnecting => return (elsewhere(nuisance::reconnect(place, first)), felt),
            Kind::Flooding => return (elsewhere(nuisance::flood(place, first)), felt),
            Kind::NeverReading => return (elsewhere(nuisance::never_read(place, first)), felt),
            Kind::TwoProcesses => {
                let felt = vec![first, Felt::default()];
                // Each has a connection and a thread of its own, as processes have: the server sees no more of these.
                let start = |(seed, felt): (u64, &Felt)| {
                    let player = Player::new(place.clone(), Manner::Good, felt.clone(), seed);
                    Bots::start(Priority::Last, spawn(player.play_on()))
                };
                return ((100..).zip(&felt).map(start).collect(), felt);
            }
        };
        (elsewhere(Player::new(place, manner, first, 200).play_on()), felt)
    }

    /// Which connections the server has closed as soon as they came, half a second ago at most.
    async fn closed(&self) -> anyhow::Result<Closed> {
        let page = soon("the metrics", Page::new(self.admin.channel().clone()).read()).await?;
        let count = |reason| whole(page.at(CLOSED, "reason", reason));
        Ok(Closed { by_rate: count("rate"), by_number: count("address") + count("all") })
    }

    /// What good bots felt until now.
    async fn figures(&self, lasted: Duration, felt: &[Felt]) -> Figures {
        // Before the results, which are then of all matches of which they saw the end.
        let seen: Vec<Seen> = felt.iter().map(Felt::seen).collect();
        let mut round_trips = seen[0].round_trips.clone();
        for seen in &seen[1..] {
            round_trips.add(&seen.round_trips).unwrap();
        }
        let results = self.results("").await;
        let is_good = |seat: &v1::LadderSeat| seat.bot_name.starts_with("good-");
        let played = |result: &&v1::LadderResult| result.reason() != v1::LadderResultReason::Aborted;
        let count = |of: &dyn Fn(&v1::LadderResult) -> bool| {
            results.iter().filter(played).filter(|result| of(result)).count() as u64
        };
        let sum = |end| (0..GOOD).map(|number| ends(&results, &good_name(number), end)).sum();
        Figures {
            lasted,
            round_trips,
            among_themselves: count(&|result| result.seats.iter().all(is_good)),
            matches: count(&|result| result.seats.iter().any(is_good)),
            forfeits: sum(v1::LadderSeatEnd::Forfeited),
            no_shows: sum(v1::LadderSeatEnd::NoShow),
        }
    }

    /// All results of the ladder, or those of one bot.
    async fn results(&self, bot: &str) -> Vec<v1::LadderResult> {
        let mut client = LadderServiceClient::new(self.admin.channel().clone());
        let (mut results, mut page_token) = (Vec::new(), String::new());
        loop {
            let filter =
                v1::LadderResultFilter { bot_name: bot.to_owned(), ..v1::LadderResultFilter::default() };
            let request = v1::ListResultsRequest {
                ladder: LADDER.to_owned(),
                filter: Some(filter),
                page_size: PAGE,
                page_token,
                oldest_first: None,
            };
            let page = soon("ListResults", client.list_results(request)).await.unwrap().into_inner();
            results.extend(page.results);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return results;
            }
        }
    }

    /// What the server remembers that went wrong for a bot: its first page will do.
    async fn faults(&self, bot: &str) -> Vec<v1::PlayerFault> {
        let request = v1::ListFaultsRequest {
            bot: bot.to_owned(),
            page_size: PAGE,
            ..v1::ListFaultsRequest::default()
        };
        let mut request = Request::new(request);
        let bearer = format!("Bearer {}", self.admin.admin_token()).parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        soon("ListFaults", self.admin.play().list_faults(request)).await.unwrap().into_inner().faults
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a counter is a whole number")]
const fn whole(count: f64) -> u64 {
    count as u64
}

/// A bot with one client, on a machine of its own.
fn elsewhere(task: impl Future<Output = ()> + Send + 'static) -> Vec<Bots> {
    vec![Bots::start(Priority::Last, spawn(task))]
}

fn spawn(
    task: impl Future<Output = ()> + Send + 'static,
) -> impl FnOnce(&mut tokio::task::JoinSet<()>) + Send + 'static {
    move |set| {
        set.spawn(task);
    }
}
