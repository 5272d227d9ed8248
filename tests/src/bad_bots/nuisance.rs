//! Bots that don't play at all.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use zetema_proto::v1;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;

use super::line::{Gone, Place, join};
use super::{Felt, Line};

/// How long one waits that the server has thrown out.
const BACK_AFTER: Duration = Duration::from_millis(200);
/// A handle that stands for nothing.
const NO_HANDLE: u32 = 77;
/// How long one waits whose own machine has no port left.
const PORTS_AFTER: Duration = Duration::from_millis(20);
/// For so many ping intervals it is looked whether one who answers none is cut.
const LOOKED_AT_INTERVALS: u32 = 4;

/// Connects, waits on the ladder, and is gone, over and over.
pub(super) async fn reconnect(place: Place, felt: Felt) {
    loop {
        match Line::open(&place).await {
            Ok(_line) => felt.note(|seen| seen.streams += 1),
            Err(gone) => {
                felt.gone(gone);
                if gone == Gone::NoPort {
                    sleep(PORTS_AFTER).await;
                }
            }
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
            Err(gone) => felt.gone(gone),
        }
        sleep(BACK_AFTER).await;
    }
}

async fn flood_one(mut line: Line, felt: &Felt) {
    let act = v1::Act { decision_number: 1, choice: Some(v1::act::Choice::LegalIndex(0)) };
    let requests = line.requests.clone();
    let sending = async {
        for tag in 1.. {
            if requests.say(tag, NO_HANDLE, Ask::Act(act.clone())).await.is_err() {
                return;
            }
            felt.note(|seen| seen.flooded += 1);
        }
    };
    let reading = async {
        let mut answered = 0;
        loop {
            let message = match line.responses.message().await {
                Ok(Some(message)) => message,
                Ok(None) => return,
                Err(status) => return felt.gone(Gone::of(&status)),
            };
            match message.kind {
                Some(Answer::Welcome(welcome)) => felt.welcomed(&welcome),
                Some(Answer::SeatAssigned(_)) => felt.given(),
                Some(Answer::LadderNotice(notice)) => felt.notice(&notice),
                Some(Answer::Rejection(error)) => {
                    felt.rejected(&error);
                    if message.tag != Line::HELLO {
                        let is_next =
                            message.tag == answered + 1 && error.reason() == v1::ErrorReason::UnknownHandle;
                        felt.note(|seen| seen.out_of_turn += u64::from(!is_next));
                        answered = message.tag;
                    }
                }
                _ => {}
            }
        }
    };
    tokio::select! {
        () = sending => {}
        () = reading => {}
    }
}

/// Waits on the ladder and joins its first match, and from then on reads nothing, until the server has cut it.
pub(super) async fn never_read(place: Place, felt: Felt) {
    loop {
        match Line::open(&place).await {
            Ok(mut line) => {
                if let Some((interval, since)) = until_joined(&mut line, &felt).await {
                    let ended = timeout(interval * LOOKED_AT_INTERVALS, line.requests.ended()).await;
                    felt.note(|seen| match ended {
                        Ok(()) => seen.unread_for.push(since.elapsed().div_duration_f64(interval)),
                        Err(_) => seen.unread_and_open += 1,
                    });
                }
            }
            Err(gone) => felt.gone(gone),
        }
        sleep(BACK_AFTER).await;
    }
}

/// Reads up to the snapshot of the first seat, and gives how often the server pings, and when something was last said to it. `None`: the
/// stream ended before.
async fn until_joined(line: &mut Line, felt: &Felt) -> Option<(Duration, Instant)> {
    let (mut interval, mut said) = (Duration::ZERO, Instant::now());
    while let Ok(Some(message)) = line.responses.message().await {
        let mut asks = Vec::new();
        match message.kind {
            Some(Answer::Welcome(welcome)) => {
                felt.welcomed(&welcome);
                interval = Duration::from_millis(welcome.ping_interval_ms.into());
                asks.extend(welcome.live_seats.iter().map(|seat| join(seat, v1::Views::EveryDecision)));
            }
            Some(Answer::SeatAssigned(seat)) => asks.push(join(&seat, v1::Views::EveryDecision)),
            Some(Answer::Joined(_)) => return Some((interval, said)),
            Some(Answer::Ping(v1::Ping { number })) => asks.push(Ask::Pong(v1::Pong { number })),
            Some(Answer::LadderNotice(notice)) => felt.notice(&notice),
            Some(Answer::Rejection(error)) => felt.rejected(&error),
            _ => {}
        }
        for ask in asks {
            said = Instant::now();
            line.requests.say(0, 0, ask).await.ok()?;
        }
    }
    None
}
