//! `PlayService`: Play for bots, and the same thing in single calls for browsers, scripts and `grpcurl`.

mod ask;
mod by_handle;
mod events;
mod faults;
mod handles;
mod hearing;
mod hello;
mod intake;
mod next;
mod observe;
mod opener;
mod outbox;
mod post;
mod queues;
mod requests;
mod rotation;
mod round_trips;
mod seat;
mod seats;
mod server;
mod session;
mod waiting;

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use tonic::{Request, Response, Status, Streaming, async_trait, metadata::MetadataMap};
use zetema_proto::{
    FieldError, Wire,
    v1::{self, play_service_server::PlayService},
};
use zetema_rules::fair::Nonce;

use super::{
    backend::Backend,
    caller::{self, Caller},
    fault::Fault,
    handed::{BY_ANOTHER_WAY, Handed},
    lists,
    told_body::{self, Nothing},
    wire,
};
use crate::{
    admission::Share,
    executor::Executor,
    journal::MatchId,
    limits,
    matches::{FaultsOf, JoinSeat, Joined},
    table::{Command, Done, SeatAccess},
};
use events::Validity;
use opener::{BotOpener, Cuts, Opener, TokenKey};
use outbox::outbox;
use post::Post;
use queues::Leases;
pub(super) use queues::conduct_to_wire;
use requests::Requests;
pub(crate) use server::PlayServer;
use session::Session;

/// The adapter of `PlayService`.
#[derive(Clone)]
pub(crate) struct PlayAdapter {
    backend: Arc<Backend>,
    cuts: Arc<Cuts>,
    leases: Leases,
    /// In which Play streams run.
    executor: Executor,
}

impl PlayAdapter {
    /// An adapter over these matches.
    pub(crate) fn new(backend: Arc<Backend>, executor: Executor) -> Self {
        Self { backend, cuts: Arc::default(), leases: Leases::default(), executor }
    }

    /// What `Act` is answered. What the request is made of is gone before its answer is waited for: it is at hand now, and of many calls
    /// that wait nothing is.
    pub(crate) async fn acted(
        &self,
        metadata: MetadataMap,
        share: Option<&Share>,
        message: v1::ActRequest,
    ) -> Result<v1::ActResponse, Fault> {
        let done = {
            let (metadata, v1::ActRequest { seat_token, act, assigned }) = (metadata, message);
            let act = act.as_ref().ok_or_else(|| FieldError::missing("act"))?;
            let (decision, choice) = wire::act(act).map_err(|error| error.within("act"))?;
            let seat = seat::of_call(&self.backend, &metadata, &seat_token, assigned.as_ref()).await?;
            self.ask("Act", &metadata, share, seat, |access| Command::Act { access, decision, choice })
        };
        match done.await? {
            Done::Acted(receipt) => Ok(v1::ActResponse { receipt: Some(wire::receipt(receipt)) }),
            other => Err(unexpected(other)),
        }
    }

    /// Asks the table of a seat. It is no `async fn`, which would keep the metadata.
    fn ask<'a>(
        &'a self,
        rpc: &'static str,
        metadata: &MetadataMap,
        share: Option<&'a Share>,
        (match_id, access): (MatchId, SeatAccess),
        command: impl FnOnce(SeatAccess) -> Command,
    ) -> impl Future<Output = Result<Done, Fault>> + Send + 'a {
        let done = self.backend.command(rpc, share, metadata, match_id, command(access));
        done.map(move |done| {
            done.inspect_err(|fault| faults::refused(&self.backend, (match_id, access.seat), fault))
        })
    }
}

/// What a table must not have answered.
fn unexpected(done: Done) -> Fault {
    Fault::internal(&format_args!("a seat was answered {done:?}"))
}

#[async_trait]
impl PlayService for PlayAdapter {
    type PlayStream = Nothing<v1::PlayResponse>;
    type ObserveStream = Nothing<v1::ObserveResponse>;

    async fn play(
        &self,
        request: Request<Streaming<v1::PlayRequest>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        // There is nothing that the generated code would read.
        let (metadata, extensions, _) = request.into_parts();
        let requests = extensions.get::<Handed<Requests>>().and_then(Handed::take);
        let requests = requests.ok_or_else(|| Fault::internal(&BY_ANOTHER_WAY))?;
        let caller = Caller::of(&self.backend, &metadata).await?;
        let (opener, token) = (Opener::from(&caller), TokenKey::of(&metadata, &caller));
        let share = extensions.get::<Share>().cloned();
        let post = Arc::<Post>::default();
        let (out, unread) = outbox(Arc::clone(&self.backend), Arc::clone(&post));
        let cuts = Arc::clone(&self.cuts);
        let session = Session::new(Arc::clone(&self.backend), cuts, opener, token, post, share);
        let validity = Validity { rotated: caller.rotated(), voided: caller.voided() };
        self.executor.spawn(session.run(requests, out, validity));
        told_body::tell(&extensions, unread.map(|said| said.map_err(|end| *end)))
    }

