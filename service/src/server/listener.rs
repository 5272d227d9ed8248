//! Where connections come in.

use std::{fs::File, io, net::SocketAddr, time::Duration};

use futures::FutureExt;
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::sleep,
};

use crate::{
    config::{Number, Numbers},
    limits,
    metrics::{Refused, refused},
    seldom::Seldom,
};

/// A listener that can always accept: when the system has no file descriptor left it gives one of its own away, so that a
/// client is told by a closed connection, and not left waiting.
pub(super) struct Listener {
    socket: TcpListener,
    reserve: Option<File>,
    /// How long what is sent may wait until the peer's system has it.
    unacknowledged: Duration,
    cant_accept: Seldom,
}

impl Listener {
    /// Listens. What the system buffers of each connection is bounded, as it is no part of what the process counts.
    pub(super) fn bind(address: SocketAddr, numbers: &Numbers) -> io::Result<Self> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.set_send_buffer_size(limits::SOCKET_BUFFER_BYTES)?;
        socket.set_recv_buffer_size(limits::SOCKET_BUFFER_BYTES)?;
        socket.bind(address)?;
        Ok(Self {
            socket: socket.listen(limits::LISTEN_BACKLOG)?,
            reserve: reserve(),
            unacknowledged: numbers.millis(Number::WriteStallTimeoutMs).max(limits::TCP_UNACKNOWLEDGED),
            cant_accept: Seldom::new(),
        })
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The next connection. What the system refuses, such as for want of file descriptors, is tried again.
    pub(super) async fn next(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.socket.accept().await {
                Ok((stream, address)) => {
                    // An action is one small packet, which must not wait for more.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "TCP_NODELAY is not to be had");
                    }
                    if let Err(error) = keep_alive(&stream, self.unacknowledged) {
                        tracing::debug!(%error, "the keepalive of TCP is not to be had");
                    }
                    return (stream, address);
                }
                // The client has gone while it waited.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    if let Some(times) = self.cant_accept.times() {
                        tracing::warn!(%error, times, "a connection can't be accepted");
                    }
                    if !self.shed() {
                        sleep(limits::ACCEPT_RETRY_PAUSE).await;
                    }
                }
            }
        }
    }

    /// Closes connections that wait, as long as that takes no descriptor but the one that is given away. Whether there
    /// was one.
    fn shed(&mut self) -> bool {
        if self.reserve.take().is_none() {
            self.reserve = reserve();
            return false;
        }
        let mut shed = false;
        while let Some(Ok((stream, _))) = self.socket.accept().now_or_never() {
            drop(stream);
            refused(Refused::Descriptors);
            shed = true;
        }
        self.reserve = reserve();
        shed
    }
}

/// Has the system notice a peer that is gone: over HTTP/1 nothing else asks whether it is there.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
fn keep_alive(stream: &TcpStream, unacknowledged: Duration) -> io::Result<()> {
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(
        &TcpKeepalive::new()
            .with_time(limits::TCP_KEEPALIVE_AFTER)
            .with_interval(limits::TCP_KEEPALIVE_INTERVAL)
            .with_retries(limits::TCP_KEEPALIVE_PROBES),
    )?;
    // What is sent and not acknowledged would be sent again for a quarter of an hour, and meanwhile nothing is asked.
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(unacknowledged))?;
    Ok(())
}

fn reserve() -> Option<File> {
    File::open(if cfg!(windows) { "NUL" } else { "/dev/null" }).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_asks_whether_a_peer_is_still_there() {
        let mut listener = Listener::bind(([127, 0, 0, 1], 0).into(), &Numbers::default()).unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.next().await;
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        #[cfg(target_os = "linux")]
        {
            assert_eq!(socket.tcp_keepalive_time().unwrap(), limits::TCP_KEEPALIVE_AFTER);
            assert_eq!(socket.tcp_keepalive_interval().unwrap(), limits::TCP_KEEPALIVE_INTERVAL);
            assert_eq!(socket.tcp_keepalive_retries().unwrap(), limits::TCP_KEEPALIVE_PROBES);
            assert_eq!(socket.tcp_user_timeout().unwrap(), Some(limits::TCP_UNACKNOWLEDGED));
        }
    }
}
