//! `MatchService`: matches and their records, for organisers, backends and spectators.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use futures::{future::BoxFuture, stream::BoxStream};
use prost::Message;
use sha2::{Digest, Sha256};
use tonic::{
    Request, Response, Status, async_trait, body::Body, codegen::Service, metadata::MetadataMap,
    server::NamedService,
};
use zetema_proto::{
    FieldError, Wire,
    v1::{
        self,
        match_service_server::{MatchService, MatchServiceServer},
    },
};
use zetema_rules::Seat;

use super::{
    backend::Backend,
    caller::{self, Caller},
    fault::Fault,
    lists::{self, Stages},
    named_bots,
    result_streams::ResultStreams,
    spectators,
    told_body::{self, Nothing},
    wire,
};
use crate::{
    access::{Bearer, SeatGrant},
    admission::{Share, Work},
    encoding::match_of_owner,
    journal::{BodyHash, MatchId, RequestId, RequestKey},
    limits,
    matches::{CreateError, EndedMatch, ListCursor},
    table::{Command, DealSpec, MatchInfo, MatchSpec, Rejection},
};

const WATCH_MATCH: &str = "/zetema.v1.MatchService/WatchMatch";

/// `MatchService`, of which `WatchMatch` has a [body of its own](told_body).
#[derive(Clone)]
pub(crate) struct MatchServer(MatchServiceServer<MatchAdapter>);

impl MatchServer {
    /// The service over these matches.
    pub(crate) fn new(backend: &Arc<Backend>) -> Self {
        let generated = MatchServiceServer::new(MatchAdapter::new(Arc::clone(backend)))
            .max_decoding_message_size(backend.max_request_bytes)
            .max_encoding_message_size(limits::MAX_RESPONSE_BYTES);
        Self(generated)
    }
}

impl NamedService for MatchServer {
    const NAME: &'static str = <MatchServiceServer<MatchAdapter> as NamedService>::NAME;
}

impl Service<http::Request<Body>> for MatchServer {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if request.uri().path() == WATCH_MATCH {
            told_body::answered_by(&mut self.0, request)
        } else {
            self.0.call(request)
        }
    }
}

/// The adapter of `MatchService`.
#[derive(Clone)]
pub(crate) struct MatchAdapter {
    backend: Arc<Backend>,
    results: ResultStreams,
}

impl MatchAdapter {
    /// An adapter over these matches.
    pub(crate) fn new(backend: Arc<Backend>) -> Self {
        Self { backend, results: ResultStreams::default() }
    }

    async fn caller(&self, metadata: &MetadataMap) -> Result<Caller, Fault> {
        Caller::of(&self.backend, metadata).await
    }

    /// A match that the caller may see.
    pub(super) async fn visible(&self, caller: &Caller, match_id: &str) -> Result<MatchInfo, Fault> {
        self.found(caller::match_id(match_id)?, caller.bearer(), |info| caller.may_see(info)).await
    }

    /// A match of the caller's own.
    async fn owned(&self, caller: &Caller, match_id: MatchId) -> Result<MatchInfo, Fault> {
        self.found(match_id, caller.bearer(), |info| caller.owns(info)).await
    }

    /// A match of which the caller may know. What can't be told apart from a match that is not there must not be by damage
    /// either: whose a damaged match is, its first record tells. When that is damaged too, only the admin and its seats
    /// hear of it.
    async fn found(
        &self,
        match_id: MatchId,
        bearer: &Bearer,
        may: impl Fn(&MatchInfo) -> bool,
    ) -> Result<MatchInfo, Fault> {
        Ok(self.known(match_id, bearer, may).await??)
    }

    /// The same, with what is wrong with a match of which the caller may know.
    async fn known(
        &self,
        match_id: MatchId,
        bearer: &Bearer,
        may: impl Fn(&MatchInfo) -> bool,
    ) -> Result<Result<MatchInfo, Rejection>, Fault> {
        let known = match self.backend.matches.get(match_id).await {
            Ok(info) => may(&info).then_some(Ok(info)),
            Err(damaged @ Rejection::MatchDamaged(_)) => {
                let may_know = match bearer {
                    Bearer::Admin => true,
                    Bearer::Seat(grant) => grant.match_id == match_id,
                    Bearer::Owner(_) | Bearer::Bot(_) | Bearer::Anonymous => false,
                };
                let may_know =
                    may_know || self.backend.matches.as_created(match_id).await.is_some_and(|i| may(&i));
                may_know.then_some(Err(damaged))
            }
            Err(rejection) => Some(Err(rejection)),
        };
        known.ok_or_else(|| Fault::not_found("match"))
    }

