//! Bots that play by tokens of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::{StreamExt, wrappers::UnboundedReceiverStream};
use tonic::{Status, Streaming};
use zetema_proto::v1::{
    self, ErrorReason, act, join, match_service_client::MatchServiceClient, play_request, play_response,
    play_service_client::PlayServiceClient, seat_spec, subscription_start, time_control, token_scope,
    token_service_client::TokenServiceClient,
};
use zetema_service::server::Server;

use common::{as_admin, as_bearer, channel, spec, start};

type SeatKey = (String, u32);

/// How long a test waits for what must come.
const SOON: Duration = Duration::from_mins(5);

async fn make_token(server: &Server, bot: &str) -> (String, String) {
    let scope = token_scope::Kind::Bot(v1::BotScope { bot: bot.to_owned() });
    let scope = Some(v1::TokenScope { kind: Some(scope) });
    let request = v1::CreateTokenRequest { scope, ..Default::default() };
    let mut client = TokenServiceClient::new(channel(server).await);
    let made = client.create_token(as_admin(server, request)).await.unwrap().into_inner();
    (made.token.unwrap().token_id, made.secret)
}

fn bot_seat(name: &str) -> v1::SeatSpec {
    v1::SeatSpec { kind: Some(seat_spec::Kind::Bot(v1::BotSeat { name: name.to_owned() })) }
}

/// A match that waits for its players without a clock, and is dealt as soon as all have joined.
fn spec_of(seats: Vec<v1::SeatSpec>) -> v1::MatchSpec {
    let none = v1::NamedTimeControl::None.into();
    let time_control =
        v1::TimeControl { decisions: Some(time_control::Decisions::Named(none)), ..Default::default() };
    let fixed = v1::deals::Kind::Fixed(v1::FixedDeals { server_seed: vec![7; 32] });
    v1::MatchSpec {
        seats,
        time_control: Some(time_control),
        deals: Some(v1::Deals { kind: Some(fixed) }),
        ..spec(2, v1::Visibility::Public)
    }
}

async fn create(server: &Server, spec: v1::MatchSpec) -> Result<v1::CreateMatchResponse, Status> {
    let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
    let mut client = MatchServiceClient::new(channel(server).await);
    client.create_match(as_admin(server, request)).await.map(tonic::Response::into_inner)
}

/// A Play stream of a bot. Pings are answered by themselves, and nothing that is sent waits for what is read.
struct Bot {
    requests: mpsc::UnboundedSender<v1::PlayRequest>,
    answers: Streaming<v1::PlayResponse>,
}

impl Bot {
    async fn open(server: &Server, token: &str) -> (Self, v1::Welcome) {
        Self::open_for(server, token, "", 1_000).await
    }

    async fn open_for(
        server: &Server,
        token: &str,
        live_seats_token: &str,
        capacity: usize,
    ) -> (Self, v1::Welcome) {
        let (requests, sent) = mpsc::unbounded_channel();
        let request = as_bearer(token, UnboundedReceiverStream::new(sent));
        let answers = PlayServiceClient::new(channel(server).await).play(request).await.unwrap();
        let mut bot = Self { requests, answers: answers.into_inner() };
        let live_seats_token = live_seats_token.to_owned();
        let capacity = Some(u32::try_from(capacity).unwrap());
        let client_name = "tests".to_owned();
        let hello = v1::Hello {
            client_name,
            protocol_revision: 1,
            capacity,
            live_seats_token,
            ..v1::Hello::default()
        };
        bot.say(0, play_request::Kind::Hello(hello));
        let Some(play_response::Kind::Welcome(welcome)) = bot.next().await.unwrap().kind else {
            panic!("no welcome")
        };
        (bot, *welcome)
    }

    /// As many streams as the live seats of the bot need.
    async fn open_all(server: &Server, token: &str, capacity: usize) -> Vec<(Self, Vec<SeatKey>)> {
        let mut streams = Vec::new();
        let mut next = String::new();
        loop {
            let (bot, welcome) = Self::open_for(server, token, &next, capacity).await;
            let seats = welcome.live_seats.into_iter().map(|seat| (seat.match_id, seat.seat)).collect();
            streams.push((bot, seats));
            next = welcome.next_live_seats_token;
            if next.is_empty() {
                let listed: HashSet<&SeatKey> = streams.iter().flat_map(|(_, seats)| seats).collect();
                assert_eq!(listed.len(), usize::try_from(welcome.live_seat_count).unwrap());
                return streams;
            }
        }
    }

