//! Who plays with whom now.

use super::candidate::{Candidate, Distance};
use super::field::Field;
use super::neighbours::Neighbours;
use super::owners::Owners;
use super::settings::PairingSettings;

/// Among how many a bot chooses: those nearest in rating that its match may have.
const CHOICE: usize = 48;

/// How many are looked at for that, as those who may not play with it are among them. For a bot whose patience is over all are.
const LOOKED_AT: usize = 4 * CHOICE;

/// How far a bot looks for others.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// As far as this, in points.
    Within(f64),
    /// Its patience is over.
    Unlimited,
}

impl Reach {
    fn new(settings: &PairingSettings, waited_ms: u64) -> Self {
        if waited_ms >= settings.patience_ms {
            return Self::Unlimited;
        }
        #[allow(clippy::cast_precision_loss)] // less than a day
        let seconds = waited_ms as f64 / 1_000.0;
        Self::Within(settings.reach_at_start + settings.reach_per_second * seconds)
    }

    fn has(self, distance: f64) -> bool {
        match self {
            Self::Within(points) => distance <= points,
            Self::Unlimited => true,
        }
    }
}

/// How far others are from a bot.
struct Surroundings {
    distance: Distance,
    neighbours: Neighbours,
}

impl Surroundings {
    /// Whether another that is so far from whoever chooses is within its reach. A neighbour is too, unless they have met too often for
    /// neighbours: there is nobody nearer to wait for.
    fn within(&self, reach: Reach, between: f64, first: &Candidate<'_>, other: &Candidate<'_>) -> bool {
        let Self { distance, neighbours } = self;
        reach.has(between)
            || reach.has(distance.by_repeats_of_neighbours(first, other)) && neighbours.are(first, other)
    }

    /// Whether two that are so far from one another may be in the match of another that has this reach. Neighbours may, however often they
    /// have met: who is tired of its own group, and meets another that is as tired of its own, would find nobody to make up a match.
    fn go_together(&self, reach: Reach, between: f64, one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
        reach.has(between) || self.neighbours.are(one, other)
    }
}

/// Who plays with whom now. Each candidate is in one group at most.
pub(super) fn groups<'a>(
    settings: &PairingSettings,
    candidates: Vec<Candidate<'a>>,
    neighbours: Neighbours,
    now_ms: u64,
) -> Vec<Vec<Candidate<'a>>> {
    let around = Surroundings { distance: Distance::new(settings), neighbours };
    let mut field = Field::new(candidates, settings.most_of_an_owner());
    let mut groups = Vec::new();
    for first in field.by_waiting() {
        if !field.has_match(settings.players.count()) {
            break;
        }
        if !field.is_left(first) {
            continue;
        }
        let waited_ms = now_ms.saturating_sub(field.candidate(first).since_ms);
        let reach = Reach::new(settings, waited_ms);
        let choice = choice(settings, &field, first, reach, &around);
        if let Some(group) = group(settings, &field, first, &choice, reach, &around) {
            groups.push(group.iter().map(|&index| *field.candidate(index)).collect());
            for index in group {
                field.remove(index);
            }
        }
    }
    groups
}

/// Among whom a bot chooses. With an unlimited reach a match can be made of them whenever one can be made at all.
fn choice(
    settings: &PairingSettings,
    field: &Field<'_>,
    first: usize,
    reach: Reach,
    around: &Surroundings,
) -> Vec<usize> {
    let candidate = field.candidate(first);
    let mut owners = Owners::new(settings.most_of_an_owner());
    owners.add(candidate.owner());
    // Of the bot's own owner there may be no room for another: whoever could not even play with it alone is no choice.
    let own = owners.clone();
    let (looked_at, widest) = match reach {
        Reach::Within(points) => {
            (LOOKED_AT, around.distance.widest(points, candidate, field.most_uncertain()))
        }
        Reach::Unlimited => (usize::MAX, f64::INFINITY),
    };
    let mut choice = Vec::new();
    for index in field.nearest(first).take(looked_at) {
        let other = field.candidate(index);
        if candidate.apart(other) > widest && !around.neighbours.are(candidate, other) {
            break;
        }
        let (full, enough) = (choice.len() >= CHOICE, owners.compatible() >= settings.players.count());
        if full && enough {
            break;
        }
        let wanted = if full { owners.has_room(other.owner()) } else { own.has_room(other.owner()) };
        if wanted {
            if !enough {
                owners.add(other.owner());
            }
            choice.push(index);
        }
    }
    choice
}

/// The bot with those of its choice that are nearest to it and to one another: one after the other, whoever is nearest to all that are
/// in the group, of those as near whoever waits longest. `None` if they are too few.
fn group(
    settings: &PairingSettings,
    field: &Field<'_>,
    first: usize,
    choice: &[usize],
    reach: Reach,
    around: &Surroundings,
) -> Option<Vec<usize>> {
    let mut owners = Owners::new(settings.most_of_an_owner());
    owners.add(field.candidate(first).owner());
    let mut group = vec![first];
    // Each with the sum of its distances to those who are in the group.
    let mut open: Vec<(f64, usize)> = choice.iter().map(|&index| (0.0, index)).collect();
    while group.len() < settings.players.count() {
        let newest = field.candidate(*group.last()?);
        open.retain_mut(|(sum, index)| {
            let other = field.candidate(*index);
            let between = around.distance.between(newest, other);
            *sum += between;
            let may = if group.len() == 1 { Surroundings::within } else { Surroundings::go_together };
            owners.has_room(other.owner()) && may(around, reach, between, newest, other)
        });
        let nearest = (0..open.len()).min_by(|&a, &b| {
            let [(sum_a, a), (sum_b, b)] = [open[a], open[b]];
            let waited = |index| (field.candidate(index).since_ms, field.candidate(index).id);
            sum_a.total_cmp(&sum_b).then_with(|| waited(a).cmp(&waited(b)))
        })?;
        let (_, index) = open.swap_remove(nearest);
        owners.add(field.candidate(index).owner());
        group.push(index);
    }
    Some(group)
}
