//! Bots that don't play at all.

use std::time::Duration;

use tokio::time::sleep;
use zetema_proto::v1;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;

use super::line::{Place, join};
use super::{Felt, Line};

/// How long one waits that the server has thrown out.
const BACK_AFTER: Duration = Duration::from_millis(200);
/// A handle that stands for nothing.
const NO_HANDLE: u32 = 77;
/// Requests that one who floods sends before it looks at what came.
const AT_ONCE: usize = 32;
/// After so many ping intervals whoever answers none is cut.
const SILENT_INTERVALS: u32 = 4;

/// Connects, waits on the ladder, and is gone, over and over.
pub(super) async fn reconnect(place: Place, felt: Felt) {
    loop {
        match Line::open(&place).await {
            Ok(_line) => felt.note(|seen| seen.streams += 1),
            Err(status) => felt.refused(status.message()),
        }
        // Others of its thread have their turn.
        tokio::task::yield_now().await;
    }
}

/// Sends what stands for nothing, as fast as it can, and reads what it is told.
pub(super) async fn flood(place: Place, felt: Felt) {
    loop {
        match Line::open(&place).await {
            Ok(line) => flood_one(line, &felt).await,
            Err(status) => felt.refused(status.message()),
        }
        sleep(BACK_AFTER).await;
    }
}

async fn flood_one(mut line: Line, felt: &Felt) {
    let act = v1::Act { decision_number: 1, choice: Some(v1::act::Choice::LegalIndex(0)) };
    let garbage = [(NO_HANDLE, Ask::Act(act)), (0, Ask::Pong(v1::Pong { number: 9 }))];
    let requests = line.requests.clone();
    let sending = async {
        loop {
            for (handle, kind) in garbage.iter().cycle().take(AT_ONCE) {
                if requests.say(0, *handle, kind.clone()).await.is_err() {
                    return;
                }
                felt.note(|seen| seen.flooded += 1);
            }
        }
    };
    let reading = async {
        loop {
            match line.responses.message().await {
                Ok(Some(message)) => match message.kind {
                    Some(Answer::Welcome(welcome)) => felt.welcomed(&welcome),
                    Some(Answer::Rejection(error)) => felt.rejected(&error),
                    Some(Answer::LadderNotice(notice)) => felt.notice(&notice),
                    _ => {}
                },
                Ok(None) => return,
                Err(status) => return felt.refused(status.message()),
            }
        }
    };
    tokio::select! {
        () = sending => {}
        () = reading => {}
    }
}

/// Waits on the ladder and joins its first match, and from then on reads nothing, until the server must have cut it.
pub(super) async fn never_read(place: Place, felt: Felt) {
    loop {
        match Line::open(&place).await {
            Ok(mut line) => {
                if let Some(interval) = until_joined(&mut line, &felt).await {
                    sleep(interval * SILENT_INTERVALS).await;
                }
            }
            Err(status) => felt.refused(status.message()),
        }
        sleep(BACK_AFTER).await;
    }
}

/// Reads up to the snapshot of the first seat, and gives how often the server pings. `None`: the stream ended before.
async fn until_joined(line: &mut Line, felt: &Felt) -> Option<Duration> {
    let mut interval = Duration::ZERO;
    while let Ok(Some(message)) = line.responses.message().await {
        let mut asks = Vec::new();
        match message.kind {
            Some(Answer::Welcome(welcome)) => {
                felt.welcomed(&welcome);
                interval = Duration::from_millis(welcome.ping_interval_ms.into());
                asks.extend(welcome.live_seats.iter().map(|seat| join(seat, v1::Views::EveryDecision)));
            }
            Some(Answer::SeatAssigned(seat)) => asks.push(join(&seat, v1::Views::EveryDecision)),
            Some(Answer::Joined(_)) => return Some(interval),
            Some(Answer::Ping(v1::Ping { number })) => asks.push(Ask::Pong(v1::Pong { number })),
            Some(Answer::LadderNotice(notice)) => felt.notice(&notice),
            Some(Answer::Rejection(error)) => felt.rejected(&error),
            _ => {}
        }
        for ask in asks {
            line.requests.say(0, 0, ask).await.ok()?;
        }
    }
    None
}
