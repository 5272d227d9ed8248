//! Bots whose time runs out when they are behind.

use super::bar::{Looked, listed};
use super::finding::Finding;
use super::finished::{Lead, SeatDecision, Taken};
use super::season::Season;
use super::settings::HonestySettings;
use super::suspicion::Suspicion;
use super::tail::{at_least, whole};

/// Stages of a match, by the number of a seat's own decision: 1, 2 and 3, 4 to 7, 8 to 15, and so on.
const STAGES: usize = u32::BITS as usize;

/// The decisions of one bot, each match's up to the first in which its time was out.
#[derive(Clone, Default)]
struct Course {
    /// How often it was behind and ahead, by stage.
    stood: [[usize; 2]; STAGES],
    /// Where its time was out while it was behind or ahead.
    time_outs: Vec<TimeOut>,
}

#[derive(Clone, Copy)]
struct TimeOut {
    stage: usize,
    standing: Stood,
    /// The match's place in the season.
    place: usize,
}

/// Behind or ahead: a decision at equal points tells nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stood {
    Behind,
    Ahead,
}

impl Course {
    fn add(&mut self, place: usize, decisions: &[SeatDecision]) {
        for (number, &SeatDecision { standing, taken }) in (1_usize..).zip(decisions) {
            let standing = match standing {
                Lead::Behind => Some(Stood::Behind),
                Lead::Level => None,
                Lead::Ahead => Some(Stood::Ahead),
            };
            let stage = (number.ilog2() as usize).min(STAGES - 1);
            if let Some(standing) = standing {
                self.stood[stage][standing as usize] += 1;
            }
            if taken == Taken::OutOfTime {
                self.time_outs.extend(standing.map(|standing| TimeOut { stage, standing, place }));
                break;
            }
        }
    }

    /// How likely the bot is behind at a stage at which it is behind or ahead, if that is so many times as likely as it was.
    fn chance_behind(&self, stage: usize, odds: f64) -> f64 {
        let [behind, ahead] = self.stood[stage].map(whole);
        odds * behind / (odds * behind + ahead)
    }
}

/// Whose time runs out when it is behind. Each first time-out of a match is held against how often the bot is behind at that
/// stage: so a bot that is mostly behind, or whose time is short at the end, when all are behind or ahead, is none.
pub(super) fn time_outs<B: Clone, O>(
    season: &Season<'_, B, O>,
    settings: &HonestySettings,
) -> Vec<Suspicion<B>> {
    let mut courses = vec![Course::default(); season.bots().len()];
    for (place, one) in season.matches().iter().enumerate() {
        for (_, bot, finished) in one.seats() {
            courses[bot].add(place, &finished.decisions);
        }
    }
    let mut looked = Vec::new();
    for (bot, course) in courses.iter().enumerate() {
        let all = course.time_outs.len();
        if all < settings.least_matches as usize {
            continue;
        }
        let seen_in: Vec<usize> = course
            .time_outs
            .iter()
            .filter(|one| one.standing == Stood::Behind)
            .map(|one| one.place)
            .collect();
        let chances = |odds| course.time_outs.iter().map(move |one| course.chance_behind(one.stage, odds));
        let at_most: Vec<f64> = chances(settings.time_out_odds).collect();
        let behind = seen_in.len();
        let finding =
            Finding::TimesOutWhenBehind { bot, behind, ahead: all - behind, expected: chances(1.0).sum() };
        looked.push(Looked { p_value: at_least(behind, &at_most), finding, seen_in });
    }
    listed(looked, season, settings)
}
