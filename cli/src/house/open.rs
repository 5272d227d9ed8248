//! Ladders that house bots may enter ([`Open`]).

use zetema_proto::v1;
use zetema_proto::v1::ladder_entry::Kind;

/// A ladder, and whose bots may enter it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) ladder: String,
    /// `None`: everyone's.
    owners: Option<Vec<String>>,
}

impl Open {
    /// `None` if the server lets bots in that this program does not know of.
    pub(crate) fn of(ladder: &v1::Ladder) -> Option<Self> {
        let owners = match ladder.entry.as_ref()?.kind.as_ref()? {
            Kind::Registered(v1::RegisteredBots {}) => None,
            Kind::Owners(v1::EntryOwners { owners }) => Some(owners.clone()),
        };
        Some(Self { ladder: ladder.name.clone(), owners })
    }

    /// A ladder for everyone.
    pub(crate) fn to_all(ladder: &str) -> Self {
        Self { ladder: ladder.to_owned(), owners: None }
    }

    /// Whether the bots of this owner may enter.
    pub(crate) fn lets_in(&self, owner: &str) -> bool {
        self.owners.as_ref().is_none_or(|owners| owners.iter().any(|of| of == owner))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_of_named_owners_is_for_the_house_bots_of_those() {
        let ladder = |kind| v1::Ladder { entry: Some(v1::LadderEntry { kind }), ..v1::Ladder::default() };
        let of = |owners: &[&str]| {
            let owners = owners.iter().map(ToString::to_string).collect();
            Some(Kind::Owners(v1::EntryOwners { owners }))
        };
        for (kind, greedys, randoms) in [
            (Some(Kind::Registered(v1::RegisteredBots {})), true, true),
            (of(&["ada", "house-greedy"]), true, false),
            (of(&["ada", "house"]), false, false),
        ] {
            let open = Open::of(&ladder(kind)).unwrap();
            assert_eq!((open.lets_in("house-greedy"), open.lets_in("house-random")), (greedys, randoms));
        }
        assert_eq!(Open::of(&ladder(None)), None);
    }
}
