//! How many matches a server has.

use anyhow::ensure;
use tonic::Request;
use tonic::transport::Channel;
use zetema_proto::v1;
use zetema_proto::v1::match_service_client::MatchServiceClient;

use super::creation::bearer;

/// Matches of an answer.
const PAGE: u32 = 1_000;

/// Makes sure that so many matches are played on a server, no more and no fewer.
///
/// # Errors
/// If they are not, or the server does not say.
pub(super) async fn plays(channel: &Channel, admin_token: &str, expected: usize) -> anyhow::Result<()> {
    let mut client = MatchServiceClient::new(channel.clone());
    let authorization = bearer(admin_token)?;
    let (mut playing, mut page_token) = (0, String::new());
    loop {
        let filter =
            v1::MatchFilter { states: vec![v1::MatchState::Playing.into()], ..v1::MatchFilter::default() };
        let asked = v1::ListMatchesRequest { filter: Some(filter), page_size: PAGE, page_token };
        let mut request = Request::new(asked);
        request.metadata_mut().insert("authorization", authorization.clone());
        let answer = client.list_matches(request).await?.into_inner();
        playing += answer.matches.len();
        page_token = answer.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    ensure!(playing == expected, "{playing} matches are played, and {expected} should be");
    Ok(())
}
