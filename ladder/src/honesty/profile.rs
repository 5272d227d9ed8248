//! What each bot prefers, in one stretch of its matches after the other.

use std::collections::BTreeMap;

use super::preference::Preference;
use super::season::Season;

/// How many preferences a stretch has, its last match counted whole: so many that what one program does in two stretches is alike.
const STRETCH: usize = 6_000;

/// What a bot preferred in a season.
#[derive(Default)]
pub(super) struct Profile {
    /// In its order. What is left over at the end is no stretch.
    pub(super) stretches: Vec<Stretch>,
    /// How many preferences are left over.
    left_over: usize,
    matches: usize,
    preferences: usize,
}

impl Profile {
    /// How many more matches it takes until there are so many stretches, if they are as long as those that it played. `None` if it
    /// preferred nothing in any of them.
    pub(super) fn matches_to(&self, stretches: usize) -> Option<usize> {
        let missing = stretches.saturating_sub(self.stretches.len()) * STRETCH;
        let missing = missing.saturating_sub(self.left_over);
        (self.preferences > 0).then(|| (missing * self.matches).div_ceil(self.preferences))
    }
}

/// Consecutive matches of a bot.
pub(super) struct Stretch {
    /// By question, ascending.
    asked: Box<[Asked]>,
    /// The place in the season of its first match.
    pub(super) place: usize,
}

/// What is kept of a question that was asked in more than one match. There are very many of them in a season, so this is small.
struct Asked {
    question: u32,
    /// How often the first of the two cards was discarded.
    first: u32,
    /// How often the second.
    second: u32,
    /// How likely two answers of different matches are the same.
    repeated: f32,
}

impl Asked {
    fn count(&self) -> f64 {
        f64::from(self.first) + f64::from(self.second)
    }

    /// How likely one of these and one of those are the same.
    fn shared(&self, other: &Self) -> f64 {
        let same =
            f64::from(self.first) * f64::from(other.first) + f64::from(self.second) * f64::from(other.second);
        same / (self.count() * other.count())
    }
}

/// How a question is answered while a stretch is gathered.
#[derive(Default)]
struct Answers {
    /// How often the first of the two cards was discarded.
    first: u32,
    /// How often the second.
    second: u32,
    /// Ordered pairs of answers of one match, each with itself included: those that are the same, and all.
    of_one_match: [f64; 2],
}

impl Answers {
    /// Adds those of one more match.
    fn add(&mut self, [first, second]: [u32; 2]) {
        self.first += first;
        self.second += second;
        let [first, second] = [first, second].map(f64::from);
        self.of_one_match[0] += first * first + second * second;
        self.of_one_match[1] += (first + second) * (first + second);
    }

    /// `None` if all are of one match: that can't be compared.
    fn asked_again(self, question: u32) -> Option<Asked> {
        let Self { first, second, of_one_match: [same, all] } = self;
        let [of_first, of_second] = [first, second].map(f64::from);
        let pairs = (of_first + of_second).powi(2) - all;
        // A share, of which seven digits are far more than so few answers tell.
        #[allow(clippy::cast_possible_truncation)]
        let repeated = ((of_first.powi(2) + of_second.powi(2) - same) / pairs) as f32;
        (pairs > 0.0).then_some(Asked { question, first, second, repeated })
    }
}

/// A stretch while it is gathered.
#[derive(Default)]
struct Open {
    answers: BTreeMap<u32, Answers>,
    preferences: usize,
    place: usize,
}

impl Open {
    fn add(&mut self, place: usize, preferences: &[Preference]) {
        if self.preferences == 0 {
            self.place = place;
        }
        self.preferences += preferences.len();
        let mut of_match: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        for preference in preferences {
            of_match.entry(preference.question()).or_default()[preference.discarded() as usize] += 1;
        }
        for (question, answers) in of_match {
            self.answers.entry(question).or_default().add(answers);
        }
    }

    fn close(self) -> Stretch {
        let asked = self.answers.into_iter().filter_map(|(question, answers)| answers.asked_again(question));
        Stretch { asked: asked.collect(), place: self.place }
    }
}

/// What each bot of a season preferred.
pub(super) fn profiles<B, O>(season: &Season<'_, B, O>) -> Vec<Profile> {
    let mut played = vec![Vec::new(); season.bots().len()];
    for (place, one) in season.matches().iter().enumerate() {
        for (_, bot, finished) in one.seats() {
            played[bot].push((place, finished.preferences.as_slice()));
        }
    }
    // One bot after the other, as an open stretch is larger than a closed one.
    played.into_iter().map(profile).collect()
}

/// That of one bot, by what it preferred in each of its matches.
fn profile(played: Vec<(usize, &[Preference])>) -> Profile {
    let (mut profile, mut open) = (Profile { matches: played.len(), ..Profile::default() }, Open::default());
    for (place, preferences) in played {
        profile.preferences += preferences.len();
        open.add(place, preferences);
        if open.preferences >= STRETCH {
            profile.stretches.push(std::mem::take(&mut open).close());
        }
    }
    profile.left_over = open.preferences;
    profile
}

/// How often two bots agree, and how often each agrees with itself, in the questions that both were asked in more than one match.
///
/// Of a question that the one answers in the one way with the chance p and the other with q, these are the chances that two answers are the
/// same: `across` of one of each bot, `within` the mean of two of the one and two of the other. So `within − across` is (p − q)²,
/// 0 if they play alike, however much is chance in that. Both are estimated without bias, from answers of different matches alone:
/// in one match a hand is asked much the same again and again. Questions count by n·m / (n + m), if the one answered it n times and
/// the other m times.
#[derive(Clone, Copy, Default)]
pub(super) struct Agreement {
    pub(super) across: f64,
    pub(super) within: f64,
}

impl Agreement {
    pub(super) fn of(one: &Stretch, other: &Stretch) -> Self {
        let mut agreement = Self::default();
        let mut rest = other.asked.iter().peekable();
        for own in &one.asked {
            while rest.next_if(|met| met.question < own.question).is_some() {}
            if let Some(met) = rest.next_if(|met| met.question == own.question) {
                agreement.count(own, met);
            }
        }
        agreement
    }

    fn count(&mut self, own: &Asked, met: &Asked) {
        let weight = own.count() * met.count() / (own.count() + met.count());
        self.across += weight * own.shared(met);
        self.within += weight * f64::midpoint(own.repeated.into(), met.repeated.into());
    }

    pub(super) fn add(&mut self, other: Self) {
        self.across += other.across;
        self.within += other.within;
    }

    /// The one in parts of the other; 0 if nothing is known. It may be a little more than 1 by chance.
    pub(super) fn likeness(self) -> f64 {
        if self.within > 0.0 { self.across / self.within } else { 0.0 }
    }
}
