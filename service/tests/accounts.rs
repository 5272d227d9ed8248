//! Accounts over the wire: what is left of their matches to others, and to those who ask again.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use tonic::{Status, transport::Channel};
use zetema_proto::v1::{
    self, ErrorReason, bot_service_client::BotServiceClient, match_service_client::MatchServiceClient,
    play_service_client::PlayServiceClient, seat_spec, token_scope, token_service_client::TokenServiceClient,
};
use zetema_service::{
    config::{Config, OpenRegistration},
    server::Server,
};

use common::{as_admin, as_bearer, channel, spec, start};

fn reason<T>(answer: Result<T, Status>) -> ErrorReason {
    v1::Error::from_status(&answer.map(drop).unwrap_err()).unwrap().reason()
}

async fn token(server: &Server, kind: token_scope::Kind) -> String {
    let scope = Some(v1::TokenScope { kind: Some(kind) });
    let request = v1::CreateTokenRequest { scope, ..Default::default() };
    let mut client = TokenServiceClient::new(channel(server).await);
    client.create_token(as_admin(server, request)).await.unwrap().into_inner().secret
}

fn of_owner(owner: &str) -> token_scope::Kind {
    token_scope::Kind::Owner(v1::OwnerScope { owner: owner.to_owned() })
}

/// A match with a seat for this bot.
fn with_seat_for(bot: &str) -> v1::MatchSpec {
    let mut spec = spec(2, v1::Visibility::Public);
    spec.seats[1].kind = Some(seat_spec::Kind::Bot(v1::BotSeat { name: bot.to_owned() }));
    spec
}

/// What is asked for twice: one match, or some.
#[derive(Clone, Copy, Debug)]
enum Creation {
    One,
    Batch,
}

impl Creation {
    /// The matches and their seats' tokens, as they are answered.
    async fn ask(
        self,
        client: &mut MatchServiceClient<Channel>,
        token: &str,
        request_id: &str,
    ) -> Result<Vec<(Option<v1::Match>, Vec<v1::SeatToken>)>, Status> {
        let (request_id, spec) = (request_id.to_owned(), with_seat_for("rex"));
        match self {
            Self::One => {
                let request = v1::CreateMatchRequest { request_id, r#match: Some(spec) };
                let v1::CreateMatchResponse { r#match, seat_tokens } =
                    client.create_match(as_bearer(token, request)).await?.into_inner();
                Ok(vec![(r#match, seat_tokens)])
            }
            Self::Batch => {
                let request = v1::BatchCreateMatchesRequest { request_id, matches: vec![spec; 2] };
                let created = client.batch_create_matches(as_bearer(token, request)).await?.into_inner();
                Ok(created.matches.into_iter().map(|one| (one.r#match, one.seat_tokens)).collect())
            }
        }
    }
}

#[tokio::test]
async fn a_creation_that_comes_again_is_answered_also_when_its_bot_has_retired() {
    for creation in [Creation::One, Creation::Batch] {
        let (_folder, server) = start().await;
        let owner = token(&server, of_owner("kennel")).await;
        let channel = channel(&server).await;
        let mut bots = BotServiceClient::new(channel.clone());
        let mut matches = MatchServiceClient::new(channel);
        let register = v1::RegisterBotRequest { name: "rex".to_owned(), ..Default::default() };
        bots.register_bot(as_bearer(&owner, register)).await.unwrap();
        let created = creation.ask(&mut matches, &owner, "one").await.unwrap();
        let retire = v1::RetireBotRequest { name: "rex".to_owned() };
        bots.retire_bot(as_bearer(&owner, retire)).await.unwrap();

        assert_eq!(creation.ask(&mut matches, &owner, "one").await.unwrap(), created, "{creation:?}");
        for new in ["", "another"] {
            let refused = reason(creation.ask(&mut matches, &owner, new).await);
            assert_eq!(refused, ErrorReason::InvalidField, "{creation:?}");
        }
        server.shutdown().await;
    }
}

/// Of names whose tokens nobody knows any more, a match that runs tells that they are somebody's.
#[tokio::test]
async fn a_match_that_runs_keeps_the_names_of_its_bot_and_its_owner() {
    let (folder, server) = start().await;
    let rex = token(&server, token_scope::Kind::Bot(v1::BotScope { bot: "rex".to_owned() })).await;
    let shop = token(&server, of_owner("shop")).await;
    let mut matches = MatchServiceClient::new(channel(&server).await);
    let challenges = v1::Challenges { from: v1::ChallengesFrom::Everyone.into(), matches_at_once: 1 };
    let queues = v1::Queues { queues: Vec::new(), challenges: Some(challenges) };
    let accepts = as_bearer(&rex, v1::UpdateQueuesRequest { queues: Some(queues) });
    PlayServiceClient::new(channel(&server).await).update_queues(accepts).await.unwrap();
    Creation::One.ask(&mut matches, &shop, "").await.unwrap();
    server.shutdown().await;
    let database = rusqlite::Connection::open(folder.path().join("data/journal.sqlite3")).unwrap();
    assert_eq!(database.execute("DELETE FROM tokens", []).unwrap(), 2);
    drop(database);

    let config = Config::embedded(folder.path().join("data"));
    let config = Config { open_registration: OpenRegistration::On, ..config };
    let server = Server::start(config).await.unwrap();
    let mut bots = BotServiceClient::new(channel(&server).await);
    let register = |name: &str| v1::RegisterBotRequest { name: name.to_owned(), ..Default::default() };
    let other = token(&server, of_owner("kennel")).await;
    let taken = bots.register_bot(as_bearer(&other, register("rex"))).await;
    assert_eq!(reason(taken), ErrorReason::NameTaken);
    bots.register_bot(as_bearer(&other, register("fido"))).await.unwrap();
    for (owner, taken) in [("shop", true), ("stable", false)] {
        let answer = bots.register_owner(v1::RegisterOwnerRequest { owner: owner.to_owned() }).await;
        assert_eq!(answer.is_err(), taken, "{owner}");
        if taken {
            assert_eq!(reason(answer), ErrorReason::NameTaken);
        }
    }
    let own = v1::RegisterBotRequest { owner: "kennel".to_owned(), ..register("rex") };
    bots.register_bot(as_admin(&server, own)).await.unwrap();
    server.shutdown().await;
}
