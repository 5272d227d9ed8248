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

/// Lets a request in on its way through the routes.
pub(super) async fn admit(State(rates): State<Arc<Rates>>, mut request: Request, next: Next) -> Response {
    let origin = request.extensions().get::<Origin>().cloned();
    match let_in(&rates, origin, &request) {
        Ok(share) => {
            request.extensions_mut().insert(share);
            next.run(request).await
        }
        Err(refused) => *refused,
    }
}

/// Lets a request in that came from there. The answer is the share of whoever sent it.
///
/// # Errors
/// What it is answered instead, in the form that it can read.
pub(super) fn let_in<B>(
    rates: &Arc<Rates>,
    origin: Option<Origin>,
    request: &http::Request<B>,
) -> Result<Share, Box<Response>> {
    let crowded = origin.as_ref().is_some_and(|origin| origin.crowded);
    let share = Share::new(Arc::clone(rates), origin, request.headers());
    let asked = match Purpose::of(request.uri().path()) {
        purpose @ (Purpose::Health | Purpose::Metrics) => share.watching_over(purpose),
        Purpose::Play | Purpose::Other => share.request(),
    };
    let (seconds, fault) = match asked {
        Err(too_fast) => (too_fast.wait.as_secs() + 1, Fault::from(too_fast)),
        Ok(()) if crowded => (1, Fault::crowded()),
        Ok(()) => return Ok(share),
    };
    let status = Status::from(fault);
    let response = if is_grpc(request) {
        status.into_http()
    } else {
        let headers = [(RETRY_AFTER, seconds.to_string())];
        (StatusCode::TOO_MANY_REQUESTS, headers, format!("{}\n", status.message())).into_response()
    };
    Err(Box::new(response))
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
