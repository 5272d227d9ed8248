//! Calls to a server's `MatchService`, `BotService`, `TokenService`, `WebhookService` and `LadderService`.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use secrecy::{ExposeSecret, SecretString};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::{Interceptor, interceptor::InterceptedService};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_types::StatusExt;
use zetema_proto::v1;
use zetema_proto::v1::bot_service_client::BotServiceClient;
use zetema_proto::v1::ladder_service_client::LadderServiceClient;
use zetema_proto::v1::match_service_client::MatchServiceClient;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::v1::token_service_client::TokenServiceClient;
use zetema_proto::v1::webhook_service_client::WebhookServiceClient;

use crate::args::{AddressArgs, ServerArgs};

/// The file in a server's data folder that holds the admin token.
const ADMIN_TOKEN_FILE: &str = "admin-token";
/// Bytes of an answer that are taken: what a server sends at most.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// What to do where there is no such match, token, bot, webhook or ladder.
const NO_MATCH: &str = ": `zetema match list` shows the matches that this token may see";
const NO_TOKEN: &str = ": `zetema token list --void` shows the ids of all tokens";
const NO_BOT: &str =
    ": `zetema bot list` shows all bots; to change one takes its owner's token, or the admin's";
const NO_LADDER: &str =
    ": `zetema ladder list` shows the ladders, and `zetema ladder standings` the bots of one";
const NO_WEBHOOK: &str = ": `zetema webhook list` shows the ids of the webhooks that this token may see";
/// How long a server may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// After so long without a word a server is pinged: the interval at which servers ping, unless configured.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// How long it may take to answer, so that a dead server is given up after three intervals, as by the SDK.
const PONG_WITHIN: Duration = Duration::from_secs(40);

/// How often a server that has too much to do is asked again.
const ASKED_AGAIN: u32 = 20;
/// How long it is waited for at most each time, whatever it says.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long it is waited for each time until a match is over for those too who ask for its record: it is among the results a moment
/// before.
const UNTIL_REVEALED: Duration = Duration::from_millis(250);

/// A connection to a server, authorised by a token, or by none where none is needed.
#[derive(Clone)]
pub(crate) struct Client {
    bots: BotServiceClient<InterceptedService<Channel, Bearer>>,
    matches: MatchServiceClient<InterceptedService<Channel, Bearer>>,
    tokens: TokenServiceClient<InterceptedService<Channel, Bearer>>,
    webhooks: WebhookServiceClient<InterceptedService<Channel, Bearer>>,
    ladders: LadderServiceClient<InterceptedService<Channel, Bearer>>,
}

/// Puts the token, if there is one, into every call.
#[derive(Clone)]
struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// Makes an RPC a method that takes the request and explains an error.
macro_rules! calls {
    ($service:ident, $absent:expr; $($(#[$doc:meta])* $name:ident($request:ident) -> $response:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) async fn $name(&self, request: v1::$request) -> Result<v1::$response> {
            let answer = self.$service.clone().$name(request).await;
            Ok(answer.map_err(|status| explain_or(&status, $absent))?.into_inner())
        }
    )*};
}

impl Client {
    /// Connects to this address with this token.
    pub(crate) async fn connect_with(address: &AddressArgs, token: &str) -> Result<Self> {
        Self::authorised(channel(address).await?, token)
    }

    /// Connects as the flags say.
    pub(crate) async fn connect(args: &ServerArgs) -> Result<Self> {
        let channel = channel(&args.address).await?;
        Self::authorised(channel, token(args)?.expose_secret())
    }

    /// Connects without a token.
    pub(crate) async fn connect_as_anyone(address: &AddressArgs) -> Result<Self> {
        Ok(Self::over(channel(address).await?, &Bearer(None)))
    }

    /// Connects with the token that is given or the admin's, if there is any, to ask for what everybody may know.
    pub(crate) async fn connect_with_any_token(args: &ServerArgs) -> Result<Self> {
        match token(args) {
            Ok(_) => Self::connect(args).await,
            Err(_) => Self::connect_as_anyone(&args.address).await,
        }
    }

    fn authorised(channel: Channel, token: &str) -> Result<Self> {
        let mut bearer = MetadataValue::try_from(format!("Bearer {}", token.trim()))
            .map_err(|_| anyhow!("the token has characters that no token has: copy it again"))?;
        bearer.set_sensitive(true);
        Ok(Self::over(channel, &Bearer(Some(bearer))))
    }

