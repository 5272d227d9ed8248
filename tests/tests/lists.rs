//! Every kind of list over more matches than a page has; `--bin lists` measures it over very many.
#![allow(clippy::unwrap_used, reason = "a failed expectation is the test's failure")]

use zetema_tests::lists::{Kind, Lists};

#[tokio::test]
async fn a_page_has_what_is_wanted_wherever_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let lists = Lists::fill(folder.path(), 2_500).await.unwrap();
    for kind in Kind::all() {
        for from in kind.places(lists.matches) {
            let (page, _) = lists.page(kind, from).await.unwrap();
            assert_eq!(page, kind.page_from(from, lists.matches), "{kind:?} from {from}");
        }
    }
    lists.close().await;
}
