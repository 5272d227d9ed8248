//! A stream of requests to a standard service, of which each message counts like a call.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    middleware::Next,
    response::Response,
};
use http_body::Frame;
use tokio::time::{Sleep, sleep};

use crate::{
    admission::{Debt, Share},
    grpc::PREFIX,
};

/// Counts the messages of a request for whoever sent it. What comes too fast is read when it would not be.
pub(super) async fn count_messages(request: Request, next: Next) -> Response {
    let Some(share) = request.extensions().get::<Share>().cloned() else { return next.run(request).await };
    next.run(request.map(|body| Body::new(Counted::new(body, share)))).await
}

/// The body of a request, whose messages are counted before they are handed on.
struct Counted {
    body: Body,
    share: Share,
    /// What has come and is not handed on yet.
    come: Bytes,
    message: Message,
    /// What is owed for it, and until when that is waited for.
    owed: Option<(Debt, Pin<Box<Sleep>>)>,
}

/// The message that is handed on.
#[derive(Default)]
struct Message {
    prefix: Vec<u8>,
    /// Bytes of it that are still to come, once its prefix is there.
    left: usize,
}

impl Message {
    const fn begins(&self) -> bool {
        self.prefix.is_empty()
    }

    /// Takes the bytes of it off what has come.
    fn take(&mut self, come: &mut Bytes) -> Bytes {
        let head = come.len().min(PREFIX - self.prefix.len());
        self.prefix.extend(come.iter().take(head));
        if let [_, a, b, c, d] = *self.prefix
            && head > 0
        {
            self.left = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        }
        let body = (come.len() - head).min(self.left);
        self.left -= body;
        if self.left == 0 && self.prefix.len() == PREFIX {
            self.prefix.clear();
        }
        come.split_to(head + body)
    }
}

impl Counted {
    fn new(body: Body, share: Share) -> Self {
        Self { body, share, come: Bytes::new(), message: Message::default(), owed: None }
    }
}

fn owed(debt: Debt) -> (Debt, Pin<Box<Sleep>>) {
    (debt, Box::pin(sleep(debt.wait)))
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        loop {
            if let Some((debt, rest)) = &mut this.owed {
                ready!(rest.as_mut().poll(context));
                this.owed = this.share.pay(*debt).err().map(owed);
                if this.owed.is_none() {
                    let piece = this.message.take(&mut this.come);
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
            } else if this.come.is_empty() {
                match ready!(Pin::new(&mut this.body).poll_frame(context)).transpose()? {
                    None => return Poll::Ready(None),
                    Some(frame) => match frame.into_data() {
                        Ok(data) => this.come = data,
                        Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                    },
                }
            } else if this.message.begins()
                && let Err(debt) = this.share.message()
            {
                this.owed = Some(owed(debt));
            } else {
                let piece = this.message.take(&mut this.come);
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart_however_they_are_cut() {
        let messages: [&[u8]; 4] = [b"", b"one", b"", b"two more"];
        let mut sent = Vec::new();
        for message in messages {
            sent.push(0);
            sent.extend(u32::try_from(message.len()).unwrap_or_default().to_be_bytes());
            sent.extend(message);
        }
        for size in 1..=sent.len() {
            let (mut message, mut begun, mut handed_on) = (Message::default(), 0, Vec::new());
            for piece in sent.chunks(size) {
                let mut come = Bytes::copy_from_slice(piece);
                while !come.is_empty() {
                    begun += usize::from(message.begins());
                    handed_on.extend(message.take(&mut come));
                }
            }
            assert_eq!((begun, &handed_on), (messages.len(), &sent), "in pieces of {size}");
            assert!(message.begins());
        }
    }
}
