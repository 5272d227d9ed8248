//! A connection of HTTP/2 that keeps to as much of the protocol as its attacker wants.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prost::bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::sync::watch;
use tokio::time::{interval, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::frames::{ACK, PREFACE, frame, kind, window_update};
use super::{Ending, Reading, Tally, Target, Wire};
use crate::proxy::Frame;

/// How often what is owed to the server is sent when nothing else is.
const BEAT: Duration = Duration::from_millis(100);
/// How long the server's last words may take to come, once nothing can be written to it.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes that a slow reader takes at a time: enough not to be cut.
const SIP: usize = 16 * 1024;
/// How often it does.
const BETWEEN_SIPS: Duration = Duration::from_millis(250);
/// What hyper sends in the pings of its keepalive, so that it can be answered unread.
const KEEPALIVE: [u8; 8] = [0x3b, 0x7c, 0xdb, 0x7a, 0x0b, 0x87, 0x16, 0xb4];
/// How often they are answered unread.
const UNREAD_BEATS: u32 = 10;

/// A connection of HTTP/2.
pub(super) struct Line {
    write: WriteHalf<Wire>,
    /// Answers to pings and settings, and room for what was read, if anything is read.
    owed: Arc<Mutex<Vec<u8>>>,
    /// How it ended, once it has.
    ending: watch::Receiver<Option<Ending>>,
    tally: Tally,
    kept: Kept,
}

/// What a connection has beside what it writes.
enum Kept {
    Reader(#[expect(dead_code, reason = "it reads until it is dropped")] AbortOnDropHandle<()>),
    /// One that answers nothing.
    Slow(#[expect(dead_code, reason = "it reads until it is dropped")] AbortOnDropHandle<()>),
    /// What is not read, and its end, of which nobody hears.
    Unread(#[expect(dead_code, reason = "it is open until it is dropped")] (ReadHalf<Wire>, Silent)),
}

type Silent = watch::Sender<Option<Ending>>;

impl Line {
    /// Connects, and says what a client says first, with these SETTINGS.
    ///
    /// # Errors
    /// What is in the way.
    pub(super) async fn open(
        target: &Target,
        tally: &Tally,
        reading: Reading,
        settings: &[u8],
    ) -> Result<Self, Ending> {
        let wire = target.connect(reading).await.map_err(|error| Ending::of(&error))?;
        let (read, write) = split(wire);
        let (said, ending) = watch::channel(None);
        let owed = Arc::new(Mutex::default());
        let kept = match reading {
            Reading::All => {
                let owed = Arc::clone(&owed);
                Kept::Reader(AbortOnDropHandle::new(tokio::spawn(async move {
                    let ending = listen(read, &owed).await;
                    said.send_replace(Some(ending));
                })))
            }
            Reading::Slowly => Kept::Slow(AbortOnDropHandle::new(tokio::spawn(async move {
                let ending = sip(read).await;
                said.send_replace(Some(ending));
            }))),
            Reading::Nothing => Kept::Unread((read, said)),
        };
        let mut line = Self { write, owed, ending, tally: tally.clone(), kept };
        line.send(&[PREFACE, settings].concat()).await?;
        Ok(line)
    }

    /// Sends what is owed, and then this.
    ///
    /// # Errors
    /// How the connection ended.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Ending> {
        let mut all = std::mem::take(&mut *self.owed.lock().unwrap());
        all.extend(bytes);
        let (mut ending, mut last_words) = (self.ending.clone(), self.ending.clone());
        let written = async {
            self.write.write_all(&all).await?;
            self.write.flush().await
        };
        tokio::select! {
            biased;
            ended = ended(&mut ending) => Err(ended),
            written = written => match written {
                Ok(()) => {
                    self.tally.sent(bytes.len());
                    Ok(())
                }
                Err(error) => {
                    let words = timeout(LAST_WORDS, ended(&mut last_words)).await;
                    Err(words.unwrap_or_else(|_| Ending::of(&error)))
                }
            },
        }
    }

    /// Sends this without end.
    ///
    /// # Errors
    /// How the connection ended.
    pub(super) async fn flood(&mut self, bytes: &[u8]) -> Result<Infallible, Ending> {
        loop {
            self.send(bytes).await?;
            // Writing alone would keep the reader waiting while the system takes all.
            tokio::task::yield_now().await;
        }
    }

    /// Does nothing more than answer, unread where nothing is read.
    ///
    /// # Errors
    /// How the connection ended.
    pub(super) async fn rest(&mut self) -> Result<Infallible, Ending> {
        let mut beats = interval(BEAT);
        let mut beat = 0;
        loop {
            beats.tick().await;
            beat += 1;
            let unread = !matches!(self.kept, Kept::Reader(_)) && beat % UNREAD_BEATS == 0;
            let said = if unread { frame(kind::PING, ACK, 0, &KEEPALIVE) } else { Vec::new() };
            self.send(&said).await?;
        }
    }
}

/// Waits for the end of a connection that is read.
async fn ended(ending: &mut watch::Receiver<Option<Ending>>) -> Ending {
    let ended = ending.wait_for(Option::is_some).await.map(|ended| ended.clone());
    ended.ok().flatten().unwrap_or(Ending::Closed)
}

/// Reads until the end, and notes what is owed for it.
async fn listen(mut read: ReadHalf<Wire>, owed: &Mutex<Vec<u8>>) -> Ending {
    let mut buffer = BytesMut::with_capacity(64 * 1024);
    let mut farewell = None;
    loop {
        let error = match read.read_buf(&mut buffer).await {
            Ok(0) => return farewell.unwrap_or(Ending::Closed),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        if let Some(error) = error {
            return farewell.unwrap_or_else(|| Ending::of(&error));
        }
        while let Some(frame) = Frame::take(&mut buffer) {
            let answer = answer(&frame, &mut farewell);
            owed.lock().unwrap().extend(answer);
        }
    }
}

/// Reads a little now and then until the end, and looks at none of it.
async fn sip(mut read: ReadHalf<Wire>) -> Ending {
    let mut sip = vec![0; SIP];
    loop {
        match read.read_exact(&mut sip).await {
            Ok(_) => tokio::time::sleep(BETWEEN_SIPS).await,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ending::Closed,
            Err(error) => return Ending::of(&error),
        }
    }
}

/// What a client that reads owes the server for a frame.
fn answer(came: &Frame, farewell: &mut Option<Ending>) -> Vec<u8> {
    match came.kind() {
        Some(kind::PING) if came.flags() & ACK == 0 => frame(kind::PING, ACK, 0, came.payload()),
        Some(kind::SETTINGS) if came.flags() & ACK == 0 => frame(kind::SETTINGS, ACK, 0, &[]),
        Some(kind::DATA) if !came.payload().is_empty() => {
            let bytes = u32::try_from(came.payload().len()).unwrap();
            window_update(0, bytes)
        }
        Some(kind::GOAWAY) => {
            let code = came.payload().get(4..8).and_then(|code| code.try_into().ok());
            *farewell = code.map(|code| Ending::GoAway(u32::from_be_bytes(code)));
            Vec::new()
        }
        _ => Vec::new(),
    }
}
