//! Seasons of bots as they are simulated.

use rand::rngs::StdRng;
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use zetema_ladder::{
    Cause, Departure, Ending, FinishedMatch, FinishedSeat, HonestySettings, Ladder, Lead, Played,
    RatingOptions, RatingSettings, ResultNumber, SeatDecision, Suspicion, Taken, suspicions,
};
use zetema_rules::{EndReason, MatchResult, Players, Seat, Seats, Teams};

use crate::bot::{Bot, Character, Name, Way};

/// How many decisions a seat has in a match.
const DECISIONS: usize = 24;

/// How much worse a bot plays on purpose.
const WORSE: f64 = 5.0;

pub(crate) type Finished = FinishedMatch<Name, usize>;

/// A season of so many matches of these bots: without teams of two to four of them, with teams of two and two.
pub(crate) fn season(seed: u64, bots: &[Bot], teams: Teams, matches: u64) -> Vec<Finished> {
    let mut dice = StdRng::seed_from_u64(seed);
    (1..=matches)
        .map(|number| finished(number, bots, seats(bots, teams, &mut dice), teams, &mut dice))
        .collect()
}

/// What is listed of it on a ladder with the usual numbers of such teams; without teams those of two players, however many play.
pub(crate) fn listed(results: &[Finished], teams: Teams) -> Vec<Suspicion<Name>> {
    suspicions(ladder(teams), results, &HonestySettings::default()).expect("each result once").listed
}

/// A ladder with the usual numbers of such teams, without results.
pub(crate) fn ladder(teams: Teams) -> Ladder<Name> {
    let options = RatingOptions::usual(players(teams), teams);
    Ladder::new(RatingSettings::new(options).expect("the usual settings"))
}

/// How many play in a match of such teams on a ladder here.
pub(crate) fn players(teams: Teams) -> Players {
    if teams == Teams::Individual { Players::TWO } else { Players::new(4).expect("four") }
}

fn seats(bots: &[Bot], teams: Teams, dice: &mut StdRng) -> Vec<Name> {
    loop {
        let players = if teams == Teams::Individual { dice.random_range(2..=4) } else { 4 };
        let names = index::sample(dice, bots.len(), players).into_vec();
        let same =
            |&one: &Name| names.iter().any(|&other| one != other && bots[one].owner == bots[other].owner);
        if !names.iter().any(same) {
            return names;
        }
    }
}

/// One seat while it is played.
struct Playing<'a> {
    bot: &'a Bot,
    side: usize,
    pace: f64,
    /// From which decision on it leaves, if it does.
    leaves: Option<Leaving>,
    ending: Ending,
    decisions: Vec<SeatDecision>,
}

/// When a seat leaves a match, and how.
#[derive(Clone, Copy)]
struct Leaving {
    /// Before this decision, or a later one that fits.
    turn: usize,
    cause: Cause,
    /// Only with so many points more than the best other side, or with more.
    least_lead: i32,
}

impl Leaving {
    fn at(turn: usize, cause: Cause) -> Self {
        Self { turn, cause, least_lead: i32::MIN }
    }

    fn is_due(self, turn: usize, lead: i32) -> bool {
        turn >= self.turn && lead >= self.least_lead
    }
}

/// The match of this number, of these bots by seats.
pub(crate) fn finished(
    number: u64,
    bots: &[Bot],
    names: Vec<Name>,
    teams: Teams,
    dice: &mut StdRng,
) -> Finished {
    let players = Players::new(names.len()).expect("two to four");
    let side = |seat: usize| teams.side(Seat::new(seat).expect("a seat"), players).index();
    let mut playing: Vec<Playing> =
        (0..names.len()).map(|seat| sat_down(seat, &names, bots, &side, dice)).collect();
    let mut points = vec![0.0; teams.sides(players)];
    let mut lost = vec![false; points.len()];
    let mut reason = EndReason::DealOver;
    'played: for turn in 0..DECISIONS {
        for one in &mut playing {
            let own = one.side;
            let others = (0..points.len()).filter(|&side| side != own).map(|side| shown(points[side]));
            let lead = shown(points[own]) - others.max().expect("two sides");
            one.decide(turn, lead, dice);
            lost[own] |= one.ending != Ending::PlayedOn;
            // One side is left without a forfeit (R25).
            if lost.iter().filter(|&&lost| !lost).count() <= 1 {
                reason = EndReason::Forfeit;
                break 'played;
            }
            points[own] += one.points(dice);
        }
    }
    let mut forfeited = Seats::EMPTY;
    for (seat, _) in playing.iter().enumerate().filter(|(_, one)| one.ending != Ending::PlayedOn) {
        forfeited = forfeited.with(Seat::new(seat).expect("a seat"));
    }
    let result = result(&points, &lost, reason);
    let played = Played::new(names, teams, result, forfeited).expect("a match");
    let seats = playing
        .into_iter()
        .map(|Playing { bot, ending, decisions, .. }| FinishedSeat {
            ending,
            decisions,
            ..FinishedSeat::played_on(bot.owner)
        })
        .collect();
    FinishedMatch::new(ResultNumber::new(number), number * 60_000, played, seats).expect("a match")
}

