//! A session with a server: any number of matches at once over one stream.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;
use zetema_rules::Record;
use zetema_rules::fair::Nonce;

use crate::bot::{Bot, MatchInfo};
use crate::error::{Error, Refusal};
use crate::outcome::Outcome;
use crate::session::{Core, CoreSettings, Key, Output, Records};
use crate::thinkers::{Factory, Thinkers};
use crate::tls::Tls;
use crate::token::SeatToken;
use crate::transport::Transport;

/// How a [`Session`] behaves. The defaults suit most bots.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A name and version for the server's log, at most 64 ASCII characters.
    pub client_name: String,
    /// How many bots think at once. More seats than that may be played: their bots wait for a thread.
    pub thinkers: NonZeroUsize,
    /// How long to try before the first connection is made.
    pub first_connection_within: Duration,
    /// How long to try after a connection was lost.
    pub give_up_after: Duration,
    /// How a server with an `https://` address is checked.
    pub tls: Tls,
    /// Whether the record of a match is fetched and checked at its end.
    pub records: Records,
}

impl Default for Settings {
    /// 32 bots at once, 15 seconds to the first connection, ten minutes to be connected again, the system's
    /// CAs, records checked.
    fn default() -> Self {
        const THINKERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);
        Self {
            client_name: concat!("zetema-sdk/", env!("CARGO_PKG_VERSION")).to_owned(),
            thinkers: THINKERS,
            first_connection_within: Duration::from_secs(15),
            give_up_after: Duration::from_mins(10),
            tls: Tls::default(),
            records: Records::Checked,
        }
    }
}

/// A session with a server, in which bots play any number of matches at once over one stream.
///
/// It makes the connection again when it is lost, and goes on where it was: nothing that happened in
/// a match is missed or told twice, and no answer is lost or counts twice. Nonces are sent, and deals
/// and records checked, without a word from the bot. A bot thinks on a thread of its own.
///
/// It lives on the tokio runtime in which it was opened, and ends when it is dropped.
///
/// ```no_run
/// use zetema_sdk::{Action, Bot, Decision, Error, Session, Settings};
///
/// struct First;
/// impl Bot for First {
///     fn choose(&mut self, decision: &Decision) -> Action {
///         decision.first()
///     }
/// }
///
/// # async fn play(tokens: Vec<String>) -> Result<(), Error> {
/// let mut session = Session::open("http://127.0.0.1:4680", Settings::default(), |_| First)?;
/// for token in tokens {
///     session.play(token.into())?;
/// }
/// while let Some(outcome) = session.next().await {
///     println!("{outcome}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    seats: UnboundedSender<(SeatToken, Nonce)>,
    outcomes: UnboundedReceiver<Outcome>,
    /// Seats whose outcome was not handed out.
    open: usize,
    stop: Stop,
}

/// Stops a session, from anywhere.
#[derive(Clone, Debug)]
pub struct Stop(CancellationToken);

impl Stop {
    /// Ends the session: every seat that is being played ends with [`End::Stopped`](crate::End::Stopped).
    /// The matches go on without it, and another session may join the seats again.
    ///
    /// A bot that is thinking is not waited for, and not told of the end.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

impl Session {
    /// Opens a session. `factory` makes a bot for each seat of each match, on the thread on which
    /// the bot will think.
    ///
    /// The connection is made with the first seat.
    ///
    /// # Errors
    /// [`Error::Address`] if `server` is no address, and if it is one without TLS and the settings are for TLS;
    /// [`Error::TlsOption`] if the system has no CAs; [`Error::System`] outside a tokio runtime, or if the
    /// system gives no random bytes.
    pub fn open<B: Bot + 'static>(
        server: &str,
        settings: Settings,
        factory: impl Fn(&MatchInfo) -> B + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let runtime = tokio::runtime::Handle::try_current()
            .map_err(|error| Error::System { what: "tokio runtime", problem: error.to_string() })?;
        let factory: Factory = Arc::new(move |info| Box::new(factory(info)));
        let Settings { client_name, thinkers, first_connection_within, give_up_after, tls, records } =
            settings;
        let core = CoreSettings {
            server: server.to_owned(),
            client_name,
            first_connection_within,
            give_up_after,
            records,
            jitter_seed: u64::from_be_bytes(random_bytes()?),
        };
        // Neither has a bound of its own: they hold as many seats as were given to the session.
        let (seats, given) = unbounded_channel();
        let (sender, outcomes) = unbounded_channel();
        let stop = Stop(CancellationToken::new());
        let driver = Driver {
            core: Core::new(core, Instant::now()),
            transport: Transport::new(server, &tls)?,
            thinkers: Thinkers::new(factory, thinkers),
            records: FuturesUnordered::new(),
            given,
            outcomes: sender,
            stop: stop.0.clone(),
        };
        runtime.spawn(driver.run());
        Ok(Self { seats, outcomes, open: 0, stop })
    }

