//! What tells the program to stop, or to read its files again.

use std::io;

/// Waits until the program is told to stop: by SIGTERM or SIGINT, and where there are no signals by Ctrl-C.
///
/// # Errors
/// When the system does not let the program listen for them.
#[cfg(unix)]
pub async fn termination() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Waits until the program is told to stop: by SIGTERM or SIGINT, and where there are no signals by Ctrl-C.
///
/// # Errors
/// When the system does not let the program listen for them.
#[cfg(not(unix))]
pub async fn termination() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// The times that the program is told to read its files again: by SIGHUP, and where there are no signals never.
///
/// From when this is made on, SIGHUP no longer ends the program.
#[derive(Debug)]
pub struct Hangups {
    #[cfg(unix)]
    signals: tokio::signal::unix::Signal,
}

impl Hangups {
    /// Listens for them.
    ///
    /// # Errors
    /// When the system does not let the program listen for them.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signals: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if self.signals.recv().await.is_some() {
            return;
        }
        std::future::pending::<()>().await;
    }
}