    fn over(channel: Channel, bearer: &Bearer) -> Self {
        let bots = BotServiceClient::with_interceptor(channel.clone(), bearer.clone())
            .max_decoding_message_size(MAX_ANSWER_BYTES);
        let matches = MatchServiceClient::with_interceptor(channel.clone(), bearer.clone())
            .max_decoding_message_size(MAX_ANSWER_BYTES);
        let tokens = TokenServiceClient::with_interceptor(channel.clone(), bearer.clone())
            .max_decoding_message_size(MAX_ANSWER_BYTES);
        let webhooks = WebhookServiceClient::with_interceptor(channel.clone(), bearer.clone())
            .max_decoding_message_size(MAX_ANSWER_BYTES);
        let ladders = LadderServiceClient::with_interceptor(channel, bearer.clone())
            .max_decoding_message_size(MAX_ANSWER_BYTES);
        Self { bots, matches, tokens, webhooks, ladders }
    }

    calls! { bots, NO_BOT;
        /// Makes an owner.
        register_owner(RegisterOwnerRequest) -> RegisterOwnerResponse;
        /// Registers a bot.
        register_bot(RegisterBotRequest) -> RegisterBotResponse;
        /// Reads a bot.
        get_bot(GetBotRequest) -> GetBotResponse;
        /// Reads a page of bots.
        list_bots(ListBotsRequest) -> ListBotsResponse;
        /// Changes what is said of a bot.
        update_bot(UpdateBotRequest) -> UpdateBotResponse;
        /// Gives a bot another token.
        rotate_token(RotateTokenRequest) -> RotateTokenResponse;
        /// Ends a bot.
        retire_bot(RetireBotRequest) -> RetireBotResponse;
    }

    calls! { tokens, NO_TOKEN;
        /// Makes a token.
        create_token(CreateTokenRequest) -> CreateTokenResponse;
        /// Reads a page of tokens.
        list_tokens(ListTokensRequest) -> ListTokensResponse;
        /// Voids a token.
        revoke_token(RevokeTokenRequest) -> RevokeTokenResponse;
    }

    calls! { webhooks, NO_WEBHOOK;
        /// Makes a webhook.
        create_webhook(CreateWebhookRequest) -> CreateWebhookResponse;
        /// Reads a page of webhooks.
        list_webhooks(ListWebhooksRequest) -> ListWebhooksResponse;
        /// Ends a webhook.
        delete_webhook(DeleteWebhookRequest) -> DeleteWebhookResponse;
        /// Reads a page of dead letters.
        list_dead_letters(ListDeadLettersRequest) -> ListDeadLettersResponse;
        /// Has dead letters sent again.
        resend_dead_letters(ResendDeadLettersRequest) -> ResendDeadLettersResponse;
    }

    calls! { matches, NO_MATCH;
        /// Creates a match.
        create_match(CreateMatchRequest) -> CreateMatchResponse;
        /// Creates many matches, all or none.
        batch_create_matches(BatchCreateMatchesRequest) -> BatchCreateMatchesResponse;
        /// Reads a match.
        get_match(GetMatchRequest) -> GetMatchResponse;
        /// Reads a page of matches.
        list_matches(ListMatchesRequest) -> ListMatchesResponse;
        /// Aborts a match.
        cancel_match(CancelMatchRequest) -> CancelMatchResponse;
        /// Reads a record.
        get_record(GetRecordRequest) -> GetRecordResponse;
        /// Reads a page of what there is of records.
        list_records(ListRecordsRequest) -> ListRecordsResponse;
    }

    calls! { ladders, NO_LADDER;
        /// Reads the ladders.
        list_ladders(ListLaddersRequest) -> ListLaddersResponse;
        /// Reads a page of standings.
        get_standings(GetStandingsRequest) -> GetStandingsResponse;
        /// Reads a page of results.
        list_results(ListResultsRequest) -> ListResultsResponse;
        /// Reads a page of a bot's ratings.
        get_rating_history(GetRatingHistoryRequest) -> GetRatingHistoryResponse;
        /// Reads a page of how a bot did against others.
        get_head_to_head(GetHeadToHeadRequest) -> GetHeadToHeadResponse;
        /// Puts a bot back that is benched.
        reinstate_bot(ReinstateBotRequest) -> ReinstateBotResponse;
        /// Reads what is suspected of bots.
        list_suspicions(ListSuspicionsRequest) -> ListSuspicionsResponse;
    }

    /// Follows the standings of a ladder.
    pub(crate) async fn watch_standings(
        &self,
        ladder: String,
    ) -> Result<tonic::Streaming<v1::WatchStandingsResponse>> {
        let answer = self.ladders.clone().watch_standings(v1::WatchStandingsRequest { ladder }).await;
        Ok(answer.map_err(|status| explain_or(&status, NO_LADDER))?.into_inner())
    }

