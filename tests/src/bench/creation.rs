//! Creates matches, the first of them in batches.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, ensure};
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use zetema_proto::v1;
use zetema_proto::v1::match_service_client::MatchServiceClient;

use crate::harness::{clocked, preset};

/// Matches of one batch, at most.
const BATCH: usize = 1_000;
/// What there is for a decision in a match that nobody hurries.
const DAYS_MS: u32 = 7 * 24 * 60 * 60 * 1_000;
/// Bytes of an answer: a batch has many.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The same, with a clock that does not run out while anything is measured.
pub(super) fn for_days() -> v1::MatchSpec {
    clocked(sackson(), v1::DecisionClock { budget_ms: DAYS_MS, ..v1::DecisionClock::default() })
}

/// What a token is sent as.
pub(super) fn bearer(token: &str) -> anyhow::Result<MetadataValue<Ascii>> {
    let mut bearer = MetadataValue::try_from(format!("Bearer {token}"))?;
    bearer.set_sensitive(true);
    Ok(bearer)
}

/// Creates matches of two, all alike.
pub(super) struct Creation {
    client: MatchServiceClient<Channel>,
    bearer: MetadataValue<Ascii>,
    created: AtomicU64,
    spec: v1::MatchSpec,
}

/// `sackson`, with its own time control, which has a clock, and joint deals.
pub(super) fn sackson() -> v1::MatchSpec {
    preset(v1::Preset::Sackson, 2)
}

/// A match that is to be played.
#[derive(Debug)]
pub(super) struct Created {
    /// A number that no other has.
    pub(super) number: u64,
    /// The tokens of its seats.
    pub(super) tokens: Vec<String>,
}

impl Creation {
    pub(super) fn new(channel: Channel, admin_token: &str, spec: v1::MatchSpec) -> anyhow::Result<Self> {
        let client = MatchServiceClient::new(channel).max_decoding_message_size(MAX_ANSWER_BYTES);
        Ok(Self { client, bearer: bearer(admin_token)?, created: AtomicU64::new(0), spec })
    }

    /// So many matches.
    pub(super) async fn many(&self, matches: usize) -> anyhow::Result<Vec<Created>> {
        let mut all = Vec::with_capacity(matches);
        while all.len() < matches {
            let batch = vec![self.spec.clone(); BATCH.min(matches - all.len())];
            let asked = batch.len();
            let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches: batch };
            let answer = self.client.clone().batch_create_matches(self.asked(request)).await?;
            let created = answer.into_inner().matches;
            ensure!(created.len() == asked, "{} matches were created of {asked}", created.len());
            for created in created {
                all.push(self.created(created.seat_tokens)?);
            }
        }
        Ok(all)
    }

    /// One more.
    pub(super) async fn one(&self) -> anyhow::Result<Created> {
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(self.spec.clone()) };
        let answer = self.client.clone().create_match(self.asked(request)).await?;
        self.created(answer.into_inner().seat_tokens)
    }

    fn asked<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", self.bearer.clone());
        request
    }

    fn created(&self, tokens: Vec<v1::SeatToken>) -> anyhow::Result<Created> {
        let tokens: Vec<String> = tokens.into_iter().map(|token| token.token).collect();
        ensure!(tokens.len() == 2, "a match of two has {} tokens", tokens.len());
        Ok(Created { number: self.created.fetch_add(1, Relaxed), tokens })
    }
}

impl Created {
    /// From what the choices of a seat follow.
    pub(super) fn seed(&self, seat: usize) -> u64 {
        self.number << 1 | seat as u64
    }

    /// The token of a seat.
    pub(super) fn token(&self, seat: usize) -> anyhow::Result<String> {
        self.tokens.get(seat).cloned().context("a seat has no token")
    }
}