    fn say(&self, handle: u32, kind: play_request::Kind) {
        self.requests.send(v1::PlayRequest { tag: 0, handle, kind: Some(kind) }).unwrap();
    }

    fn join(&self, (match_id, seat): &SeatKey, after_seq: Option<u64>) {
        let assigned = v1::AssignedSeat { match_id: match_id.clone(), seat: *seat };
        let by = Some(join::By::Assigned(assigned));
        self.say(0, play_request::Kind::Join(v1::Join { by, after_seq, ..v1::Join::default() }));
    }

    fn act(&self, handle: u32, decision_number: u32) {
        let choice = Some(act::Choice::LegalIndex(0));
        self.say(handle, play_request::Kind::Act(v1::Act { decision_number, choice }));
    }

    async fn next(&mut self) -> Result<v1::PlayResponse, Status> {
        loop {
            let answer = tokio::time::timeout(SOON, self.answers.message()).await.expect("it comes soon")?;
            let answer = answer.expect("it goes on");
            match answer.kind {
                Some(play_response::Kind::Ping(v1::Ping { number })) => {
                    self.say(0, play_request::Kind::Pong(v1::Pong { number }));
                }
                _ => return Ok(answer),
            }
        }
    }

    /// What the stream ends with.
    async fn end(&mut self) -> v1::Error {
        loop {
            if let Err(status) = self.next().await {
                return v1::Error::from_status(&status).unwrap();
            }
        }
    }
}

/// How far a bot has come in a match, over all its streams.
#[derive(Clone, Copy, Default)]
struct Place {
    seq: u64,
    /// Its decision that is open, if it is to act.
    open: Option<u32>,
    /// Answers that were acknowledged on this stream.
    acted: usize,
    /// The last decision that was answered. It is over: a stream is not left before its answers are acknowledged.
    answered: u32,
    /// The answer that is not acknowledged yet.
    sent: Option<u32>,
}

