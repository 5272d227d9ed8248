//! What the luck of a result is kept under.

use sha2::{Digest, Sha256};
use zetema_ladder::Reference;
use zetema_rules::MatchResult;

use crate::journal::UnixMillis;
use crate::table::MatchInfo;

/// What the luck of a result is kept under: a hash of what it was measured by, the match and how it ended. So a match that ends
/// otherwise, as after a loss that a repair accepted, has another.
///
/// ```text
/// key = the first 16 bytes of SHA256("zetema/v1/luck/result" ‖ key of the baseline ‖ match id ‖ u64 end, ms ‖ u16 total of each side)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LuckKey(pub(super) [u8; 16]);

impl LuckKey {
    pub(super) fn new(reference: &Reference, info: &MatchInfo, result: &MatchResult) -> Self {
        let ended_ms = info.ended_at.map_or(0, UnixMillis::get);
        let mut hash = Sha256::new()
            .chain_update(b"zetema/v1/luck/result")
            .chain_update(reference.baseline_key().as_bytes())
            .chain_update(info.match_id.as_bytes())
            .chain_update(ended_ms.to_be_bytes());
        for total in &result.totals[..info.rules.sides()] {
            hash.update(total.to_be_bytes());
        }
        let hash: [u8; 32] = hash.finalize().into();
        Self(std::array::from_fn(|at| hash[at]))
    }
}
