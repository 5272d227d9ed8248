//! A session with a server: any number of matches at once over one stream.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::bot::{Bot, MatchInfo};
use crate::challenges::Challenges;
use crate::claim::Claim;
use crate::driver::{Driver, Given, Told};
use crate::error::Error;
use crate::ladder::{LadderQueue, QueueState, SessionEvent};
use crate::nonce_secret::NonceSecret;
use crate::outcome::Outcome;
use crate::random;
use crate::seat_bot::Factory;
use crate::session::{Core, CoreSettings, Records, Seats, Wish};
use crate::thinkers::{BotThreads, Thinkers};
use crate::tls::Tls;
use crate::token::{BotToken, SeatToken};
use crate::transport::Transport;

/// How a [`Session`] behaves. The defaults suit most bots.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A name and version for the server's log, at most 64 ASCII characters.
    pub client_name: String,
    /// How many bots think at once. More seats than that may be played: their bots wait for a turn. Bots whose decisions
    /// come together take turns on one thread, until one of them takes longer than a millisecond.
    pub thinkers: NonZeroUsize,
    /// The threads on which they think, together with the bots of all sessions that have the same.
    pub threads: BotThreads,
    /// How long to try before the first connection is made.
    pub first_connection_within: Duration,
    /// How long to try after a connection was lost.
    pub give_up_after: Duration,
    /// How a server with an `https://` address is checked.
    pub tls: Tls,
    /// Whether the record of a match is fetched and checked at its end.
    pub records: Records,
    /// From what the nonces follow. Without it they are random, and a seat that joined before it was dealt can be
    /// played to its deal by this session alone.
    pub nonce_secret: Option<NonceSecret>,
}

impl Default for Settings {
    /// 32 bots at once, on threads that all sessions of the process share, 15 seconds to the first connection, ten minutes to be connected again, the system's
    /// CAs, records checked, random nonces.
    fn default() -> Self {
        const THINKERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);
        Self {
            client_name: concat!("zetema-sdk/", env!("CARGO_PKG_VERSION")).to_owned(),
            thinkers: THINKERS,
            threads: BotThreads::default(),
            first_connection_within: Duration::from_secs(15),
            give_up_after: Duration::from_mins(10),
            tls: Tls::default(),
            records: Records::Checked,
            nonce_secret: None,
        }
    }
}

/// A session with a server, in which bots play any number of matches at once over one stream.
///
/// It makes the connection again when it is lost, and goes on where it was: nothing that happened in
/// a match is missed or told twice, and no answer is lost or counts twice. Nonces are sent, and deals
/// and records checked, without a word from the bot. Bots think on threads of their own: one that is slow holds up neither
/// the session nor another bot.
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
    given: UnboundedSender<Given>,
    told: UnboundedReceiver<Told>,
    /// Seats that were given to the session and whose outcome was not handed out.
    open: usize,
    taking: Taking,
    stop: Stop,
}

/// Whether a session takes the seats of a bot.
#[derive(Debug)]
enum Taking {
    OfBot,
    /// It never did, or was told not to, or can't.
    No(Option<Error>),
}

/// Stops a session, from anywhere.
#[derive(Clone, Debug)]
pub struct Stop {
    now: CancellationToken,
    finish: CancellationToken,
}

impl Stop {
    /// Ends the session: every seat that is being played ends with [`End::Stopped`](crate::End::Stopped).
    /// The matches go on without it, and another session may join the seats again.
    ///
    /// A bot that is thinking is not waited for, and not told of the end.
    pub fn stop(&self) {
        self.now.cancel();
    }

    /// Takes no more seats of the bot: the session ends when those that are being played are over. The bot leaves its ladders, and
    /// accepts no challenge, first, and the seats that it was given up to then are played too. The seats of a session that has no bot's token are
    /// all given to it, so that this changes nothing.
    pub fn finish(&self) {
        self.finish.cancel();
    }

    pub(crate) const fn now(&self) -> &CancellationToken {
        &self.now
    }

    pub(crate) const fn when_done(&self) -> &CancellationToken {
        &self.finish
    }
}

