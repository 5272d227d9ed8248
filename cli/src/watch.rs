//! A match as a spectator follows it.

use anyhow::{Result, anyhow};
use tonic::Streaming;
use zetema_proto::v1::watch_match_response::Kind;
use zetema_proto::{Wire, seat_event_from_wire, v1, view_from_wire};
use zetema_rules::{Outcome, Rules, SeatEvent, View};

use crate::client::{Client, explain};
use crate::json::matches;

/// A match that is being watched.
pub(crate) struct Watching {
    stream: Streaming<v1::WatchMatchResponse>,
    rules: Rules,
}

/// Something that a spectator is told.
pub(crate) enum Seen {
    /// Where the match stands at the start; `None` before the first deal.
    Start(Option<Box<View>>),
    /// What happened next.
    Observation {
        /// Its number, from 1.
        seq: u64,
        /// The events of the game.
        events: Vec<SeatEvent>,
        /// The view after them, if the decision is another.
        view: Option<Box<View>>,
    },
    /// The match is over.
    End(Outcome),
}

impl Watching {
    /// Starts to watch a match.
    pub(crate) async fn start(client: &Client, match_id: &str) -> Result<(Self, Seen)> {
        let mut stream = client.watch_match(match_id, None).await?;
        let Some(Kind::Start(start)) = next(&mut stream).await? else {
            return Err(anyhow!("the server did not begin with the state of the match"));
        };
        let found = start.r#match.as_ref().ok_or_else(|| anyhow!("the server sent no match"))?;
        let rules = matches::rules(found)?;
        let view = match &start.kind {
            Some(v1::subscription_start::Kind::Snapshot(snapshot)) => snapshot.view.as_ref(),
            _ => None,
        };
        let view = view.map(|view| read_view(view, &rules)).transpose()?;
        Ok((Self { stream, rules }, Seen::Start(view)))
    }

    /// The rules of the match.
    pub(crate) const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What comes next; `None` after the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Seen>> {
        let mut kind = next(&mut self.stream).await?;
        // The match goes on, and if it is not over when the server stops, the status of the stream says so.
        while let Some(Kind::Draining(_)) = kind {
            kind = next(&mut self.stream).await?;
        }
        Ok(match kind {
            None | Some(Kind::Draining(_)) => None,
            Some(Kind::Start(_)) => return Err(anyhow!("the server began twice")),
            Some(Kind::Observation(observation)) => Some(self.observation(&observation)?),
            Some(Kind::End(end)) => {
                let outcome = end.outcome.as_ref().ok_or_else(|| anyhow!("the server sent no outcome"))?;
                Some(Seen::End(Outcome::from_wire(outcome)?))
            }
        })
    }

    fn observation(&self, message: &v1::Observation) -> Result<Seen> {
        let events = message.events.iter().filter_map(|event| seat_event_from_wire(event).transpose());
        Ok(Seen::Observation {
            seq: message.seq,
            events: events.collect::<Result<_, _>>()?,
            view: message.view.as_ref().map(|view| read_view(view, &self.rules)).transpose()?,
        })
    }
}

async fn next(stream: &mut Streaming<v1::WatchMatchResponse>) -> Result<Option<Kind>> {
    // A kind that this version does not know is passed over, as the protocol says.
    while let Some(message) = stream.message().await.map_err(|status| explain(&status))? {
        if message.kind.is_some() {
            return Ok(message.kind);
        }
    }
    Ok(None)
}

fn read_view(view: &v1::View, rules: &Rules) -> Result<Box<View>> {
    Ok(Box::new(view_from_wire(view, rules)?))
}
