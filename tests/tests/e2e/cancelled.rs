//! Calls that are cancelled while the server does what they ask: it is done wholly or not at all.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::timeout;
use zetema_proto::v1::{self, Preset};
use zetema_tests::harness::{Clients, TestServer, preset, soon};

const CALLS: u32 = 60;
const MATCHES_OF_A_CALL: usize = 20;

/// When each of the calls is cancelled: the first before the server has heard of it, the last when it is answered long since.
fn moments() -> impl Iterator<Item = (u32, Duration)> {
    (0..CALLS).map(|call| (call, Duration::from_micros(200) * call))
}

async fn live(clients: &Clients) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let mut request = v1::ListMatchesRequest { page_size: 1_000, ..v1::ListMatchesRequest::default() };
    loop {
        let page =
            soon("ListMatches", clients.matches().list_matches(request.clone())).await.unwrap().into_inner();
        ids.extend(page.matches.into_iter().map(|info| info.match_id));
        if page.next_page_token.is_empty() {
            return ids;
        }
        request.page_token = page.next_page_token;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn matches_of_a_call_that_is_cancelled_run_if_they_are_stored() {
    let (server, clients) = TestServer::start().await;
    let request = |call: u32| v1::BatchCreateMatchesRequest {
        request_id: format!("call-{call}"),
        matches: vec![preset(Preset::Sackson, 2); MATCHES_OF_A_CALL],
    };
    let mut cancelled = 0;
    for (call, moment) in moments() {
        let asked = timeout(moment, async { clients.matches().batch_create_matches(request(call)).await });
        cancelled += u32::from(asked.await.is_err());
    }
    assert!(cancelled > 0);
    // Whoever cancelled asks again, and is answered.
    let mut created = BTreeSet::new();
    for (call, _) in moments() {
        let answer = soon("BatchCreateMatches", clients.matches().batch_create_matches(request(call))).await;
        for one in answer.unwrap().into_inner().matches {
            created.insert(one.r#match.unwrap().match_id);
        }
    }
    assert_eq!(created.len(), CALLS as usize * MATCHES_OF_A_CALL);
    assert_eq!(live(&clients).await, created);
    let (server, clients) = server.restart().await;
    assert_eq!(live(&clients).await, created, "what is stored is what ran");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_call_that_changes_tokens_is_cancelled_the_next_one_finds_what_it_did() {
    let (server, clients) = TestServer::start().await;
    let owner = |call: u32| v1::CreateTokenRequest {
        scope: Some(v1::TokenScope {
            kind: Some(v1::token_scope::Kind::Owner(v1::OwnerScope { owner: format!("owner-{call}") })),
        }),
        ..v1::CreateTokenRequest::default()
    };
    let list = async |clients: &Clients| {
        let request = v1::ListTokensRequest { page_size: 1_000, ..v1::ListTokensRequest::default() };
        soon("ListTokens", clients.tokens().list_tokens(request)).await.unwrap().into_inner().tokens
    };
    let mut cancelled = 0;
    for (call, moment) in moments() {
        cancelled += u32::from(
            timeout(moment, async { clients.tokens().create_token(owner(call)).await }).await.is_err(),
        );
        soon("CreateToken", clients.tokens().create_token(owner(call))).await.unwrap();
    }
    assert!(cancelled > 0);
    let before = list(&clients).await;
    assert!(before.len() >= CALLS as usize, "{}", before.len());
    for ((_, moment), token) in moments().zip(&before) {
        let revoke = || v1::RevokeTokenRequest { token_id: token.token_id.clone() };
        let _ = timeout(moment, async { clients.tokens().revoke_token(revoke()).await }).await;
    }
    // What is still under way of these is stored before what is asked after them.
    for call in 0..CALLS {
        soon("CreateToken", clients.tokens().create_token(owner(CALLS + call))).await.unwrap();
    }
    let known = list(&clients).await;
    let (server, clients) = server.restart().await;
    assert_eq!(list(&clients).await, known, "what is stored is what held");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_call_that_makes_a_webhook_is_cancelled_the_next_one_makes_another() {
    let (server, clients) = TestServer::start_allowing("http://127.0.0.1:*").await;
    let mut cancelled = 0;
    for (_, moment) in moments() {
        let request = || v1::CreateWebhookRequest {
            url: "http://127.0.0.1:1/".to_owned(),
            ..v1::CreateWebhookRequest::default()
        };
        cancelled += u32::from(
            timeout(moment, async { clients.webhooks().create_webhook(request()).await }).await.is_err(),
        );
        soon("CreateWebhook", clients.webhooks().create_webhook(request())).await.unwrap();
        // There is room for few.
        let listed =
            soon("ListWebhooks", clients.webhooks().list_webhooks(v1::ListWebhooksRequest::default())).await;
        for webhook in listed.unwrap().into_inner().webhooks {
            let delete = v1::DeleteWebhookRequest { webhook_id: webhook.webhook_id };
            let deleted = soon("DeleteWebhook", clients.webhooks().delete_webhook(delete)).await;
            assert!(deleted.is_ok(), "{deleted:?}");
        }
    }
    assert!(cancelled > 0);
    server.stop().await;
}
