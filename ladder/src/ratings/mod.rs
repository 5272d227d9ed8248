//! Ratings and standings: how strong each bot of a ladder is, by its results alone.

mod difference;
mod head_to_head;
mod ladder;
mod played;
mod rating;
mod result;
mod settings;
mod standings;
mod tally;
mod update;

pub use difference::{Deviation, Difference, differences};
pub use head_to_head::{HeadToHead, HeadToHeads};
pub use ladder::{Entry, Ladder, LadderError, RatingChange};
pub use played::{Played, PlayedError};
pub use rating::{Mu, OutOfRange, Rating, Sigma};
pub use result::{Counted, LadderResult, ResultNumber, Unrated};
pub use settings::{Certainty, RatingOptions, RatingSettings};
pub use standings::Standing;
pub use tally::Tally;
pub use update::{RankedSide, SideSize};
