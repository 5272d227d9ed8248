//! Who opened a Play stream, and what became of the stream before it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use sha2::{Digest, Sha256};
use tonic::metadata::MetadataMap;
use zetema_proto::v1;

use crate::{
    access::{self, Bearer, SeatGrant},
    grpc::caller::Caller,
    journal::{BotName, BotToken, MatchId},
    limits,
    table::SeatAccess,
};

/// Whose seats a stream finds in its welcome, by the token that opened it.
#[derive(Debug, Clone)]
pub(super) enum Opener {
    /// Nobody's: each seat has a token of its own.
    Nobody,
    /// Those of a bot.
    Bot(BotOpener),
    /// One seat.
    Seat(MatchId, SeatAccess),
}

/// A bot, and which of its tokens it sent.
#[derive(Debug, Clone)]
pub(super) struct BotOpener {
    pub(super) bot: BotName,
    pub(super) token: BotToken,
}

impl From<&Caller> for Opener {
    fn from(caller: &Caller) -> Self {
        match (caller.bearer(), caller.bot_token()) {
            (Bearer::Seat(SeatGrant { match_id, seat, generation }), _) => {
                Self::Seat(*match_id, SeatAccess { seat: *seat, generation: *generation })
            }
            (Bearer::Bot(bot), Some(token)) => Self::Bot(BotOpener { bot: bot.clone(), token }),
            (Bearer::Admin | Bearer::Owner(_) | Bearer::Bot(_) | Bearer::Anonymous, _) => Self::Nobody,
        }
    }
}

/// Stands for the token of a call's metadata, which can't be had back from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TokenKey {
    token: Hashed,
    /// Stands for who has it. `None`: whoever it is has no bound of its own.
    whose: Option<Hashed>,
}

type Hashed = [u8; 32];

impl TokenKey {
    /// `None`: the call has no token.
    pub(super) fn of(metadata: &MetadataMap, caller: &Caller) -> Option<Self> {
        Self::presented(metadata, caller.whose().as_deref())
    }

    fn presented(metadata: &MetadataMap, whose: Option<&str>) -> Option<Self> {
        let token = access::presented(metadata.as_ref()).ok().flatten()?;
        let whose = whose.map(|whose| Sha256::digest(whose).into());
        Some(Self { token: Sha256::digest(token).into(), whose })
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
    /// The numbers of those of each who has a bound of its own.
    by_owner: HashMap<Hashed, BTreeSet<u64>>,
    last: u64,
}

impl Remembered {
    fn add(&mut self, token: TokenKey, cut: v1::StreamCut) {
        self.last += 1;
        self.tokens.insert(self.last, token);
        self.by_token.insert(token, (self.last, cut));
        if let Some(whose) = token.whose {
            self.by_owner.entry(whose).or_default().insert(self.last);
        }
    }

    fn forget(&mut self, token: &TokenKey) {
        let Some((number, _)) = self.by_token.remove(token) else { return };
        self.tokens.remove(&number);
        let Some(whose) = token.whose else { return };
        if let Some(numbers) = self.by_owner.get_mut(&whose) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_owner.remove(&whose);
            }
        }
    }

    /// What has to be forgotten for one more: the oldest of whoever has as many as it may, else of all when there are as many
    /// as may be.
    fn in_the_way(&self, token: &TokenKey) -> Option<TokenKey> {
        let own = token.whose.and_then(|whose| self.by_owner.get(&whose));
        let oldest = match own {
            Some(own) if own.len() >= limits::MAX_REMEMBERED_CUTS_PER_OWNER => *own.first()?,
            _ if self.tokens.len() >= limits::MAX_REMEMBERED_CUTS => *self.tokens.first_key_value()?.0,
            _ => return None,
        };
        self.tokens.get(&oldest).copied()
    }
}

impl Cuts {
    /// Why the last stream of a token was cut.
    pub(super) fn of(&self, token: TokenKey) -> Option<v1::StreamCut> {
        self.remembered().by_token.get(&token).map(|(_, cut)| cut.clone())
    }

    /// Remembers how a token's stream ended: `None` if it was not cut. When there is no room, the oldest is forgotten, of the same
    /// owner if that has as many as one may.
    pub(super) fn ended(&self, token: TokenKey, cut: Option<v1::StreamCut>) {
        let mut remembered = self.remembered();
        remembered.forget(&token);
        let Some(cut) = cut else { return };
        if let Some(oldest) = remembered.in_the_way(&token) {
            remembered.forget(&oldest);
        }
        remembered.add(token, cut);
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> TokenKey {
        TokenKey { token: Sha256::digest(number.to_le_bytes()).into(), whose: None }
    }

    #[test]
    fn an_owner_with_very_many_seats_has_only_its_own_cuts_forgotten() {
        let cuts = Cuts::default();
        let of = |whose: &str, number| TokenKey { whose: Some(Sha256::digest(whose).into()), ..key(number) };
        let cut = |token| cuts.ended(token, Some(v1::StreamCut::default()));
        cut(of("owner:modest", 0));
        cut(key(1));
        let most = limits::MAX_REMEMBERED_CUTS_PER_OWNER;
        let first = 2;
        for number in first..first + 2 * limits::MAX_REMEMBERED_CUTS {
            cut(of("owner:greedy", number));
        }
        assert!(cuts.of(of("owner:modest", 0)).is_some() && cuts.of(key(1)).is_some());
        let last = first + 2 * limits::MAX_REMEMBERED_CUTS - 1;
        assert!(cuts.of(of("owner:greedy", last - most + 1)).is_some());
        assert_eq!(cuts.of(of("owner:greedy", last - most)), None);
        for number in first..=last {
            cuts.ended(of("owner:greedy", number), None);
        }
        let remembered = cuts.remembered();
        assert_eq!(
            (remembered.by_token.len(), remembered.tokens.len(), remembered.by_owner.len()),
            (2, 2, 1)
        );
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
            TokenKey::presented(&metadata, None)
        };
        assert!(of("Bearer a").is_some());
        assert_eq!(of("bEaReR   a "), of("Bearer a"));
        assert_ne!(of("Bearer b"), of("Bearer a"));
    }
}
