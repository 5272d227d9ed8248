//! What is asked of one match, running or over.

use futures::FutureExt;
use tokio::sync::oneshot;
use zetema_proto::Views;
use zetema_rules::Seat;
use zetema_rules::fair::{Nonce, NonceHash};

use super::message::{Asked, Commanded, JoinSeat, Message, OnlookersTurn, Promise, Reply, Subscribed};
use super::{Audience, Joined, Matches, Subscription};
use crate::journal::MatchId;
use crate::table::{Arrival, Choice, Command, Decided, Done, MatchInfo, Receipt, Rejection, SeatAccess};

impl Matches {
    /// Ends a match without a result. Cancelling again gives the same answer. One that can't go on here is ended too, if what is
    /// stored of it can be read.
    ///
    /// # Errors
    /// [`Rejection::MatchOver`] if it ended otherwise, [`Rejection::NotFound`], [`Rejection::OutcomeUnknown`],
    /// [`Rejection::MatchDamaged`].
    pub async fn cancel(&self, match_id: MatchId) -> Result<MatchInfo, Rejection> {
        self.command(match_id, Command::Cancel, self.arrival(None)).await?;
        self.get(match_id).await
    }

    /// Checks that a token speaks for a seat, and was not replaced.
    ///
    /// # Errors
    /// [`Rejection::TokenReplaced`], [`Rejection::NoSuchSeat`], and what [`Matches::get`] gives.
    pub async fn check_access(&self, match_id: MatchId, access: SeatAccess) -> Result<(), Rejection> {
        self.get(match_id).await?.check_access(access)
    }

    /// A seat joins, or is taken over by another player of the same token: the subscription of the player before
    /// ends with [`End::Superseded`](super::End::Superseded).
    ///
    /// # Errors
    /// [`Rejection::NonceFixed`] if the seat joined before and gave another hash, or none; [`Rejection::NoncePromised`]
    /// if no hash is given while a player who has yet to send its nonce is there; [`Rejection::TokenReplaced`];
    /// [`Rejection::NoSuchSeat`]; [`Rejection::NotFound`]; [`Rejection::OutcomeUnknown`].
    pub async fn join(
        &self,
        match_id: MatchId,
        access: SeatAccess,
        nonce_hash: Option<NonceHash>,
    ) -> Result<Joined, Rejection> {
        self.take_seat(match_id, JoinSeat { access, bot_token: None, nonce_hash, earlier: None }).await
    }

    /// The same by whatever token, and again.
    ///
    /// # Errors
    /// As [`Matches::join`]; [`Rejection::NewerTokenPlays`] by a token of its bot that was rotated, once a later one has joined.
    pub async fn take_seat(&self, match_id: MatchId, join: JoinSeat) -> Result<Joined, Rejection> {
        let arrival = self.arrival(None);
        if let Some(handle) = self.handle(match_id)
            && let Some(joined) =
                handle.ask(|reply| Message::Join { join, arrival, asked: Asked::now(), reply }).await
        {
            return joined;
        }
        self.join_past(match_id, join.access).await
    }

    /// A seat sends the nonce that it promised. The first stands; sending it again changes nothing.
    ///
    /// # Errors
    /// [`Rejection::NonceNotWanted`], [`Rejection::NonceMismatch`], [`Rejection::NonceFixed`],
    /// [`Rejection::MatchOver`], and what [`Matches::join`] gives for the token and the match.
    pub async fn send_nonce(
        &self,
        match_id: MatchId,
        access: SeatAccess,
        nonce: Nonce,
    ) -> Result<(), Rejection> {
        self.command(match_id, Command::GiveNonce { access, nonce }, self.arrival(None)).await.map(drop)
    }

    /// A seat answers a decision, or offers a discard out of turn (R28). The same answer to the same decision gets the
    /// first receipt again, at any time (I2).
    ///
    /// # Errors
    /// [`Rejection::DecisionOver`], [`Rejection::DecisionAhead`], [`Rejection::NotYourTurn`], [`Rejection::Illegal`],
    /// [`Rejection::NoSuchIndex`], [`Rejection::SeatForfeited`], [`Rejection::NotStarted`], [`Rejection::MatchOver`],
    /// and what [`Matches::join`] gives for the token and the match. After [`Rejection::OutcomeUnknown`] send the
    /// same again.
    pub async fn act(
        &self,
        match_id: MatchId,
        access: SeatAccess,
        decision: u32,
        choice: Choice,
    ) -> Result<Receipt, Rejection> {
        match self.command(match_id, Command::Act { access, decision, choice }, self.arrival(None)).await? {
            Done::Acted(receipt) => Ok(receipt),
            _ => Err(Rejection::Damaged),
        }
    }

    /// A seat forfeits (R25). The answer is the number of its own observation that shows it. Resigning again changes
    /// nothing.
    ///
    /// # Errors
    /// [`Rejection::NotStarted`], [`Rejection::MatchOver`], and what [`Matches::join`] gives for the token and the
    /// match.
    pub async fn resign(&self, match_id: MatchId, access: SeatAccess) -> Result<u64, Rejection> {
        match self.command(match_id, Command::Resign { access }, self.arrival(None)).await? {
            Done::Resigned { seq } => Ok(seq),
            _ => Err(Rejection::Damaged),
        }
    }

