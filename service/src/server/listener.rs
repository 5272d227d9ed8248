//! Where connections come in.

use std::{fs::File, io, net::SocketAddr};

use futures::FutureExt;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::{Instant, sleep},
};

use crate::{
    limits,
    metrics::{Refused, refused},
};

/// A listener that can always accept: when the system has no file descriptor left it gives one of its own away, so that a
/// client is told by a closed connection, and not left waiting.
pub(super) struct Listener {
    socket: TcpListener,
    reserve: Option<File>,
    /// When it was last said that a connection can't be accepted.
    warned: Option<Instant>,
}

impl Listener {
    /// Listens. What the system buffers of each connection is bounded, as it is no part of what the process counts.
    pub(super) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.set_send_buffer_size(limits::SOCKET_BUFFER_BYTES)?;
        socket.set_recv_buffer_size(limits::SOCKET_BUFFER_BYTES)?;
        socket.bind(address)?;
        Ok(Self { socket: socket.listen(limits::LISTEN_BACKLOG)?, reserve: reserve(), warned: None })
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
                    return (stream, address);
                }
                // The client has gone while it waited.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    self.warn(&error);
                    if !self.shed() {
                        sleep(limits::ACCEPT_RETRY_PAUSE).await;
                    }
                }
            }
        }
    }

    /// Says why a connection can't be accepted, but not for each of a flood.
    fn warn(&mut self, error: &io::Error) {
        let now = Instant::now();
        if self.warned.is_none_or(|warned| now - warned >= limits::ACCEPT_WARNING_PAUSE) {
            tracing::warn!(%error, "a connection can't be accepted");
            self.warned = Some(now);
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

fn reserve() -> Option<File> {
    File::open(if cfg!(windows) { "NUL" } else { "/dev/null" }).ok()
}
