//! The forms in which a record is stored.

use anyhow::{Context, Result, anyhow, bail};
use prost::Message;
use zetema_proto::{record_to_wire, v1};

use super::source::Found;
use crate::json::RecordJson;

/// A form in which a record is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Encoding {
    /// The text notation, for people, bug reports and test data
    #[default]
    Text,
    /// JSON, for programs
    Json,
    /// The protobuf message zetema.v1.Record
    Binary,
}

/// Reads a record in any of the forms.
pub(super) fn read(bytes: &[u8]) -> Result<Found> {
    let text = std::str::from_utf8(bytes).ok().map(str::trim_start);
    match text {
        Some(text) if text.starts_with('{') => {
            let json: RecordJson = serde_json::from_str(text).context("it is no JSON of a record")?;
            let record = json.record().map_err(|error| anyhow!(error))?;
            Ok(Found { record, header: None })
        }
        Some(text) if text.starts_with("zetema record") || text.starts_with('#') => {
            Ok(Found { record: text.parse()?, header: None })
        }
        _ if bytes.is_empty() => bail!("it is empty"),
        _ => {
            let message = v1::Record::decode(bytes).map_err(|_| {
                anyhow!("it is neither text (zetema record 1 …) nor JSON ({{…}}) nor a zetema.v1.Record")
            })?;
            Found::from_wire(&message)
        }
    }
}

/// Writes a record in this form.
pub(super) fn write(found: &Found, encoding: Encoding) -> Result<Vec<u8>> {
    let Found { record, header } = found;
    Ok(match encoding {
        Encoding::Text => {
            let name = header.as_ref().map(|header| format!("# match {}\n", header.match_id));
            format!("{}{record}", name.unwrap_or_default()).into_bytes()
        }
        Encoding::Json => {
            let mut text = serde_json::to_string_pretty(&RecordJson::new(record, header.as_ref()))?;
            text.push('\n');
            text.into_bytes()
        }
        Encoding::Binary => {
            let header = header.as_ref().ok_or_else(|| {
                anyhow!(
                    "text and JSON don't hold the visibility and times of a zetema.v1.Record: export it from the \
                     server, or from a binary file"
                )
            })?;
            record_to_wire(record, header)?.encode_to_vec()
        }
    })
}
