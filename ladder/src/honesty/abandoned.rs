//! Bots that leave far more of their matches than others do.

use super::bar::{Looked, listed};
use super::finding::Finding;
use super::finished::{Cause, Departure, Ending, Lead};
use super::hopeless::Hopeless;
use super::season::Season;
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
    let hopeless = Hopeless::of(season, settings);
    let is_abandoned = |departure: &Departure| match departure.cause {
        Cause::OutOfTime => false,
        Cause::Resigned => !hopeless.is_given_up(departure),
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