    /// Plays one more seat, at any time.
    ///
    /// # Errors
    /// [`Error::System`] if the system gives no random bytes for the nonce.
    pub fn play(&mut self, token: SeatToken) -> Result<(), Error> {
        let bytes: [u8; 32] = random_bytes()?;
        let nonce = Nonce::new(&bytes)
            .map_err(|error| Error::System { what: "nonce", problem: error.to_string() })?;
        if self.seats.send((token, nonce)).is_ok() {
            self.open += 1;
        }
        Ok(())
    }

    /// The next outcome of a seat; `None` when every seat has had its own, until another is played.
    pub async fn next(&mut self) -> Option<Outcome> {
        if self.open == 0 {
            return None;
        }
        let outcome = self.outcomes.recv().await;
        self.open = if outcome.is_some() { self.open - 1 } else { 0 };
        outcome
    }

    /// What stops the session.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }
}

fn random_bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::System { what: "random bytes", problem: error.to_string() })?;
    Ok(bytes)
}

type Fetched = (Key, Result<Box<Record>, Refusal>);

/// Joins the core with its socket, its bots and the clock.
struct Driver {
    core: Core,
    transport: Transport,
    thinkers: Thinkers,
    records: FuturesUnordered<BoxFuture<'static, Fetched>>,
    given: UnboundedReceiver<(SeatToken, Nonce)>,
    outcomes: UnboundedSender<Outcome>,
    stop: CancellationToken,
}

impl Driver {
    async fn run(mut self) {
        loop {
            while let Some(output) = self.core.next_output() {
                self.perform(output);
            }
            let deadline = self.core.deadline();
            let stopped = self.stop.is_cancelled();
            tokio::select! {
                given = self.given.recv() => match given {
                    Some((token, nonce)) => {
                        self.core.play(Instant::now(), token, nonce);
                        if stopped {
                            self.core.stop();
                        }
                    }
                    // The session was dropped: nobody waits for an outcome.
                    None => return,
                },
                () = self.stop.cancelled(), if !stopped => self.core.stop(),
                message = self.transport.next() => match message {
                    Ok(message) => self.core.received(Instant::now(), message),
                    Err(why) => self.core.lost(Instant::now(), why),
                },
                (key, worked) = self.thinkers.next() => self.core.worked(key, worked),
                Some((key, record)) = self.records.next() => self.core.record(key, record),
                () = sleep_until(deadline) => self.core.tick(Instant::now()),
            }
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Connect => self.transport.connect(),
            Output::Disconnect => self.transport.disconnect(),
            Output::Send(message) => self.transport.send(*message),
            Output::Work { key, calls } => self.thinkers.work(key, calls),
            Output::FetchRecord { key, match_id, token } => {
                let fetched = self.transport.fetch_record(match_id, token);
                self.records.push(Box::pin(async move { (key, fetched.await) }));
            }
            Output::Finished { key, outcome } => {
                self.thinkers.remove(key);
                // If the session was dropped, the next turn of the loop ends this task.
                let _ = self.outcomes.send(*outcome);
            }
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
