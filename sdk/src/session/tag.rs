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
    (tag >> 2 > 0).then_some((Key(tag >> 2), asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_what_it_was_made_of() {
        for key in [1, 2, 1_000_000].map(Key) {
            for asked in Asked::ALL {
                assert_eq!(untag(tag(key, asked)), Some((key, asked)));
            }
        }
        assert_eq!(untag(0), None);
    }
}
