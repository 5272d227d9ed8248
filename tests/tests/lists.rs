//! Every kind of list over more matches than a page has; `--bin lists` measures it over very many.
#![allow(clippy::unwrap_used, reason = "a failed expectation is the test's failure")]

use zetema_tests::lists::{Kind, Lists, to_version_5};

const MATCHES: u64 = 2_500;

#[tokio::test]
async fn a_page_has_what_is_wanted_wherever_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let lists = Lists::fill(folder.path(), MATCHES).await.unwrap();
    check(&lists).await;
    lists.close().await;
    // And in a journal of the release before, which is brought up to date.
    to_version_5(folder.path()).unwrap();
    let (lists, _) = Lists::open(folder.path(), MATCHES).await.unwrap();
    check(&lists).await;
    lists.close().await;
    assert!(
        to_version_5(folder.path()).is_ok() && to_version_5(folder.path()).is_err(),
        "it is one of version 6 once"
    );
}

async fn check(lists: &Lists) {
    for kind in Kind::all() {
        for from in kind.places(lists.matches) {
            let (page, _) = lists.page(kind, from).await.unwrap();
            assert_eq!(page, kind.page_from(from, lists.matches), "{kind:?} from {from}");
        }
    }
}
