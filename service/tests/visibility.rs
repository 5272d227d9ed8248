//! Who finds a match, and by what it is called: everywhere that a match is shown.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::collections::BTreeSet;

use tonic::{Request, transport::Channel};
use zetema_proto::v1::{
    self, match_service_client::MatchServiceClient, token_service_client::TokenServiceClient,
    watch_results_response::Kind,
};
use zetema_service::server::Server;

use common::{as_admin, as_bearer, channel, spec, start};

/// A match that is there to be found.
struct Made {
    match_id: String,
    seat_token: String,
}

/// Who looks.
#[derive(Clone, Copy, Debug)]
enum Viewer<'a> {
    Admin,
    /// By the token of an owner or of a seat.
    Bearer(&'a str),
    Anyone,
}

struct Fixture {
    server: Server,
    client: MatchServiceClient<Channel>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    async fn new() -> Self {
        let (folder, server) = start().await;
        let client = MatchServiceClient::new(channel(&server).await);
        Self { server, client, _folder: folder }
    }

    fn ask<T>(&self, viewer: Viewer<'_>, message: T) -> Request<T> {
        match viewer {
            Viewer::Admin => as_admin(&self.server, message),
            Viewer::Bearer(token) => as_bearer(token, message),
            Viewer::Anyone => Request::new(message),
        }
    }

    /// The token of an owner with this name.
    async fn owner(&self, name: &str) -> String {
        let kind = Some(v1::token_scope::Kind::Owner(v1::OwnerScope { owner: name.to_owned() }));
        let scope = Some(v1::TokenScope { kind });
        let request = v1::CreateTokenRequest { scope, ..v1::CreateTokenRequest::default() };
        let mut tokens = TokenServiceClient::new(channel(&self.server).await);
        tokens.create_token(self.ask(Viewer::Admin, request)).await.unwrap().into_inner().secret
    }

