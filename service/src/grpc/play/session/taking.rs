//! How a session takes in what its client says: one message, and some of those that are there behind it.

use std::iter;

use futures::FutureExt;
use tokio::time::Instant;
use tonic::Status;
use zetema_proto::v1;

use super::Session;
use crate::grpc::play::{requests::Requests, seats::Seats};
#[cfg(test)]
use crate::planted::{self, Bug};

/// Messages of a client.
pub(super) struct Said {
    first: v1::PlayRequest,
    behind: Vec<v1::PlayRequest>,
    /// Whether the stream ends behind them: as it ends, or by this fault.
    end: Result<(), Option<Status>>,
}

impl Session {
    /// A message of the client, with some of those that are there behind it, so many at most in all and as many as may be unanswered; or how
    /// the stream ends.
    pub(super) fn with_those_behind(
        &mut self,
        first: Result<Option<v1::PlayRequest>, Status>,
        requests: &mut Requests,
        at_once: usize,
        unanswered: usize,
    ) -> Result<Said, Option<Status>> {
        let first = first.map_err(Some)?.ok_or(None)?;
        self.intake.read_one();
        let (mut behind, mut end) = (Vec::new(), Ok(()));
        while end.is_ok()
            && 1 + behind.len() < at_once
            && self.intake.is_open(unanswered + 1 + behind.len())
            && let Some(next) = requests.message().now_or_never()
        {
            match next {
                Ok(Some(request)) => {
                    self.intake.read_one();
                    behind.push(request);
                }
                Ok(None) => end = Err(None),
                Err(status) => end = Err(Some(status)),
            }
        }
        Ok(Said { first, behind, end })
    }

    /// Takes in messages: how many, or how the stream ends behind them. What they need is fetched for all of them before the first is
    /// taken in.
    pub(super) fn hear_all(&mut self, seats: &mut Seats, said: Said) -> Result<usize, Option<Status>> {
        let Said { first, behind, end } = said;
        if !behind.is_empty() {
            let handles = iter::once(&first).chain(&behind).map(|request| request.handle);
            handles.clone().for_each(|handle| seats.handles.fetch(handle));
            handles.filter_map(|handle| seats.handles.get(handle)).for_each(|held| held.way.fetch());
        }
        let heard = 1 + behind.len();
        self.is_there();
        for request in iter::once(first).chain(behind) {
            self.ask_again(seats);
            self.hear(seats, request);
        }
        end.map(|()| heard)
    }

    /// What a table did not take for want of room is asked again before what comes behind it: so nothing overtakes it.
    pub(super) fn ask_again(&mut self, seats: &mut Seats) {
        seats.take_answers();
        while let Some((asked, not_taken)) = seats.not_taken() {
            self.wait_for(asked, *not_taken);
        }
    }

    /// The client has given a sign of life.
    pub(super) fn is_there(&mut self) {
        self.heard_at = Instant::now();
        self.last_sign = self.backend.matches.shown_at(self.heard_at);
    }

    /// Takes in a message of the client.
    pub(super) fn hear(&mut self, seats: &mut Seats, request: v1::PlayRequest) {
        #[cfg(test)]
        assert!(!planted::is(Bug::StreamPanics), "planted");
        self.read(seats, request);
    }
}
