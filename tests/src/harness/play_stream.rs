//! One Play stream, message by message.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Status, Streaming};
use zetema_proto::PROTOCOL_REVISION;
use zetema_proto::v1;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;

use super::{Clients, soon};

type Requests = ReceiverStream<v1::PlayRequest>;

/// How a client answers pings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pongs {
    /// So long after they came.
    After(Duration),
    /// Not at all.
    Never,
}

/// A Play stream. Pings are answered by themselves, at once unless [`PlayStream::pongs`] is told otherwise.
pub struct PlayStream {
    /// `None`: nothing more is said.
    requests: Option<mpsc::Sender<v1::PlayRequest>>,
    responses: Streaming<v1::PlayResponse>,
    tag: u64,
    /// What came beside direct answers, oldest first, until [`PlayStream::next`] takes it.
    waiting: VecDeque<v1::PlayResponse>,
    pongs: Pongs,
    /// Pongs that wait to be sent.
    due: JoinSet<()>,
}

impl PlayStream {
    /// Opens a stream and says hello.
    pub async fn open(clients: &Clients) -> (Self, v1::Welcome) {
        Self::open_silent(clients).await.hello().await
    }

    /// The same with the token of a seat or of a bot in the metadata.
    pub async fn open_by(clients: &Clients, token: &str) -> (Self, v1::Welcome) {
        Self::open_silent_by(clients, token).await.hello().await
    }

    async fn hello(mut self) -> (Self, v1::Welcome) {
        let hello = v1::Hello {
            client_name: "tests".to_owned(),
            protocol_revision: PROTOCOL_REVISION,
            ..v1::Hello::default()
        };
        let answer = self.ask(0, Ask::Hello(hello)).await.unwrap();
        let Some(Answer::Welcome(welcome)) = answer.kind else { panic!("{answer:?} is no welcome") };
        (self, *welcome)
    }

    /// Opens a stream and says nothing.
    pub async fn open_silent(clients: &Clients) -> Self {
        Self::open_with(clients, Request::new).await
    }

    /// The same with the token of a seat or of a bot in the metadata.
    pub async fn open_silent_by(clients: &Clients, token: &str) -> Self {
        let bearer = format!("Bearer {token}").parse().unwrap();
        let with_token = |requests| {
            let mut request = Request::new(requests);
            request.metadata_mut().insert("authorization", bearer);
            request
        };
        Self::open_with(clients, with_token).await
    }

    async fn open_with(clients: &Clients, request: impl FnOnce(Requests) -> Request<Requests>) -> Self {
        let (requests, stream) = mpsc::channel(64);
        let request = request(ReceiverStream::new(stream));
        let answer = soon("Play", clients.play().play(request)).await.unwrap();
        Self {
            requests: Some(requests),
            responses: answer.into_inner(),
            tag: 0,
            waiting: VecDeque::new(),
            pongs: Pongs::After(Duration::ZERO),
            due: JoinSet::new(),
        }
    }

    /// Answers pings so from now on.
    pub const fn pongs(&mut self, pongs: Pongs) {
        self.pongs = pongs;
    }

    /// Waits until all pings that came are answered, one at least.
    ///
    /// # Panics
    /// If none came.
    pub async fn pongs_sent(&mut self) {
        assert!(!self.due.is_empty(), "no ping has come");
        while soon("a pong to be due", self.due.join_next()).await.is_some() {}
    }

    /// Sends a message and gives its tag.
    pub async fn send(&mut self, handle: u32, kind: Option<Ask>) -> u64 {
        self.tag += 1;
        let requests = self.requests.as_ref().expect("the client's side is open");
        let sent = requests.send(v1::PlayRequest { tag: self.tag, handle, kind }).await;
        sent.expect("the stream is open");
        self.tag
    }

    /// Closes the client's side: what was sent is still answered.
    pub fn say_no_more(&mut self) {
        self.requests = None;
    }

    /// The next message; `None` at the end.
    ///
    /// # Errors
    /// The status that ends the stream.
    pub async fn next(&mut self) -> Result<Option<v1::PlayResponse>, Status> {
        match self.waiting.pop_front() {
            Some(message) => Ok(Some(message)),
            None => self.receive().await,
        }
    }

    /// The direct answer to a message; what comes before it waits for [`PlayStream::next`].
    ///
    /// # Errors
    /// The status that ends the stream.
    pub async fn answer(&mut self, tag: u64) -> Result<v1::PlayResponse, Status> {
        if let Some(came) = self.waiting.iter().position(|message| message.tag == tag) {
            return Ok(self.waiting.remove(came).unwrap());
        }
        loop {
            let message = self.receive().await?.expect("an answer before the end of the stream");
            if message.tag == tag {
                return Ok(message);
            }
            self.waiting.push_back(message);
        }
    }

    /// Sends a message and waits for its answer.
    ///
    /// # Errors
    /// The status that ends the stream.
    pub async fn ask(&mut self, handle: u32, kind: Ask) -> Result<v1::PlayResponse, Status> {
        let tag = self.send(handle, Some(kind)).await;
        self.answer(tag).await
    }

    /// Takes a seat: its handle, and where its observations go on from. A server that is late is asked again when it says.
    pub async fn join(&mut self, join: v1::Join) -> (u32, v1::SubscriptionStart) {
        loop {
            let answer = self.ask(0, Ask::Join(join.clone())).await.unwrap();
            match answer.kind {
                Some(Answer::Joined(start)) => return (answer.handle, *start),
                Some(Answer::Rejection(v1::Error { reason, retry_after_ms: Some(wait), .. }))
                    if reason == v1::ErrorReason::Overloaded as i32 =>
                {
                    tokio::time::sleep(Duration::from_millis(wait.into())).await;
                }
                other => panic!("{other:?} is no answer to a join"),
            }
        }
    }

    async fn receive(&mut self) -> Result<Option<v1::PlayResponse>, Status> {
        soon("a message of a Play stream", self.receive_in_time()).await
    }

    async fn receive_in_time(&mut self) -> Result<Option<v1::PlayResponse>, Status> {
        loop {
            let message = self.responses.message().await?;
            match message.as_ref().and_then(|message| message.kind.as_ref()) {
                Some(Answer::Ping(ping)) => {
                    let (Pongs::After(delay), Some(requests)) = (self.pongs, &self.requests) else {
                        continue;
                    };
                    let answer = Ask::Pong(v1::Pong { number: ping.number });
                    // A sender of its own would hold the client's side open.
                    let requests = requests.downgrade();
                    self.due.spawn(async move {
                        tokio::time::sleep(delay).await;
                        let Some(requests) = requests.upgrade() else { return };
                        // The stream may have ended meanwhile, which the next message tells.
                        let _ =
                            requests.send(v1::PlayRequest { tag: 0, handle: 0, kind: Some(answer) }).await;
                    });
                }
                _ => return Ok(message),
            }
        }
    }
}
