//! What the messages of a webhook are signed by, as in the Standard Webhooks specification.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretBox, SecretString};
use sha2::Sha256;

use super::ServiceKey;
use crate::journal::WebhookId;

/// What every secret begins with, so that people and scanners of leaked secrets know it.
const PREFIX: &str = "whsec_";
/// Separates these MACs from any other use of the key.
const CONTEXT: &[u8] = b"zetema/v1/webhook-secret";
const KEY_BYTES: usize = 32;
/// The block of SHA-256: RFC 2104 pads a shorter key with zeros.
const BLOCK_BYTES: usize = 64;

/// The secret of a webhook. `Debug` does not show it.
pub struct WebhookSecret(SecretBox<[u8; KEY_BYTES]>);

impl WebhookSecret {
    /// As its receiver is given it: `whsec_` and the base64 of 32 bytes.
    pub fn text(&self) -> SecretString {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(self.0.expose_secret())).into()
    }

    /// What the header `webhook-signature` says of a message: its id, when it is sent in seconds since 1970, and its body.
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        signature(self.0.expose_secret(), id, timestamp, body)
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

impl ServiceKey {
    /// The secret of a webhook, always the same for the same one: nothing is stored for it.
    pub fn webhook_secret(&self, id: WebhookId) -> WebhookSecret {
        WebhookSecret(SecretBox::new(Box::new(self.mac(CONTEXT, id.as_bytes()))))
    }
}

fn signature(key: &[u8], id: &str, timestamp: u64, body: &[u8]) -> String {
    let mut block = [0; BLOCK_BYTES];
    let length = key.len().min(BLOCK_BYTES);
    block[..length].copy_from_slice(&key[..length]);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification, and that of the tests of its libraries.
    #[test]
    fn a_signature_is_that_of_the_specification() {
        let check = |secret: &str, id, timestamp, body: &str, expected| {
            let key = BASE64_STANDARD.decode(secret).unwrap();
            assert_eq!(signature(&key, id, timestamp, body.as_bytes()), expected);
        };
        check(
            "plJ3nmyCDGBKInavdOK15jsl",
            "msg_loFOjxBNrRLzqYUf",
            1_731_705_121,
            r#"{"event_type":"ping","data":{"success":true}}"#,
            "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
        );
        check(
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        );
    }

    #[test]
    fn a_secret_follows_from_the_key_and_the_webhook_and_is_not_shown() {
        let key = ServiceKey::from_bytes([7; 32]);
        let text = |key: &ServiceKey, id| {
            key.webhook_secret(WebhookId::from_bytes([id; 16])).text().expose_secret().to_owned()
        };
        // By another program's HMAC-SHA-256.
        assert_eq!(text(&key, 1), "whsec_rlXcu1ydcW52F95kIW/IVQGMV1nms7ib5Ph2jCC0Pac=");
        assert_ne!(text(&key, 1), text(&key, 2));
        assert_ne!(text(&key, 1), text(&ServiceKey::from_bytes([8; 32]), 1));
        let bytes = BASE64_STANDARD.decode(text(&key, 1).strip_prefix(PREFIX).unwrap()).unwrap();
        assert_eq!(bytes.len(), KEY_BYTES);
        let secret = key.webhook_secret(WebhookId::from_bytes([1; 16]));
        assert_eq!(format!("{secret:?}"), "WebhookSecret");
    }
}
