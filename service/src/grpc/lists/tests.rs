//! Every list is made in a turn of the address that asks for it.

use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};

use http::HeaderMap;
use prost::Message;
use prost_types::{FileDescriptorSet, MethodDescriptorProto};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::Status;
use zetema_proto::{
    FILE_DESCRIPTOR_SET,
    v1::{
        bot_service_server::BotService, ladder_service_server::LadderService,
        match_service_server::MatchService, play_service_server::PlayService,
        token_service_server::TokenService, webhook_service_server::WebhookService,
    },
};
use zetema_rules::Preset;

use super::*;
use crate::{
    access::{Access, SeatGrant},
    admission::{DiskRoom, Pressure, Rates},
    bots::Bots,
    config::{self, Numbers},
    executor::Executor,
    grpc::{
        Backend, BotAdapter, Drain, LadderAdapter, PlayAdapter, TokenAdapter, WebhookAdapter,
        match_service::MatchAdapter,
    },
    journal::{
        Options, Outcome, ResultNumber, SqliteJournal, StoredWebhook, UnixMillis, WebhookChange, WebhookId,
        WebhookNumber, WebhookStore, WebhookUrl,
    },
    ladders::{self, Ladders},
    matches::{
        SystemClock,
        tests::harness::{create_one, open_over, spec},
    },
    table::DealSpec,
    webhooks::{Allowed, Config, Network, Settings, Webhooks},
};

const WEBHOOK: WebhookId = WebhookId::from_bytes([7; 16]);

pub(in crate::grpc) struct World {
    pub(in crate::grpc) backend: Arc<Backend>,
    webhooks: Webhooks,
    rates: Arc<Rates>,
    stop: CancellationToken,
}

impl World {
    /// A server without a port, which has a webhook.
    pub(in crate::grpc) async fn open(folder: &Path) -> Self {
        let (journal, _) = SqliteJournal::open(folder, Options::default()).await.unwrap();
        let journal = Arc::new(journal);
        let webhook = StoredWebhook {
            number: WebhookNumber::new(1),
            id: WEBHOOK,
            owner: None,
            url: WebhookUrl::new("https://hooks.example.com").unwrap(),
            created_at: UnixMillis::new(0),
            settled: ResultNumber::ZERO,
        };
        let made = journal.change_webhooks(WebhookChange::Made { webhook, request: None }).await;
        assert_eq!(made, Outcome::Done(1));
        let clock = Arc::new(SystemClock::new());
        let matches =
            open_over(Arc::<SqliteJournal>::clone(&journal), crate::matches::Limits::default()).await;
        let access =
            Access::open(Arc::<SqliteJournal>::clone(&journal), Arc::<SystemClock>::clone(&clock), folder);
        let access = Arc::new(access.await.unwrap());
        let accounts = config::Config::embedded(folder).account_settings().unwrap();
        let bots = Bots::open(
            Arc::<SqliteJournal>::clone(&journal),
            Arc::clone(&access),
            Arc::<SystemClock>::clone(&clock),
            accounts,
        );
        let bots = bots.await.unwrap();
        let (pressure, disk_room) = (Arc::new(Pressure::new()), Arc::new(DiskRoom::new(0)));
        let stop = CancellationToken::new();
        let ladders = ladders::Config {
            specs: config::Config::default().ladders,
            matches: matches.clone(),
            accounts: Arc::new(bots.clone()),
            house_bots: config::HouseBots::default(),
            store: Arc::<SqliteJournal>::clone(&journal),
            stored_every: Duration::from_secs(5),
            clock: Arc::<SystemClock>::clone(&clock),
            luck: folder.join("luck"),
            results: folder.join("results"),
            results_in_memory: limits::DEFAULT_LADDER_RESULTS_IN_MEMORY,
            pressure: Arc::clone(&pressure),
            disk_room: Arc::clone(&disk_room),
        };
        let backend = Backend {
            bots,
            access: Arc::clone(&access),
            matches: matches.clone(),
            ping_interval: Duration::from_secs(10),
            request_timeout: Duration::from_secs(10),
            max_request_bytes: limits::DEFAULT_MAX_REQUEST_BYTES,
            queued_observations: limits::TABLE_QUEUED_OBSERVATIONS,
            ladders: Ladders::open(ladders, &TaskTracker::new(), stop.clone()),
            drain: Drain::default(),
            pressure,
            disk_room,
        };
        let hour = Duration::from_hours(1);
        let config = Config {
            store: Arc::<SqliteJournal>::clone(&journal),
            journal,
            matches,
            access,
            clock,
            network: Arc::new(Network::open(Allowed::default(), None).await.unwrap()),
            settings: Settings { timeout: hour, first_retry: hour, last_retry: hour, give_up: hour },
        };
        let webhooks = Webhooks::open(config, TaskTracker::new(), stop.clone()).await.unwrap();
        Self { backend: Arc::new(backend), webhooks, rates: Rates::new(&Numbers::default()), stop }
    }

