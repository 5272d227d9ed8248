//! A server on which the same match is played again and again.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::{FutureExt, Stream, StreamExt};
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;
use zetema_proto::v1::time_control;
use zetema_proto::{Wire, v1};
use zetema_rules::fair::Nonce;
use zetema_rules::{MatchEnd, Options, Preset, Rules};
use zetema_sdk::{
    DealCheck, End, Fault, MatchInfo, Outcome, PlayerToken, Records, Session, Settings, Unchecked,
};

use super::backend::is_passing;
use super::{Backend, Bug, Case, Claim, Dealing, Ledger, Logged, Problem, Relay, Terms, Transport, Truth};
use crate::harness::{Clients, TestServer, fixed, joint, own, soon, with_bot};
use crate::proxy::{Counts, Frame, Plan, Proxy, calls};

/// How long a match may take, which takes a few seconds where nothing else runs.
const OVER_WITHIN: Duration = Duration::from_mins(5);

/// A server on which the same match is played again and again.
pub struct Scene {
    server: TestServer,
    place: Place,
}

/// Where the matches are played.
#[derive(Clone)]
struct Place {
    clients: Clients,
    server: SocketAddr,
    bug: Option<Bug>,
}

/// What came of one match.
pub struct Run {
    /// All that is wrong.
    pub problems: Vec<Problem>,
    /// How many frames there were.
    pub counts: Counts,
    /// The frame that the fault was done to. `None` if the match was over before it came.
    pub struck: Option<Frame>,
    /// How long the match took.
    pub took: Duration,
    /// What the problems were looked for in. `None` if the match was not over.
    pub account: Option<(Truth, Ledger)>,
}

impl Run {
    fn panicked(error: &JoinError) -> Self {
        let problems = vec![Problem::Panicked(error.to_string())];
        let counts = Counts { to_server: 0, to_client: 0 };
        Self { problems, counts, struck: None, took: Duration::ZERO, account: None }
    }
}

impl Scene {
    /// Starts the server.
    pub async fn start() -> Self {
        let (server, clients) = TestServer::start().await;
        let place = Place { clients, server: server.address(), bug: None };
        Self { server, place }
    }

    /// Starts the server, and for each match a relay with this bug.
    pub async fn start_with(bug: Bug) -> Self {
        let Self { server, place } = Self::start().await;
        Self { server, place: Place { bug: Some(bug), ..place } }
    }

    /// Stops the server.
    pub async fn stop(self) {
        self.server.stop().await;
    }

    /// Runs these cases, so many at once, in the order in which they are done.
    pub fn run_all(&self, cases: Vec<Case>, at_once: usize) -> impl Stream<Item = (Case, Run)> {
        let started = futures::stream::iter(cases).map(|case| {
            let place = self.place.clone();
            let Case { transport, dealing, plan } = case;
            // A relay knows no bots.
            let terms = if place.bug.is_some() { Terms::plain(dealing) } else { case.terms() };
            let running = tokio::spawn(async move { run(&place, transport, terms, Some(plan)).await });
            running.map(move |ran| (case, ran.unwrap_or_else(|error| Run::panicked(&error))))
        });
        started.buffer_unordered(at_once)
    }

    /// Plays the match without a fault, which must go well: what there is to strike.
    pub async fn run_whole(&self, transport: Transport, dealing: Dealing) -> Run {
        let run = run(&self.place, transport, Terms::plain(dealing), None).await;
        assert_eq!(run.problems, [], "the match goes well without a fault");
        run
    }
}

/// A match between two with declarations, zetemas and a target that it reaches after a part of a deal.
fn spec(Terms { dealing, time_control, claim: _ }: Terms) -> v1::MatchSpec {
    let sackson: Options = *Preset::Sackson.rules(2, None).unwrap();
    let options = Options { target: Some(30), match_end: MatchEnd::AtOnce, ..sackson };
    let decisions = time_control::Decisions::Named(time_control.into());
    let time_control = v1::TimeControl { decisions: Some(decisions), ..v1::TimeControl::default() };
    let spec = own(Rules::new(options).unwrap().to_wire());
    let spec = v1::MatchSpec { time_control: Some(time_control), ..spec };
    match dealing {
        Dealing::Fixed => fixed(spec, [3; 32]),
        Dealing::Joint => joint(spec),
    }
}

/// A match between a seat under test and another one.
struct Pair {
    match_id: String,
    /// What seat 0 is played by.
    token: PlayerToken,
    /// The token of seat 1.
    other: String,
}