    async fn join_seat(
        &self,
        request: Request<v1::JoinSeatRequest>,
    ) -> Result<Response<v1::JoinSeatResponse>, Status> {
        let (metadata, _, message) = request.into_parts();
        let v1::JoinSeatRequest { seat_token, nonce_hash, assigned } = message;
        let nonce_hash = wire::nonce_hash(&nonce_hash).map_err(Fault::from)?;
        let seat = seat::of_join(&self.backend, &metadata, &seat_token, assigned.as_ref());
        let (match_id, access, bot_token) = seat.await?;
        self.backend.check_join(match_id, access.seat)?;
        let join = JoinSeat { access, bot_token, nonce_hash, earlier: None };
        let joined = self.backend.matches.take_seat(match_id, join).await;
        let Joined { hold: _, info, arriving: _ } = joined.map_err(|rejection| {
            let fault = Fault::from(rejection);
            faults::refused(&self.backend, (match_id, access.seat), &fault);
            fault
        })?;
        Ok(Response::new(v1::JoinSeatResponse { r#match: Some((&info).into()), seat: access.seat.to_wire() }))
    }

    async fn send_nonce(
        &self,
        request: Request<v1::SendNonceRequest>,
    ) -> Result<Response<v1::SendNonceResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let v1::SendNonceRequest { seat_token, nonce, assigned } = message;
        let nonce = Nonce::from_wire(&nonce).map_err(|error| Fault::from(error.within("nonce")))?;
        let seat = seat::of_call(&self.backend, &metadata, &seat_token, assigned.as_ref()).await?;
        let command = |access| Command::GiveNonce { access, nonce };
        self.ask("SendNonce", &metadata, extensions.get(), seat, command).await?;
        Ok(Response::new(v1::SendNonceResponse {}))
    }

    async fn observe(
        &self,
        request: Request<v1::ObserveRequest>,
    ) -> Result<Response<Self::ObserveStream>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let share = extensions.get::<Share>().cloned();
        told_body::tell(&extensions, observe::observe(&self.backend, share, &metadata, message).await?)
    }

    async fn act(&self, request: Request<v1::ActRequest>) -> Result<Response<v1::ActResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        Ok(Response::new(self.acted(metadata, extensions.get(), message).await?))
    }

    async fn resign(
        &self,
        request: Request<v1::ResignRequest>,
    ) -> Result<Response<v1::ResignResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let v1::ResignRequest { seat_token, panic, assigned } = message;
        let panic = wire::panic(panic).map_err(Fault::from)?;
        let seat = seat::of_call(&self.backend, &metadata, &seat_token, assigned.as_ref());
        let (match_id, access) = seat.await?;
        if let Some(panic) = panic {
            let matches = &self.backend.matches;
            if matches.runs(match_id) && matches.check_access(match_id, access).await.is_ok() {
                faults::panicked(&self.backend, (match_id, access.seat), panic);
            }
        }
        let command = |access| Command::Resign { access };
        match self.ask("Resign", &metadata, extensions.get(), (match_id, access), command).await? {
            Done::Resigned { seq } => Ok(Response::new(v1::ResignResponse {
                match_id: match_id.to_string(),
                seat: access.seat.to_wire(),
                seq,
            })),
            other => Err(unexpected(other).into()),
        }
    }

    async fn update_queues(
        &self,
        request: Request<v1::UpdateQueuesRequest>,
    ) -> Result<Response<v1::UpdateQueuesResponse>, Status> {
        let caller = Caller::of(&self.backend, request.metadata()).await.map_err(Fault::for_bots_alone)?;
        let Opener::Bot(BotOpener { bot, token }) = Opener::from(&caller) else {
            return Err(Fault::no_bot_token().into());
        };
        let rotation = token.rotation;
        let v1::UpdateQueuesRequest { queues } = request.into_inner();
        let waits = queues::waits(&queues.unwrap_or_default());
        let waits = waits.map_err(|error| Fault::from(error.within("queues")))?;
        let states = match rotation {
            // The lease is the new token's.
            Some(_) if waits.is_nothing() => Vec::new(),
            Some(rotation) => return Err(Fault::token_rotated(rotation).into()),
            None => {
                let ladders = &self.backend.ladders;
                let states = self.leases.renew(ladders, bot.clone(), waits, caller.settled()).await;
                states.map_err(|(at, refused)| queues::refused("queues", at, &refused))?
            }
        };
        let seats = self.backend.matches.bot_seats(&bot, token, None, limits::MAX_SEATS_PER_STREAM);
        let words = if rotation.is_some() { Vec::new() } else { self.leases.words(&bot) };
        let notices = words.iter().map(queues::notice).collect();
        Ok(Response::new(v1::UpdateQueuesResponse {
            queues: queues::accepted(&states),
            live_seats: seats.seats.iter().map(hello::live_seat_to_wire).collect(),
            waits_ms: u32::try_from(limits::QUEUE_LEASE.as_millis()).unwrap_or(u32::MAX),
            notices,
        }))
    }

    async fn list_faults(
        &self,
        request: Request<v1::ListFaultsRequest>,
    ) -> Result<Response<v1::ListFaultsResponse>, Status> {
        let caller = Caller::of(&self.backend, request.metadata()).await?;
        let v1::ListFaultsRequest { seat_token, match_id, page_size, page_token, bot } = request.get_ref();
        let of = match (Opener::from(&caller), seat_token.as_str(), bot.as_str()) {
            (Opener::Bot(BotOpener { bot, token: _ }), "", "") => FaultsOf::Bot(bot),
            (_, "", bot) if !bot.is_empty() => faults::of_bot(&self.backend, &caller, bot)?,
            (_, _, bot) if !bot.is_empty() => {
                return Err(Fault::field("bot", "stands beside seat_token: give one of them").into());
            }
            (_, token, _) => {
                let (match_id, access) =
                    caller::seat(&self.backend.access, token, || "seat_token".to_owned())?;
                self.backend.matches.check_access(match_id, access).await.map_err(Fault::from)?;
                FaultsOf::Seat(match_id, access.seat)
            }
        };
        let page = faults::page(match_id, *page_size, page_token)?;
        let turn = lists::turn(&request).await?;
        Ok(lists::in_turn(faults::list(&self.backend, &of, page), turn))
    }
}
