//! Whose results a webhook gets, and what is made of a request that comes again.

use std::path::Path;

use zetema_proto::v1::{self, ErrorReason};
use zetema_service::restore::restore;
use zetema_tests::harness::{Clients, TestServer, soon};

use super::receiver::{Heard, Manner, Receiver};
use super::{create, create_at, dead_letters, first, list, make_results, results};

async fn refused(clients: &Clients, request: v1::CreateWebhookRequest) -> v1::Error {
    let answer = soon("CreateWebhook", clients.webhooks().create_webhook(request)).await;
    v1::Error::from_status(&answer.unwrap_err()).unwrap()
}

async fn delete(clients: &Clients, webhook: &v1::Webhook) -> bool {
    let request = v1::DeleteWebhookRequest { webhook_id: webhook.webhook_id.clone() };
    soon("DeleteWebhook", clients.webhooks().delete_webhook(request)).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_gets_the_results_of_its_own_matches_and_sees_its_own_webhooks() {
    let (server, clients) = TestServer::start_allowing("http://127.0.0.1:*").await;
    let (shop, rival) = (clients.owner_token("shop").await.1, clients.owner_token("rival").await.1);
    let (shop, rival) = (clients.by(&shop), clients.by(&rival));
    let start = || Receiver::start(Manner::Takes);
    let (of_all, of_shop, of_rival) = (start().await, start().await, start().await);
    let (all, _) = create_at(&clients, of_all.url("/")).await;
    let (own, _) = create_at(&shop, of_shop.url("/")).await;
    // The admin may make one for an owner, which is the owner's then.
    let request =
        v1::CreateWebhookRequest { url: of_rival.url("/"), owner: "rival".to_owned(), ..Default::default() };
    let (given, _) = create(&clients, request.clone()).await;
    assert_eq!(given.owner, "rival");
    assert_eq!(refused(&shop, request).await.reason(), ErrorReason::InvalidField);

    let mut made = Vec::new();
    for clients in [&clients, &shop, &rival] {
        made.push(make_results(clients, 3).await);
    }
    of_all.hears("nine results", |heard| heard.len() == 9).await;
    for (receiver, matches) in [(&of_shop, &made[1]), (&of_rival, &made[2])] {
        receiver.hears("three results", |heard| heard.len() == 3).await;
        let heard = receiver.taken();
        let ids = heard
            .values()
            .map(|heard| heard.json()["data"]["match"]["match_id"].as_str().unwrap().to_owned());
        assert!(ids.eq(matches.iter().cloned()), "in order");
    }
    let ids = |webhooks: Vec<v1::Webhook>| {
        webhooks.into_iter().map(|webhook| webhook.webhook_id).collect::<Vec<_>>()
    };
    assert_eq!(ids(list(&clients).await), [&given, &own, &all].map(|webhook| webhook.webhook_id.clone()));
    assert_eq!(ids(list(&shop).await), [own.webhook_id.as_str()]);
    assert!(!delete(&shop, &given).await && !delete(&shop, &all).await);
    assert!(delete(&shop, &own).await && !delete(&shop, &own).await);
    assert!(delete(&clients, &given).await);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_again_gets_the_same_webhook_and_secret() {
    let (server, clients) = TestServer::start_allowing("http://127.0.0.1:*").await;
    let request = v1::CreateWebhookRequest {
        request_id: "one".to_owned(),
        url: "http://127.0.0.1:9/".to_owned(),
        ..Default::default()
    };
    let (made, secret) = create(&clients, request.clone()).await;
    assert_eq!(create(&clients, request.clone()).await, (made.clone(), secret));
    let other = v1::CreateWebhookRequest { url: "http://127.0.0.1:10/".to_owned(), ..request.clone() };
    assert_eq!(refused(&clients, other).await.reason(), ErrorReason::RequestIdReused);
    assert_eq!(list(&clients).await, std::slice::from_ref(&made));
    assert!(delete(&clients, &made).await);
    assert_eq!(refused(&clients, request.clone()).await.reason(), ErrorReason::NotFound);

    // There are so many for the same matches, and no more.
    let unnamed = v1::CreateWebhookRequest { request_id: String::new(), ..request };
    for _ in 0..10 {
        create(&clients, unnamed.clone()).await;
    }
    assert_eq!(refused(&clients, unnamed.clone()).await.reason(), ErrorReason::LimitExceeded);
    let (_, shop) = clients.owner_token("shop").await;
    create(&clients.by(&shop), unnamed).await;
    server.stop().await;
}

/// Results that were lost have their numbers given again. What tells a receiver of them apart is the id.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_goes_back_with_the_results_and_names_new_ones_anew() {
    let receiver = Receiver::start(Manner::Takes).await;
    let (server, clients) = TestServer::start_allowing("http://127.0.0.1:*").await;
    let request =
        v1::CreateWebhookRequest { url: receiver.url("/"), from: Some(first()), ..Default::default() };
    let (webhook, secret) = create(&clients, request).await;
    make_results(&clients, 2).await;
    receiver.hears("two results", |heard| heard.len() == 2).await;
    soon("what was taken to be stored", async {
        while list(&clients).await[0].settled_result_number < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup");
    let (data, to) = (server.data(), file.clone());
    tokio::task::spawn_blocking(move || zetema_service::journal::backup(&data, &to)).await.unwrap().unwrap();
    make_results(&clients, 2).await;
    receiver.hears("four results", |heard| heard.len() == 4).await;
    server.stop().await;

    let (server, clients) = restored(&file, "http://127.0.0.1:*").await;
    make_results(&clients, 2).await;
    receiver.hears("six results", |heard| heard.len() == 6).await;
    assert_eq!(list(&clients).await[0].webhook_id, webhook.webhook_id);
    assert!(dead_letters(&clients, &webhook).await.is_empty());
    let heard = receiver.heard();
    let numbers: Vec<u64> = heard.iter().map(Heard::result_number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 3, 4]);
    let ids: std::collections::BTreeSet<&str> = heard.iter().map(|heard| heard.id.as_str()).collect();
    assert_eq!(ids.len(), 6, "{ids:?}");
    for (ended, cursor) in results(&clients).await {
        let told = heard.iter().rfind(|heard| heard.result_number() == ended.result_number).unwrap();
        told.verify(&secret);
        // Those of the life before have the cursor that they had then.
        assert_eq!(told.json()["data"]["cursor"] == cursor, ended.result_number > 2);
    }
    server.stop().await;
}

async fn restored(file: &Path, webhook_allow: &str) -> (TestServer, Clients) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    restore(file, &data).await.unwrap();
    zetema_service::access::reset_admin_token(&data).await.unwrap();
    TestServer::start_allowing_in(folder, webhook_allow).await
}

/// The receiver that docs/embedding.md shows takes what is genuine, each result once, and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_receiver_of_the_documentation_takes_what_is_genuine_once() {
    use std::process::Command;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use zetema_tests::harness::Program;

    let (server, clients) = TestServer::start_allowing("http://127.0.0.1:*").await;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // It is not there yet: it has to know the secret first.
    let (_, secret) = create_at(&clients, format!("http://127.0.0.1:{port}/zetema")).await;
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let script = script.join("examples/webhook-python/receiver.py");
    let receiver = Program::start(
        Command::new("python3")
            .arg(script)
            .arg(port.to_string())
            .current_dir(folder.path())
            .env("ZETEMA_WEBHOOK_SECRET", &secret),
    );
    receiver.says("listening", 1).await;
    let made = make_results(&clients, 5).await;
    receiver.says("result 5: ", 1).await;
    for (id, number) in made.iter().zip(1..) {
        receiver.says(&format!("result {number}: match {id} cancelled\n"), 1).await;
    }
    // What somebody else sends is not taken.
    let forged = "POST /zetema HTTP/1.1\r\nhost: x\r\nwebhook-id: a\r\nwebhook-timestamp: 1\r\n\
                  webhook-signature: v1,AAAA\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(forged.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon("an answer", stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    receiver.kill();
    server.stop().await;
}
