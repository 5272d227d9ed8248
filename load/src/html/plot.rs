//! A plot, as SVG.
//!
//! Nothing is drawn in white or as a background, and what is black is drawn so by the page's own colours: so it can be read on a
//! light page and on a dark one.

use std::ops::Range;
use std::time::Duration;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::amount;

/// Of the drawing, in its own units: the page scales it.
const SIZE: (u32, u32) = (900, 320);
/// Colours of lines. The page has lighter ones for a dark background.
pub(super) const COLOURS: [RGBColor; 5] = [
    RGBColor(0x1F, 0x5F, 0xA8),
    RGBColor(0xB5, 0x23, 0x23),
    RGBColor(0x2C, 0x7A, 0x2C),
    RGBColor(0x7A, 0x4A, 0xA8),
    RGBColor(0x9A, 0x62, 0x00),
];
/// Labels along an axis.
const LABELS: usize = 8;

/// An axis, as far as it is shown.
struct Scale {
    axis: Axis,
    range: Range<f64>,
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range.clone()).map(place, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.axis.labels(&self.range)
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format(place: &f64) -> String {
        place.to_string()
    }

    fn format_ext(&self, place: &f64) -> String {
        self.axis.label(*place)
    }
}

/// A plot of lines.
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    /// Parts of the x axis that were not measured.
    pub(super) shaded: Vec<Range<f64>>,
}

/// A line, with its points by rising x. It is broken where y is no number.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// What an axis shows.
#[derive(Clone, Copy)]
pub(super) enum Axis {
    /// Seconds since the run began.
    Elapsed,
    /// How many a second.
    Rate,
    /// Bytes.
    Bytes,
    /// Microseconds, each tenfold as far as the one before.
    Time,
    /// Percentiles: 90, 99, 99.9 and so on are equally far from each other.
    Nines,
}

/// Why there is no plot.
#[derive(Debug, thiserror::Error)]
#[error("the plot {title:?} can't be drawn: {problem}")]
pub struct NoPlot {
    title: String,
    problem: String,
}

impl Axis {
    /// Where a value stands.
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Elapsed | Self::Rate | Self::Bytes => value,
            Self::Time => value.max(1.0).log10(),
            Self::Nines => -(1.0 - value).log10(),
        }
    }

    /// From where to where these places go, with some room.
    fn range(self, places: impl Iterator<Item = f64>) -> Range<f64> {
        let (least, most) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), place| {
            (least.min(place), most.max(place))
        });
        if least > most {
            return 0.0..1.0;
        }
        match self {
            Self::Elapsed | Self::Nines => 0.0..most.max(1.0),
            Self::Rate | Self::Bytes => 0.0..(1.08 * most).max(1.0),
            // At least two tens of it, so that noise does not look like mountains.
            Self::Time => least.floor()..(most + 0.05).max(least.floor() + 2.0),
        }
    }

    /// Where labels are.
    fn labels(self, range: &Range<f64>) -> Vec<f64> {
        match self {
            Self::Elapsed | Self::Rate | Self::Bytes => {
                RangedCoordf64::from(range.clone()).key_points(LABELS)
            }
            Self::Nines => (0..=9).map(f64::from).filter(|place| *place <= range.end).collect(),
            Self::Time => {
                let steps: &[f64] = if range.end - range.start > 4.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let tens = (0..=9).map(|ten| 10f64.powi(ten));
                let places = tens.flat_map(|ten| steps.iter().map(move |step| (ten * step).log10()));
                places.filter(|place| range.contains(place)).collect()
            }
        }
    }

    fn label(self, place: f64) -> String {
        match self {
            Self::Elapsed => format!("{place:.0} s"),
            Self::Rate => amount::rate(place).replace(".00/", "/").replace(".0/", "/"),
            Self::Bytes => amount::bytes(whole(place)),
            Self::Time => {
                let shown = amount::time(Duration::from_secs_f64(10f64.powf(place) / 1e6));
                shown.replace(".00 ", " ").replace(".0 ", " ")
            }
            Self::Nines if place <= 0.0 => "p0".to_owned(),
            Self::Nines => {
                let decimals = usize::try_from(whole(place)).unwrap_or(0).saturating_sub(2);
                format!("p{:.decimals$}", 100.0 * (1.0 - 10f64.powf(-place)))
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label is what is near enough")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

impl Plot {
    /// The drawing, as an element of a page.
    ///
    /// # Errors
    /// [`NoPlot`] if it can't be drawn.
    pub(super) fn svg(&self) -> Result<String, NoPlot> {
        let mut svg = String::new();
        let failed =
            |error: &dyn std::fmt::Display| NoPlot { title: self.title.clone(), problem: error.to_string() };
        self.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area())
            .map_err(|error| failed(&error))?;
        Ok(svg)
    }

    fn draw<'a>(
        &self,
        area: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>> {
        let points = || self.lines.iter().flat_map(|line| &line.points).filter(|(_, y)| !y.is_nan());
        let ends = self.shaded.iter().map(|part| part.end);
        let x = self.x.range(points().map(|(x, _)| self.x.place(*x)).chain(ends));
        let y = self.y.range(points().map(|(_, y)| self.y.place(*y)));
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_right(24)
            .x_label_area_size(28)
            .y_label_area_size(72)
            .build_cartesian_2d(
                Scale { axis: self.x, range: x.clone() },
                Scale { axis: self.y, range: y.clone() },
            )?;
        chart
            .configure_mesh()
            .bold_line_style(BLACK.mix(0.18))
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 15))
            .draw()?;
        let shaded = self.shaded.iter();
        chart.draw_series(shaded.map(|part| {
            Rectangle::new([(part.start, y.start), (part.end.min(x.end), y.end)], BLACK.mix(0.08).filled())
        }))?;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            for part in line.points.split(|(_, y)| y.is_nan()) {
                let places = part.iter().map(|(x, y)| (self.x.place(*x), self.y.place(*y)));
                chart.draw_series(LineSeries::new(places.clone(), colour.stroke_width(2)))?;
                // A line of few points is hardly seen, and one of a single point is not drawn.
                if part.len() == 1 || line.points.len() <= 12 {
                    chart.draw_series(places.map(|at| Circle::new(at, 3, colour.filled())))?;
                }
            }
        }
        area.present()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_round() {
        let check = |axis: Axis, range: Range<f64>, expected: &[&str]| {
            let labels: Vec<_> = axis.labels(&range).into_iter().map(|place| axis.label(place)).collect();
            assert_eq!(labels, expected);
        };
        check(Axis::Nines, 0.0..4.2, &["p0", "p90", "p99", "p99.9", "p99.99"]);
        check(Axis::Time, 2.0..3.5, &["100 µs", "200 µs", "500 µs", "1 ms", "2 ms"]);
        check(Axis::Time, 2.0..7.5, &["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
        check(Axis::Elapsed, 0.0..40.0, &["0 s", "10 s", "20 s", "30 s", "40 s"]);
    }

    #[test]
    fn nothing_can_be_drawn_and_one_point_can() {
        for points in [vec![], vec![(3.0, 0.0)], vec![(0.0, 5.0), (1.0, f64::NAN), (2.0, 5.0)]] {
            for y in [Axis::Rate, Axis::Bytes, Axis::Time] {
                let line = Line { name: "one".to_owned(), points: points.clone() };
                let plot = Plot {
                    title: "t".to_owned(),
                    x: Axis::Elapsed,
                    y,
                    lines: vec![line],
                    shaded: vec![0.0..2.0],
                };
                assert!(plot.svg().unwrap().trim_end().ends_with("</svg>"));
            }
        }
    }
}
