//! Clients from the generated code, with the admin's token.

use std::net::SocketAddr;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Error};
use tonic::{Request, Status};
use zetema_proto::record_from_wire;
use zetema_proto::v1;
use zetema_proto::v1::bot_service_client::BotServiceClient;
use zetema_proto::v1::match_service_client::MatchServiceClient;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::v1::rules_service_client::RulesServiceClient;
use zetema_proto::v1::token_service_client::TokenServiceClient;
use zetema_proto::v1::webhook_service_client::WebhookServiceClient;
use zetema_rules::Record;

use super::{preset, soon, unhurried, with_bot};

/// Adds a token to every call.
#[derive(Clone)]
pub struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

/// A match that was created, with the tokens of its seats, seat 0 first.
#[derive(Clone)]
pub struct Created {
    /// The match as it was.
    pub info: v1::Match,
    /// The tokens.
    pub tokens: Vec<String>,
}

impl Created {
    /// The match's id.
    pub fn id(&self) -> &str {
        &self.info.match_id
    }

    fn new(info: Option<v1::Match>, tokens: Vec<v1::SeatToken>) -> Self {
        let seats: Vec<u32> = tokens.iter().map(|token| token.seat).collect();
        assert!(
            seats.iter().copied().eq(0..u32::try_from(seats.len()).unwrap()),
            "one token a seat, ascending"
        );
        Self { info: info.unwrap(), tokens: tokens.into_iter().map(|token| token.token).collect() }
    }
}

impl From<v1::CreateMatchResponse> for Created {
    fn from(answer: v1::CreateMatchResponse) -> Self {
        Self::new(answer.r#match, answer.seat_tokens)
    }
}

/// A connection to a server.
#[derive(Clone)]
pub struct Clients {
    url: String,
    channel: Channel,
    admin_token: String,
}

impl Clients {
    /// Connects.
    pub async fn connect(address: SocketAddr, admin_token: &str) -> Self {
        let url = format!("http://{address}");
        let endpoint = Endpoint::from_shared(url.clone()).unwrap();
        let channel = soon("a connection", endpoint.connect()).await.expect("the server listens");
        Self { url, channel, admin_token: admin_token.to_owned() }
    }

    /// Connects when it is first needed, and again whenever the connection is lost.
    pub fn lazy(address: SocketAddr, admin_token: &str) -> Self {
        let url = format!("http://{address}");
        let channel = Endpoint::from_shared(url.clone()).unwrap().tcp_nodelay(true).connect_lazy();
        Self { url, channel, admin_token: admin_token.to_owned() }
    }

