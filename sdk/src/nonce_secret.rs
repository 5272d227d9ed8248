//! The secret from which a bot's nonces follow.

use std::fmt;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zetema_rules::fair::Nonce;

use crate::claim::Claim;
use crate::error::Error;

const BYTES: usize = 32;
const SEAT_TOKEN: &[u8] = b"zetema/v1/nonce-by-seat-token";
const ASSIGNED: &[u8] = b"zetema/v1/nonce-by-assigned-seat";

/// A secret of a bot's own, from which its nonces follow.
///
/// A seat joins with the hash of a nonce, and sends the nonce itself when all have joined. A bot that dies in between
/// must know its nonce when it is back: else the match is aborted, as its fault. So the nonce of each seat is the
/// HMAC-SHA256, by this secret, of the seat: the same again for the same seat, another for every other.
///
/// It is never sent. The server knows what the nonce is of, the seat's token or the match's id, so the nonce must not
/// follow from that alone: who can compute a nonce before the seed is fixed can choose a seed for the deals that it likes.
/// Nonces that are published give neither the secret away nor any other nonce.
///
/// `Debug` does not show it.
///
/// ```no_run
/// use zetema_sdk::{Error, NonceSecret, Settings};
///
/// # fn settings() -> Result<Settings, Error> {
/// let nonce_secret = Some(NonceSecret::from_file("nonce-secret")?);
/// Ok(Settings { nonce_secret, ..Settings::default() })
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct NonceSecret([u8; BYTES]);

impl NonceSecret {
    /// The secret with these bytes, which must be random.
    pub const fn new(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// A new one.
    ///
    /// # Errors
    /// [`Error::System`] if the system gives no random bytes.
    pub fn generate() -> Result<Self, Error> {
        crate::random::bytes().map(Self)
    }

    /// The secret in this file: 64 hexadecimal digits. Where there is no such file, it is made, with a new secret, for its
    /// owner alone (mode 0600).
    ///
    /// # Errors
    /// [`Error::NonceSecretFile`] if the file can't be read or made, or holds anything else.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let error = |problem: String| Error::NonceSecretFile { path: path.to_owned(), problem };
        match fs::read_to_string(path) {
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                let secret = Self::generate()?;
                secret.store(path).map_err(|problem| error(problem.to_string()))
            }
            Err(problem) => Err(error(problem.to_string())),
            Ok(text) => Self::parse(&text).ok_or_else(|| {
                error(format!("it does not hold {} hexadecimal digits: give another file", 2 * BYTES))
            }),
        }
    }

    /// Makes the file, whole or not at all. If another program has made it meanwhile, that one's secret counts.
    fn store(self, path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or_else(|| Path::new(".")))?;
        writeln!(file, "{}", self.to_hex())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Ok(_) => Ok(self),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                Self::parse(&fs::read_to_string(path)?)
                    .ok_or_else(|| io::Error::other("another program made it meanwhile, with other contents"))
            }
            Err(failed) => Err(failed.error),
        }
    }

    fn to_hex(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, byte| {
            // A string takes all that is written.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().as_bytes();
        let mut bytes = [0; BYTES];
        if digits.len() != 2 * BYTES {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            for digit in pair {
                *byte = *byte << 4 | u8::try_from(char::from(*digit).to_digit(16)?).ok()?;
            }
        }
        Some(Self(bytes))
    }

    /// The nonce of a seat.
    pub(crate) fn nonce(&self, claim: &Claim) -> Nonce {
        // A key that is shorter than a block is filled up with zeros.
        let mut block = [0; 64];
        block[..BYTES].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        match claim {
            Claim::Token(token) => {
                mac.update(SEAT_TOKEN);
                mac.update(token.reveal().as_bytes());
            }
            Claim::Assigned { match_id, seat } => {
                // The id comes last, so that it ends where the input does.
                mac.update(ASSIGNED);
                mac.update(&[u8::try_from(seat.index()).unwrap_or(u8::MAX)]);
                mac.update(match_id.as_bytes());
            }
        }
        Nonce::from(<[u8; BYTES]>::from(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for NonceSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NonceSecret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use zetema_rules::Seat;

    use super::*;

    /// Made with Python's `hmac`.
    #[test]
    fn nonces_are_the_hmac_of_their_seats() {
        let seat = |index| Seat::new(index).unwrap();
        let assigned =
            |match_id: &str, index| Claim::Assigned { match_id: match_id.to_owned(), seat: seat(index) };
        let check = |claim: &Claim, nonce: &str| {
            let found = NonceSecret::new([7; 32]).nonce(claim);
            assert_eq!(found.reveal(), NonceSecret::parse(nonce).unwrap().0, "{claim:?}");
        };
        check(
            &Claim::Token("zts_token".into()),
            "d0ec5069d042a9425486849234326612374993a78d87bb29fee336cf5fe880aa",
        );
        check(&assigned("m1", 1), "ac21a5ff609cb0a3b7ce2fff3fee5031d3b0a88fd6849edf264209a8d078203a");
        let secret = NonceSecret::new([7; 32]);
        assert!(secret.nonce(&assigned("m1", 1)) != secret.nonce(&assigned("m1", 0)));
        assert!(secret.nonce(&assigned("m1", 1)) != NonceSecret::new([8; 32]).nonce(&assigned("m1", 1)));
    }
}
