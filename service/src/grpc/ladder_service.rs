//! `LadderService`: ladders and what they say of bots, for everyone.

use std::sync::Arc;

use futures::{StreamExt, stream, stream::BoxStream};
use tokio::sync::watch;
use tonic::{Request, Response, Status, async_trait};
use zetema_ladder::{AdjustedScore, Certainty, Entry, HeadToHead, Rating, Tally, pairing::SameOwner};
use zetema_proto::{
    FieldError, Wire,
    v1::{self, ErrorReason, ladder_service_server::LadderService},
};

use super::{
    backend::Backend,
    caller::Caller,
    fault::Fault,
    lists,
    luck::{points_to_wire, score_to_wire},
    play::conduct_to_wire,
    standings::{self, StandingsStreams, Watching},
    suspicions::{self, Place},
    wire,
};
use crate::{
    admission::Share,
    encoding::timestamp,
    journal::{BotName, ResultNumber, UnixMillis},
    ladders::{
        self, LadderFault, LadderSpec, LoggedResult, LoggedSeat, Luck, Met, NoSeason, Page, PageFrom,
        Picture, RatingAt, Reason, ResultsFilter, ResultsOnward, Row, SeasonSpan, SeatEnd,
    },
    limits,
    matches::{NoResultCursor, ResultCursor},
};

/// The adapter of `LadderService`.
#[derive(Clone)]
pub(crate) struct LadderAdapter {
    backend: Arc<Backend>,
    streams: StandingsStreams,
}

impl LadderAdapter {
    /// An adapter over the ladders of this server.
    pub(crate) fn new(backend: Arc<Backend>) -> Self {
        Self { backend, streams: StandingsStreams::default() }
    }

    fn picture(&self, name: &str) -> Result<(Arc<LadderSpec>, watch::Receiver<Arc<Picture>>), Fault> {
        if name.is_empty() {
            return Err(FieldError::missing("ladder").into());
        }
        let (spec, picture) = self.backend.ladders.picture(name).map_err(LadderFault::from)?;
        Ok((Arc::clone(spec), picture))
    }

    fn luck(&self, ladder: &str) -> Result<Arc<Luck>, Fault> {
        Ok(self.backend.ladders.luck(ladder).map_err(LadderFault::from)?)
    }
}

#[async_trait]
impl LadderService for LadderAdapter {
    type WatchStandingsStream = BoxStream<'static, Result<v1::WatchStandingsResponse, Status>>;

    async fn list_ladders(
        &self,
        request: Request<v1::ListLaddersRequest>,
    ) -> Result<Response<v1::ListLaddersResponse>, Status> {
        let v1::ListLaddersRequest {} = request.get_ref();
        let turn = lists::turn(&request).await?;
        let ladders = self.backend.ladders.all().map(|(spec, picture)| ladder_to_wire(spec, &picture));
        Ok(lists::in_turn(v1::ListLaddersResponse { ladders: ladders.collect() }, turn))
    }

