//! What all was measured on.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A machine, and what runs on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's model, if the system says.
    pub model: Option<String>,
    /// Its cores.
    pub cores: usize,
    /// Bytes of memory, if the system says.
    pub memory_bytes: Option<u64>,
    /// The operating system and the architecture.
    pub system: String,
    /// The release of the kernel, if the system says.
    pub kernel: Option<String>,
    /// The kind of file system that the data is on, if the system says.
    pub file_system: Option<String>,
    /// Our version.
    pub version: String,
}

impl Machine {
    /// This one, with data in this folder. To be asked before the program has but one core.
    pub fn here(folder: &Path) -> Self {
        let machine = zetema_load::outcome::Machine::here();
        Self {
            model: machine.model,
            cores: machine.processors,
            memory_bytes: machine.memory_bytes,
            system: machine.system,
            kernel: machine.kernel,
            file_system: file_system(folder),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Of the mount that is the closest to the folder.
fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    let holding = mounts.filter(|(mount, _)| folder.starts_with(mount));
    // Of those on the same place the last one is seen.
    let (_, kind) = holding.max_by_key(|(mount, _)| mount.components().count())?;
    Some(kind.to_owned())
}
