//! What a service manager is told, as `sd_notify(3)` describes it. Without one, which systemd names in `NOTIFY_SOCKET`,
//! nothing is told.

/// The server serves: what waits for it may start.
pub(crate) fn serving(url: &str) {
    tell(&[State::Ready, State::Status(&format!("serves at {url}"))]);
}

/// The server drains, and stops when that is over.
pub(crate) fn stopping() {
    tell(&[State::Stopping, State::Status("drains")]);
}

/// What it is told.
enum State<'a> {
    Ready,
    Stopping,
    Status(&'a str),
}

/// A service manager that can't be told will think that the start failed: the log says why.
#[cfg(unix)]
fn tell(states: &[State<'_>]) {
    use sd_notify::NotifyState;

    let states: Vec<_> = states
        .iter()
        .map(|state| match state {
            State::Ready => NotifyState::Ready,
            State::Stopping => NotifyState::Stopping,
            State::Status(text) => NotifyState::Status(text),
        })
        .collect();
    if let Err(error) = sd_notify::notify(&states) {
        tracing::warn!(%error, "the service manager that NOTIFY_SOCKET names can't be told");
    }
}

#[cfg(not(unix))]
fn tell(_states: &[State<'_>]) {}