    /// Creates matches. `path` names one of the request.
    async fn create(
        &self,
        caller: &Caller,
        share: Option<Share>,
        mut specs: Vec<MatchSpec>,
        path: fn(usize) -> String,
        key: Option<RequestKey>,
    ) -> Result<Vec<v1::CreatedMatch>, Fault> {
        let owner = caller.creator()?;
        for spec in &mut specs {
            spec.owner = owner.cloned();
        }
        named_bots::shorten(&self.backend, owner, &mut specs);
        if let Some(share) = share {
            share.create(specs.len())?;
        }
        let take = |specs: &[MatchSpec]| {
            named_bots::take(&self.backend, owner, specs, path).map_err(NotCreated::Bots)
        };
        let created = self.backend.matches.create_taking(specs, key, take).await;
        let created = created.map_err(|refused| match refused {
            NotCreated::Matches(CreateError::Stopping) => Fault::draining(self.backend.drain.stops_in()),
            NotCreated::Matches(error) => error.into(),
            NotCreated::Bots(fault) => fault,
        })?;
        Ok(created.iter().map(|info| self.created(info)).collect())
    }

    fn created(&self, info: &MatchInfo) -> v1::CreatedMatch {
        let by_token = info.seats.iter().filter(|seat| seat.bot.is_none());
        let tokens = by_token.map(|seat| self.seat_token(info.match_id, seat.seat, seat.generation));
        v1::CreatedMatch { seat_tokens: tokens.collect(), r#match: Some(match_of_owner(info)) }
    }

    fn seat_token(&self, match_id: MatchId, seat: Seat, generation: u32) -> v1::SeatToken {
        let token = self.backend.access.seat_token(&SeatGrant { match_id, seat, generation });
        v1::SeatToken { seat: seat.to_wire(), token: token.expose().to_owned() }
    }
}

/// Why matches are not created.
enum NotCreated {
    Matches(CreateError),
    /// A bot that they name does not play them.
    Bots(Fault),
}

impl From<CreateError> for NotCreated {
    fn from(error: CreateError) -> Self {
        Self::Matches(error)
    }
}

/// What names a request, if it names itself: who asks, its id, and what it asks.
pub(super) fn request_key(
    caller: &Caller,
    request_id: &str,
    rpc: &str,
    body: &impl Message,
) -> Result<Option<RequestKey>, Fault> {
    if request_id.is_empty() {
        return Ok(None);
    }
    if request_id.len() > limits::MAX_REQUEST_ID_CHARS
        || !request_id.bytes().all(|byte| byte.is_ascii_graphic())
    {
        let problem = format!("give at most {} printable ASCII characters", limits::MAX_REQUEST_ID_CHARS);
        return Err(Fault::field("request_id", problem));
    }
    let mut hash = Sha256::new();
    hash.update(rpc);
    hash.update([0]);
    hash.update(body.encode_to_vec());
    let invalid = |error: crate::journal::JournalValueError| Fault::field("request_id", error.to_string());
    Ok(Some(RequestKey {
        caller: caller.account()?,
        request_id: RequestId::new(request_id).map_err(invalid)?,
        body_hash: BodyHash(hash.finalize().into()),
    }))
}

#[async_trait]
impl MatchService for MatchAdapter {
    type WatchResultsStream = BoxStream<'static, Result<v1::WatchResultsResponse, Status>>;
    type WatchMatchStream = Nothing<v1::WatchMatchResponse>;

