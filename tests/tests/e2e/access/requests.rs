//! A request for every RPC, and who may make it.

use prost::Message;
use prost_types::FileDescriptorSet;
use zetema_proto::FILE_DESCRIPTOR_SET;
use zetema_proto::PROTOCOL_REVISION;
use zetema_proto::v1;
use zetema_tests::harness::preset;

/// Every method of the protocol, as `MatchService/GetMatch`.
pub(super) fn methods() -> Vec<String> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let ours = set.file.iter().filter(|file| file.package() == "zetema.v1");
    let methods = ours.flat_map(|file| &file.service).flat_map(|service| {
        service.method.iter().map(|method| format!("{}/{}", service.name(), method.name()))
    });
    methods.collect()
}

/// Who may call a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// Everyone, with whatever token.
    Open,
    /// The admin.
    Admin,
    /// Everyone, but by no token that is void.
    Everyone,
    /// The admin and every owner.
    Creators,
    /// Everyone: it lists what the token may see.
    Lists,
    /// Whoever may see the match.
    Viewers,
    /// The admin and the owner of the match, the bot or the webhook.
    Owners,
    /// Bots.
    Bots,
    /// Whoever has the seat's token, in a field.
    Seat,
}

/// What a request is about.
pub(super) struct Target<'a> {
    pub(super) match_id: &'a str,
    pub(super) seat_token: &'a str,
    pub(super) token_id: &'a str,
    pub(super) webhook_id: &'a str,
    pub(super) bot: &'a str,
}

