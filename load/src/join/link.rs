//! A connection between two generators of a run.

use std::io;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::stream::{SplitSink, SplitStream};
use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::timeout;
use tokio_util::codec::{Framed, LengthDelimitedCodec};
use tokio_util::task::AbortOnDropHandle;

use super::message::Message;
use crate::amount;

/// After so long without a word a generator is given up.
pub(super) const SILENCE: Duration = Duration::from_secs(10);
/// When nothing else is to be said, so often this is.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// Bytes of a message of a generator that has joined.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of a message of whoever has connected.
const MOST_HELLO_BYTES: usize = 4 * 1024;
/// Messages that wait to be sent or read.
const WAITING: usize = 64;
/// Characters of what others say that are shown.
const MOST_SHOWN: usize = 200;

/// Why another generator of the run is heard no more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// It has said nothing for too long, or takes nothing.
    #[error("has said nothing for {} s", SILENCE.as_secs())]
    Silent,
    /// It has closed the connection.
    #[error("is gone: it has closed the connection")]
    Closed,
    /// The connection broke.
    #[error("is gone: {0}")]
    Broken(String),
    /// It has sent what can't be understood, or is no answer.
    #[error("has sent what no generator sends: {0}")]
    Garbage(String),
}

/// Messages, each with its length before it: four bytes, the highest first.
pub(super) type Frames = Framed<TcpStream, LengthDelimitedCodec>;

/// The same for one who has not said what it is.
pub(super) fn frames(stream: TcpStream) -> Frames {
    let codec = LengthDelimitedCodec::builder().max_frame_length(MOST_HELLO_BYTES).new_codec();
    Framed::new(stream, codec)
}

/// Reads the next message.
pub(super) async fn read<S>(frames: &mut S) -> Result<Message, Lost>
where
    S: Stream<Item = io::Result<BytesMut>> + Unpin,
{
    let frame = match timeout(SILENCE, frames.next()).await {
        Err(_) => return Err(Lost::Silent),
        Ok(None) => return Err(Lost::Closed),
        Ok(Some(Err(error))) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(Lost::Garbage("a message that is too long".to_owned()));
        }
        Ok(Some(Err(error))) => return Err(Lost::Broken(error.to_string())),
        Ok(Some(Ok(frame))) => frame,
    };
    // Some have megabytes.
    let parsed = spawn_blocking(move || serde_json::from_slice(&frame)).await;
    let garbage = |problem: String| Lost::Garbage(shown(&problem));
    parsed
        .map_err(|error: JoinError| garbage(error.to_string()))?
        .map_err(|error: serde_json::Error| garbage(error.to_string()))
}

/// Sends a message.
pub(super) async fn write<S>(frames: &mut S, message: &Message) -> Result<(), Lost>
where
    S: Sink<Bytes, Error = io::Error> + Unpin,
{
    let broken = |error: &dyn std::fmt::Display| Lost::Broken(error.to_string());
    let text = serde_json::to_vec(message).map_err(|error| broken(&error))?;
    match timeout(SILENCE, frames.send(text.into())).await {
        Err(_) => Err(Lost::Silent),
        Ok(sent) => sent.map_err(|error| broken(&error)),
    }
}

/// What somebody else has said, as it can be shown.
pub(super) fn shown(text: &str) -> String {
    amount::plain(&text.chars().take(MOST_SHOWN).collect::<String>())
}

/// A connection to a generator that has joined, or to the first one. It says that this one is there, and notices when the other is not.
#[derive(Debug)]
pub(super) struct Link {
    sender: mpsc::Sender<Message>,
    receiver: mpsc::Receiver<Result<Message, Lost>>,
    task: AbortOnDropHandle<()>,
}

impl Link {
    /// Over this connection, on which both have said what they are.
    pub(super) fn new(mut frames: Frames) -> Self {
        frames.codec_mut().set_max_frame_length(MOST_BYTES);
        let (sender, to_send) = mpsc::channel(WAITING);
        let (heard, receiver) = mpsc::channel(WAITING);
        let task = AbortOnDropHandle::new(tokio::spawn(serve(frames, to_send, heard)));
        Self { sender, receiver, task }
    }

    /// Sends this.
    pub(super) async fn send(&self, message: Message) {
        // If it can't be sent, what is heard next says so.
        let _ = self.sender.send(message).await;
    }

    /// What sends.
    pub(super) const fn sender(&self) -> &mpsc::Sender<Message> {
        &self.sender
    }

    /// What is heard next. Nothing is lost if it is not waited for.
    pub(super) async fn next(&mut self) -> Result<Message, Lost> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// The same.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Message, Lost>> {
        Poll::Ready(ready!(self.receiver.poll_recv(context)).unwrap_or(Err(Lost::Closed)))
    }

    /// Ends it, when all has been sent.
    pub(super) async fn close(self) {
        let Self { sender, receiver, task } = self;
        drop(sender);
        // Nobody reads any more, or what comes would hold it up.
        drop(receiver);
        // What can't be sent until then is not sent.
        let _ = timeout(SILENCE, task).await;
    }
}

async fn serve(frames: Frames, to_send: mpsc::Receiver<Message>, heard: mpsc::Sender<Result<Message, Lost>>) {
    let (mut sink, stream) = frames.split();
    let ended = tokio::select! {
        ended = send(&mut sink, to_send) => ended,
        lost = hear(stream, &heard) => Err(lost),
    };
    match ended {
        // Whoever hears it may be gone.
        Err(lost) => drop(heard.send(Err(lost)).await),
        // It is closed by this side.
        Ok(()) => drop(timeout(SILENCE, sink.close()).await),
    }
}

/// Sends all that there is to send.
async fn send(sink: &mut SplitSink<Frames, Bytes>, mut to_send: mpsc::Receiver<Message>) -> Result<(), Lost> {
    loop {
        let message = match timeout(ALIVE_EVERY, to_send.recv()).await {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(()),
            Err(_) => Message::Alive,
        };
        write(sink, &message).await?;
    }
}

/// Hands on all that comes.
async fn hear(mut stream: SplitStream<Frames>, heard: &mpsc::Sender<Result<Message, Lost>>) -> Lost {
    loop {
        match read(&mut stream).await {
            Ok(Message::Alive) => {}
            Ok(message) => {
                if heard.send(Ok(message)).await.is_err() {
                    // Nobody hears it any more: what is to be sent is sent all the same.
                    std::future::pending::<()>().await;
                }
            }
            Err(lost) => return lost,
        }
    }
}
