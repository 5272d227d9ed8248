//! What tells the program to stop, or to read its files again.

use std::io;

/// The times that the program is told to stop: by SIGTERM or SIGINT, and where there are no signals by Ctrl-C.
///
/// From when this is made on, these no longer end the program, and none is missed.
#[derive(Debug)]
pub struct Terminations {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl Terminations {
    /// Listens for them.
    ///
    /// # Errors
    /// When the system does not let the program listen for them.
    #[cfg(unix)]
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Listens for them.
    ///
    /// # Errors
    /// When the system does not let the program listen for them.
    #[cfg(windows)]
    pub fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(windows)]
        let _ended = self.interrupt.recv().await;
    }
}

/// Waits until the program is told to stop, for those that stop at once.
///
/// # Errors
/// When the system does not let the program listen for it.
pub async fn termination() -> io::Result<()> {
    Terminations::listen()?.next().await;
    Ok(())
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
