//! The door that every request comes by: who asks too fast is refused before anything is done.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{Method, StatusCode, header::RETRY_AFTER};
use metrics::counter;
use tonic::Status;

use crate::{
    admission::{Origin, Purpose, Rates, Share},
    grpc::{Fault, is_grpc},
    metrics::PREFLIGHTS,
};

/// Lets a request in, with the share of whoever sent it.
pub(super) async fn admit(State(rates): State<Arc<Rates>>, mut request: Request, next: Next) -> Response {
    let origin = request.extensions().get::<Origin>().cloned();
    let crowded = origin.as_ref().is_some_and(|origin| origin.crowded);
    let share = Share::new(rates, origin, request.headers());
    let asked = match Purpose::of(request.uri().path()) {
        purpose @ (Purpose::Health | Purpose::Metrics) => share.watching_over(purpose),
        Purpose::Play | Purpose::Other => share.request(),
    };
    let fault = match asked {
        Err(too_fast) => Some((too_fast.wait.as_secs() + 1, Fault::from(too_fast))),
        Ok(()) if crowded => Some((1, Fault::crowded())),
        Ok(()) => None,
    };
    if let Some((seconds, fault)) = fault {
        let status = Status::from(fault);
        if is_grpc(&request) {
            return status.into_http();
        }
        let headers = [(RETRY_AFTER, seconds.to_string())];
        return (StatusCode::TOO_MANY_REQUESTS, headers, format!("{}\n", status.message())).into_response();
    }
    request.extensions_mut().insert(share);
    next.run(request).await
}

/// The same door for what a browser asks before its page's call, which is answered before all else is. The call itself comes by
/// the other one, behind what gives a refusal the headers that the page needs to read it.
pub(super) async fn admit_preflight(state: State<Arc<Rates>>, request: Request, next: Next) -> Response {
    if request.method() == Method::OPTIONS {
        counter!(PREFLIGHTS).increment(1);
        return admit(state, request, next).await;
    }
    next.run(request).await
}
