//! The tags of messages, which their answers carry.

/// A seat of a session, from 1 in the order in which they were given to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(pub(crate) u64);

/// What a message asks for. A seat has at most one of each under way on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asked {
    Join,
    Nonce,
    Act,
    Resign,
}

impl Asked {
    const ALL: [Self; 4] = [Self::Join, Self::Nonce, Self::Act, Self::Resign];

    /// For people: "the server refused to …".
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Nonce => "take the nonce",
            Self::Act => "act",
            Self::Resign => "resign",
        }
    }
}

/// The tag of a message; never 0, which means none.
pub(crate) const fn tag(key: Key, asked: Asked) -> u64 {
    key.0 << 2 | asked as u64
}

/// What a tag stands for.
pub(crate) fn untag(tag: u64) -> Option<(Key, Asked)> {
    let asked = Asked::ALL[usize::try_from(tag & 3).unwrap_or_default()];
    (tag >> 2 > 0 && tag & QUEUES == 0).then_some((Key(tag >> 2), asked))
}

/// What tells the tag of a change of queues from those of seats.
const QUEUES: u64 = 1 << 63;

/// The number of a change of what a session waits for, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Change(pub(crate) u64);

impl Change {
    /// None: the queues of a hello.
    pub(crate) const HELLO: Self = Self(0);
}

/// The tag of a change of queues.
pub(crate) const fn tag_queues(change: Change) -> u64 {
    QUEUES | change.0
}

/// The change of queues that a tag stands for.
pub(crate) fn untag_queues(tag: u64) -> Option<Change> {
    (tag & QUEUES != 0).then_some(Change(tag & !QUEUES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_what_it_was_made_of() {
        for key in [1, 2, 1_000_000].map(Key) {
            for asked in Asked::ALL {
                assert_eq!(untag(tag(key, asked)), Some((key, asked)));
                assert_eq!(untag_queues(tag(key, asked)), None);
            }
        }
        for change in [0, 1, 2, 1_000_000].map(Change) {
            assert_eq!(untag_queues(tag_queues(change)), Some(change));
            assert_eq!(untag(tag_queues(change)), None);
        }
        assert_eq!((untag(0), untag_queues(0)), (None, None));
    }
}
