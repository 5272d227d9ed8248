//! Who opened a Play stream, and what became of the stream before it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use sha2::{Digest, Sha256};
use tonic::metadata::MetadataMap;
use zetema_proto::v1;

use crate::{
    access::{self, Bearer, SeatGrant},
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
        let token = access::presented(metadata.as_ref()).ok().flatten();
        token.map(|token| Self(Sha256::digest(token).into()))
    }
}

/// Why the server cut the last stream of each token, if it did.
#[derive(Debug, Default)]
pub(super) struct Cuts(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    /// Each with its number, in the order in which they came.
    by_token: HashMap<TokenKey, (u64, v1::StreamCut)>,
    tokens: BTreeMap<u64, TokenKey>,
    last: u64,
}

impl Cuts {
    /// Why the last stream of a token was cut.
    pub(super) fn of(&self, token: TokenKey) -> Option<v1::StreamCut> {
        self.remembered().by_token.get(&token).map(|(_, cut)| cut.clone())
    }

    /// Remembers how a token's stream ended: `None` if it was not cut. When there is no room, the oldest is forgotten.
    pub(super) fn ended(&self, token: TokenKey, cut: Option<v1::StreamCut>) {
        let mut remembered = self.remembered();
        let Remembered { by_token, tokens, last } = &mut *remembered;
        if let Some((number, _)) = by_token.remove(&token) {
            tokens.remove(&number);
        }
        let Some(cut) = cut else { return };
        if by_token.len() >= limits::MAX_REMEMBERED_CUTS
            && let Some((_, oldest)) = tokens.pop_first()
        {
            by_token.remove(&oldest);
        }
        *last += 1;
        tokens.insert(*last, token);
        by_token.insert(token, (*last, cut));
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> TokenKey {
        TokenKey(Sha256::digest(number.to_le_bytes()).into())
    }

    #[test]
    fn the_oldest_cut_is_forgotten_first_and_one_token_takes_one_place() {
        let cuts = Cuts::default();
        let cut = |token| cuts.ended(key(token), Some(v1::StreamCut::default()));
        (0..limits::MAX_REMEMBERED_CUTS).for_each(cut);
        // Again and again the same: nobody else's is forgotten.
        (0..limits::MAX_REMEMBERED_CUTS).for_each(|_| cut(0));
        assert!((0..limits::MAX_REMEMBERED_CUTS).all(|token| cuts.of(key(token)).is_some()));
        cut(limits::MAX_REMEMBERED_CUTS);
        assert_eq!(cuts.of(key(1)), None, "the oldest");
        assert!(cuts.of(key(0)).is_some(), "it came again");
        cuts.ended(key(0), None);
        assert_eq!(cuts.of(key(0)), None);
        let remembered = cuts.remembered();
        assert_eq!(remembered.by_token.len(), remembered.tokens.len());
    }

    #[test]
    fn a_token_is_the_same_however_its_header_is_spelt() {
        let of = |header: &'static str| {
            let mut metadata = MetadataMap::new();
            metadata.insert("authorization", tonic::metadata::MetadataValue::from_static(header));
            TokenKey::of(&metadata)
        };
        assert!(of("Bearer a").is_some());
        assert_eq!(of("bEaReR   a "), of("Bearer a"));
        assert_ne!(of("Bearer b"), of("Bearer a"));
    }
}
