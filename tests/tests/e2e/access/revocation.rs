//! What a void token leaves open: nothing.

use tonic::{Code, Status, Streaming};
use zetema_proto::v1;
use zetema_proto::v1::{ErrorReason, MatchState, Preset};
use zetema_tests::harness::{Clients, TestServer, preset, soon};

use super::{check_cut, check_unauthenticated};

async fn watch(clients: &Clients, match_id: &str) -> Result<Streaming<v1::WatchMatchResponse>, Status> {
    let request = v1::WatchMatchRequest { match_id: match_id.to_owned(), ..v1::WatchMatchRequest::default() };
    let mut stream = soon("WatchMatch", clients.matches().watch_match(request)).await?.into_inner();
    // Only when the start has come is the stream open for certain.
    soon("the start of WatchMatch", stream.message()).await?;
    Ok(stream)
}

async fn results(clients: &Clients) -> Streaming<v1::WatchResultsResponse> {
    let request = v1::WatchResultsRequest::default();
    soon("WatchResults", clients.matches().watch_results(request)).await.unwrap().into_inner()
}

async fn get(clients: &Clients, match_id: &str) -> Result<v1::Match, Status> {
    let request = v1::GetMatchRequest { match_id: match_id.to_owned() };
    let answer = soon("GetMatch", clients.matches().get_match(request)).await?;
    Ok(answer.into_inner().r#match.unwrap())
}

async fn cancel(clients: &Clients, match_id: &str) {
    let request = v1::CancelMatchRequest { match_id: match_id.to_owned() };
    soon("CancelMatch", clients.matches().cancel_match(request)).await.unwrap();
}

/// How a token becomes void.
#[derive(Clone, Copy, Debug)]
enum Void {
    Revoked,
    Replaced,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_revoked_or_replaced_cuts_the_streams_that_it_opened_and_no_others() {
    let (server, clients) = TestServer::start().await;
    for void in [Void::Revoked, Void::Replaced] {
        let (token, secret) = clients.owner_token("shop").await;
        let (_, kept_secret) = clients.owner_token("shop").await;
        let (admin, admin_secret) = clients.token(admin_scope()).await;
        let (shop, kept, other_admin) =
            (clients.by(&secret), clients.by(&kept_secret), clients.by(&admin_secret));
        let created = shop.create(preset(Preset::Sackson, 2)).await;

        let mut open = watch(&shop, created.id()).await.unwrap();
        let mut open_results = results(&shop).await;
        let mut open_admin = watch(&other_admin, created.id()).await.unwrap();
        let mut goes_on = watch(&kept, created.id()).await.unwrap();
        for token in [&token, &admin] {
            match void {
                Void::Revoked => drop(clients.revoke(token).await),
                Void::Replaced => {
                    let request = v1::CreateTokenRequest {
                        replaces_token_id: token.token_id.clone(),
                        ..v1::CreateTokenRequest::default()
                    };
                    let (new, new_secret) = clients.create_token(request).await;
                    assert_eq!(new.scope, token.scope);
                    get(&clients.by(&new_secret), created.id()).await.unwrap();
                }
            }
        }
        let what = format!("a stream of a token that is {void:?}");
        check_cut(&what, &mut open).await;
        check_cut(&what, &mut open_results).await;
        check_cut(&what, &mut open_admin).await;
        check_unauthenticated(&what, &get(&shop, created.id()).await.unwrap_err());
        check_unauthenticated(&what, &watch(&shop, created.id()).await.unwrap_err());

        cancel(&kept, created.id()).await;
        while soon("the other token's stream", goes_on.message()).await.unwrap().is_some() {}
        assert_eq!(get(&kept, created.id()).await.unwrap().state(), MatchState::Aborted);
    }
    server.stop().await;
}

fn admin_scope() -> v1::token_scope::Kind {
    v1::token_scope::Kind::Admin(v1::AdminScope {})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_token_that_is_rotated_cuts_what_it_opened() {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(preset(Preset::Sackson, 2)).await;
    let [rotated, kept] = [0, 1].map(|seat| clients.by(&created.tokens[seat]));
    let mut open = watch(&rotated, created.id()).await.unwrap();
    let mut goes_on = watch(&kept, created.id()).await.unwrap();
    let request =
        v1::RotateSeatTokenRequest { match_id: created.id().to_owned(), seat: 0, request_id: String::new() };
    let answer = soon("RotateSeatToken", clients.matches().rotate_seat_token(request)).await.unwrap();
    let new = clients.by(&answer.into_inner().seat_token.unwrap().token);
    check_cut("the stream of a seat's token that was rotated", &mut open).await;
    check_unauthenticated("a call by it", &get(&rotated, created.id()).await.unwrap_err());
    get(&new, created.id()).await.unwrap();

    cancel(&clients, created.id()).await;
    while soon("the other seat's stream", goes_on.message()).await.unwrap().is_some() {}
    // The match is over, and the old token is as void as before.
    check_unauthenticated("a call by it", &get(&rotated, created.id()).await.unwrap_err());
    get(&new, created.id()).await.unwrap();
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_and_their_revocation_outlive_a_restart() {
    let (server, clients) = TestServer::start().await;
    let (token, revoked) = clients.owner_token("shop").await;
    let (_, kept) = clients.owner_token("shop").await;
    let created = clients.by(&kept).create(preset(Preset::Sackson, 2)).await;
    let first = clients.revoke(&token).await;
    assert!(first.revoke_time.is_some());

    let (server, clients) = server.restart().await;
    check_unauthenticated("a revoked token", &get(&clients.by(&revoked), created.id()).await.unwrap_err());
    get(&clients.by(&kept), created.id()).await.unwrap();
    assert_eq!(clients.revoke(&token).await, first, "once revoked, the answer stays");
    let (_, another) = clients.owner_token("rival").await;
    let status = get(&clients.by(&another), created.id()).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);

    let unknown = v1::RevokeTokenRequest { token_id: created.id().to_owned() };
    let status = soon("RevokeToken", clients.tokens().revoke_token(unknown)).await.unwrap_err();
    let reason = v1::Error::from_status(&status).map(|error| error.reason());
    assert_eq!(reason, Some(ErrorReason::NotFound));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_listed_by_pages_and_filters() {
    let (server, clients) = TestServer::start().await;
    let mut made = Vec::new();
    for name in ["a", "b", "a", "c", "a"] {
        made.insert(0, clients.owner_token(name).await.0);
    }
    made.insert(0, clients.bot_token("a").await.0);
    let void = clients.revoke(&made[3]).await;
    made[3] = void;

    let kind = v1::token_scope::Kind::Owner(v1::OwnerScope { owner: "a".to_owned() });
    let scope = Some(v1::TokenScope { kind: Some(kind) });
    let listed = Some(v1::VoidTokens::Listed.into());
    let wanted = |indices: &[usize]| indices.iter().map(|&i| made[i].clone()).collect::<Vec<_>>();
    let cases = [
        (None, wanted(&[0, 1, 2, 4, 5])),
        (Some(v1::TokenFilter { scope: None, void_tokens: listed }), made.clone()),
        (Some(v1::TokenFilter { scope: scope.clone(), void_tokens: None }), wanted(&[1, 5])),
        (Some(v1::TokenFilter { scope, void_tokens: listed }), wanted(&[1, 3, 5])),
    ];
    for (filter, wanted) in cases {
        for page_size in [1, 2, 0] {
            let mut all = Vec::new();
            let mut page_token = String::new();
            loop {
                let request = v1::ListTokensRequest { filter: filter.clone(), page_size, page_token };
                let answer = soon("ListTokens", clients.tokens().list_tokens(request)).await.unwrap();
                let v1::ListTokensResponse { tokens, next_page_token } = answer.into_inner();
                assert!(page_size == 0 || tokens.len() <= page_size as usize);
                all.extend(tokens);
                page_token = next_page_token;
                if page_token.is_empty() {
                    break;
                }
            }
            assert_eq!(all, wanted, "{filter:?} by pages of {page_size}");
        }
    }
    server.stop().await;
}
