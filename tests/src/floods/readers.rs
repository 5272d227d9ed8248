//! Streams that never read, beside others that play.

use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::frames::{whole_call, window_of};
use super::honest::{Crowd, Figures, Honest, Length};
use super::host::{Effort, Host, Peak, Setup};
use super::{Ending, Line, Playing, Reading, Request, Tally, Target, Toll};

/// How long a player waits in a match of which a reader is sent all.
const READERS_PAUSE: Duration = Duration::from_secs(1);
/// The window of a stream that reads.
const WIDE: u32 = 0x4000_0000;

/// Who plays, beside how many, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// Those who play, and feel it if anybody does.
    pub players: Crowd,
    /// Readers, or matches that they would follow.
    pub readers: usize,
    /// How long they all get to get going.
    pub warm_up: Duration,
    /// How long it is looked at what the players feel.
    pub lasts: Duration,
}

impl Beside {
    /// 500 seats that play.
    pub const PLAYERS: Crowd =
        Crowd { tables: 250, per_connection: 25, pause: Duration::from_millis(500), length: Length::Quick };
    /// How long they all get to get going.
    pub const WARM_UP: Duration = Duration::from_secs(5);
}

/// What is beside those who play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Nobody, but the matches that they would follow are played.
    None,
    /// Readers who take all.
    Reading,
    /// Readers who give no window, and read no byte of the socket.
    NotReading,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct ReadersRow {
    /// What those who play felt.
    pub felt: Figures,
    /// What became of the readers.
    pub toll: Toll,
    /// The most memory that the server had, in bytes.
    pub peak: u64,
    /// How many processors it kept busy.
    pub processors: f64,
}

impl Readers {
    /// Has them beside players, on a server of their own on an empty folder.
    ///
    /// # Errors
    /// If there is no server.
    pub async fn run(self, setup: &Setup, folder: TempDir, beside: Beside) -> anyhow::Result<ReadersRow> {
        let Beside { players, readers: count, warm_up, lasts } = beside;
        let host = Host::start(setup, folder).await?;
        let admin = host.admin().await;
        let (_, token) = admin.owner_token("players").await;
        let (_, other) = admin.owner_token("followed").await;
        let (players, _) = Honest::start(&host, &token, players).await;
        let followed =
            Crowd { tables: count, per_connection: 50, pause: READERS_PAUSE, length: Length::Quick };
        let (_followed, watched) = Honest::start(&host, &other, followed).await;
        let tally = Tally::default();
        let mut readers = JoinSet::new();
        if self != Self::None {
            for (number, watched) in watched.into_iter().enumerate() {
                let target = Target::new(&host, other.clone(), watched.clone());
                let target = target.apart(u16::try_from(number + 1)?);
                readers.spawn(self.follow(target, tally.clone(), watched));
            }
        }
        tokio::time::sleep(warm_up).await;
        players.take();
        let (peak, effort) = (Peak::watch(host.pid()), Effort::of(&host));
        tokio::time::sleep(lasts).await;
        let (felt, processors) = (players.take(), effort.processors(&host));
        Ok(ReadersRow { felt, toll: tally.toll(), peak: peak.end(), processors })
    }

    /// Follows one match after the other, on a new connection when the last was cut.
    async fn follow(self, target: Target, tally: Tally, mut watched: watch::Receiver<Playing>) {
        loop {
            let number = tally.open();
            let Err(ending) = self.follow_on(&target, &tally, &mut watched).await;
            tally.cut(number, &ending);
            // It comes back with the next match.
            if watched.changed().await.is_err() {
                return;
            }
        }
    }

    async fn follow_on(
        self,
        target: &Target,
        tally: &Tally,
        watched: &mut watch::Receiver<Playing>,
    ) -> Result<std::convert::Infallible, Ending> {
        let (reading, window) = match self {
            Self::NotReading => (Reading::Nothing, 0),
            _ => (Reading::All, WIDE),
        };
        let mut line = Line::open(target, tally, reading, &window_of(window)).await?;
        let mut stream = 1;
        loop {
            let playing = watched.borrow_and_update().clone();
            line.send(&whole_call(stream, &Request::observe(&playing.seat_token))).await?;
            stream += 2;
            tokio::select! {
                ended = line.rest() => return ended,
                changed = watched.changed() => if changed.is_err() { return line.rest().await },
            }
        }
    }
}
