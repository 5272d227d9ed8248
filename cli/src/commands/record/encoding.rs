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
    /// JSON, a line for each record
    JsonLines,
    /// The protobuf message zetema.v1.Record
    Binary,
}

/// Reads what was written in any of the forms. JSON may hold several records, one after the other.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Found>> {
    let text = std::str::from_utf8(bytes).ok().map(str::trim_start);
    match text {
        Some(text) if text.starts_with('{') => {
            let read: serde_json::Result<Vec<RecordJson>> =
                serde_json::Deserializer::from_str(text).into_iter().collect();
            let all = read.context("it is no JSON of a record")?;
            let found = all.iter().enumerate().map(|(i, json)| {
                let record = json.record().map_err(|error| match all.len() {
                    1 => anyhow!(error),
                    _ => anyhow!("its record {}: {error}", i + 1),
                });
                record.map(|record| Found { record, header: None })
            });
            found.collect()
        }
        Some(text) if text.starts_with("zetema record") || text.starts_with('#') => {
            Ok(vec![Found { record: text.parse()?, header: None }])
        }
        _ if bytes.is_empty() => bail!("it is empty"),
        _ => {
            let message = v1::Record::decode(bytes).map_err(|_| {
                anyhow!("it is neither text (zetema record 1 …) nor JSON ({{…}}) nor a zetema.v1.Record")
            })?;
            Ok(vec![Found::from_wire(&message)?])
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
        Encoding::JsonLines => {
            let mut line = serde_json::to_string(&RecordJson::new(record, header.as_ref()))?;
            line.push('\n');
            line.into_bytes()
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
