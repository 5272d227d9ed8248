//! Values that are one word each.

use thiserror::Error;

use crate::ledger::Attendance;
use crate::options::{
    Ace, Assembly, Draw, ExtraTurn, FlushSuits, ImperialBonus, MarriageHandMin, MatchEnd, MeldSize,
    RoyalZetema,
};
use crate::public::EndReason;
use crate::record::{AbortReason, DealingKind, ForfeitReason};
use crate::seat::Teams;

/// A word that is none of those that may stand there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{word:?} is none of {expected}")]
pub struct UnknownWord {
    /// What was given.
    pub word: String,
    /// The words that may stand there, with commas.
    pub expected: String,
}

/// Gives an enum its words: `name`, `Display` and `FromStr`.
macro_rules! words {
    ($($type:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {$(
        impl $type {
            /// The word in the text notation.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $type {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(UnknownWord { word: word.to_owned(), expected: [$($word),+].join(", ") }),
                }
            }
        }
    )+};
}

words! {
    Teams { Individual = "individual", Pairs = "pairs", Trios = "trios" }
    Draw { None = "none", ToHandSize = "hand-size", ToHandSizePlusOne = "hand-size-plus-one" }
    Ace { Low = "low", Either = "either" }
    FlushSuits { Any = "any", Plain = "plain" }
    MeldSize { Hand = "hand", Six = "six" }
    Assembly { Keep = "keep", Remove = "remove" }
    ImperialBonus { None = "none", Second = "second", Every = "every" }
    MarriageHandMin { Each = "each", Any = "any" }
    RoyalZetema { Normal = "normal", AfterAssembly = "after-assembly" }
    ExtraTurn { None = "none", Discard = "discard", Full = "full" }
    MatchEnd { AtOnce = "at-once", AfterDeal = "after-deal" }
    EndReason { Target = "target", DealOver = "deal-over", Forfeit = "forfeit" }
    DealingKind { Joint = "joint", Shared = "shared", Fixed = "fixed" }
    ForfeitReason { Resigned = "resigned", OutOfTime = "out-of-time", OutOfStrikes = "out-of-strikes" }
    Attendance { Present = "present", Absent = "absent" }
    AbortReason {
        NoShow = "no-show",
        NonceMissing = "nonce-missing",
        Idle = "idle",
        Cancelled = "cancelled",
        Restored = "restored",
        TooLong = "too-long",
    }
}
