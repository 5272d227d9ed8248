//! Where a record comes from.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use zetema_proto::{RecordHeader, record_from_wire, v1};
use zetema_rules::Record;

use super::encoding;
use crate::args::ServerArgs;
use crate::client::Client;
use crate::commands::source::{STDIN, read_file};

/// A record and what came with it.
pub(crate) struct Found {
    /// The record.
    pub(crate) record: Record,
    /// What a server says beside it; a text has none.
    pub(crate) header: Option<RecordHeader>,
}

impl Found {
    /// The record that a message is.
    pub(crate) fn from_wire(message: &v1::Record) -> Result<Self> {
        let (record, header) = record_from_wire(message).map_err(|error| anyhow!("the record's {error}"))?;
        Ok(Self { record, header: Some(header) })
    }
}

/// Finds records by file or by id; connects to the server when the first id comes.
pub(super) struct Finder<'a> {
    server: &'a ServerArgs,
    client: Option<Client>,
}

impl<'a> Finder<'a> {
    pub(super) const fn new(server: &'a ServerArgs) -> Self {
        Self { server, client: None }
    }

    /// The one record that a command line names.
    pub(super) async fn find(&mut self, name: &str) -> Result<Found> {
        let [found]: [Found; 1] = self.find_all(name).await?.try_into().map_err(|all: Vec<Found>| {
            anyhow!("{name} holds {} records: give a file that holds one", all.len())
        })?;
        Ok(found)
    }

    /// The records that a name on a command line stands for: a file of JSON may hold several.
    pub(super) async fn find_all(&mut self, name: &str) -> Result<Vec<Found>> {
        if name == STDIN || Path::new(name).exists() || is_path(name) {
            let bytes = read_file(name)?;
            return encoding::read(&bytes).with_context(|| format!("{name} holds no record"));
        }
        let client = match &self.client {
            Some(client) => client,
            None => self.client.insert(Client::connect(self.server).await?),
        };
        Ok(vec![fetch(client, name).await?])
    }
}

/// Whether a name that is no file that exists can't be an id either.
fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}

/// The record of a match from the server.
pub(crate) async fn fetch(client: &Client, match_id: &str) -> Result<Found> {
    let request = v1::GetRecordRequest { match_id: match_id.to_owned() };
    let answer = client.get_record(request).await?;
    let record = answer.record.ok_or_else(|| anyhow!("the server sent no record of {match_id}"))?;
    Found::from_wire(&record)
}
