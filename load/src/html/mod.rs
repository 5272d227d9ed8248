//! A report as one page.

mod page;
mod plot;
mod write;

pub use plot::NoPlot;
pub use write::page;
