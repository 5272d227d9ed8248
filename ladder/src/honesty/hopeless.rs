//! When a side is so far behind that to resign is no fault.

use super::finished::{Cause, Departure};
use super::season::{Season, SeasonMatch};
use super::settings::HonestySettings;
use super::tail::whole;

/// From which lead on a match is lost.
pub(super) struct Hopeless {
    /// In points, 0 or less; `None` if no match was played out, as nothing is known then.
    lost_from: Option<f64>,
}

impl Hopeless {
    pub(super) fn of<B, O>(season: &Season<'_, B, O>, settings: &HonestySettings) -> Self {
        Self { lost_from: deviation(season).map(|deviation| -settings.hopeless * deviation) }
    }

    /// Whether a bot resigned, and its match was lost.
    pub(super) fn is_given_up(&self, departure: &Departure) -> bool {
        let lead = f64::from(departure.lead);
        let is_lost = lead < 0.0 && self.lost_from.is_some_and(|lost_from| lead <= lost_from);
        is_lost && departure.cause == Cause::Resigned
    }
}

/// How far a side is ahead of or behind the best other one at the end, in points: the root of the mean square over all sides of the
/// matches that were played out. `None` if none was.
fn deviation<B, O>(season: &Season<'_, B, O>) -> Option<f64> {
    let (mut sides, mut squares) = (0, 0.0);
    for one in season.matches().iter().filter(|one| one.is_played_out()) {
        for lead in leads(one) {
            sides += 1;
            squares += lead * lead;
        }
    }
    (sides > 0).then(|| (squares / whole(sides)).sqrt())
}

/// The points of each side less those of the best other one.
fn leads<B, O>(one: &SeasonMatch<'_, B, O>) -> impl Iterator<Item = f64> {
    let played = one.finished.played();
    played.sides().filter_map(move |side| {
        let others = played.sides().filter(|&other| other != side);
        // Points of a match are 16 bits.
        #[allow(clippy::cast_precision_loss)]
        let lead = |margin: i64| margin as f64;
        others.map(|other| played.margin(side, other)).min().map(lead)
    })
}