fn sat_down<'a>(
    seat: usize,
    names: &[Name],
    bots: &'a [Bot],
    side: &impl Fn(usize) -> usize,
    dice: &mut StdRng,
) -> Playing<'a> {
    let bot = &bots[names[seat]];
    let seat_of = |name: Name| names.iter().position(|&other| other == name);
    let (drawn, when) = (dice.random::<f64>(), dice.random_range(0..DECISIONS));
    let mut leaves = None;
    let mut pace = bot.strength;
    let mut lose = |way, leaves: &mut Option<Leaving>| match way {
        Way::PlaysBadly => pace -= WORSE,
        Way::Resigns => *leaves = Some(Leaving::at(0, Cause::Resigned)),
        Way::Lapses => *leaves = Some(Leaving::at(0, Cause::OutOfTime)),
        Way::ResignsUnlessBehind => {
            *leaves = Some(Leaving { least_lead: 0, ..Leaving::at(DECISIONS / 2, Cause::Resigned) });
        }
    };
    match bot.character {
        Character::LosesTo(name, share, way)
            if seat_of(name).is_some_and(|other| side(other) != side(seat)) && drawn < share =>
        {
            lose(way, &mut leaves);
        }
        Character::Fails(name, share, way)
            if seat_of(name).is_some_and(|other| side(other) == side(seat)) && drawn < share =>
        {
            lose(way, &mut leaves);
        }
        Character::BadConnection(share) if drawn < share => {
            leaves = Some(Leaving::at(when, Cause::Disconnected));
        }
        Character::Abandons(share) if drawn < share => {
            let cause = if when % 2 == 0 { Cause::Resigned } else { Cause::Disconnected };
            leaves = Some(Leaving::at(when, cause));
        }
        // Even the best leave one of 200.
        _ if drawn < 0.005 => leaves = Some(Leaving::at(when, Cause::Disconnected)),
        _ => {}
    }
    Playing {
        bot,
        side: side(seat),
        pace,
        leaves,
        ending: Ending::PlayedOn,
        decisions: Vec::with_capacity(DECISIONS),
    }
}

impl Playing<'_> {
    fn decide(&mut self, turn: usize, lead: i32, dice: &mut StdRng) {
        let drawn = dice.random::<f64>();
        if self.ending != Ending::PlayedOn {
            return;
        }
        let standing = Lead::of(lead);
        let out_of_time = match self.bot.character {
            Character::Slow(share) => drawn < share,
            Character::ShortAtTheEnd(share) => drawn < share * (turn as f64 / DECISIONS as f64).powi(3),
            Character::SlowBehind(share) => drawn < share * if standing == Lead::Behind { 1.0 } else { 0.5 },
            Character::TimesOutBehind(share) => standing == Lead::Behind && drawn < share,
            _ => drawn < 0.0005,
        };
        let is_lost = matches!(self.bot.character, Character::ResignsLost(points) if lead <= -points);
        let leaves = self.leaves.filter(|leaving| leaving.is_due(turn, lead)).map(|leaving| leaving.cause);
        let leaves = leaves.or(is_lost.then_some(Cause::Resigned));
        let cause = leaves.or(out_of_time.then_some(Cause::OutOfTime));
        if let Some(cause) = cause {
            let decisions_left = u32::try_from(DECISIONS - turn).ok();
            self.ending = Ending::Forfeited(Departure { cause, lead, decisions_left });
        }
        let taken = match cause {
            Some(Cause::Resigned) => return,
            Some(Cause::OutOfTime | Cause::Disconnected) => Taken::OutOfTime,
            None => Taken::Answered,
        };
        self.decisions.push(SeatDecision { standing, taken });
    }

    /// The server plays badly for those that are gone.
    fn points(&self, dice: &mut StdRng) -> f64 {
        let pace = if self.ending == Ending::PlayedOn { self.pace } else { -WORSE };
        let luck: f64 = StandardNormal.sample(dice);
        let decisions = DECISIONS as f64;
        60.0 * ((8.0 + pace) / decisions + luck / decisions.sqrt())
    }
}

/// In fives, as points are, so that some are level.
fn shown(points: f64) -> i32 {
    5 * (points / 5.0).round().clamp(0.0, 1_000.0) as i32
}

/// Sides with a forfeit are behind all others (R25).
fn result(points: &[f64], lost: &[bool], reason: EndReason) -> MatchResult {
    let mut ranks = [0; Seat::MAX];
    let mut totals = [0; Seat::MAX];
    let place = |side: usize| (!lost[side], shown(points[side]));
    for side in 0..points.len() {
        let ahead = (0..points.len()).filter(|&other| place(other) > place(side)).count();
        ranks[side] = u8::try_from(ahead + 1).expect("a rank");
        totals[side] = u16::try_from(shown(points[side])).expect("points");
    }
    MatchResult { reason, ranks, totals }
}
