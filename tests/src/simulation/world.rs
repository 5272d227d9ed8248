//! One run: a server, its matches, all their players, and what goes wrong.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use zetema_proto::Views;
use zetema_rules::fair::ServerSeed;
use zetema_rules::{
    ClockOptions, DecisionClock, DecisionTime, Options, Outcome, Players, Preset, Rules, TimeControl,
    TimeOut, Viewer,
};
use zetema_service::encoding::decode_record;
use zetema_service::journal::Visibility;
use zetema_service::matches::{Audience, End, Limits, Matches, Next};
use zetema_service::table::{DealSpec, LadderRates, MatchInfo, MatchSpec, Rejection, SeatSpec};

use super::Run;
use super::creation::create;
use super::disk::Disk;
use super::fault::Fault;
use super::network::Link;
use super::place::Place;
use super::player::{Player, Role};
use super::random::Random;
use super::server::Server;
use super::strike::Scene;
use super::trace::{Lines, Trace};
use super::truth::Truth;
use super::watcher::watch;

/// Simulated time after the last fault in which every match must have ended: all that a silent seat, a bank and the waits
/// for players can come to are minutes.
const ENDS_WITHIN: Duration = Duration::from_hours(2);

/// How often what needs the journal is tried at the end.
const ATTEMPTS: usize = 100;

/// Runs a world to its end.
pub(super) async fn run(seed: u64, faults: &[Fault], lines: Lines) -> Run {
    let start = Instant::now();
    let truth = Arc::new(Truth::new(Trace::new(lines)));
    let failed = truth.failed();
    failed.run_until_cancelled(live(seed, faults, &truth)).await;
    let (problem, trace, lines, mut tally) = truth.end();
    tally.simulated_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    Run { seed, problem, trace, lines, tally }
}

async fn live(seed: u64, faults: &[Fault], truth: &Arc<Truth>) {
    let mut random = Random::new(seed, &[2]);
    let disk = Disk::new(Arc::clone(truth), Random::new(seed, &[3]));
    let limits = Limits {
        queued_observations: random.pick(&[4, 256]),
        follow_gap_entries: random.pick(&[2, 32]),
        inbox_messages: random.pick(&[1, 64]),
        ..Limits::default()
    };
    let server = Arc::new(Server::new(disk.clone(), Arc::clone(truth), limits, Random::new(seed, &[4])));
    server.start().await;
    let created = create(specs(&mut random), &server, &disk, truth, Random::new(seed, &[11])).await;
    let infos = match created {
        Ok(infos) => infos,
        Err(problem) => return truth.problem(problem),
    };
    truth.tally(|tally| tally.matches = infos.len() as u64);

    let (mut seats, mut watchers) = (Vec::new(), Vec::new());
    for (number, info) in (0..).zip(&infos) {
        let viewers = info.seats.iter().map(|seat| Viewer::Seat(seat.seat)).chain([Viewer::Spectator]);
        for (index, viewer) in (0..).zip(viewers) {
            let seat = match viewer {
                Viewer::Seat(seat) => seat,
                Viewer::Spectator => info.seats[0].seat,
            };
            let place = |name| {
                let link = Link::new(Random::new(seed, &[5, number, index, name]));
                let answers = Random::new(seed, &[6, number, index]).next();
                Arc::new(Place::new(
                    (info.match_id, seat),
                    Arc::clone(&server),
                    Arc::clone(truth),
                    link,
                    answers,
                ))
            };
            if viewer != Viewer::Spectator {
                seats.push(place(0));
            }
            watchers.push((viewer, place(1)));
        }
    }
    for (number, seat) in (0..).zip(&seats) {
        let player = Player::new(Arc::clone(seat), Role::Owner, Random::new(seed, &[8, number]));
        tokio::spawn(player.play());
    }
    let mut watching = JoinSet::new();
    for (number, (viewer, place)) in (0..).zip(&watchers) {
        watching.spawn(watch(Arc::clone(place), *viewer, Random::new(seed, &[9, number])));
    }
    let watchers = watchers.into_iter().map(|(_, place)| place).collect();
    let random = Random::new(seed, &[10]);
    let scene = Scene {
        server: Arc::clone(&server),
        disk: disk.clone(),
        truth: Arc::clone(truth),
        seats,
        watchers,
        random,
    };
    let begun = Instant::now();
    for fault in faults {
        let (mut scene, kind) = (scene.clone(), fault.kind);
        // By when it strikes, so that what is left out changes nothing of it.
        scene.random = Random::new(seed, &[10, fault.at_ms]);
        let at = begun + Duration::from_millis(fault.at_ms);
        tokio::spawn(async move {
            sleep_until(at).await;
            scene.strike(kind).await;
        });
    }
    let last_ms = faults.iter().map(|fault| fault.at_ms).max().unwrap_or_default();
    let within = ENDS_WITHIN + Duration::from_millis(last_ms);
    let all_seen = async {
        while let Some(watched) = watching.join_next().await {
            if let Err(error) = watched {
                truth.problem(format_args!("a watcher fell: {error}"));
            }
        }
    };
    if timeout(within, all_seen).await.is_err() {
        return truth.problem(format_args!("a match does not end within {within:?}"));
    }
    for info in &infos {
        check_end(truth, &server, info).await;
    }
    if disk.finished() != infos.len() {
        truth.problem(format_args!("{} of {} matches have a record", disk.finished(), infos.len()));
    }
}

