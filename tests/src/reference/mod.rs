//! A second, plain and slow implementation of the rules, written from `rules.md` alone.
//!
//! It shares no type and no line with `zetema-rules`, which [`translate`] alone names: a hand is a
//! list of cards, a combination is found by trying every subset of the hand, and each function
//! names the clause it follows. Its only purpose is to be obviously right, so that the fast
//! implementation can be compared with it.
//!
//! Unlike the fast one it hides nothing: every field of [`Game`] can be read, and `Debug` shows
//! the cards.

mod card;
mod deal;
mod declaration;
mod game;
mod preset;
mod rules;
mod score;
mod standing;
pub mod translate;

pub use card::{ACE, Card, FIVE, JACK, KING, QUEEN, RANKS, SUITS, Suit, count, pack, shared};
pub use deal::Deal;
pub use declaration::{Declaration, Kind, declarations, meld_kind};
pub use game::{Action, Game, Phase, Refusal, Stage, Turn};
pub use preset::{PRESETS, Preset};
pub use rules::{
    Ace, Assembly, AssemblyScores, Draw, ExtraTurn, Field, FlushSuits, ImperialBonus, MarriageHandMin,
    MatchEnd, MeldSize, RoyalZetema, Rules, Teams,
};
pub use score::{assembly_score, marriage_score, zetema_score};
