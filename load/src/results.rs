//! Follows the results of the matches of a run.

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;
use tonic::Status;
use zetema_proto::v1;
use zetema_proto::v1::watch_results_request::From;
use zetema_proto::v1::watch_results_response::Kind;

use crate::backoff::Backoff;
use crate::outcome::{Failure, Recorder};
use crate::target::Matches;

/// A result as the stream of results has it.
#[derive(Clone, Debug)]
pub(crate) struct MatchResult {
    /// Its number.
    pub(crate) number: u64,
    /// The match.
    pub(crate) match_id: String,
    /// How it ended.
    pub(crate) outcome: v1::Outcome,
    /// The ladder that rates it. Empty: none.
    pub(crate) ladder: String,
    /// The seats that bots had.
    pub(crate) seats: Vec<v1::MatchSeat>,
}

/// Follows the results of all matches with a reference, or of all that there are, from now on.
pub(crate) struct Watch {
    matches: Matches,
    reference: Option<String>,
    from: From,
    stream: tonic::Streaming<v1::WatchResultsResponse>,
}

impl Watch {
    /// Begins to follow them: results of matches that are created afterwards are told. Without a reference it is all of the server's.
    ///
    /// # Errors
    /// If the server refuses it.
    pub(crate) async fn open(mut matches: Matches, reference: Option<String>) -> Result<Self, Status> {
        let from = From::Now(v1::FromNow {});
        let mut stream = open(&mut matches, reference.as_ref(), &from).await?;
        // The first message has the cursor of what comes.
        let from = match stream.message().await? {
            Some(first) => From::After(first.cursor),
            None => return Err(Status::unavailable("the stream of results ended before it began")),
        };
        Ok(Self { matches, reference, from, stream })
    }

    /// Tells them until nobody hears.
    pub(crate) async fn run(mut self, recorder: Recorder, told: UnboundedSender<MatchResult>) {
        let mut backoff = Backoff::default();
        loop {
            let status = match self.stream.message().await {
                Ok(Some(v1::WatchResultsResponse { cursor, kind })) => {
                    self.from = From::After(cursor);
                    backoff = Backoff::default();
                    if let Some(Kind::Ended(ended)) = kind
                        && told.send(result(ended)).is_err()
                    {
                        return;
                    }
                    continue;
                }
                Ok(None) => Status::unavailable("the server ended the stream of results"),
                Err(status) => status,
            };
            recorder.failed(Failure::of(&status), status.message());
            loop {
                sleep(backoff.next()).await;
                match open(&mut self.matches, self.reference.as_ref(), &self.from).await {
                    Ok(stream) => {
                        self.stream = stream;
                        break;
                    }
                    Err(status) => recorder.failed(Failure::of(&status), status.message()),
                }
            }
        }
    }
}

async fn open(
    matches: &mut Matches,
    reference: Option<&String>,
    from: &From,
) -> Result<tonic::Streaming<v1::WatchResultsResponse>, Status> {
    let filter = v1::ResultFilter { client_reference: reference.cloned() };
    let request = v1::WatchResultsRequest { filter: Some(filter), from: Some(from.clone()) };
    Ok(matches.watch_results(request).await?.into_inner())
}

fn result(ended: v1::EndedMatch) -> MatchResult {
    let v1::Match { match_id, outcome, ladder, seats, .. } = ended.r#match.unwrap_or_default();
    let seats = seats.into_iter().filter(|seat| !seat.bot_name.is_empty()).collect();
    MatchResult { number: ended.result_number, match_id, outcome: outcome.unwrap_or_default(), ladder, seats }
}
