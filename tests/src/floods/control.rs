//! Floods of frames that carry nothing.

use std::convert::Infallible;

use super::frames::{END_HEADERS, call, frame, header_block, kind, literal, settings, window_update};
use super::{Ending, Line, Reading, Request, Tally, Target};

/// Bytes that are sent at once.
const CHUNK: usize = 16 * 1024;

type Endless = Result<Infallible, Ending>;

/// Asks whether the server is there.
pub(super) async fn pings(target: &Target, tally: &Tally) -> Endless {
    flood(target, tally, &frame(kind::PING, 0, 0, &[7; 8])).await
}

/// Sends SETTINGS, each of which is to be acknowledged.
pub(super) async fn settings_frames(target: &Target, tally: &Tally) -> Endless {
    flood(target, tally, &settings()).await
}

/// Gives the connection room for one byte more.
pub(super) async fn window_updates(target: &Target, tally: &Tally) -> Endless {
    flood(target, tally, &window_update(0, 1)).await
}

/// Says which streams that are not there come first.
pub(super) async fn priorities(target: &Target, tally: &Tally) -> Endless {
    flood(target, tally, &frame(kind::PRIORITY, 0, 3, &[0, 0, 0, 1, 16])).await
}

/// Begins a request whose headers go on without end.
pub(super) async fn continuations(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    line.send(&frame(kind::HEADERS, 0, 1, &header_block(&Request::presets()))).await?;
    let mut more = Vec::new();
    for _ in 0..10 {
        literal(&mut more, "x-more", &"x".repeat(100));
    }
    line.flood(&frame(kind::CONTINUATION, 0, 1, &more)).await
}

/// The same with nothing in what goes on.
pub(super) async fn empty_continuations(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    line.send(&frame(kind::HEADERS, 0, 1, &header_block(&Request::presets()))).await?;
    line.flood(&many(&frame(kind::CONTINUATION, 0, 1, &[]))).await
}

/// Opens a Play stream, and sends DATA without data.
pub(super) async fn empty_data(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    line.send(&call(1, &Request::play())).await?;
    line.flood(&many(&frame(kind::DATA, 0, 1, &[]))).await
}

/// Opens a Play stream, and ends its headers with others, again and again.
pub(super) async fn trailers(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    line.send(&call(1, &Request::play())).await?;
    let mut block = Vec::new();
    literal(&mut block, "x-more", "x");
    line.flood(&many(&frame(kind::HEADERS, END_HEADERS, 1, &block))).await
}

async fn flood(target: &Target, tally: &Tally, frame: &[u8]) -> Endless {
    Line::open(target, tally, Reading::All, &settings()).await?.flood(&many(frame)).await
}

fn many(frame: &[u8]) -> Vec<u8> {
    frame.repeat(CHUNK / frame.len())
}
