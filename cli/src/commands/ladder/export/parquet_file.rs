//! A file of Parquet. Its rows come in groups; it has its name when it is whole.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use tempfile::NamedTempFile;

use super::table::{Cell, Column, Kind, Presence, message_type, millis};
use crate::beside::beside;
use crate::failure::Usage;

/// Rows of a group at most: what is in memory at once.
const GROUP_ROWS: usize = 32 * 1024;
/// Bytes of the texts and bytes of a group, from which on it is full.
const GROUP_BYTES: usize = 32 * 1024 * 1024;

/// A file of Parquet that is being written.
pub(super) struct ParquetFile {
    writer: SerializedFileWriter<Target>,
    columns: Vec<Buffer>,
    rows: usize,
    bytes: usize,
    path: Option<PathBuf>,
}

/// Where its bytes go.
enum Target {
    Stdout(io::Stdout),
    /// Beside where it will be. It goes when it is dropped.
    File(NamedTempFile),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// What a column of a group has so far.
struct Buffer {
    values: Values,
    /// 1 for a row that has a value, 0 for one that has none. `None`: all have one.
    levels: Option<Vec<i16>>,
}

enum Values {
    Bytes(Vec<ByteArray>),
    Number(Vec<i64>),
    Real(Vec<f64>),
    Truth(Vec<bool>),
}

impl ParquetFile {
    /// Begins a file, or with no path what goes to stdout.
    pub(super) fn create(path: Option<&Path>, name: &str, columns: &[Column]) -> Result<Self> {
        let target = match path {
            None if io::stdout().is_terminal() => {
                bail!(Usage::new("Parquet is no text for a terminal: give --output FILE"));
            }
            None => Target::Stdout(io::stdout()),
            Some(path) if path.exists() => {
                bail!(Usage::new(format!(
                    "{} is there: a Parquet file is of one run, give another name",
                    path.display()
                )));
            }
            Some(path) => {
                Target::File(beside(path).with_context(|| format!("{} can't be made", path.display()))?)
            }
        };
        let schema = Arc::new(parse_message_type(&message_type(name, columns))?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("zetema {}", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            writer: SerializedFileWriter::new(target, schema, Arc::new(properties))?,
            columns: columns.iter().map(Buffer::new).collect(),
            rows: 0,
            bytes: 0,
            path: path.map(Path::to_owned),
        })
    }

    /// Takes a row. It is in the file once that is closed.
    pub(super) fn push(&mut self, row: Vec<Cell>) -> Result<()> {
        for (buffer, cell) in self.columns.iter_mut().zip(row) {
            self.bytes += buffer.push(cell)?;
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for buffer in &mut self.columns {
            let mut column = group.next_column()?.context("a column has no place in the schema")?;
            buffer.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Writes what is left and the foot, and gives the file its name.
    pub(super) fn close(mut self) -> Result<()> {
        self.write_group()?;
        let target = self.writer.into_inner()?;
        let (Target::File(file), Some(path)) = (target, self.path) else { return Ok(()) };
        file.as_file().sync_all().with_context(|| format!("{} can't be written", path.display()))?;
        file.persist_noclobber(&path).with_context(|| format!("{} can't be made", path.display()))?;
        Ok(())
    }
}

impl Buffer {
    fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Text | Kind::Bytes => Values::Bytes(Vec::new()),
            Kind::Number | Kind::Time => Values::Number(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Truth => Values::Truth(Vec::new()),
        };
        Self { values, levels: (column.presence == Presence::Sometimes).then(Vec::new) }
    }

    /// Takes a cell, and says how many bytes of text it has.
    fn push(&mut self, cell: Cell) -> Result<usize> {
        let mut bytes = 0;
        let is_there = cell != Cell::Absent;
        match (&mut self.values, cell) {
            (_, Cell::Absent) if self.levels.is_some() => {}
            (Values::Bytes(values), Cell::Text(text)) => {
                bytes = text.len();
                values.push(text.into_bytes().into());
            }
            (Values::Bytes(values), Cell::Bytes(given)) => {
                bytes = given.len();
                values.push(given.into());
            }
            (Values::Number(values), Cell::Number(number)) => values.push(number),
            (Values::Number(values), Cell::Time(time)) => values.push(millis(&time)),
            (Values::Real(values), Cell::Real(real)) => values.push(real),
            (Values::Truth(values), Cell::Truth(truth)) => values.push(truth),
            (_, cell) => return Err(anyhow!("{cell:?} does not fit into its column")),
        }
        if let Some(levels) = &mut self.levels {
            levels.push(i16::from(is_there));
        }
        Ok(bytes)
    }

    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let levels = self.levels.as_deref();
        match &mut self.values {
            Values::Bytes(values) => {
                column.typed::<ByteArrayType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Number(values) => {
                column.typed::<Int64Type>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Real(values) => {
                column.typed::<DoubleType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Truth(values) => {
                column.typed::<BoolType>().write_batch(values, levels, None)?;
                values.clear();
            }
        }
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
        Ok(())
    }
}
