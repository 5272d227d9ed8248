//! `BotService`: owners that register themselves, and the bots of owners. Whoever asks may read bots.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};
use zetema_proto::{
    FieldError,
    v1::{self, bot_service_server::BotService},
};

use super::{
    backend::Backend,
    caller::{Caller, count_change},
    fault::Fault,
    lists,
    match_service::request_key,
    play::conduct_to_wire,
    wire,
};
use crate::{
    bots::{BotAccount, BotChanges, BotFilter, BotSpec, BotState, ListedState, OldTokens, Rotated, Said},
    journal::{BotName, JournalValueError, Owner},
    ladders::{BotOnLadder, ConductCounts},
};

/// The adapter of `BotService`.
#[derive(Clone)]
pub(crate) struct BotAdapter {
    backend: Arc<Backend>,
}

impl BotAdapter {
    /// An adapter over these accounts.
    pub(crate) fn new(backend: Arc<Backend>) -> Self {
        Self { backend }
    }

    async fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Fault> {
        Caller::of(&self.backend, request.metadata()).await
    }

    /// Who calls to change something: someone who has bots.
    async fn keeper<T>(&self, request: &Request<T>) -> Result<Caller, Fault> {
        let caller = self.caller(request).await?;
        caller.creator()?;
        count_change(request)?;
        Ok(caller)
    }
}

#[async_trait]
impl BotService for BotAdapter {
    async fn register_owner(
        &self,
        request: Request<v1::RegisterOwnerRequest>,
    ) -> Result<Response<v1::RegisterOwnerResponse>, Status> {
        self.caller(&request).await?;
        count_change(&request)?;
        let v1::RegisterOwnerRequest { owner } = request.into_inner();
        let name = owner_name(&owner)?.ok_or_else(|| Fault::from(FieldError::missing("owner")))?;
        let live = self.backend.matches.has_live_owner(&name);
        let secret = self.backend.bots.register_owner(name, live).await.map_err(Fault::from)?;
        let secret = secret.expose().to_owned();
        Ok(Response::new(v1::RegisterOwnerResponse { owner, secret }))
    }

    async fn register_bot(
        &self,
        request: Request<v1::RegisterBotRequest>,
    ) -> Result<Response<v1::RegisterBotResponse>, Status> {
        let caller = self.keeper(&request).await?;
        let request = request.into_inner();
        let body = v1::RegisterBotRequest { request_id: String::new(), ..request.clone() };
        let key = request_key(&caller, &request.request_id, "RegisterBot", &body)?;
        let v1::RegisterBotRequest { request_id: _, name, owner, description, version, fault_contact } =
            request;
        let spec = BotSpec {
            name: bot_name(&name)?,
            owner: owner_name(&owner)?,
            description: text("description", description)?,
            version: text("version", version)?,
            fault_contact: text("fault_contact", fault_contact)?,
        };
        let live = self.backend.matches.has_live_bot(&spec.name);
        let registered = self.backend.bots.register(caller.creator()?, spec, live, key).await;
        let (bot, secret) = registered.map_err(Fault::from)?;
        let secret = secret.expose().to_owned();
        Ok(Response::new(v1::RegisterBotResponse { bot: Some(message(&caller, &bot)), secret }))
    }

    async fn get_bot(
        &self,
        request: Request<v1::GetBotRequest>,
    ) -> Result<Response<v1::GetBotResponse>, Status> {
        let caller = self.caller(&request).await?;
        let bot = self.backend.bots.get(&bot_name(&request.get_ref().name)?);
        let bot = bot.ok_or_else(|| Fault::not_found("bot"))?;
        let behaviour = self.backend.ladders.behaviour(bot.name.clone()).await;
        let is_own = caller.keeps(&bot);
        let on_ladders = behaviour.map(|ladders| v1::BotOnLadders {
            ladders: ladders
                .into_iter()
                .filter(|on| is_own || on.in_standings)
                .map(|on| on_ladder_to_wire(on, is_own))
                .collect(),
        });
        Ok(Response::new(v1::GetBotResponse { bot: Some(message(&caller, &bot)), on_ladders }))
    }

    async fn list_bots(
        &self,
        request: Request<v1::ListBotsRequest>,
    ) -> Result<Response<v1::ListBotsResponse>, Status> {
        let caller = self.caller(&request).await?;
        let v1::ListBotsRequest { filter, page_size, page_token } = request.get_ref();
        let filter = filter_of(filter.as_ref()).map_err(|error| Fault::from(error.within("filter")))?;
        let size = usize::from(lists::page_size(*page_size)?.get());
        let before = lists::place(page_token)?;
        let turn = lists::turn(&request).await?;
        let mut bots = self.backend.bots.list(&filter, before, size);
        let more = bots.len() > size;
        bots.truncate(size);
        let next = bots.last().filter(|_| more).map(|last| last.number.to_string());
        let answer = v1::ListBotsResponse {
            bots: bots.iter().map(|bot| message(&caller, bot)).collect(),
            next_page_token: next.unwrap_or_default(),
        };
        Ok(lists::in_turn(answer, turn))
    }

    async fn update_bot(
        &self,
        request: Request<v1::UpdateBotRequest>,
    ) -> Result<Response<v1::UpdateBotResponse>, Status> {
        let caller = self.keeper(&request).await?;
        let v1::UpdateBotRequest { name, description, version, fault_contact } = request.into_inner();
        let name = bot_name(&name)?;
        let changes = BotChanges {
            description: said("description", description)?,
            version: said("version", version)?,
            fault_contact: said("fault_contact", fault_contact)?,
        };
        let bot = self.backend.bots.update(caller.creator()?, &name, changes).await.map_err(Fault::from)?;
        Ok(Response::new(v1::UpdateBotResponse { bot: Some(message(&caller, &bot)) }))
    }

