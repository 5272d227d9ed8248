//! What every adapter calls: the matches, the keys, and when to stop.

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use tokio::time::Instant;
use tonic::metadata::MetadataMap;
use tracing::Instrument;
use zetema_rules::Seat;

use super::{drain::Drain, fault::Fault};
use crate::{
    access::Access,
    admission::{DiskRoom, Pressure, Share, Turn, Work},
    bots::Bots,
    journal::MatchId,
    ladders::Ladders,
    matches::Matches,
    table::{Arrival, Command, Done, Rejection},
    traces::{self, Trace},
};

/// What the adapters share.
pub(crate) struct Backend {
    pub(crate) access: Arc<Access>,
    pub(crate) bots: Bots,
    pub(crate) matches: Matches,
    pub(crate) ping_interval: Duration,
    /// How long a Play stream's hello may take.
    pub(crate) request_timeout: Duration,
    /// Bytes of one request message.
    pub(crate) max_request_bytes: usize,
    /// Observations that wait for a reader before it is cut.
    pub(crate) queued_observations: usize,
    pub(crate) ladders: Ladders,
    pub(crate) drain: Drain,
    pub(crate) pressure: Arc<Pressure>,
    pub(crate) disk_room: Arc<DiskRoom>,
}

/// What is asked of a table, as it is counted, traced and logged.
pub(super) struct Commanded {
    pub(super) match_id: MatchId,
    seat: Option<Seat>,
    begun: Instant,
    pub(super) trace: Trace,
}

impl Commanded {
    /// What came in then by this RPC, in a call with this metadata.
    pub(super) fn new(
        rpc: &'static str,
        metadata: Option<&MetadataMap>,
        match_id: MatchId,
        command: &Command,
        begun: Instant,
    ) -> Self {
        let trace = traces::of_command(rpc, metadata, match_id, command);
        Self { match_id, seat: command.seat(), begun, trace }
    }

    /// The table has answered.
    pub(super) fn answered(
        self,
        matches: &Matches,
        answered: Result<Done, Rejection>,
    ) -> Result<Done, Fault> {
        let Self { match_id, seat, begun, trace } = self;
        let seat = seat.map(tracing::field::display);
        match answered {
            Ok(done) => {
                if let Done::Acted(receipt) = done {
                    let measures = matches.measures();
                    measures.actions.increment(1);
                    measures.action_seconds.record(begun.elapsed().as_secs_f64());
                    tracing::debug!(%match_id, seat, decision = receipt.decision, seq = receipt.seq, "acted");
                }
                Ok(done)
            }
            Err(rejection) => {
                if let Some(span) = trace.span() {
                    span.record("rejection", rejection.kind());
                }
                tracing::debug!(%match_id, seat, reason = rejection.kind(), "refused");
                Err(rejection.into())
            }
        }
    }
}

impl Backend {
    /// A turn to ask a match that is over and is replayed for it; `None` if it runs, and waits for nobody. One that ends a moment
    /// later is replayed out of turn, which can happen once to each.
    pub(super) async fn turn(&self, share: Option<&Share>, match_id: MatchId) -> Result<Option<Turn>, Fault> {
        match share {
            Some(share) if !self.matches.runs(match_id) => Ok(Some(share.replay().await?)),
            _ => Ok(None),
        }
    }

    /// Asks a table what has just come in by a unary call of this RPC, with this metadata.
    pub(super) fn command<'a>(
        &'a self,
        rpc: &'static str,
        share: Option<&'a Share>,
        metadata: &MetadataMap,
        match_id: MatchId,
        command: Command,
    ) -> impl Future<Output = Result<Done, Fault>> + Send + use<'a> {
        let now = Instant::now();
        let arrival = self.matches.arrival_at(now, None);
        let asked = Commanded::new(rpc, Some(metadata), match_id, &command, now);
        self.commanded(share, asked, command, arrival)
    }

    /// Asks a table what is to be asked. Neither is an `async fn`, whose future has room for what it was given twice.
    pub(super) fn commanded<'a>(
        &'a self,
        share: Option<&'a Share>,
        asked: Commanded,
        command: Command,
        arrival: Arrival,
    ) -> impl Future<Output = Result<Done, Fault>> + Send + use<'a> {
        let match_id = asked.match_id;
        async move {
            let answered = async {
                if let Some(done) = self.matches.command_running(match_id, &command, arrival).await {
                    return Ok(done);
                }
                let command = command.clone();
                // Boxed, as what seldom happens would make the future of every action as large.
                let over = async move {
                    let _turn = self.turn(share, match_id).await?;
                    Ok::<_, Fault>(self.matches.command(match_id, command, arrival).await)
                };
                over.boxed().await
            };
            let answered = answered.instrument(asked.trace.to_span()).await?;
            asked.answered(&self.matches, answered)
        }
    }

    /// Whether there is time for a join. Refused is only who begins: a seat that has joined is let in again whatever comes, as is
    /// every seat of a match that is under way, and who would miss its match if it had to wait any longer.
    pub(super) fn check_join(&self, match_id: MatchId, seat: Seat) -> Result<(), Fault> {
        match self.pressure.check(Work::Join) {
            Err(overloaded) if self.matches.can_wait_for(match_id, seat) => Err(overloaded.into()),
            _ => Ok(()),
        }
    }
}