    async fn make(&mut self, creator: Viewer<'_>, visibility: v1::Visibility, reference: &str) -> Made {
        let spec = v1::MatchSpec { client_reference: reference.to_owned(), ..spec(2, visibility) };
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
        let request = self.ask(creator, request);
        let v1::CreateMatchResponse { r#match, seat_tokens } =
            self.client.create_match(request).await.unwrap().into_inner();
        let seat_token = seat_tokens.into_iter().next().unwrap().token;
        Made { match_id: r#match.unwrap().match_id, seat_token }
    }

    async fn cancel(&mut self, made: &Made) {
        let request = self.ask(Viewer::Admin, v1::CancelMatchRequest { match_id: made.match_id.clone() });
        self.client.cancel_match(request).await.unwrap();
    }

    /// Whether the match alone is shown: by `GetMatch`, `WatchMatch` and, when it is over, `GetRecord`, which agree.
    async fn is_shown(&mut self, viewer: Viewer<'_>, made: &Made, is_over: bool) -> bool {
        let match_id = made.match_id.clone();
        let get = self.ask(viewer, v1::GetMatchRequest { match_id: match_id.clone() });
        let watch = v1::WatchMatchRequest { match_id: match_id.clone(), ..v1::WatchMatchRequest::default() };
        let watch = self.ask(viewer, watch);
        let record = self.ask(viewer, v1::GetRecordRequest { match_id });
        let shown = self.client.get_match(get).await.is_ok();
        assert_eq!(self.client.watch_match(watch).await.is_ok(), shown, "{viewer:?}");
        assert_eq!(self.client.get_record(record).await.is_ok(), shown && is_over, "{viewer:?}");
        shown
    }

    /// The matches that are listed, by this reference if one is given; the records' list agrees when they are over.
    async fn listed(
        &mut self,
        viewer: Viewer<'_>,
        reference: Option<&str>,
        is_over: bool,
    ) -> BTreeSet<String> {
        let filter = v1::MatchFilter { states: Vec::new(), client_reference: reference.map(str::to_owned) };
        let list =
            v1::ListMatchesRequest { filter: Some(filter.clone()), ..v1::ListMatchesRequest::default() };
        let list = self.ask(viewer, list);
        let matches = self.client.list_matches(list).await.unwrap().into_inner().matches;
        let listed: BTreeSet<String> = matches.into_iter().map(|found| found.match_id).collect();
        let list = v1::ListRecordsRequest { filter: Some(filter), ..v1::ListRecordsRequest::default() };
        let list = self.ask(viewer, list);
        let records = self.client.list_records(list).await.unwrap().into_inner().records;
        let records: BTreeSet<String> = records.into_iter().map(|record| record.match_id).collect();
        assert_eq!(
            records,
            if is_over { listed.clone() } else { BTreeSet::new() },
            "{viewer:?} {reference:?}"
        );
        listed
    }
}

#[tokio::test]
async fn a_match_is_shown_to_whom_it_may_be_shown_while_it_runs_and_afterwards() {
    let mut f = Fixture::new().await;
    let private = f.make(Viewer::Admin, v1::Visibility::Private, "mine").await;
    let public = f.make(Viewer::Admin, v1::Visibility::Public, "mine").await;
    let both = BTreeSet::from([private.match_id.clone(), public.match_id.clone()]);
    let one = BTreeSet::from([public.match_id.clone()]);
    let (of_private, of_public) = (private.seat_token.clone(), public.seat_token.clone());
    for is_over in [false, true] {
        // A viewer, whether it is shown the private match, and what is listed.
        for (viewer, sees_private, lists) in [
            (Viewer::Admin, true, &both),
            (Viewer::Bearer(&of_private), true, &both),
            (Viewer::Bearer(&of_public), false, &one),
            (Viewer::Anyone, false, &one),
        ] {
            assert!(f.is_shown(viewer, &public, is_over).await, "{viewer:?}");
            assert_eq!(f.is_shown(viewer, &private, is_over).await, sees_private, "{viewer:?}");
            for reference in [None, Some("mine")] {
                assert_eq!(f.listed(viewer, reference, is_over).await, *lists, "{viewer:?} {reference:?}");
            }
            assert_eq!(f.listed(viewer, Some("other"), is_over).await, BTreeSet::new(), "{viewer:?}");
        }
        for made in [&private, &public] {
            f.cancel(made).await;
        }
    }
    f.server.shutdown().await;
}

#[tokio::test]
async fn an_owners_private_match_is_shown_to_the_admin_that_owner_and_its_seats_and_to_nobody_else() {
    let mut f = Fixture::new().await;
    let (shop, rival) = (f.owner("shop").await, f.owner("rival").await);
    let of_shop = f.make(Viewer::Bearer(&shop), v1::Visibility::Private, "mine").await;
    let of_rival = f.make(Viewer::Bearer(&rival), v1::Visibility::Private, "mine").await;
    let of_nobody = f.make(Viewer::Admin, v1::Visibility::Private, "mine").await;
    let made = [&of_shop, &of_rival, &of_nobody];
    for is_over in [false, true] {
        // A viewer, and which of the three it is shown.
        for (viewer, sees) in [
            (Viewer::Admin, [true, true, true]),
            (Viewer::Bearer(&shop), [true, false, false]),
            (Viewer::Bearer(&rival), [false, true, false]),
            (Viewer::Bearer(&of_shop.seat_token), [true, false, false]),
            (Viewer::Bearer(&of_rival.seat_token), [false, true, false]),
            (Viewer::Bearer(&of_nobody.seat_token), [false, false, true]),
            (Viewer::Anyone, [false, false, false]),
        ] {
            let mut seen = BTreeSet::new();
            for (made, sees) in made.into_iter().zip(sees) {
                assert_eq!(f.is_shown(viewer, made, is_over).await, sees, "{viewer:?}");
                seen.extend(sees.then(|| made.match_id.clone()));
            }
            assert_eq!(f.listed(viewer, None, is_over).await, seen, "{viewer:?}");
        }
        for made in made {
            f.cancel(made).await;
        }
    }
    f.server.shutdown().await;
}

#[tokio::test]
async fn a_reference_comes_back_wherever_the_match_does() {
    let mut f = Fixture::new().await;
    let reference = "a".repeat(62) + "é";
    let made = f.make(Viewer::Admin, v1::Visibility::Private, &reference).await;
    let get = f.ask(Viewer::Admin, v1::GetMatchRequest { match_id: made.match_id.clone() });
    let found = f.client.get_match(get).await.unwrap().into_inner().r#match.unwrap();
    assert_eq!(found.client_reference, reference);
    f.cancel(&made).await;

    let get = f.ask(Viewer::Admin, v1::GetRecordRequest { match_id: made.match_id.clone() });
    let record = f.client.get_record(get).await.unwrap().into_inner().record.unwrap();
    assert_eq!(record.client_reference, reference);
    let list = f.ask(Viewer::Admin, v1::ListRecordsRequest::default());
    let records = f.client.list_records(list).await.unwrap().into_inner().records;
    assert_eq!(records[0].client_reference, reference);
    let filter = Some(v1::ResultFilter { client_reference: Some(reference.clone()) });
    let watch = f.ask(Viewer::Admin, v1::WatchResultsRequest { from: None, filter });
    let mut results = f.client.watch_results(watch).await.unwrap().into_inner();
    let Some(Kind::Ended(ended)) = results.message().await.unwrap().unwrap().kind else { panic!() };
    assert_eq!(ended.r#match.unwrap().client_reference, reference);
    drop(results);
    f.server.shutdown().await;
}
