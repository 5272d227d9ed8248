//! Bots that leave far more of their matches than others do.

use super::bar::{Looked, listed};
use super::finding::Finding;
use super::finished::{Cause, Departure, Ending, Lead};
use super::season::{Season, SeasonMatch};
use super::settings::HonestySettings;
use super::suspicion::Suspicion;
use super::tail::{at_least, whole};

/// What one bot played and left.
#[derive(Clone, Default)]
struct Left {
    matches: usize,
    departures: Vec<Departure>,
    /// The places of those matches.
    places: Vec<usize>,
}

impl Left {
    fn count(&self, of: impl Fn(&Departure) -> bool) -> usize {
        self.departures.iter().filter(|departure| of(departure)).count()
    }
}

/// Who abandons matches: resigns what is not lost, or is gone when its time runs out. A bot that is there and slow is another matter.
pub(super) fn abandoned<B: Clone, O>(
    season: &Season<'_, B, O>,
    settings: &HonestySettings,
) -> Vec<Suspicion<B>> {
    let lost_from = deviation(season).map(|deviation| -settings.hopeless * deviation);
    let is_abandoned = |departure: &Departure| match departure.cause {
        Cause::OutOfTime => false,
        Cause::Resigned => {
            let lead = f64::from(departure.lead);
            lead >= 0.0 || lost_from.is_none_or(|lost_from| lead > lost_from)
        }
        Cause::Disconnected => true,
    };
    let mut all = vec![Left::default(); season.bots().len()];
    for (place, one) in season.matches().iter().enumerate() {
        for (_, bot, finished) in one.seats() {
            all[bot].matches += 1;
            if let Ending::Forfeited(departure) = finished.ending
                && is_abandoned(&departure)
            {
                all[bot].departures.push(departure);
                all[bot].places.push(place);
            }
        }
    }
    let matches: usize = all.iter().map(|left| left.matches).sum();
    let departures: usize = all.iter().map(|left| left.departures.len()).sum();
    let mut looked = Vec::new();
    for (bot, left) in all.into_iter().enumerate() {
        if left.matches < settings.least_matches as usize {
            continue;
        }
        let others = whole(departures - left.departures.len()) / whole((matches - left.matches).max(1));
        let most = settings.abandoned_share.max(settings.abandoned_times * others).min(1.0);
        let finding = Finding::Abandons {
            bot,
            matches: left.matches,
            resigned: left.count(|departure| departure.cause == Cause::Resigned),
            disconnected: left.count(|departure| departure.cause == Cause::Disconnected),
            behind: left.count(|departure| Lead::of(departure.lead) == Lead::Behind),
            ahead: left.count(|departure| Lead::of(departure.lead) == Lead::Ahead),
            others,
        };
        let p_value = at_least(left.departures.len(), &vec![most; left.matches]);
        looked.push(Looked { p_value, finding, seen_in: left.places });
    }
    listed(looked, season, settings)
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
