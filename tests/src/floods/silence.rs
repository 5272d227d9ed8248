//! Attackers who say little, or nothing.

use std::convert::Infallible;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::time::interval;

use super::frames::{PREFACE, settings};
use super::{Ending, Line, Reading, Tally, Target};

/// How often one that is slow says another byte.
const SLOWLY: Duration = Duration::from_millis(500);

/// The first bytes of a TLS `ClientHello` of 512 bytes.
const HELLO: [u8; 11] = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];

type Endless = Result<Infallible, Ending>;

/// Begins a TLS handshake, and says no more.
pub(super) async fn handshake(target: &Target) -> Endless {
    let stream = target.dial(Reading::All).await.map_err(|error| Ending::of(&error))?;
    say_once(stream, &HELLO).await
}

/// Says half of what an HTTP/2 client says first.
pub(super) async fn half_preface(target: &Target) -> Endless {
    once(target, &PREFACE[..PREFACE.len() / 2]).await
}

/// Says nothing, but for the TLS handshake if there is TLS.
pub(super) async fn nothing(target: &Target) -> Endless {
    once(target, b"").await
}

/// Says its headers byte by byte.
pub(super) async fn slow_headers(target: &Target) -> Endless {
    slowly(target, b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nx-slow: ").await
}

/// Says its body byte by byte.
pub(super) async fn slow_body(target: &Target) -> Endless {
    let head = b"POST /zetema.v1.RulesService/ListPresets HTTP/1.1\r\nhost: localhost\r\n\
        content-type: application/grpc-web+proto\r\ncontent-length: 10000\r\n\r\n\0\0\0\x27\x0b";
    slowly(target, head).await
}

/// Is answered once by HTTP/1, keeps the connection, and asks no more.
pub(super) async fn idle_http1(target: &Target) -> Endless {
    let Err(ending) = once(target, b"GET /nothing HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    // Its one answer is not why it ends.
    Err(if matches!(ending, Ending::Status(_)) { Ending::Closed } else { ending })
}

/// Answers HTTP/2's pings, and asks nothing.
pub(super) async fn idle_http2(target: &Target, tally: &Tally) -> Endless {
    Line::open(target, tally, Reading::All, &settings()).await?.rest().await
}

async fn once(target: &Target, said: &[u8]) -> Endless {
    let wire = target.connect(Reading::All).await.map_err(|error| Ending::of(&error))?;
    say_once(wire, said).await
}

async fn say_once(mut wire: impl AsyncRead + AsyncWrite + Unpin, said: &[u8]) -> Endless {
    let said = async {
        wire.write_all(said).await?;
        wire.flush().await
    };
    said.await.map_err(|error| Ending::of(&error))?;
    Err(end(wire).await)
}

async fn slowly(target: &Target, said: &[u8]) -> Endless {
    let wire = target.connect(Reading::All).await.map_err(|error| Ending::of(&error))?;
    let (read, mut write) = split(wire);
    let saying = async {
        write.write_all(said).await?;
        let mut beats = interval(SLOWLY);
        loop {
            beats.tick().await;
            write.write_all(b"x").await?;
            write.flush().await?;
        }
        #[expect(unreachable_code, reason = "it says what the error is")]
        Ok::<(), std::io::Error>(())
    };
    let mut reading = std::pin::pin!(end(read));
    tokio::select! {
        biased;
        ending = &mut reading => Err(ending),
        // What the server said before is told.
        _ = saying => Err(reading.await),
    }
}

/// Reads until the end. The first line of HTTP/1 tells why it was, if there is one.
async fn end(mut wire: impl AsyncRead + Unpin) -> Ending {
    let (mut first, mut buffer) = (Vec::new(), [0; 4096]);
    let ending = loop {
        match wire.read(&mut buffer).await {
            Ok(0) => break Ending::Closed,
            Ok(read) if first.len() < 64 => first.extend(&buffer[..read]),
            Ok(_) => {}
            Err(error) => break Ending::of(&error),
        }
    };
    let text = String::from_utf8_lossy(&first);
    match text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)) {
        Some(status) => Ending::Status(status.to_owned()),
        None => ending,
    }
}