impl Pair {
    async fn new(clients: &Clients, terms: Terms) -> Self {
        /// Each bot has the seat of one match.
        static BOTS: AtomicU32 = AtomicU32::new(0);
        let mut spec = spec(terms);
        let bot = match terms.claim {
            Claim::SeatToken => None,
            Claim::BotToken => {
                let name = format!("bot-{}", BOTS.fetch_add(1, Ordering::Relaxed));
                let (_, token) = clients.bot_token(&name).await;
                spec = with_bot(spec, 0, &name);
                Some(token)
            }
        };
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
        let answer = soon("CreateMatch", clients.matches().create_match(request)).await.unwrap();
        let v1::CreateMatchResponse { r#match, seat_tokens } = answer.into_inner();
        let mut tokens = seat_tokens.into_iter().map(|token| token.token);
        let token = match bot {
            Some(token) => PlayerToken::Bot(token.as_str().into()),
            None => PlayerToken::Seat(tokens.next().unwrap().as_str().into()),
        };
        Self { match_id: r#match.unwrap().match_id, token, other: tokens.next().unwrap() }
    }
}

/// A nonce for a seat, where nonces have a part in the deals.
fn nonce(dealing: Dealing, seat: usize) -> Option<Nonce> {
    (dealing == Dealing::Joint).then(|| Nonce::new(format!("seat {seat}").as_bytes()).unwrap())
}

/// Plays one match, in which seat 0 is connected by a proxy with this plan.
async fn run(place: &Place, transport: Transport, terms: Terms, plan: Option<Plan>) -> Run {
    let Place { clients, server, bug } = place;
    let pair = Pair::new(clients, terms).await;
    let began = Instant::now();
    let mut other = Backend::unhurried(&clients.url(), &pair.other, nonce(terms.dealing, 1));
    other.join().await;
    let other = AbortOnDropHandle::new(tokio::spawn(other.play()));
    let relay = match bug {
        Some(bug) => Some(Relay::start(*server, *bug).await),
        None => None,
    };
    let server = relay.as_ref().map_or(*server, Relay::address);
    let proxy = Proxy::start(server, plan).await;
    // A relay has no records.
    let records = if bug.is_some() { Records::Ignored } else { Records::Checked };
    let played = async {
        let mut problems = Vec::new();
        let ledger = match transport {
            Transport::Play => play(&proxy, pair.token.clone(), terms.dealing, records, &mut problems).await,
            Transport::Observe => observe(&proxy, &pair, nonce(terms.dealing, 0)).await,
        };
        // The other seat would wait for one that was given up.
        if ledger.ends.is_empty() {
            return Err(problems);
        }
        Ok((ledger, problems, other.await.unwrap()))
    };
    let played = tokio::time::timeout(OVER_WITHIN, played).await;
    let took = began.elapsed();
    let (counts, struck) = (proxy.counts(), proxy.struck());
    let (problems, account) = match played {
        Ok(Ok((ledger, mut problems, other))) => match check(clients, &pair, &ledger, &other).await {
            Ok((truth, found)) => {
                problems.extend(found);
                (problems, Some((truth, ledger)))
            }
            Err(problem) => (vec![problem], None),
        },
        Ok(Err(problems)) => (problems, None),
        Err(_) => (vec![Problem::NotOver { after_s: OVER_WITHIN.as_secs() }], None),
    };
    Run { problems, counts, struck, took, account }
}

/// Plays a seat by the SDK; by a bot's token the one seat that the bot has.
pub(crate) async fn play(
    proxy: &Proxy,
    token: PlayerToken,
    dealing: Dealing,
    records: Records,
    problems: &mut Vec<Problem>,
) -> Ledger {
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let bots = Arc::clone(&ledger);
    let settings = Settings { records, ..Settings::default() };
    let bot = move |_: &MatchInfo| Logged(Arc::clone(&bots));
    let mut session = match token {
        PlayerToken::Bot(token) => Session::open_for_bot(&proxy.url(), settings, token, bot).unwrap(),
        PlayerToken::Seat(token) => {
            let mut session = Session::open(&proxy.url(), settings, bot).unwrap();
            session.play(token).unwrap();
            session
        }
    };
    let Outcome { end, deal, faults, .. } = session.next().await.expect("a seat has an outcome");
    if !matches!(end, End::Result(_)) {
        problems.push(Problem::Fault(end.to_string()));
    }
    let expected = match dealing {
        Dealing::Fixed => DealCheck::Unchecked(Unchecked::Fixed),
        Dealing::Joint => DealCheck::Verified,
    };
    let unchecked = DealCheck::Unchecked(Unchecked::NoRecord);
    if deal != expected && (records == Records::Checked || deal != unchecked) {
        problems.push(Problem::Fault(deal.to_string()));
    }
    let passing = |fault: &&Fault| match fault {
        // Of a stream that the server cut, a bot is told why when it is back.
        Fault::Disconnected(_) | Fault::CutBefore { .. } => true,
        Fault::Refused { refusal, .. } => is_passing(refusal.reason),
        _ => false,
    };
    let told = faults.iter().filter(|fault| !passing(fault));
    problems.extend(told.map(|fault| Problem::Fault(fault.to_string())));
    let mut ledger = ledger.lock().unwrap().clone();
    ledger.read_play(&calls(&proxy.passed()));
    ledger
}

/// Plays seat 0 by `JoinSeat`, Observe and Act.
async fn observe(proxy: &Proxy, pair: &Pair, nonce: Option<Nonce>) -> Ledger {
    let PlayerToken::Seat(token) = &pair.token else { panic!("Observe takes tokens of seats") };
    let mut backend = Backend::new(&proxy.url(), token.reveal(), nonce);
    backend.join().await;
    let mut ledger = backend.play().await;
    // As the server sent them, since the proxy may have said one twice.
    ledger.subscriptions.clear();
    ledger.read_observe(&calls(&proxy.passed()), token.reveal());
    ledger
}

/// Holds both ledgers against the record and against what the server shows: what is true of seat 0, and all that
/// is wrong.
///
/// # Errors
/// If there is no record to hold them against.
async fn check(
    clients: &Clients,
    pair: &Pair,
    ledger: &Ledger,
    other: &Ledger,
) -> Result<(Truth, Vec<Problem>), Problem> {
    let tokens = [pair.token.clone(), PlayerToken::from(pair.other.as_str())];
    let mut truths = Truth::of_seats(clients, &pair.match_id, &tokens).await?.into_iter();
    let (own, others) = (truths.next().unwrap(), truths.next().unwrap());
    let mut problems = own.problems(ledger);
    let felt = other.felt.iter().cloned();
    let wrong = others.problems(other);
    problems.extend(felt.chain(wrong.iter().map(ToString::to_string)).map(Problem::OtherSeat));
    Ok((own, problems))
}