    async fn create_match(
        &self,
        request: Request<v1::CreateMatchRequest>,
    ) -> Result<Response<v1::CreateMatchResponse>, Status> {
        let caller = self.caller(request.metadata()).await?;
        caller.creator()?;
        self.backend.pressure.check(Work::Create).map_err(Fault::from)?;
        self.backend.disk_room.check().map_err(Fault::from)?;
        let share = request.extensions().get::<Share>().cloned();
        let v1::CreateMatchRequest { request_id, r#match } = request.into_inner();
        let spec = r#match.ok_or_else(|| Fault::from(FieldError::missing("match")))?;
        let key = request_key(&caller, &request_id, "CreateMatch", &spec)?;
        let spec = wire::match_spec(&spec).map_err(|error| Fault::from(error.within("match")))?;
        if let DealSpec::Shared(_) = spec.deals {
            let problem = "one match alone shares its deals with none: use BatchCreateMatches";
            return Err(Fault::field("match.deals.shared", problem).into());
        }
        let mut created = self.create(&caller, share, vec![spec], |_| "match".to_owned(), key).await?;
        let Some(v1::CreatedMatch { r#match, seat_tokens }) = created.pop() else {
            return Err(Fault::internal(&"a creation made no match").into());
        };
        Ok(Response::new(v1::CreateMatchResponse { r#match, seat_tokens }))
    }

    async fn batch_create_matches(
        &self,
        request: Request<v1::BatchCreateMatchesRequest>,
    ) -> Result<Response<v1::BatchCreateMatchesResponse>, Status> {
        let caller = self.caller(request.metadata()).await?;
        caller.creator()?;
        self.backend.pressure.check(Work::Create).map_err(Fault::from)?;
        self.backend.disk_room.check().map_err(Fault::from)?;
        let share = request.extensions().get::<Share>().cloned();
        let v1::BatchCreateMatchesRequest { request_id, matches } = request.into_inner();
        if !(1..=limits::MAX_BATCH_MATCHES).contains(&matches.len()) {
            let problem = format!("has {} entries: give 1 to {}", matches.len(), limits::MAX_BATCH_MATCHES);
            return Err(Fault::field("matches", problem).into());
        }
        let spec = |(i, spec)| wire::match_spec(spec).map_err(|error| error.at(i).within("matches"));
        let specs: Vec<MatchSpec> =
            matches.iter().enumerate().map(spec).collect::<Result<_, _>>().map_err(Fault::from)?;
        let body = v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
        let key = request_key(&caller, &request_id, "BatchCreateMatches", &body)?;
        let matches = self.create(&caller, share, specs, |at| format!("matches[{at}]"), key).await?;
        Ok(Response::new(v1::BatchCreateMatchesResponse { matches }))
    }

    async fn get_match(
        &self,
        request: Request<v1::GetMatchRequest>,
    ) -> Result<Response<v1::GetMatchResponse>, Status> {
        let caller = self.caller(request.metadata()).await?;
        let info = self.visible(&caller, &request.get_ref().match_id).await?;
        Ok(Response::new(v1::GetMatchResponse { r#match: Some(caller.shown(&info)) }))
    }

    async fn list_matches(
        &self,
        request: Request<v1::ListMatchesRequest>,
    ) -> Result<Response<v1::ListMatchesResponse>, Status> {
        let caller = self.caller(request.metadata()).await?;
        let v1::ListMatchesRequest { filter, page_size, page_token } = request.get_ref();
        let filter = lists::filter(caller.bearer(), filter.as_ref(), Stages::Any)?;
        let (cursor, size) = (lists::cursor(page_token)?, lists::page_size(*page_size)?);
        let turn = lists::turn(&request).await?;
        let page = self.backend.matches.list(&filter, cursor, size).await.map_err(Fault::from)?;
        let answer = v1::ListMatchesResponse {
            matches: page.matches.iter().map(|info| caller.shown(info)).collect(),
            next_page_token: page.next.map(|next| next.to_string()).unwrap_or_default(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn list_records(
        &self,
        request: Request<v1::ListRecordsRequest>,
    ) -> Result<Response<v1::ListRecordsResponse>, Status> {
        let caller = self.caller(request.metadata()).await?;
        let v1::ListRecordsRequest { filter, page_size, page_token } = request.get_ref();
        let filter = lists::filter(caller.bearer(), filter.as_ref(), Stages::Over)?;
        let (position, size) = (lists::position(page_token)?, lists::page_size(*page_size)?);
        let matches = &self.backend.matches;
        let turn = lists::turn(&request).await?;
        let page = matches.list_records(&filter, position, size).await.map_err(Fault::from)?;
        let summary = |ended: &Arc<EndedMatch>| lists::record_summary(ended, matches.is_held(&ended.info));
        let next = page.next.map(|position| ListCursor::Over(Some(position)).to_string());
        let answer = v1::ListRecordsResponse {
            records: page.matches.iter().map(summary).collect(),
            next_page_token: next.unwrap_or_default(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn cancel_match(
        &self,
        request: Request<v1::CancelMatchRequest>,
    ) -> Result<Response<v1::CancelMatchResponse>, Status> {
        let caller = self.caller(request.metadata()).await?;
        caller.creator()?;
        let match_id = caller::match_id(&request.get_ref().match_id)?;
        // One that can't go on can be cancelled all the same.
        match self.known(match_id, caller.bearer(), |info| caller.owns(info)).await? {
            Ok(_) | Err(Rejection::MatchDamaged(_)) => {}
            Err(rejection) => return Err(Fault::from(rejection).into()),
        }
        let (share, metadata) = (request.extensions().get::<Share>(), request.metadata());
        self.backend.command("CancelMatch", share, metadata, match_id, Command::Cancel).await?;
        let info = self.backend.matches.get(match_id).await.map_err(Fault::from)?;
        Ok(Response::new(v1::CancelMatchResponse { r#match: Some(caller.shown(&info)) }))
    }

    async fn watch_match(
        &self,
        request: Request<v1::WatchMatchRequest>,
    ) -> Result<Response<Self::WatchMatchStream>, Status> {
        self.backend.pressure.check(Work::Watch).map_err(Fault::from)?;
        let (message, share) = (request.get_ref(), request.extensions().get::<Share>());
        let caller = self.caller(request.metadata()).await?;
        let info = self.visible(&caller, &message.match_id).await?;
        let told = spectators::watch(&self.backend, caller, share, info.match_id, message).await?;
        told_body::tell(request.extensions(), told)
    }

    async fn watch_results(
        &self,
        request: Request<v1::WatchResultsRequest>,
    ) -> Result<Response<Self::WatchResultsStream>, Status> {
        let caller = self.caller(request.metadata()).await?;
        let owner = caller.creator()?.cloned();
        let results = self.results.watch(&self.backend, owner, request.get_ref())?;
        Ok(Response::new(caller.until_void(results)))
    }

    async fn get_record(
        &self,
        request: Request<v1::GetRecordRequest>,
    ) -> Result<Response<v1::GetRecordResponse>, Status> {
        let caller = self.caller(request.metadata()).await?;
        let info = self.visible(&caller, &request.get_ref().match_id).await?;
        let turn = lists::turn(&request).await?;
        let file = self.backend.matches.record(info.match_id).await.map_err(Fault::from)?;
        let record = v1::Record::decode(file.record).map_err(|error| Fault::internal(&error))?;
        Ok(lists::in_turn(v1::GetRecordResponse { record: Some(record) }, turn))
    }

    async fn rotate_seat_token(
        &self,
        request: Request<v1::RotateSeatTokenRequest>,
    ) -> Result<Response<v1::RotateSeatTokenResponse>, Status> {
        let caller = self.caller(request.metadata()).await?;
        caller.creator()?;
        let share = request.extensions().get::<Share>().cloned();
        let v1::RotateSeatTokenRequest { match_id, seat, request_id } = request.into_inner();
        let body = v1::RotateSeatTokenRequest { match_id: match_id.clone(), seat, request_id: String::new() };
        let key = request_key(&caller, &request_id, "RotateSeatToken", &body)?;
        self.backend.disk_room.check().map_err(Fault::from)?;
        if let Some(share) = &share {
            // It is stored as a creation is.
            share.create(1).map_err(Fault::from)?;
        }
        let match_id = caller::match_id(&match_id)?;
        let seat = Seat::from_wire(&seat).map_err(|error| Fault::from(error.within("seat")))?;
        let info = self.owned(&caller, match_id).await?;
        if let Some(bot) = info.seats.get(seat.index()).and_then(|seat| seat.bot.as_ref()) {
            let problem =
                format!("is the seat of the bot `{bot}`, which plays it by its own token: replace that one");
            return Err(Fault::field("seat", problem).into());
        }
        let before = info.seats.get(seat.index()).map_or(0, |seat| seat.generation);
        let _turn = self.backend.turn(share.as_ref(), match_id).await?;
        let generation = match key {
            None => self.backend.matches.rotate_token(match_id, seat).await.map_err(Fault::from)?,
            Some(key) => {
                self.backend.matches.rotate_token_once(match_id, seat, key).await.map_err(Fault::from)?
            }
        };
        // A retry that comes after another rotation needs the token that holds.
        let seat_token = Some(self.seat_token(match_id, seat, generation.max(before)));
        Ok(Response::new(v1::RotateSeatTokenResponse { seat_token }))
    }
}
