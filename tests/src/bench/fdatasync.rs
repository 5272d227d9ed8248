//! What the disk takes until it has a few bytes.

use std::fs::File;
use std::io::Write;
use std::time::Instant;

use anyhow::ensure;

use super::meter::{Meter, Timed};
use super::setting::Setting;
use super::{Figure, Figures};

/// Bytes of a write: what an action takes in a journal.
const BYTES: usize = 200;

/// Appends to a file, which grows by it, and syncs its data after each write: one after the other.
///
/// # Errors
/// What the disk says.
pub(super) async fn measure(setting: &Setting) -> anyhow::Result<Figures> {
    let setting = setting.clone();
    tokio::task::spawn_blocking(move || append(&setting)).await?
}

#[expect(clippy::cast_precision_loss, reason = "writes of a minute")]
fn append(setting: &Setting) -> anyhow::Result<Figures> {
    let folder = tempfile::tempdir_in(&setting.folder)?;
    let mut file = File::create_new(folder.path().join("appended"))?;
    let meter = Meter::default();
    let mut writes = |until: Instant| -> anyhow::Result<()> {
        while Instant::now() < until {
            let began = Instant::now();
            file.write_all(&[0x5a; BYTES])?;
            file.sync_data()?;
            meter.done(began.elapsed());
        }
        Ok(())
    };
    writes(Instant::now() + setting.warm_up)?;
    meter.measure(true);
    let (began, before) = (Instant::now(), meter.counts().done);
    writes(began + setting.lasts)?;
    let per_second = (meter.counts().done - before) as f64 / began.elapsed().as_secs_f64();
    ensure!(per_second > 0.0, "the disk has written nothing in {:?}", setting.lasts);
    let quantile = |quantile| meter.quantile_us(Timed::Answer, quantile).unwrap_or(f64::NAN);
    Ok(Figures::from([
        (Figure::PerSecond, per_second),
        (Figure::P50Us, quantile(0.5)),
        (Figure::P99Us, quantile(0.99)),
    ]))
}
