//! Who may do what: the admin's bearer token, and a token for each seat.
//!
//! A seat's token is an HMAC of the service key over match, seat and generation: nothing is stored for it, a
//! retried creation returns the same one, and whoever has the key can check it. Of the admin token only the
//! SHA-256 is stored; the token itself goes to a file that its owner alone can read, never to a log.

mod admin_token;
mod bearer;
mod error;
mod seat_token;
mod service_key;

pub use admin_token::{ADMIN_TOKEN_FILE, AdminToken};
pub use bearer::Bearer;
pub use error::AccessError;
pub use seat_token::{SeatGrant, SeatToken};
pub use service_key::ServiceKey;

use std::path::Path;

use crate::journal::Journal;

/// The keys of one server, from its journal.
#[derive(Debug)]
pub struct Access {
    service_key: ServiceKey,
    admin_hash: admin_token::AdminHash,
    admin_token: Option<AdminToken>,
}

impl Access {
    /// Reads the keys from the journal. At the first start it makes them, and writes the admin token to
    /// [`ADMIN_TOKEN_FILE`] in `folder`, with mode 0600.
    ///
    /// # Errors
    /// An [`AccessError`] when the journal, the file or the system's randomness fails.
    pub async fn open(journal: &dyn Journal, folder: &Path) -> Result<Self, AccessError> {
        let service_key = ServiceKey::open(journal).await?;
        let (admin_hash, admin_token) = admin_token::open(journal, folder).await?;
        Ok(Self { service_key, admin_hash, admin_token })
    }

    /// The admin token, when its file still holds it: an operator may have moved it elsewhere.
    pub fn admin_token(&self) -> Option<&AdminToken> {
        self.admin_token.as_ref()
    }

    /// The token of a seat.
    pub fn seat_token(&self, grant: &SeatGrant) -> SeatToken {
        self.service_key.seat_token(grant)
    }

    /// What a seat's token grants. `None`: this server never made it. Whether its generation is still the
    /// seat's, the match knows.
    pub fn seat_grant(&self, token: &str) -> Option<SeatGrant> {
        self.service_key.seat_grant(token)
    }

    /// Who calls, by the token of the request's metadata.
    ///
    /// # Errors
    /// [`AccessError::UnknownToken`] for a token that is none of this server's.
    pub fn bearer(&self, token: Option<&str>) -> Result<Bearer, AccessError> {
        let Some(token) = token else { return Ok(Bearer::Anonymous) };
        if self.admin_hash.is_of(token) {
            return Ok(Bearer::Admin);
        }
        self.seat_grant(token).map(Bearer::Seat).ok_or(AccessError::UnknownToken)
    }
}
