//! A match that can't go on, since the journal has not what it had acknowledged: it keeps its place until its owner or the admin
//! cancels it.

use std::sync::Arc;

use tonic::Status;
use zetema_proto::v1;
use zetema_proto::v1::{ErrorReason, MatchState, Preset};
use zetema_service::config::{Config, Number};
use zetema_service::server::Server;
use zetema_tests::harness::{Clients, Created, preset, soon};
use zetema_tests::twins::MemoryJournal;

async fn create(clients: &Clients) -> Result<Created, ErrorReason> {
    let r#match = Some(preset(Preset::Sackson, 2));
    let request = v1::CreateMatchRequest { request_id: String::new(), r#match };
    let created = soon("CreateMatch", clients.matches().create_match(request)).await;
    created.map(|answer| answer.into_inner().into()).map_err(|status| reason(&status))
}

async fn cancel(clients: &Clients, match_id: &str) -> Result<MatchState, ErrorReason> {
    let request = v1::CancelMatchRequest { match_id: match_id.to_owned() };
    let cancelled = soon("CancelMatch", clients.matches().cancel_match(request)).await;
    cancelled.map(|answer| answer.into_inner().r#match.unwrap().state()).map_err(|status| reason(&status))
}

async fn state(clients: &Clients, match_id: &str) -> Result<MatchState, ErrorReason> {
    let request = v1::GetMatchRequest { match_id: match_id.to_owned() };
    let got = soon("GetMatch", clients.matches().get_match(request)).await;
    got.map(|answer| answer.into_inner().r#match.unwrap().state()).map_err(|status| reason(&status))
}

fn reason(status: &Status) -> ErrorReason {
    v1::Error::from_status(status).unwrap().reason()
}

/// A match whose last record the journal has forgotten.
async fn halted(owner: &Clients, journal: &MemoryJournal) -> String {
    let created = create(owner).await.unwrap();
    let join = |seat: usize| {
        let request = v1::JoinSeatRequest {
            seat_token: created.tokens[seat].clone(),
            nonce_hash: Vec::new(),
            assigned: None,
        };
        let mut play = owner.play();
        async move { soon("JoinSeat", play.join_seat(request)).await }
    };
    join(0).await.unwrap();
    journal.forget_last(created.id().parse().unwrap());
    // What comes next finds that out.
    assert_eq!(reason(&join(1).await.unwrap_err()), ErrorReason::OutcomeUnknown);
    let mut look = tokio::time::interval(std::time::Duration::from_millis(5));
    let halts = async {
        while state(owner, created.id()).await != Err(ErrorReason::Internal) {
            look.tick().await;
        }
    };
    soon("the match to halt", halts).await;
    created.id().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_that_can_not_go_on_has_its_place_until_its_owner_or_the_admin_cancels_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = MemoryJournal::new();
    let config = Config::embedded(folder.path()).with(Number::MaxLiveMatchesPerOwner, 1).unwrap();
    let server = Server::start_on(config, Arc::new(journal.clone())).await.unwrap();
    let token = server.admin_token().unwrap().expose().to_owned();
    let admin = Clients::connect(server.local_addr(), &token).await;
    let (_, owner) = admin.owner_token("shop").await;
    let (_, other) = admin.owner_token("other").await;
    let (owner, other) = (admin.by(&owner), admin.by(&other));

    for by in [&owner, &admin] {
        let id = halted(&owner, &journal).await;
        assert_eq!(create(&owner).await.err(), Some(ErrorReason::LimitExceeded), "it has its place");
        assert_eq!(cancel(&other, &id).await, Err(ErrorReason::NotFound), "others know nothing of it");
        assert_eq!(cancel(by, &id).await, Ok(MatchState::Aborted));
        assert_eq!(cancel(by, &id).await, Ok(MatchState::Aborted), "and again");
        assert_eq!(state(&owner, &id).await, Ok(MatchState::Aborted));
        owner.verified_record(&id).await;
    }
    let last = create(&owner).await.unwrap();
    cancel(&owner, last.id()).await.unwrap();
    soon("the server to stop", server.shutdown()).await;
}
