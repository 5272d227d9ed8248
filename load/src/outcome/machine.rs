//! What machine load came from.

use std::fs;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

/// What a machine is, as far as the system tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Processors that this program may use.
    pub processors: usize,
    /// The processor's model. Absent: the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Bytes of memory. Absent: the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The operating system and the architecture: `linux x86_64`.
    pub system: String,
    /// The release of the kernel. Absent: the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

impl Machine {
    /// This one.
    ///
    /// ```
    /// let machine = zetema_load::outcome::Machine::here();
    /// assert!(machine.processors > 0);
    /// ```
    pub fn here() -> Self {
        let first = |file: &str, name: &str| {
            let text = fs::read_to_string(file).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_start_matches([' ', '\t', ':']).trim().to_owned())
        };
        let kib = first("/proc/meminfo", "MemTotal:")
            .and_then(|size| size.strip_suffix(" kB")?.parse::<u64>().ok());
        Self {
            processors: available_parallelism().map_or(1, usize::from),
            model: first("/proc/cpuinfo", "model name"),
            memory_bytes: kib.and_then(|kib| kib.checked_mul(1024)),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: first("/proc/sys/kernel/osrelease", ""),
        }
    }
}
