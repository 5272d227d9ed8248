//! The system's random bytes.

use crate::error::Error;

/// # Errors
/// [`Error::System`] if the system gives none.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::System { what: "random bytes", problem: error.to_string() })?;
    Ok(bytes)
}
