//! The house bots play over the SDK, many matches at once.

use zetema_bots::House;
use zetema_proto::v1::Preset;
use zetema_sdk::{DealCheck, End, Session, Settings};
use zetema_tests::harness::{TestServer, check_by_reference, preset, soon};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn house_bots_play_many_matches_at_once_and_find_every_deal_fair() {
    let (server, clients) = TestServer::start().await;
    let mut specs = Vec::new();
    for players in [2, 3, 4, 6] {
        specs.extend([Preset::Sackson, Preset::Victorian].map(|one| vec![preset(one, players); 2]).concat());
    }
    let created = clients.create_batch(specs).await;

    let choose = |info: &zetema_sdk::MatchInfo| {
        let house = if info.seat.index().is_multiple_of(2) { House::Greedy } else { House::Random };
        house.make(info, 1)
    };
    let mut session = Session::open(&clients.url(), Settings::default(), choose).unwrap();
    for token in created.iter().flat_map(|created| &created.tokens) {
        session.play(token.as_str().into()).unwrap();
    }
    while let Some(outcome) = soon("an outcome", session.next()).await {
        assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
        assert_eq!(outcome.deal, DealCheck::Verified, "{outcome}");
        assert_eq!(outcome.faults, [], "{outcome}");
    }
    for created in &created {
        check_by_reference(&clients.verified_record(created.id()).await);
    }
    drop(session);
    server.stop().await;
}