/// Holds what is left of a match against what was stored of it: its record, and all that its viewers may still read.
async fn check_end(truth: &Truth, server: &Server, info: &MatchInfo) {
    let match_id = info.match_id;
    let outcome = truth.with(match_id, |expected| expected.table().outcome().cloned()).flatten();
    if let Some(Outcome::Result(_)) = outcome {
        truth.tally(|tally| tally.results += 1);
    }
    for attempt in 1.. {
        let checked = check_record(truth, &server.up().await.matches, info, outcome.as_ref()).await;
        match checked {
            Ok(()) => return,
            Err(Unfit::Problem(problem)) => {
                return truth.problem(format_args!("the end of {match_id}: {problem}"));
            }
            Err(Unfit::NotNow(rejection)) if attempt == ATTEMPTS => {
                return truth.problem(format_args!("the end of {match_id}: {rejection:?}"));
            }
            Err(Unfit::NotNow(_)) => sleep(Duration::from_millis(500)).await,
        }
    }
}

enum Unfit {
    Problem(String),
    NotNow(Rejection),
}

impl From<Rejection> for Unfit {
    fn from(rejection: Rejection) -> Self {
        Self::NotNow(rejection)
    }
}

async fn check_record(
    truth: &Truth,
    matches: &Matches,
    info: &MatchInfo,
    outcome: Option<&Outcome>,
) -> Result<(), Unfit> {
    let match_id = info.match_id;
    let problem = |problem: String| Unfit::Problem(problem);
    let now = matches.get(match_id).await?;
    if now.outcome.as_ref() != outcome {
        return Err(problem(format!("it is shown as {:?}, and {outcome:?} is stored", now.outcome)));
    }
    let file = matches.record(match_id).await?;
    let record = decode_record(&file.record).map_err(|error| problem(error.to_string()))?.0;
    record.verify().map_err(|error| problem(format!("its record does not verify: {error}")))?;
    let seats = now.seats.iter().map(|seat| (Viewer::Seat(seat.seat), seat.generation));
    for (viewer, generation) in seats.chain([(Viewer::Spectator, 0)]) {
        let audience = match viewer {
            Viewer::Seat(seat) => Audience::Observer(zetema_service::table::SeatAccess { seat, generation }),
            Viewer::Spectator => Audience::Spectator,
        };
        let mut past = matches.subscribe(match_id, audience, Some(0), Views::EveryDecision).await?;
        let mut count = 0;
        loop {
            match past.next().await {
                Next::Observation(observation) => {
                    count += 1;
                    if observation.seq != count {
                        return Err(problem(format!("{viewer:?} reads {} as {count} (I4)", observation.seq)));
                    }
                    truth.observed(match_id, viewer, &observation);
                }
                Next::End(End::Over(_)) => break,
                Next::End(_) => return Err(Rejection::Stopping.into()),
            }
        }
        let shown = truth.with(match_id, |expected| expected.shown_to(viewer) as u64);
        if shown != Some(count) {
            return Err(problem(format!("{viewer:?} reads {count} of {shown:?} observations (I4)")));
        }
    }
    Ok(())
}

/// One to three matches, by any rules and clock.
fn specs(random: &mut Random) -> Vec<MatchSpec> {
    let rules = rules(random);
    let (count, deals) = random.pick(&[(1, 0), (1, 0), (1, 1), (2, 0), (2, 2), (3, 2)]);
    let deals =
        [DealSpec::Joint, DealSpec::Fixed(ServerSeed::new([7; 32])), DealSpec::Shared(1)][deals].clone();
    let spec = MatchSpec {
        rules,
        seats: rules.seats().map(|_| SeatSpec::Token).collect(),
        deals,
        time_control: time_control(random),
        visibility: Visibility::Public,
        client_reference: None,
        owner: None,
        ladder: None,
        ladder_rates: LadderRates::default(),
    };
    vec![spec; count]
}

fn rules(random: &mut Random) -> Rules {
    let preset = random.pick(&Preset::ALL);
    let players = random.pick(preset.players());
    let teams = random.pick(preset.teams(Players::new(players.into()).unwrap()));
    let mut options: Options = *preset.rules(players.into(), Some(teams)).unwrap();
    // Most matches are short, so that more of them begin and end in faults.
    options.target = random.pick(&[Some(20), Some(60), options.target]);
    Rules::new(options).unwrap()
}

fn time_control(random: &mut Random) -> TimeControl {
    let join_timeout_ms = random.pick(&[10_000, 60_000]);
    if random.percent(10) {
        return TimeControl::new(join_timeout_ms, DecisionTime::Unlimited { idle_timeout_ms: 60_000 })
            .unwrap();
    }
    let (budget_ms, bank_ms) = random.pick(&[(300, 1_000), (2_000, 5_000), (5_000, 30_000)]);
    let ms = |random: &mut Random, most: u32| u32::try_from(random.within(1, most.into())).unwrap();
    let clock = DecisionClock::new(ClockOptions {
        budget_ms: ms(random, budget_ms),
        first_budget_ms: ms(random, 2 * budget_ms),
        bank_ms: ms(random, bank_ms),
        increment_ms: random.pick(&[0, budget_ms / 5]),
        network_credit_ms: ms(random, 100),
        network_credit_total_ms: ms(random, 400),
        time_out: random.pick(&[
            TimeOut::Forfeit,
            TimeOut::Autoplay { strikes: 1 },
            TimeOut::Autoplay { strikes: 4 },
        ]),
    });
    TimeControl::new(join_timeout_ms, DecisionTime::Clock(clock.unwrap())).unwrap()
}
