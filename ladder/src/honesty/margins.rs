//! What margins the bots of teams give, and how far each match is off that.

use zetema_rules::{Seat, Side};

use super::finished::Ending;
use super::hopeless::Hopeless;
use super::season::{BotIndex, Season, SeasonMatch};
use super::tail::whole;

/// One side's margin in one match: its points less the mean of the other sides' points, at the end if it was played out, or when a bot
/// resigned what was lost.
pub(super) struct Margin {
    /// The place of the match in the season.
    pub(super) place: usize,
    pub(super) own: Vec<BotIndex>,
    pub(super) others: Vec<BotIndex>,
    /// Each of the others counts by one part in so many sides.
    other_sides: f64,
    /// In points.
    points: f64,
}

/// A bot of a team that forfeited, but for who resigned what was lost. That ends a match of two teams at once, with the points as they are
/// (R25): so no margin of such a match tells anything.
pub(super) struct Forfeit {
    /// The place of the match in the season.
    pub(super) place: usize,
    pub(super) bot: BotIndex,
    pub(super) partners: Vec<BotIndex>,
    pub(super) others: Vec<BotIndex>,
}

/// The margins of all matches of teams, and what they should be.
pub(super) struct Margins {
    rows: Vec<Margin>,
    forfeits: Vec<Forfeit>,
    /// How far off a forfeit is, in points: as far as a match counts at most.
    lost: f64,
    /// What is off in each row, in points: within three standard deviations, so that no single match tells much.
    off: Vec<f64>,
    /// Of what is off, for each bot in the rows of its own side; at least that of all rows.
    deviations: Vec<f64>,
}

/// What one match counts for at most, in standard deviations.
const MOST: f64 = 3.0;

/// How often the fit is made better. It ends long before, unless there are more bots than matches.
const STEPS: usize = 200;

impl Margins {
    /// Fits one number of points to each bot, so that a side's margin is the sum of its members' less the mean of the other sides'
    /// sums: by least squares, each bot's number held towards 0 as by one match.
    pub(super) fn new<B, O>(season: &Season<'_, B, O>, hopeless: &Hopeless) -> Self {
        let rows = rows(season, hopeless);
        let bots = season.bots().len();
        let strengths = fit(&rows, bots);
        let mut off: Vec<f64> = rows.iter().map(|row| row.points - row.expected(&strengths)).collect();
        let all = deviation(off.iter().copied());
        for one in &mut off {
            *one = one.clamp(-MOST * all, MOST * all);
        }
        let mut of_bots = vec![Vec::new(); bots];
        for (row, &off) in rows.iter().zip(&off) {
            for &bot in &row.own {
                of_bots[bot].push(off);
            }
        }
        let deviations = of_bots.into_iter().map(|own| deviation(own.into_iter()).max(all)).collect();
        Self { rows, forfeits: forfeits(season, hopeless), lost: MOST * all, off, deviations }
    }

    pub(super) fn forfeits(&self) -> &[Forfeit] {
        &self.forfeits
    }

    /// How many points a forfeit is counted as.
    pub(super) fn lost(&self) -> f64 {
        self.lost
    }

    /// Each margin with what it is off, in points.
    pub(super) fn off(&self) -> impl Iterator<Item = (&Margin, f64)> {
        self.rows.iter().zip(self.off.iter().copied())
    }

    /// The standard deviation of a margin in which these two play, in points.
    pub(super) fn deviation(&self, one: BotIndex, other: BotIndex) -> f64 {
        self.deviations[one].max(self.deviations[other])
    }
}

impl Margin {
    fn expected(&self, strengths: &[f64]) -> f64 {
        let sum = |bots: &[BotIndex]| bots.iter().map(|&bot| strengths[bot]).sum::<f64>();
        sum(&self.own) - sum(&self.others) / self.other_sides
    }

    fn add_to(&self, strengths: &mut [f64], times: f64) {
        for &bot in &self.own {
            strengths[bot] += times;
        }
        for &bot in &self.others {
            strengths[bot] -= times / self.other_sides;
        }
    }
}

