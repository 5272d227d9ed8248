//! Files that commands read.

use std::fs;
use std::io::{self, Read};

use anyhow::{Context, Result};

/// What a command line calls standard input.
pub(crate) const STDIN: &str = "-";

/// The bytes of a file, or of stdin.
pub(crate) fn read_file(path: &str) -> Result<Vec<u8>> {
    if path == STDIN {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).context("stdin can't be read")?;
        return Ok(bytes);
    }
    fs::read(path).with_context(|| format!("{path} can't be read"))
}
