//! The key of which seat tokens are made.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::AccessError;
use crate::journal::{Journal, MetaKey, MetaValue, Outcome};

const META_KEY: &str = "service_key";
const KEY_BYTES: usize = 32;

/// 32 random bytes, made at the first start and kept in the journal. `Debug` does not show them.
///
/// Here are what HMAC hashes of them first, the same for each message: so they are hashed once, and can't be had back.
pub struct ServiceKey(Hmac<Sha256>);

impl fmt::Debug for ServiceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceKey")
    }
}

impl ServiceKey {
    /// The key of these bytes.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        // A key of the block's 64 bytes: RFC 2104 pads a shorter one with zeros, and so does this.
        let mut block = [0; 64];
        block[..KEY_BYTES].copy_from_slice(&bytes);
        Self(Hmac::new(&block.into()))
    }

    /// The journal's key; a new one when it has none yet.
    ///
    /// # Errors
    /// An [`AccessError`] when the journal or the system's randomness fails.
    pub async fn open(journal: &dyn Journal) -> Result<Self, AccessError> {
        let stored = insert(journal, META_KEY, &random::<KEY_BYTES>()?).await?;
        let bytes = <[u8; KEY_BYTES]>::try_from(stored.as_bytes().as_ref())
            .map_err(|_| AccessError::Damaged(META_KEY))?;
        Ok(Self::from_bytes(bytes))
    }

    /// The MAC of a message in this context, which no other use of the key has.
    pub(super) fn mac(&self, context: &[u8], message: &[u8]) -> [u8; 32] {
        self.0.clone().chain_update(context).chain_update(message).finalize().into_bytes().into()
    }
}

/// Random bytes from the system.
pub(super) fn random<const N: usize>() -> Result<[u8; N], AccessError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(AccessError::Randomness)?;
    Ok(bytes)
}

/// Stores a value unless there is one, and says which is there afterwards.
pub(super) async fn insert(
    journal: &dyn Journal,
    key: &'static str,
    value: &[u8],
) -> Result<MetaValue, AccessError> {
    let damaged = |_| AccessError::Damaged(key);
    let name = MetaKey::new(key).map_err(damaged)?;
    let value = MetaValue::new(value.to_vec()).map_err(damaged)?;
    match journal.meta_or_insert(name, value).await {
        Outcome::Done(value) => Ok(value),
        Outcome::Failed(cause) | Outcome::Damaged(cause) | Outcome::Unknown(cause) => {
            Err(AccessError::Store(cause))
        }
        Outcome::Refused(never) => match never {},
    }
}
