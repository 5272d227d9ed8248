//! What makes deals fair: seeds, nonces and their hashes.

use zetema_rules::fair::{Commitment, Nonce, NonceHash, ServerSeed};

use super::{FieldError, Wire};

fn bytes32(message: &[u8]) -> Result<[u8; 32], FieldError> {
    message.try_into().map_err(|_| FieldError::invalid("", format!("has {} bytes: give 32", message.len())))
}

impl Wire for ServerSeed {
    type Message = Vec<u8>;

    fn to_wire(&self) -> Vec<u8> {
        self.reveal().to_vec()
    }

    fn from_wire(message: &Vec<u8>) -> Result<Self, FieldError> {
        bytes32(message).map(Self::new)
    }
}

impl Wire for Commitment {
    type Message = Vec<u8>;

    fn to_wire(&self) -> Vec<u8> {
        self.0.to_vec()
    }

    fn from_wire(message: &Vec<u8>) -> Result<Self, FieldError> {
        bytes32(message).map(Self)
    }
}

impl Wire for NonceHash {
    type Message = Vec<u8>;

    fn to_wire(&self) -> Vec<u8> {
        self.0.to_vec()
    }

    fn from_wire(message: &Vec<u8>) -> Result<Self, FieldError> {
        bytes32(message).map(Self)
    }
}

/// A seat that joins without a nonce hash: empty on the wire.
impl Wire for Option<NonceHash> {
    type Message = Vec<u8>;

    fn to_wire(&self) -> Vec<u8> {
        self.as_ref().map(Wire::to_wire).unwrap_or_default()
    }

    fn from_wire(message: &Vec<u8>) -> Result<Self, FieldError> {
        if message.is_empty() {
            return Ok(None);
        }
        let hash = bytes32(message);
        hash.map(|hash| Some(NonceHash(hash)))
            .map_err(|_| FieldError::invalid("", format!("has {} bytes: give 32, or none", message.len())))
    }
}

impl Wire for Nonce {
    type Message = Vec<u8>;

    fn to_wire(&self) -> Vec<u8> {
        self.reveal().to_vec()
    }

    fn from_wire(message: &Vec<u8>) -> Result<Self, FieldError> {
        Self::new(message).map_err(|error| FieldError::invalid("", error.to_string()))
    }
}