impl Session {
    /// Opens a session for seats that are given to it. `factory` makes a bot for each seat of each match, on the
    /// thread on which the bot will think.
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
        Self::with(server, settings, None, Arc::new(move |info| Box::new(factory(info))))
    }

    /// Opens a session that plays every seat that matches have for a bot: those of matches that are under way, whoever
    /// played them before, and each new one as it comes, until it is stopped.
    ///
    /// A stream carries as many seats as the server says. Those beyond it are joined as others are over, the oldest match
    /// first.
    ///
    /// A seat that another program takes, by the same token, is left to it. Two programs with the same token take each new
    /// seat from each other once, and whoever joins last plays it: give a bot's token to one program only.
    ///
    /// ```no_run
    /// # use zetema_sdk::{Action, Bot, Decision, Error, Session, Settings};
    /// # struct First;
    /// # impl Bot for First {
    /// #     fn choose(&mut self, decision: &Decision) -> Action {
    /// #         decision.first()
    /// #     }
    /// # }
    /// # async fn play(token: &str) -> Result<(), Error> {
    /// let settings = Settings::default();
    /// let mut session = Session::open_for_bot("http://127.0.0.1:4680", settings, token.into(), |_| First)?;
    /// while let Some(outcome) = session.next().await {
    ///     println!("{outcome}");
    /// }
    /// session.closed()
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Session::open`]; [`Error::BotToken`] if the token can't be sent.
    pub fn open_for_bot<B: Bot + 'static>(
        server: &str,
        settings: Settings,
        token: BotToken,
        factory: impl Fn(&MatchInfo) -> B + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        Self::with(server, settings, Some(token), Arc::new(move |info| Box::new(factory(info))))
    }

    fn with(
        server: &str,
        settings: Settings,
        bot: Option<BotToken>,
        factory: Factory,
    ) -> Result<Self, Error> {
        let runtime = tokio::runtime::Handle::try_current()
            .map_err(|error| Error::System { what: "tokio runtime", problem: error.to_string() })?;
        let Settings {
            client_name,
            thinkers,
            threads,
            first_connection_within,
            give_up_after,
            tls,
            records,
            nonce_secret,
        } = settings;
        let (seats, taking) = match &bot {
            Some(_) => (Seats::OfBot, Taking::OfBot),
            None => (Seats::Given, Taking::No(None)),
        };
        let core = CoreSettings {
            server: server.to_owned(),
            client_name,
            first_connection_within,
            give_up_after,
            records,
            jitter_seed: u64::from_be_bytes(random::bytes()?),
            nonce_secret: nonce_secret.map_or_else(NonceSecret::generate, Ok)?,
            seats,
        };
        // Neither has a bound of its own: they hold as many seats as were given to the session, or taken by it.
        let (given, seats) = unbounded_channel();
        let (sender, told) = unbounded_channel();
        let stop = Stop { now: CancellationToken::new(), finish: CancellationToken::new() };
        let driver = Driver::new(
            Core::new(core, Instant::now()),
            Transport::new(server, &tls, bot)?,
            Thinkers::new(factory, runtime.clone(), threads, thinkers),
            seats,
            sender,
            stop.clone(),
        );
        runtime.spawn(driver.run());
        Ok(Self { given, told, open: 0, taking, stop })
    }

    /// Plays one more seat, at any time.
    ///
    /// # Errors
    /// [`Error::System`] if the runtime of the session was shut down.
    pub fn play(&mut self, token: SeatToken) -> Result<(), Error> {
        self.given.send(Given::Seat(token)).map_err(|_| no_runtime())?;
        self.open += 1;
        Ok(())
    }

    /// Waits on these ladders from now on, and on no others: an empty list leaves them all, and their matches go on. Gives how
    /// the bot stands on each, once the server has said so. The seats that the ladders give the bot are played as all its seats
    /// are.
    ///
    /// The bot waits as long as the session is connected. When the connection is made again, the session asks for the same
    /// anew; what the server says then comes by [`Session::next_event`].
    ///
    /// A bot that plays day and night, three matches at once:
    ///
    /// ```no_run
    /// # use zetema_sdk::{Action, Bot, Decision, Error, Session, Settings};
    /// # struct First;
    /// # impl Bot for First {
    /// #     fn choose(&mut self, decision: &Decision) -> Action {
    /// #         decision.first()
    /// #     }
    /// # }
    /// # async fn play(token: &str) -> Result<(), Error> {
    /// let settings = Settings::default();
    /// let mut session = Session::open_for_bot("http://127.0.0.1:4680", settings, token.into(), |_| First)?;
    /// session.queue(["sackson-2:3".parse()?]).await?;
    /// while let Some(outcome) = session.next().await {
    ///     println!("{outcome}");
    /// }
    /// session.closed()
    /// # }
    /// ```
    ///
    /// To end it without a forfeit there is [`Stop::finish`]: the bot leaves the ladders, and plays what runs to the end.
    ///
    /// A change that is not waited for is made all the same, unless another follows it.
    ///
    /// # Errors
    /// [`Error::Refused`] if the server refuses, as when there is no such ladder: what was before stands. [`Error::NoBot`] if the
    /// session was opened without a bot's token; [`Error::Finished`] if it takes no more seats; [`Error::System`] if its runtime
    /// was shut down; what [`Session::closed`] gives if it can't go on.
    pub async fn queue(
        &mut self,
        queues: impl IntoIterator<Item = LadderQueue>,
    ) -> Result<Vec<QueueState>, Error> {
        self.wish(Wish::Ladders(queues.into_iter().collect())).await
    }

    /// Accepts these challenges from now on: matches that somebody creates with a seat for the bot, which are rated on no ladder. They
    /// are played as all its seats are. The ladders that the bot waits on stay as they are, and have places of their own.
    ///
    /// The bot accepts them as long as the session is connected, and again when the connection is made again; if the server refuses that
    /// then, [`SessionEvent::QueuesRefused`] says so.
    ///
    /// ```no_run
    /// # use zetema_sdk::{Challenges, Error, Session};
    /// # async fn accept(session: &mut Session) -> Result<(), Error> {
    /// session.challenges("everyone:3".parse()?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Session::queue`]: what was before stands.
    pub async fn challenges(&mut self, challenges: Challenges) -> Result<(), Error> {
        match self.wish(Wish::Challenges(challenges)).await {
            Ok(_) => Ok(()),
            Err(Error::Refused { refusal, .. }) => {
                Err(Error::Refused { asked: "accept challenges", refusal })
            }
            Err(error) => Err(error),
        }
    }

    async fn wish(&mut self, wish: Wish) -> Result<Vec<QueueState>, Error> {
        let (asker, answer) = oneshot::channel();
        self.given.send(Given::Wish(wish, asker)).map_err(|_| no_runtime())?;
        answer.await.map_err(|_| no_runtime())?
    }

    /// The next outcome of a seat. `None` when every seat has had its own, until another is played; for a bot's seats when
    /// the session is stopped, or can't go on, as [`Session::closed`] tells.
    ///
    /// What else the session tells is in the log alone: see [`Session::next_event`].
    pub async fn next(&mut self) -> Option<Outcome> {
        loop {
            if let SessionEvent::Outcome(outcome) = self.next_event().await? {
                return Some(*outcome);
            }
        }
    }

    /// As [`Session::next`], with what the server says of ladders: that the bot did not come to a match, is not paired for a
    /// while, or waits no more.
    ///
    /// ```no_run
    /// # use zetema_sdk::{Session, SessionEvent};
    /// # async fn play(mut session: Session) {
    /// while let Some(event) = session.next_event().await {
    ///     match event {
    ///         SessionEvent::Outcome(outcome) => println!("{outcome}"),
    ///         SessionEvent::LadderNotice(notice) => eprintln!("{notice}"),
    ///         SessionEvent::QueuesRefused(refusal) => {
    ///             eprintln!("{refusal}");
    ///             session.stopper().finish();
    ///         }
    ///         _ => {}
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn next_event(&mut self) -> Option<SessionEvent> {
        while self.open > 0 || matches!(self.taking, Taking::OfBot) {
            match self.told.recv().await {
                Some(Told::Event(event)) => {
                    if let SessionEvent::Outcome(outcome) = &event
                        && let Claim::Token(_) = outcome.claim
                    {
                        self.open = self.open.saturating_sub(1);
                    }
                    return Some(event);
                }
                Some(Told::Closed { because }) => self.taking = Taking::No(because),
                None => {
                    self.open = 0;
                    self.taking = Taking::No(None);
                }
            }
        }
        None
    }

    /// Why no more of a bot's seats are taken, when [`Session::next`] has given `None`.
    ///
    /// # Errors
    /// [`Error`] if the session could not go on: its token is not valid any more, or the server was not reached for too long. After a
    /// rotation of the bot's token, when its seats are played to the end, it is [`ErrorReason::TokenRotated`](crate::ErrorReason).
    pub fn closed(&self) -> Result<(), Error> {
        match &self.taking {
            Taking::No(Some(error)) => Err(error.clone()),
            Taking::No(None) | Taking::OfBot => Ok(()),
        }
    }

    /// What stops the session.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }
}

fn no_runtime() -> Error {
    Error::System { what: "task for the session", problem: "its runtime was shut down".to_owned() }
}
