//! Creates matches, the first of them in batches.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, ensure};
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use zetema_proto::v1;
use zetema_proto::v1::match_service_client::MatchServiceClient;

use crate::harness::{fixed, preset};

/// Matches of one batch, at most.
const BATCH: usize = 1_000;
/// Bytes of an answer: a batch has many.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Creates matches of two.
pub(super) struct Creation {
    client: MatchServiceClient<Channel>,
    bearer: MetadataValue<Ascii>,
    created: AtomicU64,
    deals: Deals,
}

/// From what decks follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deals {
    /// From what the server draws, as it usually is.
    Joint,
    /// From the same each time.
    Fixed,
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
    pub(super) fn new(channel: Channel, admin_token: &str, deals: Deals) -> anyhow::Result<Self> {
        let client = MatchServiceClient::new(channel).max_decoding_message_size(MAX_ANSWER_BYTES);
        let mut bearer = MetadataValue::try_from(format!("Bearer {admin_token}"))?;
        bearer.set_sensitive(true);
        Ok(Self { client, bearer, created: AtomicU64::new(0), deals })
    }

    /// So many matches.
    pub(super) async fn many(&self, matches: usize) -> anyhow::Result<Vec<Created>> {
        let mut all = Vec::with_capacity(matches);
        while all.len() < matches {
            let batch = vec![self.spec(); BATCH.min(matches - all.len())];
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
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(self.spec()) };
        let answer = self.client.clone().create_match(self.asked(request)).await?;
        self.created(answer.into_inner().seat_tokens)
    }

    /// `sackson`, with its own time control, which has a clock.
    fn spec(&self) -> v1::MatchSpec {
        let spec = preset(v1::Preset::Sackson, 2);
        match self.deals {
            Deals::Joint => spec,
            Deals::Fixed => fixed(spec, [7; 32]),
        }
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