    /// Gives a seat a new token: the answer is its generation. Tokens of earlier generations are void at once, and what
    /// was subscribed with them ends with [`End::TokenReplaced`](super::End::TokenReplaced).
    ///
    /// # Errors
    /// [`Rejection::NoSuchSeat`], [`Rejection::MatchOver`], [`Rejection::NotFound`], [`Rejection::OutcomeUnknown`],
    /// [`Rejection::TooManyBytes`].
    pub async fn rotate_token(&self, match_id: MatchId, seat: Seat) -> Result<u32, Rejection> {
        self.shared.live_bytes.check()?;
        match self.command(match_id, Command::RotateToken { seat }, self.arrival(None)).await? {
            Done::TokenRotated { generation } => Ok(generation),
            _ => Err(Rejection::Damaged),
        }
    }

    /// What one viewer may see of a match, from a snapshot or after an observation on.
    ///
    /// # Errors
    /// [`Rejection::CursorAhead`] beyond the last observation, [`Rejection::Superseded`] for a player who no longer
    /// holds the seat, [`Rejection::HeldUntilReveal`] for a spectator while a match of the deal set runs,
    /// [`Rejection::TooManySubscribers`], and what [`Matches::join`] gives for the token and the match.
    pub async fn subscribe(
        &self,
        match_id: MatchId,
        audience: Audience,
        after_seq: Option<u64>,
        views: Views,
    ) -> Result<Subscription, Rejection> {
        let subscribed =
            if let Some(subscribed) = self.subscribe_running(match_id, audience, after_seq, views).await {
                subscribed?
            } else {
                let past = self.past(match_id).await?;
                self.check_watch(audience, past.info())?;
                past.subscribe(audience, after_seq)?
            };
        Ok(Subscription::new(self.clone(), audience, after_seq, views, subscribed))
    }

    /// The same, if nothing has to be replayed for it: a match that is over has to be, and so has one that runs for a reader who
    /// has missed something of it. That is much work, and takes memory until it is read: whoever asks for a client has waited for
    /// the client's turn.
    ///
    /// # Errors
    /// As [`Matches::subscribe`], but [`Rejection::NotFound`] for a match that runs alone.
    pub(crate) async fn subscribe_at_once(
        &self,
        match_id: MatchId,
        audience: Audience,
        after_seq: Option<u64>,
        views: Views,
    ) -> Result<Option<Subscription>, Rejection> {
        let at_once = move |reply, turn| Message::SubscribeAtOnce { audience, after_seq, views, reply, turn };
        let subscribed = self.look(match_id, audience, at_once).await.transpose()?.flatten();
        Ok(subscribed.map(|begun| Subscription::new(self.clone(), audience, after_seq, views, begun)))
    }

    /// Whether a seat of a match that runs has observations after this one; `None` if it does not run. However many look on, the seat's
    /// player is told.
    ///
    /// # Errors
    /// [`Rejection::CursorAhead`] beyond the last observation, and what [`Matches::join`] gives for the token.
    pub(crate) async fn has_missed(
        &self,
        match_id: MatchId,
        access: SeatAccess,
        after_seq: u64,
    ) -> Result<Option<bool>, Rejection> {
        match self.handle(match_id) {
            Some(handle) => handle.has_missed(access, after_seq).await.transpose(),
            None => Ok(None),
        }
    }

    async fn subscribe_running(
        &self,
        match_id: MatchId,
        audience: Audience,
        after_seq: Option<u64>,
        views: Views,
    ) -> Option<Result<Subscribed, Rejection>> {
        let subscribe = move |reply, turn| Message::Subscribe { audience, after_seq, views, reply, turn };
        self.look(match_id, audience, subscribe).await
    }

    /// Asks the table of a match that runs for what a subscription begins with; `None` if it does not run.
    async fn look<T: Send + 'static>(
        &self,
        match_id: MatchId,
        audience: Audience,
        message: impl FnOnce(Reply<T>, OnlookersTurn) -> Message + Send + 'static,
    ) -> Option<Result<T, Rejection>> {
        let handle = self.handle(match_id)?;
        let info = handle.info.borrow().clone();
        if let Err(held) = self.check_watch(audience, &info) {
            return Some(Err(held));
        }
        handle.look(audience, message).await
    }

    /// Asks the table of a running match, or looks into the record of one that is over.
    pub(crate) async fn command(
        &self,
        match_id: MatchId,
        command: Command,
        arrival: Arrival,
    ) -> Result<Done, Rejection> {
        if let Some(done) = self.command_running(match_id, &command, arrival).await {
            return done;
        }
        if command == Command::Cancel
            && let Some(cancelled) = self.cancel_lost(match_id).await
        {
            return cancelled;
        }
        let past = self.past(match_id).await?;
        match past.table().decide(&command, arrival)? {
            Decided::Already(done) => Ok(done),
            // What is over takes no change.
            Decided::Write(_) | Decided::TimedOut(_) => Err(Rejection::MatchOver),
        }
    }

    /// Asks the table of a match that runs; `None` if it does not.
    pub(crate) async fn command_running(
        &self,
        match_id: MatchId,
        command: &Command,
        arrival: Arrival,
    ) -> Option<Result<Done, Rejection>> {
        let handle = self.handle(match_id)?;
        let (answer, answered) = oneshot::channel();
        // Whoever asked may be gone.
        let promise = Promise::new(command.clone(), arrival, |answered| drop(answer.send(answered)));
        let asked = Commanded { asked: Asked::now(), promise };
        if let Err(asked) = handle.at_once(asked) {
            // Boxed, as most find the table at rest, and the future of each action were as large.
            handle.send(asked).boxed().await.ok()?;
        }
        answered.await.ok()?.ok()
    }
}
