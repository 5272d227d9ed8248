//! What has a form on the wire, as text: that form in base64.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prost::Message;
use serde::{Deserialize, Deserializer, Serializer, de};
use zetema_proto::Wire;

pub(crate) fn serialize<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Wire<Message: Message>,
    S: Serializer,
{
    serializer.serialize_str(&BASE64_STANDARD.encode(value.to_wire().encode_to_vec()))
}

pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Wire<Message: Message + Default>,
    D: Deserializer<'de>,
{
    let text = String::deserialize(deserializer)?;
    let bytes = BASE64_STANDARD.decode(text).map_err(de::Error::custom)?;
    let message = T::Message::decode(bytes.as_slice()).map_err(de::Error::custom)?;
    T::from_wire(&message).map_err(de::Error::custom)
}
