//! Which core has what.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// The core of the servers.
pub(super) const SERVER_CORE: usize = 0;
/// The core of the clients.
pub const CLIENT_CORE: usize = 1;

/// Gives this process this core alone, whatever it had before. On a machine without that core it keeps what it has.
///
/// # Errors
/// What the system says.
pub fn pin(core: usize) -> anyhow::Result<()> {
    let mut own = CpuSet::new();
    own.set(core)?;
    match sched_setaffinity(Pid::from_raw(0), &own) {
        // How many cores the process may use says nothing: a server is started by one that has but its own.
        Err(Errno::EINVAL) => Ok(()),
        pinned => Ok(pinned?),
    }
}
