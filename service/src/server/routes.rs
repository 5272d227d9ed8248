//! Everything that answers on the one port.

use std::sync::Arc;

use axum::{Router, middleware, response::Response, routing::get};
use http::HeaderName;
use metrics_exporter_prometheus::PrometheusHandle;
use tonic::service::Routes as Services;
use tonic_health::{pb::health_server::HealthServer, server::HealthService};
use tonic_reflection::server::Builder as ReflectionBuilder;
use tonic_web::GrpcWebLayer;
use tower_http::cors::{AllowHeaders, Any, CorsLayer};
use zetema_proto::{
    FILE_DESCRIPTOR_SET,
    v1::{
        bot_service_server::BotServiceServer, ladder_service_server::LadderServiceServer,
        rules_service_server::RulesServiceServer, token_service_server::TokenServiceServer,
        webhook_service_server::WebhookServiceServer,
    },
};

use super::{
    StartError,
    admit::{admit, admit_preflight},
    direct::{Direct, PLAY_STREAM},
    measure::measure,
    messages::count_messages,
    metrics_page::{self, MetricsPage},
};
use crate::{
    admission::Rates,
    executor::Executor,
    grpc::{
        Backend, BotAdapter, LadderAdapter, RulesAdapter, TokenAdapter, WebhookAdapter, explain,
        unknown_method,
    },
    limits,
    metrics::Rpcs,
    webhooks::Webhooks,
};

/// What answers on the one port.
#[derive(Clone)]
pub(super) struct Routes {
    /// What most calls take, if there is a short way.
    pub(super) direct: Option<Arc<Direct>>,
    /// All there is.
    pub(super) router: Router,
}

impl From<Router> for Routes {
    fn from(router: Router) -> Self {
        Self { direct: None, router }
    }
}

/// Our services, and the standard ones, as gRPC and gRPC-Web; the metrics as HTTP, if they are counted here.
pub(super) fn routes(
    backend: &Arc<Backend>,
    executor: &Executor,
    webhooks: Webhooks,
    rates: &Arc<Rates>,
    health: HealthService,
    page: Option<PrometheusHandle>,
) -> Result<Routes, StartError> {
    let rpcs = Rpcs::new().map_err(tonic_reflection::server::Error::from)?;
    let health = HealthServer::new(health).max_decoding_message_size(limits::MAX_SMALL_REQUEST_BYTES);
    let health = Services::new(health).into_axum_router().reset_fallback();
    let v1 = reflection().build_v1()?.max_decoding_message_size(limits::MAX_SMALL_REQUEST_BYTES);
    let v1alpha = reflection().build_v1alpha()?.max_decoding_message_size(limits::MAX_SMALL_REQUEST_BYTES);
    let reflection = Services::new(v1).add_service(v1alpha);
    let reflection =
        reflection.into_axum_router().reset_fallback().layer(middleware::from_fn(count_messages));
    let standard = over_web(health.merge(reflection), rates, &rpcs);
    let unknown = Router::new()
        .fallback(unknown_method)
        .layer(middleware::from_fn_with_state(Arc::clone(rates), admit))
        .layer(middleware::from_fn_with_state(Arc::clone(&rpcs), measure));
    let webhooks = Services::new(
        WebhookServiceServer::new(WebhookAdapter::new(Arc::clone(backend), webhooks))
            .max_decoding_message_size(limits::MAX_SMALL_REQUEST_BYTES)
            .max_encoding_message_size(limits::MAX_RESPONSE_BYTES),
    );
    let webhooks = explained(webhooks.into_axum_router().reset_fallback(), rates, &rpcs);
    let page = page.map(|page| MetricsPage::new(page, limits::METRICS_PAGE_KEPT));
    let direct = Direct::new(backend, executor, rates, &rpcs);
    let router = ours(backend, &direct, page).merge(webhooks).merge(standard).merge(unknown);
    Ok(Routes { direct: Some(Arc::new(direct)), router })
}

/// Our services, but that of webhooks, and the metrics.
pub(super) fn ours(backend: &Arc<Backend>, direct: &Direct, page: Option<MetricsPage>) -> Router {
    let Direct { matches, play, stream, rates, rpcs, .. } = direct.clone();
    let ours = Services::new(matches)
        .add_service(play)
        .add_service(
            RulesServiceServer::new(RulesAdapter)
                .max_decoding_message_size(limits::MAX_SMALL_REQUEST_BYTES)
                .max_encoding_message_size(limits::MAX_RESPONSE_BYTES),
        )
        .add_service(
            LadderServiceServer::new(LadderAdapter::new(Arc::clone(backend)))
                .max_decoding_message_size(limits::MAX_SMALL_REQUEST_BYTES)
                .max_encoding_message_size(limits::MAX_RESPONSE_BYTES),
        )
        .add_service(
            BotServiceServer::new(BotAdapter::new(Arc::clone(backend)))
                .max_decoding_message_size(limits::MAX_SMALL_REQUEST_BYTES)
                .max_encoding_message_size(limits::MAX_RESPONSE_BYTES),
        )
        .add_service(
            TokenServiceServer::new(TokenAdapter::new(Arc::clone(backend)))
                .max_decoding_message_size(limits::MAX_SMALL_REQUEST_BYTES)
                .max_encoding_message_size(limits::MAX_RESPONSE_BYTES),
        );
    let stream = Router::new().route_service(PLAY_STREAM, stream);
    let ours = ours.into_axum_router().reset_fallback().merge(stream);
    let ours = explained(ours, &rates, &rpcs);
    let metrics = match page {
        Some(page) => get(move || page.answer()),
        None => get(metrics_page::none),
    };
    ours.merge(Router::new().route("/metrics", metrics).layer(middleware::from_fn_with_state(rates, admit)))
}

/// Services of ours, over the web too.
fn explained(services: Router, rates: &Arc<Rates>, rpcs: &Arc<Rpcs>) -> Router {
    let explained = services.layer(middleware::map_response(async |answer: Response| explain(answer)));
    over_web(explained, rates, rpcs)
}

/// gRPC-Web, for gRPC routes only: the layer answers 400 to any other request.
fn over_web(routes: Router, rates: &Arc<Rates>, rpcs: &Arc<Rpcs>) -> Router {
    // Tokens are in the metadata or in messages, never in cookies, so a page of any origin may call: it has
    // nothing that its reader did not give it.
    let trailers = ["grpc-status", "grpc-message", "grpc-status-details-bin"].map(HeaderName::from_static);
    // All headers by their names, as `*` does not stand for that of a token.
    let any_header = AllowHeaders::mirror_request();
    let any_origin = CorsLayer::new()
        .allow_origin(Any)
        .allow_headers(any_header)
        .allow_methods(Any)
        .expose_headers(trailers);
    routes
        .layer(middleware::from_fn_with_state(Arc::clone(rates), admit))
        .layer(middleware::from_fn_with_state(Arc::clone(rpcs), measure))
        .layer(GrpcWebLayer::new())
        .layer(any_origin)
        .layer(middleware::from_fn_with_state(Arc::clone(rates), admit_preflight))
}

fn reflection() -> ReflectionBuilder<'static> {
    ReflectionBuilder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
