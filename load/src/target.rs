//! The server that is loaded.

use tonic::metadata::errors::InvalidMetadataValue;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use zetema_proto::v1::bot_service_client::BotServiceClient;
use zetema_proto::v1::ladder_service_client::LadderServiceClient;
use zetema_proto::v1::match_service_client::MatchServiceClient;
use zetema_sdk::Tls;

/// Bytes of an answer that are taken: what a server sends at most.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The server that is loaded, and as whom.
#[derive(Clone, Debug)]
pub struct Target {
    pub(crate) url: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) tls: Tls,
    bearer: Bearer,
}

impl Target {
    /// A server at this address, as lean clients connect to it (`endpoint`) and as sessions of the SDK do (`url` and `tls`), with the
    /// token of an admin or an owner, who creates the matches.
    ///
    /// # Errors
    /// If the token has characters that no token has.
    pub fn new(
        url: impl Into<String>,
        endpoint: Endpoint,
        tls: Tls,
        token: &str,
    ) -> Result<Self, InvalidMetadataValue> {
        let bearer = Bearer(bearer(token.trim())?);
        Ok(Self { url: url.into(), endpoint: endpoint.tcp_nodelay(true), tls, bearer })
    }

    /// Connects as whoever creates the matches.
    ///
    /// # Errors
    /// If there is no connection.
    pub(crate) async fn matches(&self) -> Result<Matches, tonic::transport::Error> {
        Ok(self.over(self.endpoint.connect().await?))
    }

    /// The same, on a connection that is made when it is first needed.
    pub(crate) fn matches_lazy(&self) -> Matches {
        self.over(self.endpoint.connect_lazy())
    }

    /// Registers bots.
    pub(crate) fn bots_lazy(&self) -> Bots {
        BotServiceClient::with_interceptor(self.endpoint.connect_lazy(), self.bearer.clone())
    }

    /// Reads ladders.
    pub(crate) fn ladders_lazy(&self) -> Ladders {
        let client = LadderServiceClient::with_interceptor(self.endpoint.connect_lazy(), self.bearer.clone());
        client.max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    fn over(&self, channel: Channel) -> Matches {
        let client = MatchServiceClient::with_interceptor(channel, self.bearer.clone());
        client.max_decoding_message_size(MAX_ANSWER_BYTES)
    }
}

/// Creates matches.
pub(crate) type Matches = MatchServiceClient<InterceptedService<Channel, Bearer>>;
/// Registers bots.
pub(crate) type Bots = BotServiceClient<InterceptedService<Channel, Bearer>>;
/// Reads ladders.
pub(crate) type Ladders = LadderServiceClient<InterceptedService<Channel, Bearer>>;

/// A token as it stands in the metadata of a call.
///
/// # Errors
/// If it has characters that no token has.
pub(crate) fn bearer(token: &str) -> Result<MetadataValue<Ascii>, InvalidMetadataValue> {
    let mut bearer = MetadataValue::try_from(format!("Bearer {token}"))?;
    bearer.set_sensitive(true);
    Ok(bearer)
}

/// Adds a token to every call.
#[derive(Clone, Debug)]
pub(crate) struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}
