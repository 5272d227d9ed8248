//! What tells the program to stop.

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
