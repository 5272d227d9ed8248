//! The seed of fixed deals, as a flag.

use std::fmt;
use std::str::FromStr;

use zetema_rules::fair::ServerSeed;

/// A number, or 32 bytes in hexadecimal.
#[derive(Clone)]
pub(crate) enum Seed {
    /// A number, which stands in the first eight bytes.
    Number(u64),
    /// All bytes.
    Bytes(ServerSeed),
}

impl Seed {
    /// The seed of the match with this index; only a number has more than the first.
    pub(crate) fn of_match(&self, index: u64) -> ServerSeed {
        match self {
            Self::Number(number) => zetema_sdk::numbered_seed(number.wrapping_add(index)),
            Self::Bytes(seed) => seed.clone(),
        }
    }
}

/// Whoever knows the seed knows every card: it is not shown.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(hidden)")
    }
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("{text:?} is no seed: give a number, or 64 hexadecimal digits");
        if text.len() != 64 {
            return text.parse().map(Self::Number).map_err(|_| error());
        }
        crate::json::bytes_from_hex(text)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .map(|bytes| Self::Bytes(ServerSeed::new(bytes)))
            .ok_or_else(error)
    }
}
