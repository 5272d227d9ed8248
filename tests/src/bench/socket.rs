//! A connection of the clients, whose bytes are counted.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;

use super::meter::Meter;

/// What is read from it and what is written to it: all of HTTP/2, and nothing below.
struct Socket {
    stream: TcpStream,
    meter: Arc<Meter>,
}

/// A connection to a server, whose bytes this meter counts.
///
/// # Errors
/// What is in the way.
pub(super) async fn connect(server: SocketAddr, meter: &Arc<Meter>) -> anyhow::Result<Channel> {
    let meter = Arc::clone(meter);
    let connector = service_fn(move |_| {
        let meter = Arc::clone(&meter);
        async move {
            let stream = TcpStream::connect(server).await?;
            stream.set_nodelay(true)?;
            io::Result::Ok(TokioIo::new(Socket { stream, meter }))
        }
    });
    let endpoint = Endpoint::from_shared(format!("http://{server}"))?;
    Ok(endpoint.connect_with_connector(connector).await?)
}

impl Socket {
    fn stream(self: Pin<&mut Self>) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.get_mut().stream)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(self.as_mut().stream().poll_read(context, buffer))?;
        self.meter.crossed(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(self.as_mut().stream().poll_write(context, bytes))?;
        self.meter.crossed(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(self.as_mut().stream().poll_write_vectored(context, parts))?;
        self.meter.crossed(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed expectation is the test's failure")]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn every_byte_is_counted_once_whichever_way_it_goes() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut peer, _) = listener.accept().await.unwrap();
        let meter = Arc::new(Meter::default());
        let mut socket = Socket { stream, meter: Arc::clone(&meter) };
        socket.write_all(b"seven b").await.unwrap();
        assert_eq!(meter.counts().crossed_bytes, 7);
        let parts = [b"two".as_slice(), b"part"].map(IoSlice::new);
        assert_eq!(socket.write_vectored(&parts).await.unwrap(), 7);
        assert_eq!(meter.counts().crossed_bytes, 14);
        peer.write_all(b"eleven more").await.unwrap();
        socket.read_exact(&mut [0; 11]).await.unwrap();
        assert_eq!(meter.counts().crossed_bytes, 25);
    }
}