    async fn get_standings(
        &self,
        request: Request<v1::GetStandingsRequest>,
    ) -> Result<Response<v1::GetStandingsResponse>, Status> {
        let v1::GetStandingsRequest { ladder, page_size, page_token } = request.get_ref();
        let (_, picture) = self.picture(ladder)?;
        let size = usize::from(lists::page_size(*page_size)?.get());
        let from = lists::place(page_token)?.unwrap_or(0);
        let from = usize::try_from(from).map_err(|_| lists::wrong_token())?;
        let turn = lists::turn(&request).await?;
        self.caught_up().await?;
        let picture = Arc::clone(&picture.borrow());
        let rows = picture.rows.get(from..).unwrap_or_default();
        let next = (rows.len() > size).then(|| (from + size).to_string());
        let luck = self.luck(ladder)?;
        let answer = v1::GetStandingsResponse {
            luck_result_number: luck.result_number().min(picture.result_number).get(),
            standings: rows.iter().take(size).map(|row| standing_to_wire(row, &luck)).collect(),
            next_page_token: next.unwrap_or_default(),
            result_number: picture.result_number.get(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn list_results(
        &self,
        request: Request<v1::ListResultsRequest>,
    ) -> Result<Response<v1::ListResultsResponse>, Status> {
        let v1::ListResultsRequest { ladder, filter, page_size, page_token, oldest_first } =
            request.get_ref();
        self.picture(ladder)?;
        let filter = results_filter(filter.as_ref()).map_err(|error| Fault::from(error.within("filter")))?;
        let order = match oldest_first {
            None => Order::LatestFirst(numbered(*page_size, page_token)?),
            Some(v1::OldestFirst { after }) => Order::OldestFirst(self.place(after, page_token)?),
        };
        let most = usize::from(lists::page_size(*page_size)?.get());
        let turn = lists::turn(&request).await?;
        let (certain, luck) = (|rating| self.rating(ladder, rating), self.luck(ladder)?);
        let shown = async |items: &[Arc<LoggedResult>]| {
            let mut shown = Vec::with_capacity(items.len());
            for result in items {
                let scores = luck.scores(result).await;
                shown.push(result_to_wire(result, &certain, scores.as_deref()));
            }
            shown
        };
        let answer = match order {
            Order::LatestFirst(of) => {
                let page = self.backend.ladders.results(ladder, &filter, &of).await;
                let Page { items, next } = page.map_err(Fault::from)?;
                v1::ListResultsResponse {
                    results: shown(&items).await,
                    next_page_token: next.unwrap_or_default(),
                    ..v1::ListResultsResponse::default()
                }
            }
            Order::OldestFirst(after) => {
                let onward = self.backend.ladders.results_after(ladder, &filter, after, most).await;
                let ResultsOnward { items, looked_to, next, left_out_to } = onward.map_err(Fault::from)?;
                let cursor = |number| self.backend.matches.result_cursor(number).to_string();
                v1::ListResultsResponse {
                    results: shown(&items).await,
                    next_page_token: next.map(cursor).unwrap_or_default(),
                    cursor: cursor(looked_to),
                    left_out_to: left_out_to.map_or(0, ResultNumber::get),
                }
            }
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn get_rating_history(
        &self,
        request: Request<v1::GetRatingHistoryRequest>,
    ) -> Result<Response<v1::GetRatingHistoryResponse>, Status> {
        let v1::GetRatingHistoryRequest { ladder, bot_name, page_size, page_token } = request.get_ref();
        self.picture(ladder)?;
        let (bot, of) = (bot("bot_name", bot_name)?, numbered(*page_size, page_token)?);
        let turn = lists::turn(&request).await?;
        let page = self.backend.ladders.history(ladder, &bot, &of).await;
        let Page { items, next } = page.map_err(Fault::from)?;
        let point = |RatingAt { number, match_id, ended_at, rating }: &RatingAt| v1::RatingPoint {
            result_number: number.get(),
            match_id: match_id.to_string(),
            time: Some(timestamp(*ended_at)),
            rating: Some(self.rating(ladder, *rating)),
        };
        let answer = v1::GetRatingHistoryResponse {
            points: items.iter().map(point).collect(),
            next_page_token: next.unwrap_or_default(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn get_head_to_head(
        &self,
        request: Request<v1::GetHeadToHeadRequest>,
    ) -> Result<Response<v1::GetHeadToHeadResponse>, Status> {
        let v1::GetHeadToHeadRequest { ladder, bot_name, opponent_name, page_size, page_token } =
            request.get_ref();
        self.picture(ladder)?;
        let own = bot("bot_name", bot_name)?;
        let only = Some(opponent_name.as_str()).filter(|name| !name.is_empty());
        let only = only.map(|name| bot("opponent_name", name)).transpose()?;
        let after = match page_token.as_str() {
            "" => None,
            token => Some(BotName::new(token).map_err(|_| lists::wrong_token())?),
        };
        let most = usize::from(lists::page_size(*page_size)?.get());
        let turn = lists::turn(&request).await?;
        let of = PageFrom { after, most };
        let page = self.backend.ladders.head_to_head(ladder, &own, only.as_ref(), &of).await;
        let Page { items, next } = page.map_err(Fault::from)?;
        let answer = v1::GetHeadToHeadResponse {
            opponents: items.iter().map(met_to_wire).collect(),
            next_page_token: next.unwrap_or_default(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn watch_standings(
        &self,
        request: Request<v1::WatchStandingsRequest>,
    ) -> Result<Response<Self::WatchStandingsStream>, Status> {
        let address = request.extensions().get::<Share>().map(Share::address);
        let v1::WatchStandingsRequest { ladder } = request.into_inner();
        let (_, picture) = self.picture(&ladder)?;
        let room = self.streams.room(address)?;
        self.caught_up().await?;
        let (luck, drain) = (self.luck(&ladder)?, self.backend.drain.clone());
        let watching = Watching::new(picture, luck, drain, room);
        Ok(Response::new(stream::unfold(Some(watching), standings::next).boxed()))
    }

    async fn reinstate_bot(
        &self,
        request: Request<v1::ReinstateBotRequest>,
    ) -> Result<Response<v1::ReinstateBotResponse>, Status> {
        let caller = Caller::of(&self.backend, request.metadata()).await?;
        let owner = caller.creator()?;
        let v1::ReinstateBotRequest { ladder, bot_name } = request.get_ref();
        let bot = bot("bot_name", bot_name)?;
        let owns = owner.is_none_or(|owner| self.backend.bots.own(Some(owner), &bot).is_some());
        if !owns {
            return Err(Fault::not_found("bot").into());
        }
        self.picture(ladder)?;
        let conduct = self.backend.ladders.reinstate(ladder, bot).await.map_err(Fault::from)?;
        Ok(Response::new(v1::ReinstateBotResponse { conduct: Some(conduct_to_wire(conduct)) }))
    }

    async fn list_suspicions(
        &self,
        request: Request<v1::ListSuspicionsRequest>,
    ) -> Result<Response<v1::ListSuspicionsResponse>, Status> {
        Caller::of(&self.backend, request.metadata()).await?.admin_only()?;
        let v1::ListSuspicionsRequest { ladder, since, page_size, page_token, before_result_number } =
            request.get_ref();
        self.picture(ladder)?;
        let since = since.as_ref().map(wire::millis).transpose();
        let since = since.map_err(|error| Fault::from(error.within("since")))?;
        let before = Some(*before_result_number).filter(|before| *before > 0).map(ResultNumber::new);
        let span = SeasonSpan { since, before };
        let size = usize::from(lists::page_size(*page_size)?.get());
        let place = Place::read(page_token)?;
        self.caught_up().await?;
        let season = match place {
            None => self.backend.ladders.season(ladder, span).await.map_err(Fault::from)?,
            Some(place) => {
                let season =
                    self.backend.ladders.last_season(ladder, span, place.last).map_err(Fault::from)?;
                season.ok_or_else(suspicions::looked_at_anew)?
            }
        };
        // Not before, as it may have been waited for.
        let turn = lists::turn(&request).await?;
        Ok(lists::in_turn(suspicions::page(&season, place, size), turn))
    }
}

impl LadderAdapter {
    /// What is shown is of all results that were there at the start. What is read of the results themselves waits by itself.
    async fn caught_up(&self) -> Result<(), Fault> {
        Ok(self.backend.ladders.caught_up().await?)
    }

    /// The result after which a list goes on whose page token is a cursor, too.
    fn place(&self, after: &str, page_token: &str) -> Result<ResultNumber, Fault> {
        let begin = |cursor: ResultCursor| {
            let place = self.backend.matches.result_at(cursor);
            place.map_err(|ahead| Fault::new(ErrorReason::CursorAhead, ahead.to_string()))
        };
        let first =
            match after {
                "" => ResultNumber::ZERO,
                after => begin(after.parse().map_err(|error: NoResultCursor| {
                    Fault::field("oldest_first.after", error.to_string())
                })?)?,
            };
        match page_token {
            "" => Ok(first),
            token => begin(token.parse().map_err(|_| lists::wrong_token())?),
        }
    }

    fn rating(&self, ladder: &str, rating: Rating) -> v1::Rating {
        let certainty = self.backend.ladders.picture(ladder).map(|(spec, _)| spec.rating.certainty(rating));
        rating_to_wire(rating, certainty.unwrap_or(Certainty::Provisional))
    }
}

/// In which order results are listed, and from where.
enum Order {
    LatestFirst(PageFrom<u64>),
    /// After this one.
    OldestFirst(ResultNumber),
}

impl From<LadderFault> for Fault {
    fn from(fault: LadderFault) -> Self {
        match &fault {
            LadderFault::NoLadder(_) => Self::field("ladder", fault.to_string()),
            LadderFault::NoBot(_) => Self::new(ErrorReason::NotFound, fault.to_string()),
            LadderFault::Reinstate(_) => Self::new(ErrorReason::NotBenched, fault.to_string()),
            LadderFault::NotStored => Self::new(ErrorReason::OutcomeUnknown, fault.to_string()),
            LadderFault::TooManyReinstatements(_) => Self::new(ErrorReason::LimitExceeded, fault.to_string()),
            LadderFault::NoSeason(NoSeason::Looking) => {
                Self::new(ErrorReason::Overloaded, fault.to_string()).retry_after(limits::SEASON_WAITED_FOR)
            }
            LadderFault::NoSeason(NoSeason::Failed(_)) | LadderFault::Unread(_) => {
                Self::new(ErrorReason::Internal, fault.to_string())
            }
            LadderFault::NotNow(not_now) => (*not_now).into(),
        }
    }
}

fn bot(field: &'static str, name: &str) -> Result<BotName, Fault> {
    if name.is_empty() {
        return Err(FieldError::missing(field).into());
    }
    BotName::new(name).map_err(|error| Fault::field(field, error.to_string()))
}

/// A page by the numbers of results.
fn numbered(page_size: u32, page_token: &str) -> Result<PageFrom<u64>, Fault> {
    let after = lists::place(page_token)?;
    Ok(PageFrom { after, most: usize::from(lists::page_size(page_size)?.get()) })
}

fn results_filter(filter: Option<&v1::LadderResultFilter>) -> Result<ResultsFilter, FieldError> {
    let Some(filter) = filter else { return Ok(ResultsFilter::default()) };
    let v1::LadderResultFilter { bot_name, opponent_name, since, before, reasons } = filter;
    let name = |field: &'static str, text: &str| match text {
        "" => Ok(None),
        text => BotName::new(text).map(Some).map_err(|error| FieldError::invalid(field, error.to_string())),
    };
    let (bot, opponent) = (name("bot_name", bot_name)?, name("opponent_name", opponent_name)?);
    if bot.is_none() && opponent.is_some() {
        return Err(FieldError::invalid("bot_name", "is missing: give it with opponent_name"));
    }
    let time = |field: &'static str, time: Option<&prost_types::Timestamp>| {
        time.map(wire::millis).transpose().map_err(|error| error.within(field))
    };
    let reason = |(at, &reason): (usize, &i32)| {
        use v1::LadderResultReason as R;
        match R::try_from(reason) {
            Ok(R::Target) => Ok(Reason::Target),
            Ok(R::DealOver) => Ok(Reason::DealOver),
            Ok(R::Forfeit) => Ok(Reason::Forfeit),
            Ok(R::Aborted) => Ok(Reason::Aborted),
            Ok(R::Unspecified) => Err(FieldError::missing("").at(at).within("reasons")),
            Err(_) => {
                let problem = format!("{reason} is no value of this enum that this version knows");
                Err(FieldError::invalid("", problem).at(at).within("reasons"))
            }
        }
    };
    let since: Option<UnixMillis> = time("since", since.as_ref())?;
    let before: Option<UnixMillis> = time("before", before.as_ref())?;
    let reasons = lists::each_once(reasons.iter().enumerate().map(reason))?;
    Ok(ResultsFilter { bot, opponent, since, before, reasons })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn ladder_to_wire(spec: &LadderSpec, picture: &Picture) -> v1::Ladder {
    use v1::ladder_entry::Kind as Entering;
    let entry = match &spec.entry {
        ladders::Entry::Registered => Entering::Registered(v1::RegisteredBots {}),
        ladders::Entry::Owners(owners) => {
            Entering::Owners(v1::EntryOwners { owners: owners.iter().map(ToString::to_string).collect() })
        }
    };
    v1::Ladder {
        name: spec.name.to_string(),
        description: spec.description.clone(),
        rules: Some(spec.rules.to_wire()),
        time_control: Some(spec.time_control.to_wire()),
        rating: Some(v1::RatingSettings {
            mu: spec.rating.mu,
            sigma: spec.rating.sigma,
            beta: spec.rating.beta,
            kappa: spec.rating.kappa,
            tau: spec.rating.tau,
            provisional_sigma: spec.rating.provisional_sigma,
        }),
        same_owner: match spec.pairing.same_owner {
            SameOwner::Apart => v1::SameOwner::Apart,
            SameOwner::Opponents => v1::SameOwner::Opponents,
            SameOwner::Anywhere => v1::SameOwner::Anywhere,
        }
        .into(),
        entry: Some(v1::LadderEntry { kind: Some(entry) }),
        queued_bots: number(picture.queued),
        live_matches: number(picture.live),
        rated_bots: number(picture.rows.len()),
        rated_matches: picture.rated_matches,
        result_number: picture.result_number.get(),
        lost_results: picture.lost_results,
    }
}

fn rating_to_wire(rating: Rating, certainty: Certainty) -> v1::Rating {
    v1::Rating {
        mu: rating.mu.get(),
        sigma: rating.sigma.get(),
        shown: rating.shown(),
        certainty: match certainty {
            Certainty::Provisional => v1::RatingCertainty::Provisional,
            Certainty::Established => v1::RatingCertainty::Established,
        }
        .into(),
    }
}

pub(super) fn standing_to_wire(row: &Row, luck: &Luck) -> v1::Standing {
    let Row { rank, bot, entry: Entry { rating, tally }, certainty, conduct } = row;
    let Tally { matches, wins, draws, forfeits, opponents, margin } = *tally;
    let (points, adjusted_rating) = luck.of_bot(bot).map(|of| (of.points, of.adjusted_rating)).unzip();
    v1::Standing {
        rank: number(*rank),
        bot_name: bot.to_string(),
        rating: Some(rating_to_wire(*rating, *certainty)),
        tally: Some(v1::Tally { matches, wins, draws, forfeits, sides_met: opponents, margin }),
        conduct: Some(conduct_to_wire(*conduct)),
        points: points.as_ref().map(points_to_wire),
        luck_adjusted_rating: adjusted_rating.flatten().map(|(Entry { rating, tally }, certainty)| {
            let (rating, matches) = (Some(rating_to_wire(rating, certainty)), tally.matches);
            v1::LuckAdjustedRating { rating, matches }
        }),
    }
}

fn met_to_wire(met: &Met) -> v1::HeadToHead {
    let Met { opponent, between: HeadToHead { matches, ahead, behind, level, margin } } = met;
    v1::HeadToHead {
        opponent_name: opponent.to_string(),
        matches: *matches,
        ahead: *ahead,
        level: *level,
        behind: *behind,
        margin: *margin,
    }
}

fn result_to_wire(
    result: &LoggedResult,
    rating: &impl Fn(Rating) -> v1::Rating,
    scores: Option<&[AdjustedScore]>,
) -> v1::LadderResult {
    let LoggedResult { number, match_id, ended_at, reason, seats } = result;
    let seat = |seat: &LoggedSeat| {
        let LoggedSeat { bot, side, rank, total, end, rating: moved } = seat;
        v1::LadderSeat {
            bot_name: bot.to_string(),
            side: self::number(side.index()),
            rank: (*rank).into(),
            total: *total,
            end: match end {
                SeatEnd::Played => v1::LadderSeatEnd::Played,
                SeatEnd::Forfeited => v1::LadderSeatEnd::Forfeited,
                SeatEnd::NoShow => v1::LadderSeatEnd::NoShow,
            }
            .into(),
            before: moved.map(|(before, _)| rating(before)),
            after: moved.map(|(_, after)| rating(after)),
            adjusted_score: scores.and_then(|of| of.get(side.index())).copied().map(score_to_wire),
        }
    };
    v1::LadderResult {
        result_number: number.get(),
        match_id: match_id.to_string(),
        time: Some(timestamp(*ended_at)),
        seats: seats.iter().map(seat).collect(),
        reason: match reason {
            Reason::Target => v1::LadderResultReason::Target,
            Reason::DealOver => v1::LadderResultReason::DealOver,
            Reason::Forfeit => v1::LadderResultReason::Forfeit,
            Reason::Aborted => v1::LadderResultReason::Aborted,
        }
        .into(),
    }
}