    /// Connects to a server with TLS, if its certificate is by this CA (PEM).
    ///
    /// # Errors
    /// What is in the way.
    pub async fn connect_securely(url: &str, ca: &str, admin_token: &str) -> Result<Self, Error> {
        let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca));
        let endpoint = Endpoint::from_shared(url.to_owned()).unwrap().tls_config(tls).unwrap();
        let channel = soon("a connection", endpoint.connect()).await?;
        Ok(Self { url: url.to_owned(), channel, admin_token: admin_token.to_owned() })
    }

    /// The server's address, as clients write it.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The connection itself.
    pub const fn channel(&self) -> &Channel {
        &self.channel
    }

    /// The admin's token.
    pub fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// Matches, as the admin.
    pub fn matches(&self) -> MatchServiceClient<InterceptedService<Channel, Bearer>> {
        let token = MetadataValue::try_from(format!("Bearer {}", self.admin_token)).unwrap();
        MatchServiceClient::with_interceptor(self.channel.clone(), Bearer(token))
    }

    /// The same connection, with another token in the place of the admin's.
    #[must_use]
    pub fn by(&self, token: &str) -> Self {
        Self { admin_token: token.to_owned(), ..self.clone() }
    }

    /// Tokens, as the admin.
    pub fn tokens(&self) -> TokenServiceClient<InterceptedService<Channel, Bearer>> {
        let token = MetadataValue::try_from(format!("Bearer {}", self.admin_token)).unwrap();
        TokenServiceClient::with_interceptor(self.channel.clone(), Bearer(token))
    }

    /// Accounts of bots, as the admin.
    pub fn bots(&self) -> BotServiceClient<InterceptedService<Channel, Bearer>> {
        let token = MetadataValue::try_from(format!("Bearer {}", self.admin_token)).unwrap();
        BotServiceClient::with_interceptor(self.channel.clone(), Bearer(token))
    }

    /// Registers a bot, of this owner: it and its token.
    pub async fn register_bot(&self, name: &str, owner: &str) -> (v1::Bot, String) {
        let (name, owner) = (name.to_owned(), owner.to_owned());
        let request = v1::RegisterBotRequest { name, owner, ..v1::RegisterBotRequest::default() };
        let answer = soon("RegisterBot", self.bots().register_bot(request)).await.unwrap().into_inner();
        (answer.bot.unwrap(), answer.secret)
    }

    /// Gives a bot another token.
    pub async fn rotate_token(&self, name: &str, old_tokens: v1::OldTokens) -> String {
        let request = v1::RotateTokenRequest { name: name.to_owned(), old_tokens: old_tokens.into() };
        soon("RotateToken", self.bots().rotate_token(request)).await.unwrap().into_inner().secret
    }

    /// Creates a match without a clock in which this bot has the first seat: its id.
    pub async fn create_with_bot(&self, name: &str) -> String {
        let spec = with_bot(unhurried(preset(v1::Preset::Sackson, 2)), 0, name);
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
        let created = soon("CreateMatch", self.matches().create_match(request)).await.unwrap().into_inner();
        created.r#match.unwrap().match_id
    }

    /// Webhooks, as the admin.
    pub fn webhooks(&self) -> WebhookServiceClient<InterceptedService<Channel, Bearer>> {
        let token = MetadataValue::try_from(format!("Bearer {}", self.admin_token)).unwrap();
        WebhookServiceClient::with_interceptor(self.channel.clone(), Bearer(token))
    }

    /// Makes a token.
    pub async fn create_token(&self, request: v1::CreateTokenRequest) -> (v1::Token, String) {
        let answer = soon("CreateToken", self.tokens().create_token(request)).await.unwrap().into_inner();
        (answer.token.unwrap(), answer.secret)
    }

    /// Makes a token of this scope, which does not expire.
    pub async fn token(&self, kind: v1::token_scope::Kind) -> (v1::Token, String) {
        let scope = Some(v1::TokenScope { kind: Some(kind) });
        self.create_token(v1::CreateTokenRequest { scope, ..v1::CreateTokenRequest::default() }).await
    }

    /// Makes the token of an owner.
    pub async fn owner_token(&self, name: &str) -> (v1::Token, String) {
        self.token(v1::token_scope::Kind::Owner(v1::OwnerScope { owner: name.to_owned() })).await
    }

    /// Makes the token of a bot.
    pub async fn bot_token(&self, name: &str) -> (v1::Token, String) {
        self.token(v1::token_scope::Kind::Bot(v1::BotScope { bot: name.to_owned() })).await
    }

    /// Voids a token.
    pub async fn revoke(&self, token: &v1::Token) -> v1::Token {
        let request = v1::RevokeTokenRequest { token_id: token.token_id.clone() };
        let answer = soon("RevokeToken", self.tokens().revoke_token(request)).await;
        answer.unwrap().into_inner().token.unwrap()
    }

    /// Playing.
    pub fn play(&self) -> PlayServiceClient<Channel> {
        PlayServiceClient::new(self.channel.clone())
    }

    /// The rules.
    pub fn rules(&self) -> RulesServiceClient<Channel> {
        RulesServiceClient::new(self.channel.clone())
    }

    /// Creates a match.
    pub async fn create(&self, spec: v1::MatchSpec) -> Created {
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
        soon("CreateMatch", self.matches().create_match(request)).await.unwrap().into_inner().into()
    }

    /// Creates matches in one transaction.
    pub async fn create_batch(&self, specs: Vec<v1::MatchSpec>) -> Vec<Created> {
        let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches: specs };
        let answer = soon("BatchCreateMatches", self.matches().batch_create_matches(request)).await;
        let matches = answer.unwrap().into_inner().matches;
        matches.into_iter().map(|one| Created::new(one.r#match, one.seat_tokens)).collect()
    }

    /// Reads a match.
    pub async fn get(&self, match_id: &str) -> v1::Match {
        let request = v1::GetMatchRequest { match_id: match_id.to_owned() };
        let answer = soon("GetMatch", self.matches().get_match(request)).await;
        answer.unwrap().into_inner().r#match.unwrap()
    }

    /// Reads a record, or the refusal.
    ///
    /// # Errors
    /// The status that the server answers.
    pub async fn get_record(&self, match_id: &str) -> Result<v1::Record, Status> {
        let request = v1::GetRecordRequest { match_id: match_id.to_owned() };
        let answer = soon("GetRecord", self.matches().get_record(request)).await?;
        Ok(answer.into_inner().record.unwrap())
    }

    /// Reads a record and verifies it.
    pub async fn verified_record(&self, match_id: &str) -> Record {
        let message = self.get_record(match_id).await.unwrap();
        let (record, header) = record_from_wire(&message).unwrap();
        assert_eq!(header.match_id, match_id);
        record.verify().unwrap();
        record
    }
}
