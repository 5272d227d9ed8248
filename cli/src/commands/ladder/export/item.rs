//! What is exported of one match: its result, or its record.

use anyhow::{Context, Result};
use prost::Message;
use prost_types::Timestamp;
use zetema_proto::v1;

use super::table::{Cell, Column, Kind, always, sometimes};
use crate::commands::record::Found;
use crate::json::{LadderResultJson, LadderSeatJson, RatingJson, RecordJson, hex};

/// A row for each seat of each result.
pub(super) const RESULTS: [Column; 19] = [
    always("ladder", Kind::Text),
    always("result_number", Kind::Number),
    always("match_id", Kind::Text),
    always("time", Kind::Time),
    always("reason", Kind::Text),
    always("seat", Kind::Number),
    always("bot", Kind::Text),
    always("side", Kind::Number),
    sometimes("rank", Kind::Number),
    sometimes("total", Kind::Number),
    always("end", Kind::Text),
    sometimes("mu_before", Kind::Real),
    sometimes("sigma_before", Kind::Real),
    sometimes("shown_before", Kind::Real),
    sometimes("provisional_before", Kind::Truth),
    sometimes("mu_after", Kind::Real),
    sometimes("sigma_after", Kind::Real),
    sometimes("shown_after", Kind::Real),
    sometimes("provisional_after", Kind::Truth),
];

/// A row for each record.
pub(super) const RECORDS: [Column; 14] = [
    always("ladder", Kind::Text),
    always("result_number", Kind::Number),
    always("match_id", Kind::Text),
    always("create_time", Kind::Time),
    always("end_time", Kind::Time),
    always("reason", Kind::Text),
    always("rules", Kind::Text),
    always("rules_revision", Kind::Number),
    always("players", Kind::Number),
    always("dealing", Kind::Text),
    always("commitment", Kind::Text),
    always("deals", Kind::Number),
    always("steps", Kind::Number),
    always("record", Kind::Bytes),
];

/// What is exported of one match.
pub(super) enum Item {
    Result(v1::LadderResult),
    Record(Box<ExportedRecord>),
}

/// A record and its result.
pub(super) struct ExportedRecord {
    pub(super) result: v1::LadderResult,
    pub(super) message: v1::Record,
    pub(super) found: Found,
}

impl Item {
    /// As an object on a line.
    pub(super) fn json(&self) -> Result<String> {
        Ok(match self {
            Self::Result(result) => serde_json::to_string(&settled(result)),
            Self::Record(exported) => {
                let Found { record, header } = &exported.found;
                serde_json::to_string(&RecordJson::new(record, header.as_ref()))
            }
        }?)
    }

    /// As rows of the table.
    pub(super) fn rows(&self, ladder: &str) -> Result<Vec<Vec<Cell>>> {
        match self {
            Self::Result(result) => result_rows(ladder, result),
            Self::Record(exported) => Ok(vec![record_row(ladder, exported)?]),
        }
    }
}

/// A result without what is computed after it: a file that was written in parts would have that in some lines only.
fn settled(message: &v1::LadderResult) -> LadderResultJson<LadderSeatJson> {
    LadderResultJson::new(message)
}

fn result_rows(ladder: &str, message: &v1::LadderResult) -> Result<Vec<Vec<Cell>>> {
    let time = time(message.time.as_ref(), "a result")?;
    let LadderResultJson { result_number, match_id, reason, seats, time: _ } = settled(message);
    let row = |(at, seat): (usize, &LadderSeatJson)| {
        let LadderSeatJson { bot, side, rank, total, end, before, after } = seat;
        let mut row = vec![
            ladder.into(),
            result_number.into(),
            match_id.as_str().into(),
            time.clone(),
            reason.into(),
            at.into(),
            bot.as_str().into(),
            (*side).into(),
            (*rank).into(),
            (*total).into(),
            (*end).into(),
        ];
        row.extend(rating(before.as_ref()));
        row.extend(rating(after.as_ref()));
        row
    };
    Ok(seats.iter().enumerate().map(row).collect())
}

fn rating(rating: Option<&RatingJson>) -> [Cell; 4] {
    let Some(&RatingJson { mu, sigma, shown, provisional }) = rating else {
        return [Cell::Absent, Cell::Absent, Cell::Absent, Cell::Absent];
    };
    [Cell::Real(mu), Cell::Real(sigma), Cell::Real(shown), Cell::Truth(provisional)]
}

fn record_row(ladder: &str, exported: &ExportedRecord) -> Result<Vec<Cell>> {
    let ExportedRecord { result, message, found } = exported;
    let record = &found.record;
    Ok(vec![
        ladder.into(),
        result.result_number.into(),
        message.match_id.as_str().into(),
        time(message.create_time.as_ref(), "a record")?,
        time(message.end_time.as_ref(), "a record")?,
        settled(result).reason.into(),
        record.rules.to_string().as_str().into(),
        record.revision.into(),
        record.rules.player_count().count().into(),
        record.dealing.kind.to_string().as_str().into(),
        hex(&record.dealing.commitment.0).as_str().into(),
        record.deals.len().into(),
        record.steps.len().into(),
        Cell::Bytes(message.encode_to_vec()),
    ])
}

fn time(time: Option<&Timestamp>, of: &str) -> Result<Cell> {
    time.map(|time| Cell::Time(*time)).with_context(|| format!("the server sent {of} without its time"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use parquet::schema::parser::parse_message_type;

    use super::{Column, RECORDS, RESULTS};
    use crate::commands::ladder::export::table::message_type;

    #[test]
    fn the_page_names_every_column_and_parquet_has_each() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/exports.md");
        let page = std::fs::read_to_string(page).unwrap();
        for columns in [&RESULTS[..], &RECORDS] {
            let schema = parse_message_type(&message_type("exported", columns)).unwrap();
            let fields: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
            let names: Vec<&str> = columns.iter().map(|Column { name, .. }| *name).collect();
            assert_eq!(fields, names);
            for name in names {
                assert!(page.contains(&format!("`{name}`")), "docs/exports.md does not name {name}");
            }
        }
    }
}