/// Who may call a method, and a request for it. A method without a line here fails the table.
#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn request(method: &str, target: &Target<'_>) -> (Door, Vec<Vec<u8>>) {
    let match_id = target.match_id.to_owned();
    let seat_token = target.seat_token.to_owned();
    let token_id = target.token_id.to_owned();
    let webhook_id = target.webhook_id.to_owned();
    let name = target.bot.to_owned();
    let spec = || preset(v1::Preset::Sackson, 2);
    let quick = || "quick-2".to_owned();
    let (door, body) = match method {
        "BotService/RegisterOwner" => {
            (Door::Everyone, v1::RegisterOwnerRequest { owner: "stable".to_owned() }.encode_to_vec())
        }
        "BotService/RegisterBot" => {
            let request = v1::RegisterBotRequest { name: "fido".to_owned(), ..Default::default() };
            (Door::Creators, request.encode_to_vec())
        }
        "BotService/GetBot" => {
            // There is one for everyone: what is absent is told to all alike.
            (Door::Everyone, v1::GetBotRequest { name: "rex".to_owned() }.encode_to_vec())
        }
        "BotService/ListBots" => (Door::Everyone, v1::ListBotsRequest::default().encode_to_vec()),
        "BotService/UpdateBot" => {
            (Door::Owners, v1::UpdateBotRequest { name, ..Default::default() }.encode_to_vec())
        }
        "BotService/RotateToken" => {
            (Door::Owners, v1::RotateTokenRequest { name, old_tokens: 0 }.encode_to_vec())
        }
        "BotService/RetireBot" => (Door::Owners, v1::RetireBotRequest { name }.encode_to_vec()),
        "LadderService/ListLadders" => (Door::Open, v1::ListLaddersRequest {}.encode_to_vec()),
        "LadderService/GetStandings" => {
            (Door::Open, v1::GetStandingsRequest { ladder: quick(), ..Default::default() }.encode_to_vec())
        }
        "LadderService/ListResults" => {
            (Door::Open, v1::ListResultsRequest { ladder: quick(), ..Default::default() }.encode_to_vec())
        }
        // No bot is named, which is said to all alike.
        "LadderService/GetRatingHistory" => (
            Door::Open,
            v1::GetRatingHistoryRequest { ladder: quick(), ..Default::default() }.encode_to_vec(),
        ),
        "LadderService/GetHeadToHead" => {
            (Door::Open, v1::GetHeadToHeadRequest { ladder: quick(), ..Default::default() }.encode_to_vec())
        }
        // It has no end, so it is asked of no ladder.
        "LadderService/WatchStandings" => (Door::Open, v1::WatchStandingsRequest::default().encode_to_vec()),
        "LadderService/ReinstateBot" => {
            (Door::Owners, v1::ReinstateBotRequest { ladder: String::new(), bot_name: name }.encode_to_vec())
        }
        "LadderService/ListSuspicions" => {
            let request = v1::ListSuspicionsRequest { ladder: quick(), ..Default::default() };
            (Door::Admin, request.encode_to_vec())
        }
        "RulesService/ListPresets" => (Door::Open, v1::ListPresetsRequest {}.encode_to_vec()),
        "RulesService/ListTimeControls" => (Door::Open, v1::ListTimeControlsRequest {}.encode_to_vec()),
        "RulesService/GetPreset" => {
            let preset =
                v1::PresetRules { preset: v1::Preset::Sackson.into(), teams: None, imperial_suit: None };
            (Door::Open, v1::GetPresetRequest { preset: Some(preset), players: 2 }.encode_to_vec())
        }
        "RulesService/CheckRules" => (Door::Open, v1::CheckRulesRequest::default().encode_to_vec()),
        "TokenService/CreateToken" => {
            let kind = Some(v1::token_scope::Kind::Admin(v1::AdminScope {}));
            let scope = Some(v1::TokenScope { kind });
            let request = v1::CreateTokenRequest { scope, ..v1::CreateTokenRequest::default() };
            (Door::Admin, request.encode_to_vec())
        }
        "TokenService/ListTokens" => (Door::Admin, v1::ListTokensRequest::default().encode_to_vec()),
        "TokenService/RevokeToken" => (Door::Admin, v1::RevokeTokenRequest { token_id }.encode_to_vec()),
        "WebhookService/CreateWebhook" => {
            let url = "http://127.0.0.1:9/".to_owned();
            let request = v1::CreateWebhookRequest { url, ..v1::CreateWebhookRequest::default() };
            (Door::Creators, request.encode_to_vec())
        }
        "WebhookService/ListWebhooks" => (Door::Creators, v1::ListWebhooksRequest::default().encode_to_vec()),
        "WebhookService/DeleteWebhook" => {
            (Door::Owners, v1::DeleteWebhookRequest { webhook_id }.encode_to_vec())
        }
        "WebhookService/ListDeadLetters" => {
            let request = v1::ListDeadLettersRequest { webhook_id, ..v1::ListDeadLettersRequest::default() };
            (Door::Owners, request.encode_to_vec())
        }
        "WebhookService/ResendDeadLetters" => {
            let request = v1::ResendDeadLettersRequest { webhook_id, result_numbers: Vec::new() };
            (Door::Owners, request.encode_to_vec())
        }
        "MatchService/CreateMatch" => {
            let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec()) };
            (Door::Creators, request.encode_to_vec())
        }
        "MatchService/BatchCreateMatches" => {
            let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches: vec![spec()] };
            (Door::Creators, request.encode_to_vec())
        }
        "MatchService/WatchResults" => (Door::Creators, v1::WatchResultsRequest::default().encode_to_vec()),
        "MatchService/ListMatches" => (Door::Lists, v1::ListMatchesRequest::default().encode_to_vec()),
        "MatchService/ListRecords" => (Door::Lists, v1::ListRecordsRequest::default().encode_to_vec()),
        "MatchService/GetMatch" => (Door::Viewers, v1::GetMatchRequest { match_id }.encode_to_vec()),
        "MatchService/GetRecord" => (Door::Viewers, v1::GetRecordRequest { match_id }.encode_to_vec()),
        "MatchService/WatchMatch" => {
            let request = v1::WatchMatchRequest { match_id, ..v1::WatchMatchRequest::default() };
            (Door::Viewers, request.encode_to_vec())
        }
        "MatchService/CancelMatch" => (Door::Owners, v1::CancelMatchRequest { match_id }.encode_to_vec()),
        "MatchService/RotateSeatToken" => {
            let request = v1::RotateSeatTokenRequest { match_id, ..v1::RotateSeatTokenRequest::default() };
            (Door::Owners, request.encode_to_vec())
        }
        "PlayService/JoinSeat" => (
            Door::Seat,
            v1::JoinSeatRequest { seat_token, nonce_hash: Vec::new(), assigned: None }.encode_to_vec(),
        ),
        "PlayService/SendNonce" => (
            Door::Seat,
            v1::SendNonceRequest { seat_token, nonce: Vec::new(), assigned: None }.encode_to_vec(),
        ),
        "PlayService/Observe" => {
            let seats = vec![v1::ObserveSeat { seat_token, after_seq: None, views: None, assigned: None }];
            (Door::Seat, v1::ObserveRequest { seats }.encode_to_vec())
        }
        "PlayService/Act" => {
            let act = v1::Act { decision_number: 1, choice: Some(v1::act::Choice::LegalIndex(0)) };
            (Door::Seat, v1::ActRequest { seat_token, act: Some(act), assigned: None }.encode_to_vec())
        }
        "PlayService/Resign" => {
            (Door::Seat, v1::ResignRequest { seat_token, panic: None, assigned: None }.encode_to_vec())
        }
        "PlayService/UpdateQueues" => (Door::Bots, v1::UpdateQueuesRequest { queues: None }.encode_to_vec()),
        "PlayService/ListFaults" => {
            let request = v1::ListFaultsRequest { seat_token, ..v1::ListFaultsRequest::default() };
            (Door::Seat, request.encode_to_vec())
        }
        "PlayService/Play" => {
            let hello = v1::Hello { protocol_revision: PROTOCOL_REVISION, ..v1::Hello::default() };
            let join = v1::Join { by: Some(v1::join::By::SeatToken(seat_token)), ..v1::Join::default() };
            let kinds = [v1::play_request::Kind::Hello(hello), v1::play_request::Kind::Join(join)];
            let request = |kind| v1::PlayRequest { tag: 1, handle: 0, kind: Some(kind) }.encode_to_vec();
            return (Door::Seat, kinds.map(request).to_vec());
        }
        other => panic!("{other} is not in the table: say here who may call it"),
    };
    (door, vec![body])
}
