//! A connection whose traffic is watched.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::heard::Heard;
use crate::admission::Traffic;

/// A connection, inside its TLS, that notes what its client says, and tells its traffic what goes over it.
pub(super) struct Watched<S> {
    stream: S,
    traffic: Traffic,
    heard: Heard,
    http2: bool,
}

impl<S> Watched<S> {
    pub(super) const fn new(stream: S, heard: Heard, traffic: Traffic) -> Self {
        Self { stream, traffic, heard, http2: false }
    }

    fn hear(&mut self, bytes: &[u8]) {
        let Some(frames) = self.heard.hear(bytes) else { return };
        if !self.http2 {
            self.http2 = true;
            self.traffic.speaks_http2();
        }
        self.traffic.heard(frames);
    }

    fn wrote(&self, polled: &Poll<io::Result<usize>>, slices: &[io::IoSlice<'_>]) {
        match polled {
            Poll::Pending => self.traffic.blocked(),
            Poll::Ready(Ok(written)) => {
                let mut left = *written;
                for slice in slices {
                    let new = left.min(slice.len());
                    self.traffic.said(slice.get(..new).unwrap_or_default());
                    left -= new;
                    if left == 0 {
                        return;
                    }
                }
            }
            Poll::Ready(Err(_)) => {}
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.hear(buffer.filled().get(before..).unwrap_or_default());
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(&polled, &[io::IoSlice::new(bytes)]);
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(&polled, slices);
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        match polled {
            Poll::Pending => self.traffic.blocked(),
            Poll::Ready(_) => self.traffic.flushed(),
        }
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
