//! The token of one seat of one match.

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use zetema_rules::Seat;

use super::ServiceKey;
use crate::journal::MatchId;

/// What every seat token begins with, so that people and scanners of leaked secrets know it.
const PREFIX: &str = "zts_";
/// Separates these MACs from any other use of the key.
const CONTEXT: &[u8] = b"zetema/v1/seat-token";
const MATCH_BYTES: usize = 16;
/// Match, seat, generation.
const GRANT_BYTES: usize = MATCH_BYTES + 1 + 4;
/// The MAC is cut to 192 bits so that the whole token fits into 64 characters.
const MAC_BYTES: usize = 24;

/// What a seat token grants: to play one seat of one match, as long as the seat's generation is this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SeatGrant {
    /// The match.
    pub match_id: MatchId,
    /// The seat.
    pub seat: Seat,
    /// How often the seat's token was replaced before this one.
    pub generation: u32,
}

/// A seat's token: 64 printable ASCII characters. `Debug` does not show them.
pub struct SeatToken(SecretString);

impl SeatToken {
    /// The characters, for the one who is to have them.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for SeatToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeatToken")
    }
}

impl ServiceKey {
    /// The token of a seat, always the same for the same grant.
    ///
    /// ```
    /// use zetema_rules::Seat;
    /// use zetema_service::{access::{SeatGrant, ServiceKey}, journal::MatchId};
    ///
    /// let key = ServiceKey::from_bytes([7; 32]);
    /// let seat = Seat::new(1).ok_or("no seat")?;
    /// let grant = SeatGrant { match_id: MatchId::from_bytes([1; 16]), seat, generation: 0 };
    /// let token = key.seat_token(&grant);
    /// assert_eq!(token.expose().len(), 64);
    /// assert_eq!(key.seat_grant(token.expose()), Some(grant));
    /// assert_eq!(ServiceKey::from_bytes([8; 32]).seat_grant(token.expose()), None);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn seat_token(&self, grant: &SeatGrant) -> SeatToken {
        let bytes = encode(grant);
        let mac = self.seat_mac(&bytes);
        let mut token = [0; GRANT_BYTES + MAC_BYTES];
        token[..GRANT_BYTES].copy_from_slice(&bytes);
        token[GRANT_BYTES..].copy_from_slice(&mac);
        SeatToken(format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(token)).into())
    }

    /// What a token grants; `None` when it was not made with this key.
    pub fn seat_grant(&self, token: &str) -> Option<SeatGrant> {
        let text = token.strip_prefix(PREFIX)?;
        let mut bytes = [0; GRANT_BYTES + MAC_BYTES];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        if length != bytes.len() {
            return None;
        }
        let (grant, mac) = bytes.split_first_chunk::<GRANT_BYTES>()?;
        if !bool::from(self.seat_mac(grant).ct_eq(mac)) {
            return None;
        }
        decode(grant)
    }

    fn seat_mac(&self, grant: &[u8; GRANT_BYTES]) -> [u8; MAC_BYTES] {
        let mac = self.mac(CONTEXT, grant);
        let mut cut = [0; MAC_BYTES];
        cut.copy_from_slice(&mac[..MAC_BYTES]);
        cut
    }
}

fn encode(grant: &SeatGrant) -> [u8; GRANT_BYTES] {
    let SeatGrant { match_id, seat, generation } = grant;
    let mut bytes = [0; GRANT_BYTES];
    bytes[..MATCH_BYTES].copy_from_slice(match_id.as_bytes());
    bytes[MATCH_BYTES] = seat.index().to_le_bytes()[0];
    bytes[MATCH_BYTES + 1..].copy_from_slice(&generation.to_be_bytes());
    bytes
}

fn decode(bytes: &[u8; GRANT_BYTES]) -> Option<SeatGrant> {
    let (match_id, rest) = bytes.split_first_chunk::<MATCH_BYTES>()?;
    let (seat, generation) = rest.split_first()?;
    Some(SeatGrant {
        match_id: MatchId::from_bytes(*match_id),
        seat: Seat::new((*seat).into())?,
        generation: u32::from_be_bytes(generation.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_with_any_character_changed_grants_nothing() {
        let key = ServiceKey::from_bytes([3; 32]);
        let seat = Seat::new(5).unwrap();
        let grant = SeatGrant { match_id: MatchId::from_bytes([9; 16]), seat, generation: 258 };
        let token = key.seat_token(&grant).expose().to_owned();
        assert!(token.bytes().all(|byte| byte.is_ascii_graphic()));
        for place in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            assert_eq!(key.seat_grant(std::str::from_utf8(&changed).unwrap()), None, "character {place}");
        }
        for other in ["", "zts_", "zta_x", &token[..63], &format!("{token}A")] {
            assert_eq!(key.seat_grant(other), None, "{other:?}");
        }
    }

    /// Whoever has a token of an earlier release plays on: this one is by another program's HMAC-SHA-256.
    #[test]
    fn a_token_is_always_the_same() {
        let seat = Seat::new(5).unwrap();
        let grant = SeatGrant { match_id: MatchId::from_bytes([9; 16]), seat, generation: 258 };
        let token = "zts_CQkJCQkJCQkJCQkJCQkJCQUAAAECvDHFbAJrwP03iDz_32rOgIVCWfq1o_2V";
        let key = ServiceKey::from_bytes([3; 32]);
        assert_eq!(key.seat_token(&grant).expose(), token);
        assert_eq!(key.seat_grant(token), Some(grant));
    }

    #[test]
    fn debug_shows_no_token() {
        let key = ServiceKey::from_bytes([3; 32]);
        let seat = Seat::new(0).unwrap();
        let grant = SeatGrant { match_id: MatchId::from_bytes([9; 16]), seat, generation: 0 };
        assert_eq!(format!("{:?} {key:?}", key.seat_token(&grant)), "SeatToken ServiceKey");
    }
}
