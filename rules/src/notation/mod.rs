//! The text form of cards, actions and whole records: what people paste into bug reports, and what
//! test data is written in. Each form reads back to the value that it was printed from.
//!
//! ```text
//! record   = "zetema record 1" / rules / revision / dealing / outcome, a line each; "#" begins a comment
//! rules    = "rules" preset { option "=" value }         options that differ from the preset's
//! revision = "revision" number
//! dealing  = "dealing" ( "joint" | "shared" | "fixed" )
//!            "commitment" hex / "server_seed" hex        32 bytes each
//!            { "entrant" [ "hash=" hex ] [ "nonce=" hex ] }
//!            [ "dealer" seat ]
//!            { "deal" 65 × card / "scores" { points } }  points by side
//!            { step }
//!            [ "time_control" control { "ledger" entry } ]
//! step     = seat [ "autoplay" ] action [ "=" points ]
//!          | seat "fault" card                           R28
//!          | seat "forfeit" ( "resigned" | "out-of-time" | "out-of-strikes" )
//! control  = "join_timeout_ms=" number                   every time is in milliseconds
//!            ( "idle_timeout_ms=" number | "budget_ms=" number "first_budget_ms=" number
//!              "bank_ms=" number "increment_ms=" number "network_credit_ms=" number
//!              "network_credit_total_ms=" number "time_out=" ( "forfeit" | "autoplay:" strikes ) )
//! entry    = "decision=" number "seat=" seat "published_ms=" number [ "received_ms=" number ]
//!            "credit_ms=" number "charged_ms=" number "bank_ms=" number [ "interrupted=yes" ]
//!            [ "attendance=" ( "present" | "absent" ) ]
//! action   = "discard" card
//!          | ( "sequence" | "flush" | "flush-sequence" ) { card }
//!          | "assembly" rank
//!          | "marriages" [ "hand" { card } ] [ "tableau" { card } ]
//! outcome  = "result" ( "target" | "deal-over" | "forfeit" ) "ranks" { rank } "totals" { points }
//!          | "aborted" ( "no-show" | "nonce-missing" | "idle" | "cancelled" | "restored" | "too-long" )
//!            { seat }
//! card     = rank suit                                   "KS", "TD"
//! rank     = "A" | "2" | … | "9" | "T" | "J" | "Q" | "K"
//! suit     = "C" | "D" | "H" | "S"
//! ```
//!
//! ```
//! use zetema_rules::{Action, Declaration};
//! let action: Action = "marriages hand KS QC tableau QS KC".parse()?;
//! assert_eq!(action.to_string(), "marriages hand QC KS tableau KC QS");
//! assert_eq!("assembly Q".parse::<Action>()?, Action::Declare(Declaration::Assembly("Q".parse()?)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod clock;
mod fields;
mod options;
mod outcome;
mod record;
mod words;

pub use action::ParseActionError;
pub use fields::ParseFieldError;
pub use options::ParseOptionError;
pub use record::ParseRecordError;
pub use words::UnknownWord;