    /// Watches a match from the start of what can be seen.
    pub(crate) async fn watch_match(
        &self,
        match_id: &str,
        after_seq: Option<u64>,
    ) -> Result<tonic::Streaming<v1::WatchMatchResponse>> {
        let request = v1::WatchMatchRequest { match_id: match_id.to_owned(), after_seq, views: None };
        let answer = self.matches.clone().watch_match(request).await;
        Ok(answer.map_err(|status| explain(&status))?.into_inner())
    }

    /// Follows the results of matches that are over.
    pub(crate) async fn watch_results(
        &self,
        request: v1::WatchResultsRequest,
    ) -> Result<tonic::Streaming<v1::WatchResultsResponse>> {
        let answer = self.matches.clone().watch_results(request).await;
        Ok(answer.map_err(|status| explain(&status))?.into_inner())
    }
}

/// Forfeits the match of the seat that has this token.
pub(crate) async fn resign(address: &AddressArgs, seat_token: String) -> Result<()> {
    let mut client = PlayServiceClient::new(channel(address).await?);
    let answer = client.resign(v1::ResignRequest { seat_token, panic: None, assigned: None }).await;
    answer.map(drop).map_err(|status| explain(&status))
}

/// A server as connections are made to it.
pub(crate) fn endpoint(AddressArgs { server, tls }: &AddressArgs) -> Result<Endpoint> {
    let no_address = || format!("{server:?} is no address of a server: give one as in http://127.0.0.1:4680");
    let mut endpoint = Endpoint::from_shared(server.to_owned()).with_context(no_address)?;
    match endpoint.uri().scheme_str() {
        Some("https") => {
            endpoint = endpoint.tls_config(tls.config()?).context("TLS can't be set up")?;
        }
        Some("http") if tls.is_default() => {}
        Some("http") => bail!("{server} is without TLS: leave out the flags of TLS, or give https://"),
        _ => bail!(no_address()),
    }
    let endpoint = endpoint.connect_timeout(CONNECT_WITHIN);
    Ok(endpoint.http2_keep_alive_interval(PING_INTERVAL).keep_alive_timeout(PONG_WITHIN))
}

pub(crate) async fn channel(address: &AddressArgs) -> Result<Channel> {
    let endpoint = endpoint(address)?;
    let AddressArgs { server, tls } = address;
    // Of what a server has against a client's certificate a call does not always learn.
    if let Some(problem) = tls.settings()?.diagnose(server).await {
        bail!("no secure connection to {server}: {problem}");
    }
    endpoint.connect().await.with_context(|| {
        format!("no server answers at {server}: start one by `zetema serve`, or give --server URL")
    })
}

/// The token that is given, or the admin's.
pub(crate) fn token(args: &ServerArgs) -> Result<SecretString> {
    if let Some(token) = &args.token {
        return Ok(token.clone());
    }
    let path = args.data.join(ADMIN_TOKEN_FILE);
    std::fs::read_to_string(&path).map(SecretString::from).with_context(|| {
        format!(
            "there is no admin token: give --token, set ZETEMA_TOKEN, or give the server's data folder by --data. \
             {} can't be read",
            path.display()
        )
    })
}

/// What a server refused, and what to do about it.
pub(crate) fn explain(status: &Status) -> anyhow::Error {
    explain_or(status, NO_MATCH)
}

/// The same, with what to do where there is no such thing.
fn explain_or(status: &Status, absent: &'static str) -> anyhow::Error {
    let details = status.get_error_details();
    let reason = details.error_info().map(|info| info.reason.clone());
    let mut text = status.message().to_owned();
    if let Some(bad) = details.bad_request() {
        for violation in &bad.field_violations {
            if !text.contains(&violation.description) {
                text = format!("{text}; {}: {}", violation.field, violation.description);
            }
        }
    }
    let what = reason.unwrap_or_else(|| format!("{:?}", status.code()));
    let hint = match status.code() {
        tonic::Code::Unavailable => ": the server is gone or stopping, try again",
        tonic::Code::Unauthenticated => {
            ": give the token by --token or ZETEMA_TOKEN, or the server's data folder by --data"
        }
        tonic::Code::NotFound => absent,
        _ => "",
    };
    let error = v1::Error::from_status(status);
    let retry_after_ms = error.as_ref().and_then(|error| error.retry_after_ms);
    let refused = Refused {
        text: format!("{text} ({what}){hint}"),
        reason: error.map(|error| error.reason()),
        retry_after: retry_after_ms.map(|ms| Duration::from_millis(ms.into())),
    };
    refused.into()
}

