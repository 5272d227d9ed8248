//! Challenges: an owner's match against a bot of another, as far as that bot accepts it.

use std::num::NonZeroU16;

use tonic::{Request, Status};
use zetema_bots::House;
use zetema_proto::PROTOCOL_REVISION;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::{self, ChallengesFrom, ErrorReason, Preset};
use zetema_sdk::{Challenges, DealCheck, End, Session, Settings};
use zetema_tests::harness::{Clients, PlayStream, TestServer, preset, shared, soon, with_bot};

/// A match of the caller against a bot, which has seat 1.
fn against(bot: &str) -> v1::MatchSpec {
    with_bot(preset(Preset::Fosdick, 2), 1, bot)
}

async fn create(clients: &Clients, request_id: &str, bot: &str) -> Result<v1::CreateMatchResponse, Status> {
    let request = v1::CreateMatchRequest { request_id: request_id.to_owned(), r#match: Some(against(bot)) };
    Ok(soon("CreateMatch", clients.matches().create_match(request)).await?.into_inner())
}

async fn challenge(clients: &Clients, bot: &str) -> Result<v1::Match, Status> {
    Ok(create(clients, "", bot).await?.r#match.unwrap())
}

async fn cancel(clients: &Clients, created: v1::Match) {
    let request = v1::CancelMatchRequest { match_id: created.match_id };
    soon("CancelMatch", clients.matches().cancel_match(request)).await.unwrap();
}

/// What a refused challenge says: its message with the bot's name taken out, and its field.
fn refusal(bot: &str, refused: Result<v1::Match, Status>) -> (String, String) {
    let status = refused.expect_err("the bot takes no challenge");
    assert_eq!(status.code(), ErrorReason::ChallengeRefused.code());
    let error = v1::Error::from_status(&status).unwrap();
    assert_eq!(error.reason(), ErrorReason::ChallengeRefused);
    let [violation] = error.violations.as_slice() else { panic!("{error:?}") };
    (error.message.replace(&format!("`{bot}`"), "BOT"), violation.field.clone())
}

fn waits(from: ChallengesFrom, matches_at_once: u32) -> v1::Queues {
    let challenges = Some(v1::Challenges { from: from.into(), matches_at_once });
    v1::Queues { queues: Vec::new(), challenges }
}

/// A stream of a bot whose hello says this, and what it is answered.
async fn hello(
    clients: &Clients,
    token: &str,
    queues: v1::Queues,
    capacity: u32,
) -> (PlayStream, v1::PlayResponse) {
    let mut stream = PlayStream::open_silent_by(clients, token).await;
    let hello = v1::Hello {
        protocol_revision: PROTOCOL_REVISION,
        capacity: Some(capacity),
        queues: Some(queues),
        ..v1::Hello::default()
    };
    let tag = stream.send(0, Some(Ask::Hello(hello))).await;
    let welcome = stream.answer(tag).await.unwrap();
    assert!(matches!(welcome.kind, Some(Answer::Welcome(_))), "{welcome:?}");
    let answer = stream.answer(tag).await.unwrap();
    (stream, answer)
}

/// A stream of a bot that accepts so many challenges.
async fn accepting(clients: &Clients, token: &str, matches_at_once: u32) -> PlayStream {
    let (stream, answer) = hello(clients, token, waits(ChallengesFrom::Everyone, matches_at_once), 10).await;
    check_accepted(&answer);
    stream
}

fn check_accepted(answer: &v1::PlayResponse) {
    let Some(Answer::Acknowledgement(v1::Acknowledgement { kind: Some(kind) })) = &answer.kind else {
        panic!("{answer:?} is no acknowledgement")
    };
    assert!(matches!(kind, v1::acknowledgement::Kind::Queues(_)), "{kind:?}");
}

/// Waits until a bot's end of a stream is noticed: the challenge is refused then. It is not for its quota, as what was never dealt is no
/// part of it.
async fn refused_in_the_end(clients: &Clients, bot: &str) -> (String, String) {
    let in_the_end = async {
        loop {
            match challenge(clients, bot).await {
                Ok(created) => cancel(clients, created).await,
                refused => return refusal(bot, refused),
            }
        }
    };
    soon("the bot to be gone", in_the_end).await
}

/// A server with the bot `rex` of the owner `kennel`: the callers `kennel` and `shop`, and the bot's token.
async fn scene() -> (TestServer, Clients, [Clients; 2], String) {
    let (server, clients) = TestServer::start().await;
    let (_, kennel) = clients.owner_token("kennel").await;
    let (_, shop) = clients.owner_token("shop").await;
    let (_, rex) = clients.register_bot("rex", "kennel").await;
    let owners = [clients.by(&kennel), clients.by(&shop)];
    (server, clients, owners, rex)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_challenge_is_accepted_by_a_bot_that_says_so_and_refused_alike_by_all_others() {
    let (server, clients, [kennel, shop], rex) = scene().await;
    clients.bot_token("stray").await;
    let field = "match.seats[1].bot.name";
    // A bot that is not there, one that has a token alone, and a name of which nobody has heard.
    let mut refusals = Vec::new();
    for bot in ["rex", "stray", "nobody"] {
        refusals.push(refusal(bot, challenge(&shop, bot).await));
    }
    for queues in [v1::Queues::default(), waits(ChallengesFrom::Nobody, 0)] {
        let (stream, answer) = hello(&clients, &rex, queues, 10).await;
        check_accepted(&answer);
        refusals.push(refusal("rex", challenge(&shop, "rex").await));
        drop(stream);
    }
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "they can be told apart: {refusals:?}");
    assert_eq!(refusals[0].1, field);
    // Its own owner, and the admin, may all the same.
    for own in [&kennel, &clients] {
        cancel(own, challenge(own, "rex").await.unwrap()).await;
    }

    let mut stream = accepting(&clients, &rex, 1).await;
    let created = challenge(&shop, "rex").await.unwrap();
    let seat = loop {
        if let Some(Answer::SeatAssigned(seat)) = stream.next().await.unwrap().unwrap().kind
            && seat.match_id == created.match_id
        {
            break seat;
        }
    };
    assert_eq!((seat.seat, seat.ladder.as_str()), (1, ""), "it is rated on no ladder");
    // One at once is what the bot accepts; its own owner's matches are no challenge.
    assert_eq!(refusal("rex", challenge(&shop, "rex").await), refusals[0]);
    cancel(&kennel, challenge(&kennel, "rex").await.unwrap()).await;
    cancel(&shop, created).await;
    let again = challenge(&shop, "rex").await.unwrap();
    cancel(&shop, again).await;

    // What is said last counts, and with the stream's end it is over.
    check_accepted(&stream.ask(0, Ask::Queues(v1::Queues::default())).await.unwrap());
    assert_eq!(refusal("rex", challenge(&shop, "rex").await), refusals[0]);
    check_accepted(&stream.ask(0, Ask::Queues(waits(ChallengesFrom::Everyone, 0))).await.unwrap());
    cancel(&shop, challenge(&shop, "rex").await.unwrap()).await;
    drop(stream);
    assert_eq!(refused_in_the_end(&shop, "rex").await, refusals[0]);
    let _again = accepting(&clients, &rex, 1).await;
    challenge(&shop, "rex").await.expect("nothing but the stream was missing");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_again_is_answered_when_the_bot_has_gone_too() {
    let (server, clients, [_, shop], rex) = scene().await;
    let stream = accepting(&clients, &rex, 1).await;
    let created = create(&shop, "once", "rex").await.unwrap();
    assert_eq!(create(&shop, "once", "rex").await.unwrap(), created, "its match is the one that it accepts");
    drop(stream);
    cancel(&shop, created.r#match.clone().unwrap()).await;
    refused_in_the_end(&shop, "rex").await;
    let again = create(&shop, "once", "rex").await.unwrap();
    assert_eq!(again, created, "as it was created");
    let _again = accepting(&clients, &rex, 1).await;
    challenge(&shop, "rex").await.expect("nothing but the stream was missing");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_has_more_than_a_bot_accepts_is_refused_whole() {
    let (server, clients, [_, shop], rex) = scene().await;
    let _stream = accepting(&clients, &rex, 4).await;
    let batch = async |count| {
        let matches = vec![against("rex"); count];
        let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
        soon("BatchCreateMatches", shop.matches().batch_create_matches(request)).await
    };
    let status = batch(3).await.unwrap_err();
    let error = v1::Error::from_status(&status).unwrap();
    assert_eq!(
        (error.reason(), error.violations[0].field.as_str()),
        (ErrorReason::ChallengeRefused, "matches[0].seats[1].bot.name")
    );
    assert_eq!(batch(2).await.unwrap().into_inner().matches.len(), 2, "half of its places");
    let (_, mall) = clients.owner_token("mall").await;
    let mall = clients.by(&mall);
    let refused = refusal("rex", challenge(&shop, "rex").await);
    for _ in 0..2 {
        challenge(&mall, "rex").await.expect("one owner leaves places to the others");
    }
    let (_, bank) = clients.owner_token("bank").await;
    assert_eq!(refusal("rex", challenge(&clients.by(&bank), "rex").await), refused, "all are one answer");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bots_quota_bounds_its_challenges() {
    let (server, clients, [_, shop], rex) = scene().await;
    let request = v1::GetBotRequest { name: "rex".to_owned() };
    let bot = soon("GetBot", clients.bots().get_bot(request)).await.unwrap().into_inner().bot.unwrap();
    let most = bot.quota.unwrap().matches_at_once;
    let _stream = accepting(&clients, &rex, most + 5).await;
    let (_, mall) = clients.owner_token("mall").await;
    let half = most.div_ceil(2);
    for (owner, seats) in [(shop, half), (clients.by(&mall), most - half)] {
        for _ in 0..seats {
            challenge(&owner, "rex").await.unwrap();
        }
        refusal("rex", challenge(&owner, "rex").await);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_gives_a_bot_a_clock_and_does_not_keep_it_waiting() {
    use v1::NamedTimeControl as Named;
    let (server, clients, [kennel, shop], rex) = scene().await;
    let _stream = accepting(&clients, &rex, 2).await;
    let create = async |owner: &Clients, named: Named, join_timeout_ms| {
        let decisions = Some(v1::time_control::Decisions::Named(named.into()));
        let time_control = Some(v1::TimeControl { join_timeout_ms, decisions, ..v1::TimeControl::default() });
        let r#match = Some(v1::MatchSpec { time_control, ..against("rex") });
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match };
        soon("CreateMatch", owner.matches().create_match(request)).await
    };
    for (named, join_timeout_ms) in
        [(Named::None, None), (Named::Correspondence, None), (Named::Standard, Some(60_001))]
    {
        let status = create(&shop, named, join_timeout_ms).await.unwrap_err();
        let error = v1::Error::from_status(&status).unwrap();
        let field = match join_timeout_ms {
            Some(_) => "match.time_control.join_timeout_ms",
            None => "match.time_control",
        };
        assert_eq!(
            (error.reason(), error.violations[0].field.as_str()),
            (ErrorReason::InvalidField, field),
            "{named:?}"
        );
        let own = create(&kennel, named, join_timeout_ms).await.unwrap().into_inner();
        cancel(&kennel, own.r#match.unwrap()).await;
    }
    for (join_timeout_ms, expected) in [(None, 60_000), (Some(5_000), 5_000)] {
        let created = create(&shop, Named::Standard, join_timeout_ms).await.unwrap().into_inner();
        let created = created.r#match.unwrap();
        assert_eq!(created.time_control.as_ref().unwrap().join_timeout_ms, Some(expected));
        cancel(&shop, created).await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_lets_no_bot_wait_for_the_other_matches_of_a_deal_set() {
    let (server, clients, [kennel, shop], rex) = scene().await;
    let _stream = accepting(&clients, &rex, 2).await;
    let create = async |owner: &Clients| {
        let matches = vec![shared(preset(Preset::Fosdick, 2), 1), shared(against("rex"), 1)];
        let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
        soon("BatchCreateMatches", owner.matches().batch_create_matches(request)).await
    };
    let status = create(&shop).await.unwrap_err();
    let error = v1::Error::from_status(&status).unwrap();
    assert_eq!(
        (error.reason(), error.violations[0].field.as_str()),
        (ErrorReason::InvalidField, "matches[1].deals.shared")
    );
    create(&kennel).await.expect("its own owner may");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_keeps_places_for_ladders_and_for_challenges() {
    let (server, clients, _, rex) = scene().await;
    let ladder = v1::LadderQueue { ladder: "quick-2".to_owned(), matches_at_once: 2 };
    let both = |challenges| v1::Queues {
        queues: vec![ladder.clone()],
        ..waits(ChallengesFrom::Everyone, challenges)
    };
    let (mut stream, answer) = hello(&clients, &rex, both(2), 3).await;
    let Some(Answer::Rejection(error)) = answer.kind else { panic!("{answer:?}") };
    assert_eq!(error.violations[0].field, "hello.queues.challenges.matches_at_once");
    check_accepted(&stream.ask(0, Ask::Queues(both(1))).await.unwrap());
    for (challenges, field) in [
        (v1::Challenges { from: 0, matches_at_once: 1 }, "queues.challenges.from"),
        (v1::Challenges { from: 99, matches_at_once: 1 }, "queues.challenges.from"),
        (
            v1::Challenges { from: ChallengesFrom::Everyone.into(), matches_at_once: 1_001 },
            "queues.challenges.matches_at_once",
        ),
    ] {
        let queues = v1::Queues { queues: Vec::new(), challenges: Some(challenges) };
        let answer = stream.ask(0, Ask::Queues(queues)).await.unwrap();
        let Some(Answer::Rejection(error)) = answer.kind else { panic!("{answer:?}") };
        assert_eq!((error.reason(), error.violations[0].field.as_str()), (ErrorReason::InvalidField, field));
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_without_a_stream_accepts_challenges_by_calls() {
    let (server, clients, [_, shop], rex) = scene().await;
    let update = async |queues| {
        let mut request = Request::new(v1::UpdateQueuesRequest { queues });
        request.metadata_mut().insert("authorization", format!("Bearer {rex}").parse().unwrap());
        soon("UpdateQueues", clients.play().update_queues(request)).await.unwrap().into_inner()
    };
    update(Some(waits(ChallengesFrom::Everyone, 1))).await;
    let created = challenge(&shop, "rex").await.unwrap();
    let answer = update(None).await;
    let seats: Vec<&str> = answer.live_seats.iter().map(|seat| seat.match_id.as_str()).collect();
    assert_eq!(seats, [created.match_id.as_str()]);
    cancel(&shop, created).await;
    refusal("rex", challenge(&shop, "rex").await);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_accepts_challenges_plays_them_to_the_end() {
    let (server, clients, [_, shop], rex) = scene().await;
    let make = |info: &zetema_sdk::MatchInfo| House::Greedy.make(info, 1);
    let mut bot =
        Session::open_for_bot(&clients.url(), Settings::default(), rex.as_str().into(), make).unwrap();
    let one = Challenges::FromEveryone { matches_at_once: NonZeroU16::MIN };
    soon("the server to accept it", bot.challenges(one)).await.unwrap();
    let created = create(&shop, "", "rex").await.unwrap();
    let [token] = created.seat_tokens.as_slice() else { panic!("one token, of seat 0") };
    let mut user = Session::open(&clients.url(), Settings::default(), make).unwrap();
    user.play(token.token.as_str().into()).unwrap();
    for session in [&mut bot, &mut user] {
        let outcome = soon("an outcome", session.next()).await.unwrap();
        assert!(matches!(outcome.end, End::Result(_)) && outcome.deal == DealCheck::Verified, "{outcome}");
    }
    clients.verified_record(&created.r#match.unwrap().match_id).await;
    soon("the server to take it back", bot.challenges(Challenges::FromNobody)).await.unwrap();
    refusal("rex", challenge(&shop, "rex").await);
    server.stop().await;
}
