//! Deals that anyone can check with SHA-256 alone.
//!
//! `‖` joins bytes; `u32` and `u64` are big-endian; text is ASCII.
//!
//! ```text
//! commitment = SHA256("zetema/v1/commit" ‖ server_seed)
//! nonce_hash = SHA256("zetema/v1/nonce" ‖ nonce)
//! match_seed = SHA256("zetema/v1/match" ‖ server_seed ‖ for each seat: u32 length ‖ nonce)
//! words(key) = the u32s of SHA256("zetema/v1/words" ‖ key ‖ u64 counter), counter = 0, 1, …
//! below(n)   = next word x with x < ⌊2³²/n⌋·n, then x mod n
//! dealer     = below(players) of words(SHA256("zetema/v1/dealer" ‖ match_seed))
//! deck k     = the pack in order C, D, H, S (A to K each), then the imperial suit again; for
//!              i = 64 … 1: swap i with below(i + 1) of words(SHA256("zetema/v1/deal" ‖ match_seed ‖ u32 k))
//! ```
//!
//! ```
//! use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
//! use zetema_rules::{Players, Suit};
//! let seed = MatchSeed::derive(&ServerSeed::new([0; 32]), &[Nonce::EMPTY, Nonce::EMPTY]);
//! let deck = seed.deck(0, Suit::Spades);
//! assert_eq!(seed.dealer(Players::TWO).index(), 0);
//! assert_eq!(deck.reveal()[0].to_string(), "6S");
//! ```

use std::fmt;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::card::{Card, Suit};
use crate::deck::{Deck, PACK};
use crate::seat::{Players, Seat};

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

fn hexadecimal(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// The server's part of a match's seed: 32 random bytes, a secret until the reveal.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerSeed([u8; 32]);

impl ServerSeed {
    /// A seed of these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes. Whoever asks holds a secret until the reveal.
    pub const fn reveal(&self) -> &[u8; 32] {
        &self.0
    }

    /// What is published before anyone joins.
    pub fn commitment(&self) -> Commitment {
        Commitment(sha256(&[b"zetema/v1/commit", &self.0]))
    }
}

impl fmt::Debug for ServerSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerSeed(hidden)")
    }
}

/// The hash that binds the server to its seed. `Display` is 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commitment(pub [u8; 32]);

impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal(&self.0, f)
    }
}

/// A seat's part of a match's seed: at most 32 bytes, a secret until all are durable.
#[derive(Clone, PartialEq, Eq)]
pub struct Nonce(Vec<u8>);

/// A nonce of more than 32 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a nonce has at most 32 bytes: {given} were given")]
pub struct NonceTooLong {
    /// How many bytes were given.
    pub given: usize,
}

impl Nonce {
    /// The nonce of a seat that gives none.
    pub const EMPTY: Self = Self(Vec::new());

    /// # Errors
    /// [`NonceTooLong`] over 32 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, NonceTooLong> {
        if bytes.len() > 32 {
            return Err(NonceTooLong { given: bytes.len() });
        }
        Ok(Self(bytes.to_vec()))
    }

    /// The bytes.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }

    /// What is given with the join.
    pub fn hash(&self) -> NonceHash {
        NonceHash(sha256(&[b"zetema/v1/nonce", &self.0]))
    }
}

impl From<[u8; 32]> for Nonce {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes.to_vec())
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonce({} bytes)", self.0.len())
    }
}

/// The hash that binds a seat to its nonce. `Display` is 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonceHash(pub [u8; 32]);

impl fmt::Display for NonceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal(&self.0, f)
    }
}

/// What all decks of a match follow from, a secret until the reveal.
#[derive(Clone, PartialEq, Eq)]
pub struct MatchSeed([u8; 32]);

impl fmt::Debug for MatchSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MatchSeed(hidden)")
    }
}

impl MatchSeed {
    /// The seed from the server's part and each seat's nonce, seat 0 first.
    pub fn derive(server: &ServerSeed, nonces: &[Nonce]) -> Self {
        let lengths: Vec<[u8; 4]> = nonces
            .iter()
            .map(|nonce| u32::try_from(nonce.0.len()).unwrap_or(u32::MAX).to_be_bytes())
            .collect();
        let mut parts: Vec<&[u8]> = vec![b"zetema/v1/match", &server.0];
        for (length, nonce) in lengths.iter().zip(nonces) {
            parts.extend([length.as_slice(), nonce.0.as_slice()]);
        }
        Self(sha256(&parts))
    }

    /// The bytes. Whoever asks holds a secret until the reveal.
    pub const fn reveal(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first dealer (R7).
    pub fn dealer(&self, players: Players) -> Seat {
        let mut words = Words::new(sha256(&[b"zetema/v1/dealer", &self.0]));
        #[allow(clippy::cast_possible_truncation)]
        let below = words.below(players.count() as u32) as usize;
        players.seats().nth(below).unwrap_or_else(|| unreachable!("below is less than the players"))
    }

    /// The deck of the deal with this number, 0 for the first.
    pub fn deck(&self, deal: u32, imperial: Suit) -> Deck {
        let again = Suit::ALL.iter().position(|&suit| suit == imperial).unwrap_or(0) * 13;
        let mut order = [0; PACK];
        for (i, place) in order.iter_mut().enumerate() {
            *place = if i < Card::FACES { i } else { again + i - Card::FACES };
        }
        let mut words = Words::new(sha256(&[b"zetema/v1/deal", &self.0, &deal.to_be_bytes()]));
        for i in (1..PACK).rev() {
            #[allow(clippy::cast_possible_truncation)]
            order.swap(i, words.below(i as u32 + 1) as usize);
        }
        Deck::from_order(
            order.map(|index| Card::from_index(index).unwrap_or_else(|| unreachable!("faces are 0 to 51"))),
        )
    }
}

struct Words {
    key: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl Words {
    const fn new(key: [u8; 32]) -> Self {
        Self { key, counter: 0, block: [0; 32], used: 32 }
    }

    fn next(&mut self) -> u32 {
        if self.used == 32 {
            self.block = sha256(&[b"zetema/v1/words", &self.key, &self.counter.to_be_bytes()]);
            self.counter += 1;
            self.used = 0;
        }
        let word = &self.block[self.used..self.used + 4];
        self.used += 4;
        u32::from_be_bytes([word[0], word[1], word[2], word[3]])
    }

    /// A number below n, each as likely as the others: words past the last multiple of n are passed over.
    fn below(&mut self, n: u32) -> u32 {
        let n = u64::from(n);
        let limit = (1_u64 << 32) / n * n;
        loop {
            let word = u64::from(self.next());
            if word < limit {
                #[allow(clippy::cast_possible_truncation)]
                return (word % n) as u32;
            }
        }
    }
}