/// A server has refused a call, or is gone.
#[derive(Debug)]
pub(crate) struct Refused {
    text: String,
    /// Why, if the server itself says so.
    pub(crate) reason: Option<v1::ErrorReason>,
    /// When to ask again, if it says so.
    retry_after: Option<Duration>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refused {}

/// The reason that a server gave, if it gave one.
pub(crate) fn reason_of(error: &anyhow::Error) -> Option<v1::ErrorReason> {
    error.downcast_ref::<Refused>()?.reason
}

/// Whether a server has said why it does not give something, for good: what is hidden, held or damaged stays so while it is
/// read. All else, such as a server that is gone, says nothing of what was asked for.
pub(crate) fn said_no(error: &anyhow::Error) -> Option<v1::ErrorReason> {
    use v1::ErrorReason::{HeldUntilReveal, Internal, NotFound};
    let reason = reason_of(error)?;
    matches!(reason, HeldUntilReveal | Internal | NotFound).then_some(reason)
}

/// Whether the same may come to something else later: the server was not reached, has too much to do, or can't say what came of it.
pub(crate) fn passes(error: &anyhow::Error) -> bool {
    use v1::ErrorReason::{Draining, OutcomeUnknown, Overloaded};
    match error.downcast_ref::<Refused>() {
        Some(Refused { reason: Some(reason), retry_after, .. }) => {
            retry_after.is_some() || matches!(reason, Draining | OutcomeUnknown | Overloaded)
        }
        // Not by the server itself, but on the way to it.
        Some(Refused { reason: None, .. }) => true,
        None => error.chain().any(<dyn std::error::Error>::is::<tonic::transport::Error>),
    }
}

/// Asks, and again when the server has too much to do and says when to.
pub(crate) async fn patiently<T>(ask: impl AsyncFn() -> Result<T>) -> Result<T> {
    for _ in 0..ASKED_AGAIN {
        let error = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let Some(wait) = error.downcast_ref::<Refused>().and_then(|refused| refused.retry_after) else {
            return Err(error);
        };
        tokio::time::sleep(wait.min(LONGEST_WAIT)).await;
    }
    ask().await
}

/// The record of a match that is among the results. Of one that has only just ended it is asked for again.
pub(crate) async fn record_of(client: &Client, match_id: &str) -> Result<v1::Record> {
    let request = v1::GetRecordRequest { match_id: match_id.to_owned() };
    let ask = async || patiently(async || client.get_record(request.clone()).await).await;
    once_revealed(ask, UNTIL_REVEALED).await?.record.context("the server sent no record")
}

/// Asks, and again as long as it is not revealed.
async fn once_revealed<T>(ask: impl AsyncFn() -> Result<T>, wait: Duration) -> Result<T> {
    for _ in 0..ASKED_AGAIN {
        match ask().await {
            Err(error) if reason_of(&error) == Some(v1::ErrorReason::NotRevealed) => {}
            answer => return answer,
        }
        tokio::time::sleep(wait).await;
    }
    ask().await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn what_is_not_revealed_yet_is_asked_for_again_and_nothing_else_is() {
        let refused = |reason| {
            let text = "it is so".to_owned();
            anyhow::Error::from(Refused { text, reason: Some(reason), retry_after: None })
        };
        let not_yet = v1::ErrorReason::NotRevealed;
        for (answers, asked, told) in [
            (&[][..], 1, None),
            (&[not_yet, not_yet], 3, None),
            (&[v1::ErrorReason::HeldUntilReveal], 1, Some(v1::ErrorReason::HeldUntilReveal)),
            (&[not_yet; 100], ASKED_AGAIN as usize + 1, Some(not_yet)),
        ] {
            let times = Cell::new(0);
            let ask = async || {
                let answer = answers.get(times.get()).map_or(Ok(()), |&reason| Err(refused(reason)));
                times.set(times.get() + 1);
                answer
            };
            let answer = once_revealed(ask, Duration::ZERO).await;
            assert_eq!((times.get(), answer.err().as_ref().and_then(reason_of)), (asked, told));
        }
    }

    #[test]
    fn what_is_said_for_good_does_not_pass() {
        use v1::ErrorReason::{NameTaken, OutcomeUnknown, Overloaded, Unauthenticated};
        let refused = |reason, wait: Option<u64>| {
            let retry_after = wait.map(Duration::from_millis);
            anyhow::Error::new(Refused { text: String::new(), reason, retry_after })
        };
        for (error, expected) in [
            (refused(Some(Overloaded), Some(10)), true),
            (refused(Some(OutcomeUnknown), None), true),
            (refused(None, None), true),
            (refused(Some(NameTaken), None), false),
            (refused(Some(Unauthenticated), None), false),
            (anyhow!("no secure connection"), false),
        ] {
            assert_eq!(passes(&error), expected, "{error:?}");
        }
    }
}
