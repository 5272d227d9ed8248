//! The randomness of one playout, which follows from the deck.

use sha2::{Digest, Sha256};
use zetema_rules::Deck;

use super::version::ReferenceVersion;

/// `SplitMix64` from a seed that is a hash: of the version, the playout's number and the deck.
///
/// ```text
/// state = the first u64 of SHA256("zetema/v1/luck" ‖ u32 version ‖ u32 playout ‖ for each card of the deck: u8 number)
/// ```
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(version: ReferenceVersion, playout: u32, deck: &Deck) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"zetema/v1/luck");
        hash.update(version.number().to_be_bytes());
        hash.update(playout.to_be_bytes());
        hash.update(numbers(deck));
        let hash: [u8; 32] = hash.finalize().into();
        let mut first = [0; 8];
        first.copy_from_slice(&hash[..8]);
        Self { state: u64::from_be_bytes(first) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to under eight points: the first sixteen bits of the next number, in 8192nds.
    pub(super) fn points(&mut self) -> f64 {
        u32::try_from(self.next() >> 48).map_or(0.0, f64::from) / 8_192.0
    }
}

/// The numbers of a deck's cards, one byte each.
pub(super) fn numbers(deck: &Deck) -> Vec<u8> {
    #[allow(clippy::cast_possible_truncation)]
    deck.reveal().iter().map(|card| card.index() as u8).collect()
}
