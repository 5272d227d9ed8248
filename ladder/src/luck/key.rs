//! What computed values are kept under.

use std::fmt;

use sha2::{Digest, Sha256};
use zetema_rules::{Deck, RULES_REVISION};

use super::random::numbers;
use super::reference::Reference;

/// What the values of a deck are kept under: a hash of the reference, its rules and the deck.
///
/// The dealer is not in it: the table is round, so the values of another dealer are the same ones, turned.
///
/// ```text
/// key = SHA256("zetema/v1/luck/deal" ‖ u32 version ‖ u32 rules revision ‖ rules as text ‖ 0 ‖ for each card of the deck: u8 number)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DealKey([u8; 32]);

/// What a baseline is kept under: a hash of the reference and its rules.
///
/// ```text
/// key = SHA256("zetema/v1/luck/baseline" ‖ u32 version ‖ u32 rules revision ‖ rules as text)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BaselineKey([u8; 32]);

fn begin(of: &[u8], reference: &Reference) -> Sha256 {
    Sha256::new()
        .chain_update(of)
        .chain_update(reference.version().number().to_be_bytes())
        .chain_update(RULES_REVISION.to_be_bytes())
        .chain_update(reference.rules().to_string())
}

impl DealKey {
    pub(super) fn new(reference: &Reference, deck: &Deck) -> Self {
        let hash = begin(b"zetema/v1/luck/deal", reference).chain_update([0]).chain_update(numbers(deck));
        Self(hash.finalize().into())
    }
}

impl BaselineKey {
    pub(super) fn new(reference: &Reference) -> Self {
        Self(begin(b"zetema/v1/luck/baseline", reference).finalize().into())
    }
}

/// What both keys have.
macro_rules! key {
    ($($name:ident),*) => {$(
        impl $name {
            /// The bytes, to store them.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}(", stringify!($name))?;
                for byte in self.0 {
                    write!(f, "{byte:02x}")?;
                }
                f.write_str(")")
            }
        }
    )*};
}

key!(DealKey, BaselineKey);