/// Joins all seats at once and acts until each has acted so often; where they stand then. `after` says where each goes on.
async fn play(
    mut bot: Bot,
    seats: Vec<SeatKey>,
    mut places: HashMap<SeatKey, Place>,
    after: fn(usize, &Place) -> Option<u64>,
    acts: usize,
) -> HashMap<SeatKey, Place> {
    for (i, seat) in seats.iter().enumerate() {
        bot.join(seat, after(i, places.entry(seat.clone()).or_default()));
    }
    for place in places.values_mut() {
        place.acted = 0;
    }
    let mut of_handle: HashMap<u32, SeatKey> = HashMap::new();
    let mut left = seats.len();
    while left > 0 {
        let answer = bot.next().await.unwrap();
        let handle = answer.handle;
        match answer.kind.unwrap() {
            play_response::Kind::Joined(start) => {
                let seat = (start.r#match.unwrap().match_id, start.seat.unwrap());
                let place = places.get_mut(&seat).unwrap();
                match start.kind.unwrap() {
                    subscription_start::Kind::Snapshot(snapshot) => {
                        place.seq = snapshot.seq;
                        place.open = snapshot.decision_number.filter(|_| snapshot.decision.is_some());
                    }
                    subscription_start::Kind::Resumed(v1::Resumed { after_seq, .. }) => {
                        assert!(after_seq <= place.seq);
                        if after_seq < place.seq {
                            // It sees again what it has seen.
                            *place = Place { seq: after_seq, open: None, ..*place };
                        }
                    }
                }
                of_handle.insert(handle, seat);
            }
            play_response::Kind::Observation(observation) => {
                let place = places.get_mut(&of_handle[&handle]).unwrap();
                assert_eq!(observation.seq, place.seq + 1, "a gap or a repeat");
                place.seq = observation.seq;
                place.open = observation.decision_number.filter(|_| observation.decision.is_some());
                let answered = observation.answered_decision_number;
                if answered.is_some() && answered == place.sent {
                    place.sent = None;
                    place.acted += 1;
                    left -= usize::from(place.acted == acts);
                }
            }
            other => panic!("{other:?}"),
        }
        let place = places.get_mut(&of_handle[&handle]).unwrap();
        if let Some(decision) = place.open.filter(|&open| place.acted < acts && open > place.answered) {
            place.sent = Some(decision);
            bot.act(handle, decision);
            place.open = None;
            place.answered = decision;
        }
    }
    places
}

/// A bot with so many matches comes, goes away without a word, comes back, and goes on in all of them: by a snapshot, after
/// the last that it saw, and from the beginning on, all joins at once.
async fn check_all_are_resumed(count: usize, capacity: usize) {
    let (_folder, server) = start().await;
    let (_, ann) = make_token(&server, "ann").await;
    let (_, bob) = make_token(&server, "bob").await;
    let mut client = MatchServiceClient::new(channel(&server).await).max_decoding_message_size(usize::MAX);
    let mut made = 0;
    while made < count {
        let matches = vec![spec_of(vec![bot_seat("ann"), bot_seat("bob")]); (count - made).min(1_000)];
        made += matches.len();
        let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
        client.batch_create_matches(as_admin(&server, request)).await.unwrap();
    }
    let mut others = tokio::task::JoinSet::new();
    for (stream, seats) in Bot::open_all(&server, &bob, capacity).await {
        // It plays on for as long as there is somebody to play with.
        others.spawn(play(stream, seats, HashMap::new(), |_, _| None, usize::MAX));
    }
    let streams = Bot::open_all(&server, &ann, capacity).await;
    assert_eq!(streams.len(), count.div_ceil(capacity));
    let played = streams
        .into_iter()
        .map(|(bot, seats)| tokio::spawn(play(bot, seats, HashMap::new(), |_, _| None, 2)));
    let mut places = HashMap::new();
    for played in played.collect::<Vec<_>>() {
        places.extend(played.await.unwrap());
    }
    assert_eq!(places.len(), count);

    let after = |i, place: &Place| [None, Some(place.seq), Some(0)][i % 3];
    let streams = Bot::open_all(&server, &ann, capacity).await;
    let played = streams.into_iter().map(|(bot, seats)| {
        let places = seats.iter().map(|seat| (seat.clone(), places[seat])).collect();
        tokio::spawn(play(bot, seats, places, after, 1))
    });
    for played in played.collect::<Vec<_>>() {
        assert!(played.await.unwrap().values().all(|place| place.acted == 1));
    }
    assert!(others.try_join_next().is_none(), "the other bot was cut");
    others.shutdown().await;
    drop(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_with_a_thousand_matches_resumes_them_all() {
    check_all_are_resumed(1_000, 1_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_with_more_matches_than_a_stream_carries_resumes_them_all() {
    check_all_are_resumed(3_000, 1_000).await;
}

#[tokio::test]
async fn a_bot_is_told_of_its_seats_and_named_to_others_from_the_deal_on() {
    let (_folder, server) = start().await;
    let unknown = create(&server, spec_of(vec![bot_seat("bob"), bot_seat("ann")])).await.unwrap_err();
    let error = v1::Error::from_status(&unknown).unwrap();
    assert_eq!(
        (error.reason(), error.violations[0].field.as_str()),
        (ErrorReason::InvalidField, "match.seats[0].bot.name")
    );

    let (_, ann) = make_token(&server, "ann").await;
    let (mut bot, welcome) = Bot::open(&server, &ann).await;
    assert_eq!((welcome.live_seats.as_slice(), welcome.live_seat_count), ([].as_slice(), 0));
    let token = v1::SeatSpec { kind: Some(seat_spec::Kind::Token(v1::TokenSeat {})) };
    let spec =
        v1::MatchSpec { client_reference: "final: ann".to_owned(), ..spec_of(vec![token, bot_seat("ann")]) };
    let created = create(&server, spec).await.unwrap();
    let info = created.r#match.unwrap();
    assert_eq!(info.client_reference, "final: ann", "whoever creates it sees the reference");
    let names = |info: &v1::Match| info.seats.iter().map(|seat| seat.bot_name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&info), ["", "ann"], "whoever creates it sees the name");
    let [other] = created.seat_tokens.as_slice() else { panic!("one token, for seat 0") };
    assert_eq!(other.seat, 0);

    let assigned = bot.next().await.unwrap();
    let Some(play_response::Kind::SeatAssigned(seat)) = assigned.kind else { panic!("{assigned:?}") };
    let seat = (seat.match_id, seat.seat);
    assert_eq!(seat, (info.match_id.clone(), 1));
    let get = v1::GetMatchRequest { match_id: info.match_id.clone() };
    let mut client = MatchServiceClient::new(channel(&server).await);
    let shown = client.get_match(get.clone()).await.unwrap().into_inner().r#match.unwrap();
    assert_eq!(
        (names(&shown), shown.client_reference),
        (vec![String::new(); 2], String::new()),
        "before the deal"
    );
    bot.join(&seat, None);
    assert!(matches!(bot.next().await.unwrap().kind, Some(play_response::Kind::Joined(_))));
    let join_seat =
        v1::JoinSeatRequest { seat_token: other.token.clone(), nonce_hash: Vec::new(), assigned: None };
    PlayServiceClient::new(channel(&server).await).join_seat(join_seat).await.unwrap();
    assert!(matches!(bot.next().await.unwrap().kind, Some(play_response::Kind::Observation(_))));
    let shown = client.get_match(get).await.unwrap().into_inner().r#match.unwrap();
    assert_eq!(names(&shown), ["", "ann"], "after the deal");
    assert_eq!(shown.client_reference, "final: ann", "after the deal");

    // Another bot has no way in, and nobody gets a token for the seat.
    let (_, bob) = make_token(&server, "bob").await;
    let (mut other_bot, _) = Bot::open(&server, &bob).await;
    other_bot.join(&seat, None);
    let refused = other_bot.next().await.unwrap();
    let Some(play_response::Kind::Rejection(error)) = refused.kind else { panic!("{refused:?}") };
    assert_eq!(error.reason(), ErrorReason::NotFound);
    let rotate =
        v1::RotateSeatTokenRequest { match_id: info.match_id.clone(), seat: 1, ..Default::default() };
    let refused = client.rotate_seat_token(as_admin(&server, rotate)).await.unwrap_err();
    assert_eq!(v1::Error::from_status(&refused).unwrap().violations[0].field, "seat");

    bot.say(1, play_request::Kind::Resign(v1::Resign::default()));
    while !matches!(bot.next().await.unwrap().kind, Some(play_response::Kind::End(_))) {}
    let record = v1::GetRecordRequest { match_id: info.match_id };
    let record = client.get_record(record).await.unwrap().into_inner().record.unwrap();
    let played: Vec<&str> = record.seats.iter().map(|seat| seat.bot_name.as_str()).collect();
    assert_eq!(played, ["", "ann"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_revoked_token_ends_its_streams_at_once_and_opens_none() {
    let (_folder, server) = start().await;
    let (id, ann) = make_token(&server, "ann").await;
    let (_, other) = make_token(&server, "ann").await;
    let created = create(&server, spec_of(vec![bot_seat("ann"), bot_seat("ann")])).await.unwrap();
    let match_id = created.r#match.unwrap().match_id;
    let (mut bot, welcome) = Bot::open(&server, &ann).await;
    assert_eq!(welcome.live_seat_count, 2);
    bot.join(&(match_id.clone(), 0), None);
    assert!(matches!(bot.next().await.unwrap().kind, Some(play_response::Kind::Joined(_))));
    let revoke = v1::RevokeTokenRequest { token_id: id };
    TokenServiceClient::new(channel(&server).await).revoke_token(as_admin(&server, revoke)).await.unwrap();
    assert_eq!(bot.end().await.reason(), ErrorReason::Unauthenticated);
    let (_, sent) = mpsc::unbounded_channel::<v1::PlayRequest>();
    let request = as_bearer(&ann, UnboundedReceiverStream::new(sent).chain(tokio_stream::pending()));
    let refused = PlayServiceClient::new(channel(&server).await).play(request).await.unwrap_err();
    assert_eq!(v1::Error::from_status(&refused).unwrap().reason(), ErrorReason::Unauthenticated);

    // The bot's other token still plays its seats, and its author is told why the first stream was cut.
    let list = v1::ListFaultsRequest { match_id, ..Default::default() };
    let mut client = PlayServiceClient::new(channel(&server).await);
    let faults = client.list_faults(as_bearer(&other, list)).await.unwrap().into_inner().faults;
    let [v1::PlayerFault { seat: 0, kind: Some(v1::player_fault::Kind::Cut(cut)), .. }] = faults.as_slice()
    else {
        panic!("{faults:?}")
    };
    assert_eq!(cut.reason(), ErrorReason::Unauthenticated);
    let (_, welcome) = Bot::open(&server, &other).await;
    assert_eq!((welcome.live_seat_count, welcome.previous_cut), (2, None));
    server.shutdown().await;
}
