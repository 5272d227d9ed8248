//! The plot of an overload.

use std::path::Path;

use anyhow::anyhow;
use plotters::prelude::*;

use super::Point;

const SIZE: (u32, u32) = (900, 800);
const COLOURS: [RGBColor; 2] = [RGBColor(0x1f, 0x77, 0xb4), RGBColor(0xd6, 0x27, 0x28)];

/// Points of one way to serve, by rising rate.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
}

/// Draws goodput and p99 by what was offered, into an SVG file. `limit` is what the server can do, in matches a second.
///
/// # Errors
/// If the file can't be written.
pub fn plot(curves: &[Curve], limit: f64, file: &Path) -> anyhow::Result<()> {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    let failed = |error: &dyn std::fmt::Display| anyhow!("{}: {error}", file.display());
    area.fill(&WHITE).map_err(|error| failed(&error))?;
    let (upper, lower) = area.split_vertically(SIZE.1 / 2);
    let goodput = |point: &Point| point.finished_per_second / limit;
    panel(&upper, curves, limit, "matches played to their end ÷ limit", goodput)
        .map_err(|error| failed(&error))?;
    panel(&lower, curves, limit, "action to receipt, p99, ms", |point| point.p99_ms)
        .map_err(|error| failed(&error))?;
    area.present().map_err(|error| failed(&error))
}

type Drawing<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn panel<'a>(
    area: &Drawing<'a>,
    curves: &[Curve],
    limit: f64,
    what: &str,
    value: impl Fn(&Point) -> f64,
) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>> {
    let offered = |point: &Point| point.asked_per_second / limit;
    let most = |of: &dyn Fn(&Point) -> f64| {
        curves.iter().flat_map(|curve| &curve.points).map(of).fold(0.1_f64, f64::max) * 1.05
    };
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..most(&offered), 0.0..most(&value))?;
    chart.configure_mesh().x_desc("matches offered ÷ limit").y_desc(what).draw()?;
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let points = || curve.points.iter().map(|point| (offered(point), value(point)));
        chart
            .draw_series(LineSeries::new(points(), colour.stroke_width(2)))?
            .label(&curve.name)
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        chart.draw_series(points().map(|at| Circle::new(at, 3, colour.filled())))?;
    }
    chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()
}
