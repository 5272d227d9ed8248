//! What the server says, and what a session makes of it.

use std::time::{Duration, Instant, SystemTime};

use zetema_proto::{FieldError, Wire, v1};
use zetema_rules::Seat;

use super::link::Room;
use super::seat::{SeatCore, SeatLink, end_from_wire};
use super::tag::{Asked, Key, untag, untag_queues};
use super::{Core, LastLoss};
use crate::claim::Claim;
use crate::end::End;
use crate::error::{Error, ErrorReason, Refusal};
use crate::fault::Fault;
use crate::wire::{Incoming, Observed, Outgoing};

/// How often the same is sent again after refusals that should not come, before the seat fails.
const MOST_REFUSALS: u32 = 8;
/// How many joins wait for their answers at once, if the server can queue as many: enough to keep it busy.
const MOST_JOINS: usize = 64;

impl Core {
    /// What came from the server.
    pub(crate) fn received(&mut self, now: Instant, came: Incoming) {
        self.now = now;
        self.link.heard(now);
        match came {
            Incoming::Observed { handle, observed } => self.observed(now, handle, Ok(observed)),
            Incoming::Message(message) => self.received_message(now, *message),
        }
    }

    /// These come next: what an observation needs of their seats is fetched for all of them at once, and not for one after the other.
    pub(crate) fn prefetch<'a>(&self, coming: impl Iterator<Item = &'a Incoming> + Clone) {
        let keys = coming.filter_map(|message| match message {
            Incoming::Observed { handle, .. } => self.handles.get(handle).copied(),
            Incoming::Message(_) => None,
        });
        self.seats.prefetch(keys.clone());
        keys.filter_map(|key| self.seats.get(key)).for_each(SeatCore::prefetch_behind);
    }

    fn observed(&mut self, now: Instant, handle: u32, observed: Result<Observed, FieldError>) {
        let Some((key, seat)) = self.seat_of(self.handles.get(&handle).copied()) else { return };
        // What was under way before a rejoin on the same stream comes again after it.
        if matches!(seat.link, SeatLink::Joining { .. }) {
            return;
        }
        seat.refusals = 0;
        let reaction = observed.and_then(|observed| seat.observed(now, observed));
        self.link.progressed();
        self.react_or_fail(key, reaction);
    }

    fn received_message(&mut self, now: Instant, message: v1::PlayResponse) {
        use v1::play_response::Kind;
        let v1::PlayResponse { tag, handle, kind } = message;
        let about_join = untag(tag).filter(|(_, asked)| *asked == Asked::Join);
        if let Some((key, _)) = about_join {
            self.joining.remove(&key);
        }
        let about = self.handles.get(&handle).copied();
        match kind {
            Some(Kind::Welcome(welcome)) => self.welcomed(now, &welcome),
            Some(Kind::Joined(start)) => {
                if let Some((key, Asked::Join)) = untag(tag)
                    && let Some(seat) = self.seats.get_mut(key).filter(|seat| !seat.is_over())
                {
                    let joined = seat.joined(now, handle, &start);
                    let earlier = self.handles.insert(handle, key).filter(|earlier| *earlier != key);
                    self.react_or_fail(key, joined);
                    // Its token was given twice: the last join has the seat.
                    if let Some((earlier, _)) = self.seat_of(earlier) {
                        self.end(earlier, End::Superseded);
                    }
                }
            }
            Some(Kind::Observation(observation)) => {
                self.observed(now, handle, Observed::from_message(observation));
            }
            Some(Kind::Acknowledgement(acknowledgement)) => self.acknowledged(tag, about, &acknowledgement),
            Some(Kind::Rejection(error)) => self.rejected(now, tag, error),
            Some(Kind::End(end)) => {
                self.handles.remove(&handle);
                if let Some((key, _)) = self.seat_of(about) {
                    match end_from_wire(&end) {
                        Ok(end) => self.over(key, end),
                        Err(error) => self.fail(key, &error),
                    }
                }
            }
            Some(Kind::Ping(v1::Ping { number })) => {
                self.send(Outgoing::new(0, 0, v1::play_request::Kind::Pong(v1::Pong { number })));
            }
            Some(Kind::Draining(v1::Draining { reconnect_after_ms, stops_in_ms })) => {
                // Until the server ends the stream, all goes on.
                tracing::info!(server = self.settings.server, stops_in_ms, "the server is about to stop");
                self.reconnect_after = Some(Duration::from_millis(reconnect_after_ms.into()));
            }
            Some(Kind::Superseded(_)) => {
                self.handles.remove(&handle);
                if let Some((key, _)) = self.seat_of(about) {
                    self.end(key, End::Superseded);
                }
            }
            Some(Kind::SeatAssigned(seat)) => match claim_from_wire(&seat) {
                Ok(claim) => {
                    self.take(claim);
                    self.join_more();
                }
                Err(error) => tracing::warn!(%error, "the server assigned what is no seat"),
            },
            Some(Kind::LadderNotice(notice)) => self.ladder_notice(&notice),
            Some(Kind::TokenRotated(v1::TokenRotated { message, .. })) => self.token_rotated(message),
            // The answer to a leave, and what a later version may send.
            Some(Kind::Left(_)) | None => {}
        }
        if about_join.is_some() {
            self.join_more();
        }
    }

    /// Plays a seat of the bot, if it is a new one.
    fn take(&mut self, claim: Claim) -> Option<Key> {
        let new = self.assigned.as_mut()?.take(&claim);
        new.then(|| self.add(claim))
    }

    fn welcomed(&mut self, now: Instant, welcome: &v1::Welcome) {
        let v1::Welcome {
            protocol_revision,
            server_version,
            ping_interval_ms,
            limits,
            live_seats,
            previous_cut,
            live_seat_count,
            next_live_seats_token: _,
        } = welcome;
        let own = zetema_proto::PROTOCOL_REVISION;
        if *protocol_revision != own {
            self.fail_all(&Error::ProtocolRevision { server: *protocol_revision, own });
            return;
        }
        tracing::info!(server = self.settings.server, server_version, "connected");
        let room = limits.as_ref().map_or(Room { seats: usize::MAX, joins: MOST_JOINS }, |limits| {
            let v1::PlayLimits { max_seats, max_message_bytes: _, max_queued_messages } = limits;
            let queued = usize::try_from(*max_queued_messages).unwrap_or(usize::MAX);
            Room {
                seats: usize::try_from(*max_seats).unwrap_or(usize::MAX),
                joins: if queued == 0 { MOST_JOINS } else { queued.min(MOST_JOINS) },
            }
        });
        self.link.welcomed(now, Duration::from_millis((*ping_interval_ms).into()), room);
        let cut = previous_cut.as_ref().and_then(|cut| self.cut_before(cut));
        self.live_seats(live_seats, usize::try_from(*live_seat_count).unwrap_or(usize::MAX), cut.as_ref());
        self.queues_welcomed();
        self.join_more();
    }

    /// What the server says of the cut of an earlier stream, if it is news.
    fn cut_before(&mut self, cut: &v1::StreamCut) -> Option<Fault> {
        // The session has cursors of its own, of what has arrived.
        let v1::StreamCut { time, reason: _, message, cursors: _ } = cut;
        let time = time.and_then(|time| SystemTime::try_from(time).ok())?;
        let told = self.last_loss == LastLoss::Told || self.last_cut.is_some_and(|last| last >= time);
        self.last_cut = self.last_cut.max(Some(time));
        if told {
            return None;
        }
        let reason = cut.reason();
        tracing::warn!(reason = reason.name(), "the server had cut the stream before");
        Some(Fault::CutBefore { time, reason, message: message.clone() })
    }

    /// The welcome's list of the bot's seats: those that were joined before are resumed, whoever joined them.
    fn live_seats(&mut self, live: &[v1::LiveSeat], count: usize, cut: Option<&Fault>) {
        if self.assigned.is_none() {
            return;
        }
        let mut claims = Vec::with_capacity(live.len());
        for seat in live {
            match claim_from_wire(seat) {
                Ok(claim) => claims.push((claim, seat.seat_state() == v1::SeatState::Joined)),
                Err(error) => tracing::warn!(%error, "the server lists what is no seat"),
            }
        }
        if let Some(cut) = cut {
            for (_, seat) in self.seats.iter_mut() {
                if seat.cursor.is_some() && !seat.is_over() {
                    seat.fault(cut.clone());
                }
            }
        }
        for (claim, joined) in &claims {
            if let Some(key) = self.take(claim.clone())
                && let (true, Some(cut), Some(seat)) = (*joined, cut, self.seats.get_mut(key))
            {
                seat.fault(cut.clone());
            }
        }
        let claims: Vec<Claim> = claims.into_iter().map(|(claim, _)| claim).collect();
        if let Some(assigned) = &mut self.assigned {
            assigned.listed(&claims, count);
        }
    }

    fn acknowledged(&mut self, tag: u64, about: Option<Key>, acknowledgement: &v1::Acknowledgement) {
        use v1::acknowledgement::Kind;
        let v1::Acknowledgement { kind } = acknowledgement;
        if let Some(Kind::Queues(accepted)) = kind {
            if let Some(change) = untag_queues(tag) {
                self.queues_acknowledged(change, accepted);
            }
            return;
        }
        let Some((_, seat)) = self.seat_of(about) else { return };
        match kind {
            Some(Kind::Action(v1::Receipt { match_id: _, decision_number, seq: _ })) => {
                seat.answer_is_settled(Some(*decision_number));
            }
            Some(Kind::Nonce(v1::NonceAccepted {})) => seat.nonce_is_settled(),
            Some(Kind::Resignation(v1::ResignationAccepted { seq: _ })) => seat.resignation_is_settled(),
            Some(Kind::Queues(_)) | None => {}
        }
    }

    fn rejected(&mut self, now: Instant, tag: u64, error: v1::Error) {
        let reason = error.reason();
        let wait = error.retry_after_ms.map(|ms| Duration::from_millis(ms.into()));
        let v1::Error { reason: _, message, violations: _, decision_number, retry_after_ms: _, closed_by } =
            error;
        let refusal = Refusal { reason, message, decision: decision_number };
        if let Some(change) = untag_queues(tag)
            && self.link.room().is_some()
        {
            self.queues_rejected(change, wait, refusal);
            return;
        }
        let Some((key, asked)) = untag(tag) else {
            if self.link.room().is_none() {
                self.fail_all(&Error::Refused { asked: "open a stream", refusal });
            } else {
                tracing::warn!(reason = reason.name(), "the server refused a message of the session");
            }
            return;
        };
        let Some((_, seat)) = self.seat_of(Some(key)) else { return };
        let refused = Fault::Refused { asked: asked.text(), refusal: refusal.clone() };
        match (asked, reason) {
            (Asked::Join, ErrorReason::NonceFixed) if seat.give_up_nonce() => {
                seat.fault(Fault::NonceOfAnother);
                self.send_join(key);
            }
            // Another has joined before this one could go on.
            (Asked::Join, ErrorReason::Superseded | ErrorReason::TokenRotated) => {
                self.end(key, End::Superseded);
            }
            // Whoever plays the seat has to send its nonce first: then it can be taken over.
            (Asked::Join, ErrorReason::NonceFixed) if wait.is_some() => {
                self.retry(now, key, asked, wait, refusal);
            }
            (Asked::Join, ErrorReason::CursorAhead) if seat.cursor.is_some() => {
                seat.forget();
                self.send_join(key);
            }
            (Asked::Act, ErrorReason::DecisionOver) => {
                // It may be of an answer that was given up before: the one to the decision of now is still under way then.
                let is_over = |decision: &u32| refusal.decision.is_none_or(|current| *decision < current);
                let answered = Some(seat.last_answered()).filter(is_over);
                let open = seat.open_answer().filter(is_over);
                if closed_by == i32::from(v1::DecisionClosedBy::Answer) {
                    // The other answer's receipt may have come before.
                    if let Some(decision) = answered {
                        seat.fault(Fault::AnsweredOtherwise { decision });
                    }
                } else if let Some(decision) = open {
                    seat.fault(Fault::TooLate { decision });
                }
                if open.is_some() {
                    seat.answer_is_settled(open);
                }
            }
            // The end of the match, or of this seat, is on its way.
            (Asked::Act | Asked::Resign | Asked::Nonce, ErrorReason::MatchOver)
            | (Asked::Act, ErrorReason::SeatForfeited) => {
                seat.answer_is_settled(None);
                seat.nonce_is_settled();
            }
            // It is sent again with the first deal.
            (Asked::Resign, ErrorReason::MatchNotStarted) => {}
            (Asked::Nonce, ErrorReason::NonceFixed | ErrorReason::NonceMismatch) => {
                seat.fault(refused);
                seat.nonce_is_settled();
            }
            (Asked::Join, reason) if !is_passing(reason) => {
                self.end(key, End::Failed(Error::Refused { asked: asked.text(), refusal }));
            }
            _ => {
                seat.fault(refused);
                self.retry(now, key, asked, wait, refusal);
            }
        }
    }

    /// Sends the same again later, unless that was done too often. While the server does not know what is stored, no
    /// clock of its runs, and a setup has its own end, also while the server is overloaded: these may last, and are no reason to give up.
    fn retry(&mut self, now: Instant, key: Key, asked: Asked, wait: Option<Duration>, refusal: Refusal) {
        let Some(seat) = self.seats.get_mut(key) else { return };
        if !matches!(
            refusal.reason,
            ErrorReason::OutcomeUnknown | ErrorReason::NonceFixed | ErrorReason::Overloaded
        ) {
            seat.refusals += 1;
        }
        let refusals = seat.refusals;
        if refusals > MOST_REFUSALS {
            self.leave(key);
            self.end(key, End::Failed(Error::Refused { asked: asked.text(), refusal }));
            return;
        }
        let wait = match wait {
            Some(wait) => self.backoff.spread(wait),
            None => self.backoff.wait(refusals),
        };
        self.retries.insert((now + wait, key, asked));
    }
}

fn claim_from_wire(message: &v1::LiveSeat) -> Result<Claim, FieldError> {
    let v1::LiveSeat { match_id, seat, match_state: _, seat_state: _, ladder: _ } = message;
    let seat = Seat::from_wire(seat).map_err(|error| error.within("seat"))?;
    Ok(Claim::Assigned { match_id: match_id.clone(), seat })
}

/// Whether the same may be answered otherwise in a moment.
const fn is_passing(reason: ErrorReason) -> bool {
    matches!(
        reason,
        ErrorReason::OutcomeUnknown
            | ErrorReason::Draining
            | ErrorReason::LimitExceeded
            | ErrorReason::Overloaded
            | ErrorReason::SlowReader
            | ErrorReason::Internal
    )
}
