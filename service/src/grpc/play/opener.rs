//! Who opened a Play stream, and what became of the stream before it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use sha2::{Digest, Sha256};
use tokio::time::Instant;
use tonic::metadata::MetadataMap;
use zetema_proto::v1;

use crate::{
    access::{Bearer, SeatGrant},
    journal::{BotName, MatchId},
    limits,
    table::SeatAccess,
};

/// Whose seats a stream finds in its welcome, by the token that opened it.
#[derive(Debug, Clone)]
pub(super) enum Opener {
    /// Nobody's: each seat has a token of its own.
    Nobody,
    /// Those of a bot.
    Bot(BotName),
    /// One seat.
    Seat(MatchId, SeatAccess),
}

impl From<&Bearer> for Opener {
    fn from(bearer: &Bearer) -> Self {
        match bearer {
            Bearer::Seat(SeatGrant { match_id, seat, generation }) => {
                Self::Seat(*match_id, SeatAccess { seat: *seat, generation: *generation })
            }
            Bearer::Bot(bot) => Self::Bot(bot.clone()),
            Bearer::Admin | Bearer::Owner(_) | Bearer::Anonymous => Self::Nobody,
        }
    }
}

/// Stands for the token of a call's metadata, which can't be had back from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TokenKey([u8; 32]);

impl TokenKey {
    /// `None`: the call has no token.
    pub(super) fn of(metadata: &MetadataMap) -> Option<Self> {
        metadata.get("authorization").map(|value| Self(Sha256::digest(value.as_bytes()).into()))
    }
}

/// Why the server cut the last stream of each token, if it did.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    by_token: Mutex<HashMap<TokenKey, (Instant, v1::StreamCut)>>,
}

impl Cuts {
    /// Why the last stream of a token was cut.
    pub(super) fn of(&self, token: TokenKey) -> Option<v1::StreamCut> {
        let cuts = self.by_token.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.get(&token).map(|(_, cut)| cut.clone())
    }

    /// Remembers how a token's stream ended: `None` if it was not cut. When there is no room, the oldest is forgotten.
    pub(super) fn ended(&self, token: TokenKey, cut: Option<v1::StreamCut>) {
        let mut cuts = self.by_token.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.remove(&token);
        let Some(cut) = cut else { return };
        if cuts.len() >= limits::MAX_REMEMBERED_CUTS
            && let Some(oldest) = cuts.iter().min_by_key(|(_, (at, _))| *at).map(|(token, _)| *token)
        {
            cuts.remove(&oldest);
        }
        cuts.insert(token, (Instant::now(), cut));
    }
}
