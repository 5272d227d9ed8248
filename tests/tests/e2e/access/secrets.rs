//! A token's secret is in the answer that makes it, and nowhere else.

use std::path::Path;

use zetema_proto::v1;
use zetema_proto::v1::Preset;
use zetema_service::access::ADMIN_TOKEN_FILE;
use zetema_tests::harness::{Process, preset, soon};

use crate::secrecy::metrics;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_log_no_metric_and_no_file_shows_a_token() {
    let (process, clients) = Process::start().await;
    let (owner, owner_secret) = clients.owner_token("shop").await;
    let (_, bot_secret) = clients.bot_token("greedy").await;
    let (_, admin_secret) = clients.token(v1::token_scope::Kind::Admin(v1::AdminScope {})).await;
    let shop = clients.by(&owner_secret);
    let created = shop.create(preset(Preset::Sackson, 2)).await;
    let rotate = v1::RotateSeatTokenRequest {
        match_id: created.id().to_owned(),
        seat: 0,
        request_id: "rotation".to_owned(),
    };
    let rotated = soon("RotateSeatToken", shop.matches().rotate_seat_token(rotate)).await.unwrap();
    for token in [&bot_secret, &admin_secret, &created.tokens[0], &created.tokens[1]] {
        let get = v1::GetMatchRequest { match_id: created.id().to_owned() };
        // Refused or not, it was looked at.
        let _ = soon("GetMatch", clients.by(token).matches().get_match(get)).await;
    }
    clients.revoke(&owner).await;
    let list = v1::ListMatchesRequest::default();
    soon("ListMatches", shop.matches().list_matches(list)).await.unwrap_err();

    let mut secrets = vec![owner_secret, bot_secret, admin_secret];
    secrets.extend(created.tokens);
    secrets.push(rotated.into_inner().seat_token.unwrap().token);
    secrets.push(clients.admin_token().to_owned());
    let told = metrics(&clients).await;
    check("the metrics", told.as_bytes(), &secrets);
    let (folder, log) = process.kill();
    assert!(log.contains(&owner.token_id), "the log tells of tokens by their ids:\n{log}");
    check("the log", log.as_bytes(), &secrets);
    let files = check_files(&folder.path().join("data"), &secrets);
    assert!(files >= 2, "the journal's files were looked at");
}

/// Every file of a folder and its folders but the one that is there to hold the admin token. The answer is how many there are.
fn check_files(folder: &Path, secrets: &[String]) -> usize {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += check_files(&path, secrets);
        } else if path.file_name().is_some_and(|name| name != ADMIN_TOKEN_FILE) {
            check(&path.display().to_string(), &std::fs::read(&path).unwrap(), secrets);
            files += 1;
        }
    }
    files
}

fn check(what: &str, bytes: &[u8], secrets: &[String]) {
    for secret in secrets {
        // Without the prefix, and without the id in front, it would be as good as whole.
        let part = &secret.as_bytes()[secret.len() - 24..];
        assert!(!bytes.windows(part.len()).any(|window| window == part), "{what} has a token");
    }
}