    /// A request of the admin.
    fn ask<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let token = self.backend.access.admin_token().unwrap().expose().to_owned();
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        let share = Share::new(Arc::clone(&self.rates), None, &HeaderMap::new());
        request.extensions_mut().insert(share);
        request
    }
}

/// Those that were asked for, and have their turn.
#[derive(Default)]
struct InTurn(BTreeSet<String>);

impl InTurn {
    fn has<T>(&mut self, rpc: &str, answer: Result<Response<T>, Status>) {
        assert!(answer.unwrap().extensions().get::<Turn>().is_some(), "{rpc}");
        self.0.insert(rpc.to_owned());
    }
}

#[tokio::test]
async fn every_list_takes_its_turn_along() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path()).await;
    let backend = || Arc::clone(&world.backend);
    let created = create_one(&world.backend.matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let match_id = created.match_id.to_string();
    world.backend.matches.cancel(created.match_id).await.unwrap();
    let first = &created.seats[0];
    let grant = SeatGrant { match_id: created.match_id, seat: first.seat, generation: first.generation };
    let seat_token = world.backend.access.seat_token(&grant).expose().to_owned();
    let mut seen = InTurn::default();

    let matches = MatchAdapter::new(backend());
    seen.has("ListMatches", matches.list_matches(world.ask(v1::ListMatchesRequest::default())).await);
    seen.has("ListRecords", matches.list_records(world.ask(v1::ListRecordsRequest::default())).await);
    seen.has("GetRecord", matches.get_record(world.ask(v1::GetRecordRequest { match_id })).await);
    let tokens = TokenAdapter::new(backend());
    seen.has("ListTokens", tokens.list_tokens(world.ask(v1::ListTokensRequest::default())).await);
    let bots = BotAdapter::new(backend());
    seen.has("ListBots", bots.list_bots(world.ask(v1::ListBotsRequest::default())).await);
    let ladders = LadderAdapter::new(backend());
    seen.has("ListLadders", ladders.list_ladders(world.ask(v1::ListLaddersRequest::default())).await);
    let ladder = world.backend.ladders.all().next().unwrap().0.name.to_string();
    let suspicions =
        v1::ListSuspicionsRequest { ladder: ladder.clone(), ..v1::ListSuspicionsRequest::default() };
    seen.has("ListSuspicions", ladders.list_suspicions(world.ask(suspicions)).await);
    let results = v1::ListResultsRequest { ladder, ..v1::ListResultsRequest::default() };
    seen.has("ListResults", ladders.list_results(world.ask(results)).await);
    let play = PlayAdapter::new(backend(), Executor::start());
    let faults = v1::ListFaultsRequest { seat_token, ..v1::ListFaultsRequest::default() };
    seen.has("ListFaults", play.list_faults(world.ask(faults)).await);
    let webhooks = WebhookAdapter::new(backend(), world.webhooks.clone());
    seen.has("ListWebhooks", webhooks.list_webhooks(world.ask(v1::ListWebhooksRequest::default())).await);
    let webhook_id = WEBHOOK.to_string();
    let dead = v1::ListDeadLettersRequest { webhook_id, ..v1::ListDeadLettersRequest::default() };
    seen.has("ListDeadLetters", webhooks.list_dead_letters(world.ask(dead)).await);

    let described = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let ours = described.file.iter().filter(|file| file.package() == "zetema.v1");
    // What there is of rules is little, and always the same.
    let services = ours.flat_map(|file| &file.service).filter(|service| service.name() != "RulesService");
    let methods = services.flat_map(|service| &service.method).map(MethodDescriptorProto::name);
    let large = methods.filter(|name| name.starts_with("List") || *name == "GetRecord");
    assert_eq!(seen.0, large.map(str::to_owned).collect());
    world.stop.cancel();
}

#[test]
fn a_stage_that_a_filter_names_a_million_times_is_held_against_a_match_once() {
    use v1::MatchState as S;
    let states = [S::Playing, S::Aborted].map(i32::from).repeat(500_000);
    let wanted = v1::MatchFilter { states, client_reference: None };
    let filter = filter(&Bearer::Admin, Some(&wanted), Stages::Any).unwrap();
    assert_eq!(filter.stages, [MatchStage::Playing, MatchStage::Aborted]);
}