    async fn rotate_token(
        &self,
        request: Request<v1::RotateTokenRequest>,
    ) -> Result<Response<v1::RotateTokenResponse>, Status> {
        let caller = self.keeper(&request).await?;
        let v1::RotateTokenRequest { name, old_tokens } = request.get_ref();
        let (name, old) = (bot_name(name)?, old_tokens_of(*old_tokens).map_err(Fault::from)?);
        let rotated = self.backend.bots.rotate(caller.creator()?, &name, old).await;
        let Rotated { bot, secret, plays_on_until } = rotated.map_err(Fault::from)?;
        let old = if plays_on_until.is_some() { v1::OldTokens::PlayOn } else { v1::OldTokens::Void };
        Ok(Response::new(v1::RotateTokenResponse {
            bot: Some(message(&caller, &bot)),
            secret: secret.expose().to_owned(),
            old_tokens: old.into(),
            void_time: plays_on_until.map(wire::timestamp),
        }))
    }

    async fn retire_bot(
        &self,
        request: Request<v1::RetireBotRequest>,
    ) -> Result<Response<v1::RetireBotResponse>, Status> {
        let caller = self.keeper(&request).await?;
        let name = bot_name(&request.get_ref().name)?;
        let bot = self.backend.bots.retire(caller.creator()?, &name).await.map_err(Fault::from)?;
        Ok(Response::new(v1::RetireBotResponse { bot: Some(message(&caller, &bot)) }))
    }
}

fn bot_name(text: &str) -> Result<BotName, Fault> {
    if text.is_empty() {
        return Err(FieldError::missing("name").into());
    }
    BotName::new(text).map_err(|error| Fault::field("name", error.to_string()))
}

/// An owner's name; empty is none.
fn owner_name(text: &str) -> Result<Option<Owner>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    Owner::new(text).map(Some).map_err(|error| Fault::field("owner", error.to_string()))
}

/// What an owner says in a field; empty is nothing.
fn text<T: TryFrom<String, Error = JournalValueError>>(path: &str, text: String) -> Result<Option<T>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    T::try_from(text).map(Some).map_err(|error| Fault::field(path, error.to_string()))
}

/// What an update says in a field; absent is as before.
fn said<T: TryFrom<String, Error = JournalValueError>>(
    path: &str,
    given: Option<String>,
) -> Result<Said<T>, Fault> {
    given.map_or(Ok(Said::AsBefore), |given| text(path, given).map(Said::Now))
}

fn old_tokens_of(old: i32) -> Result<OldTokens, FieldError> {
    match v1::OldTokens::try_from(old) {
        Ok(v1::OldTokens::Unspecified | v1::OldTokens::PlayOn) => Ok(OldTokens::PlayOn),
        Ok(v1::OldTokens::Void) => Ok(OldTokens::Void),
        Err(_) => Err(FieldError::invalid("old_tokens", format!("is {old}, which is no value of the enum"))),
    }
}

fn filter_of(filter: Option<&v1::BotFilter>) -> Result<BotFilter, FieldError> {
    let Some(v1::BotFilter { owner, state }) = filter else { return Ok(BotFilter::default()) };
    let owner = owner.as_deref().map(Owner::new).transpose();
    let state = match state.map(v1::BotState::try_from) {
        None => None,
        Some(Ok(v1::BotState::Active)) => Some(ListedState::Active),
        Some(Ok(v1::BotState::Retired)) => Some(ListedState::Retired),
        Some(Ok(v1::BotState::Unspecified) | Err(_)) => {
            return Err(FieldError::invalid("state", "is no value that this version knows"));
        }
    };
    Ok(BotFilter { owner: owner.map_err(|error| FieldError::invalid("owner", error.to_string()))?, state })
}

/// A bot as the caller may see it.
fn message(caller: &Caller, bot: &BotAccount) -> v1::Bot {
    let BotAccount { number: _, name, owner, description, version, fault_contact, created_at, state, quota } =
        bot;
    let contact = fault_contact.as_ref().filter(|_| caller.keeps(bot));
    let (state, retired_at) = match state {
        BotState::Active => (v1::BotState::Active, None),
        BotState::Retired(at) => (v1::BotState::Retired, Some(*at)),
    };
    v1::Bot {
        name: name.to_string(),
        owner: owner.to_string(),
        description: description.as_ref().map(ToString::to_string).unwrap_or_default(),
        version: version.as_ref().map(ToString::to_string).unwrap_or_default(),
        fault_contact: contact.map(ToString::to_string).unwrap_or_default(),
        state: state.into(),
        create_time: Some(wire::timestamp(*created_at)),
        retire_time: retired_at.map(wire::timestamp),
        quota: Some(v1::BotQuota {
            matches_at_once: quota.matches_at_once(),
            matches_a_day: quota.matches_a_day(),
        }),
    }
}

/// How a bot behaves on a ladder, with what that comes of if it is the caller's own.
fn on_ladder_to_wire(on: BotOnLadder, is_own: bool) -> v1::BotOnLadder {
    let BotOnLadder { ladder, conduct, counts, in_standings: _ } = on;
    let ConductCounts {
        strikes,
        cool_down_until,
        matches_to_clear,
        forfeits,
        of_last_matches,
        forfeits_to_bench,
        benches,
    } = counts;
    let counts = v1::ConductCounts {
        strikes,
        cool_down_until: cool_down_until.map(wire::timestamp),
        matches_to_clear,
        forfeits,
        of_last_matches,
        forfeits_to_bench,
        benches,
    };
    v1::BotOnLadder {
        ladder: ladder.to_string(),
        conduct: Some(conduct_to_wire(conduct)),
        counts: is_own.then_some(counts),
    }
}
