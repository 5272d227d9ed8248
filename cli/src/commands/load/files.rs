//! The files that are made of a run.

use std::path::PathBuf;

use anyhow::{Context, Result};
use zetema_load::report::Report;
use zetema_load::{hdr, html};

use crate::writable;

/// Which files are made of a run.
#[derive(Debug, clap::Args)]
pub(super) struct Files {
    /// Write the histograms of all times into this folder, in the formats of `HdrHistogram`
    #[arg(long, value_name = "DIR")]
    hdr: Option<PathBuf>,
    /// Write a page with plots into this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Files {
    /// Refuses those that can't be written, before the run that would be lost to them.
    pub(super) fn check(&self) -> Result<()> {
        self.hdr.as_deref().map_or(Ok(()), |folder| writable::folder("--hdr", folder))?;
        self.html.as_deref().map_or(Ok(()), |file| writable::file("--html", file))
    }

    /// Writes them: each is there whatever came of the other.
    pub(super) fn write(&self, report: &Report) -> Result<()> {
        let histograms = self.hdr.as_ref().map_or(Ok(()), |folder| {
            hdr::write(&report.outcome, folder).map(drop).context("the histograms can't be written")
        });
        let page = self.html.as_ref().map_or(Ok(()), |file| {
            let page = html::page(report).context("the page can't be made")?;
            std::fs::write(file, page).with_context(|| format!("{} can't be written", file.display()))
        });
        histograms.and(page)
    }
}
