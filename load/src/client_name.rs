//! What lean clients call themselves.

/// A name and version for the server's log.
pub(crate) const CLIENT_NAME: &str = concat!("zetema-load/", env!("CARGO_PKG_VERSION"));
