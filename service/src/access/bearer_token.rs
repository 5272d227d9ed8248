//! The secret of a stored token.

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{AccessError, service_key::random};
use crate::journal::{Scope, SecretHash, TokenId};

const ID_BYTES: usize = 16;
const SECRET_BYTES: usize = 32;

/// A token as its holder sends it: 68 printable ASCII characters, a prefix that tells people and scanners of leaked
/// secrets what it is, the token's id, and 32 random bytes. `Debug` does not show them.
pub struct BearerToken(SecretString);

impl BearerToken {
    /// A new token.
    pub(super) fn draw(scope: &Scope) -> Result<(TokenId, Self), AccessError> {
        let bytes: [u8; ID_BYTES + SECRET_BYTES] = random()?;
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&bytes[..ID_BYTES]);
        let text = format!("{}{}", prefix(scope), BASE64_URL_SAFE_NO_PAD.encode(bytes));
        Ok((TokenId::from_bytes(id), Self(text.into())))
    }

    /// The characters, for the one who is to have them.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// What is stored of it.
    pub(super) fn hash(&self) -> SecretHash {
        hash(self.expose())
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken")
    }
}

const fn prefix(scope: &Scope) -> &'static str {
    match scope {
        Scope::Admin => "zta_",
        Scope::Owner(_) => "zto_",
        Scope::Bot(_) => "ztb_",
    }
}

/// The id in a text that has the form of a token.
pub(super) fn id_of(text: &str) -> Option<TokenId> {
    let encoded = ["zta_", "zto_", "ztb_"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let mut bytes = [0; ID_BYTES + SECRET_BYTES];
    let length = BASE64_URL_SAFE_NO_PAD.decode_slice(encoded, &mut bytes).ok()?;
    if length != bytes.len() {
        return None;
    }
    bytes.first_chunk().map(|id| TokenId::from_bytes(*id))
}

fn hash(text: &str) -> SecretHash {
    SecretHash(Sha256::digest(text).into())
}

/// Whether the hash is that of `text`, in a time that does not tell how near it came.
pub(super) fn is_of(stored: &SecretHash, text: &str) -> bool {
    hash(text).0.ct_eq(&stored.0).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{BotName, Owner};

    #[test]
    fn a_token_with_any_character_changed_is_another() {
        let scopes = [
            Scope::Admin,
            Scope::Owner(Owner::new("shop").unwrap()),
            Scope::Bot(BotName::new("greedy").unwrap()),
        ];
        for scope in scopes {
            let (id, token) = BearerToken::draw(&scope).unwrap();
            let text = token.expose();
            assert!(text.len() == 68 && text.bytes().all(|byte| byte.is_ascii_graphic()), "{scope:?}");
            assert_eq!((id_of(text), is_of(&token.hash(), text)), (Some(id), true));
            for place in 0..text.len() {
                let mut changed = text.to_owned().into_bytes();
                changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
                assert!(!is_of(&token.hash(), std::str::from_utf8(&changed).unwrap()), "character {place}");
            }
            for other in ["", "zto_", &text[..67], &format!("{text}A"), &text.replacen("zt", "zs", 1)] {
                assert_eq!(id_of(other), None, "{other:?}");
            }
        }
    }

    #[test]
    fn debug_shows_no_token() {
        let (_, token) = BearerToken::draw(&Scope::Admin).unwrap();
        assert_eq!(format!("{token:?}"), "BearerToken");
    }
}