fn rows<B, O>(season: &Season<'_, B, O>, hopeless: &Hopeless) -> Vec<Margin> {
    let mut rows = Vec::new();
    for (place, one) in season.matches().iter().enumerate().filter(|(_, one)| one.is_of_teams()) {
        let given_up = given_up(one, hopeless);
        if given_up.is_none() && !one.is_played_out() {
            continue;
        }
        let played = one.finished.played();
        let sides = one.sides();
        let other_sides = whole(sides.len() - 1);
        for (side, own) in played.sides().zip(&sides) {
            let others = played.sides().filter(|&other| other != side);
            // Points of a match are 16 bits, and there are six sides at most.
            #[allow(clippy::cast_precision_loss)]
            let ahead = match given_up {
                None => others.clone().map(|other| played.margin(side, other)).sum::<i64>() as f64,
                Some((loser, lead)) if loser == side => lead * other_sides,
                Some((_, lead)) => -lead,
            };
            rows.push(Margin {
                place,
                own: own.clone(),
                others: others.flat_map(|other| sides[other.index()].iter().copied()).collect(),
                other_sides,
                points: ahead / other_sides,
            });
        }
    }
    rows
}

/// The side of the one bot that forfeited, if it resigned what was lost, and how many points it was ahead of the best other side then:
/// less than 0. Of several other sides no more is known, so each has the same part of it.
fn given_up<B, O>(one: &SeasonMatch<'_, B, O>, hopeless: &Hopeless) -> Option<(Side, f64)> {
    let seats = one.finished.played().seats().zip(one.finished.seats());
    let mut departures = seats.filter_map(|((_, _, side), finished)| match finished.ending {
        Ending::PlayedOn => None,
        Ending::Forfeited(departure) => Some((side, departure)),
    });
    match (departures.next(), departures.next()) {
        (Some((side, departure)), None) if hopeless.is_given_up(&departure) => {
            Some((side, departure.lead.into()))
        }
        _ => None,
    }
}

fn forfeits<B, O>(season: &Season<'_, B, O>, hopeless: &Hopeless) -> Vec<Forfeit> {
    let mut all = Vec::new();
    for (place, one) in season.matches().iter().enumerate().filter(|(_, one)| one.is_of_teams()) {
        let played = one.finished.played();
        let is_forfeit = |seat: Seat| match one.finished.seats()[seat.index()].ending {
            Ending::PlayedOn => false,
            Ending::Forfeited(departure) => !hopeless.is_given_up(&departure),
        };
        for (seat, _, side) in played.seats().filter(|&(seat, _, _)| is_forfeit(seat)) {
            let bots = |which: &dyn Fn(Seat, Side) -> bool| {
                let of = played.seats().filter(|&(other, _, of)| which(other, of));
                of.map(|(other, _, _)| one.bots[other.index()]).collect()
            };
            all.push(Forfeit {
                place,
                bot: one.bots[seat.index()],
                partners: bots(&|other, of| of == side && other != seat),
                others: bots(&|_, of| of != side),
            });
        }
    }
    all
}

/// Conjugate gradients on `(XᵀX + 1) s = Xᵀy` (Hestenes and Stiefel 1952).
fn fit(rows: &[Margin], bots: usize) -> Vec<f64> {
    let mut strengths = vec![0.0; bots];
    let mut left = vec![0.0; bots];
    for row in rows {
        row.add_to(&mut left, row.points);
    }
    let mut direction = left.clone();
    let mut length = dot(&left, &left);
    let enough = length * 1e-20;
    for _ in 0..STEPS {
        if length <= enough {
            break;
        }
        let mut image = direction.clone();
        for row in rows {
            row.add_to(&mut image, row.expected(&direction));
        }
        let step = length / dot(&direction, &image);
        for bot in 0..bots {
            strengths[bot] += step * direction[bot];
            left[bot] -= step * image[bot];
        }
        let next = dot(&left, &left);
        for bot in 0..bots {
            direction[bot] = left[bot] + next / length * direction[bot];
        }
        length = next;
    }
    strengths
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Around 0, which the fit's mean is.
fn deviation(off: impl ExactSizeIterator<Item = f64>) -> f64 {
    match off.len() {
        0 => 0.0,
        count => (off.map(|off| off * off).sum::<f64>() / whole(count)).sqrt(),
    }
}
