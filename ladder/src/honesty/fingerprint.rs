//! What each bot answers where it always answers the same.

use std::collections::BTreeMap;

use super::finished::{Choice, Taken};
use super::season::Season;
use super::tail::whole;

/// The fingerprints of all bots of a season, and how common each answer is.
pub(super) struct Fingerprints {
    /// By bot: its answers in the order of the questions.
    of_bots: Vec<Vec<Answered>>,
    /// By question.
    questions: Vec<Question>,
}

/// A question that a bot answers, always in the same way.
#[derive(Clone, Copy)]
pub(super) struct Answered {
    pub(super) question: usize,
    pub(super) action: u64,
    /// How many bots answer so, it included.
    bots: usize,
    /// The place in the season of the match in which it was asked first.
    pub(super) place: usize,
}

/// How a question is answered.
#[derive(Clone, Copy, Default)]
struct Question {
    /// How many bots answer it.
    bots: usize,
    /// How many ordered pairs of them answer the same.
    agreeing: usize,
}

/// What a bot answers to one question.
#[derive(Clone, Copy)]
enum Answer {
    /// Always this, and first in the match at this place of the season.
    Always { action: u64, place: usize },
    /// Not always the same: that says nothing about it.
    Varies,
}

impl Fingerprints {
    pub(super) fn new<B, O>(season: &Season<'_, B, O>) -> Self {
        let mut answers: Vec<BTreeMap<u64, Answer>> = vec![BTreeMap::new(); season.bots().len()];
        for (place, one) in season.matches().iter().enumerate() {
            for (_, bot, finished) in one.seats() {
                for decision in &finished.decisions {
                    let Taken::Chosen(Choice { context, action }) = decision.taken else { continue };
                    let answer = answers[bot].entry(context).or_insert(Answer::Always { action, place });
                    if !matches!(answer, Answer::Always { action: same, .. } if *same == action) {
                        *answer = Answer::Varies;
                    }
                }
            }
        }
        Self::of(&answers)
    }

    fn of(answers: &[BTreeMap<u64, Answer>]) -> Self {
        let mut common: BTreeMap<u64, BTreeMap<u64, usize>> = BTreeMap::new();
        for (&context, answer) in answers.iter().flatten() {
            if let Answer::Always { action, .. } = *answer {
                *common.entry(context).or_default().entry(action).or_default() += 1;
            }
        }
        let question = |actions: &BTreeMap<u64, usize>| Question {
            bots: actions.values().sum(),
            agreeing: actions.values().map(|bots| bots * (bots - 1)).sum(),
        };
        let questions = common.values().map(question).collect();
        let numbered: BTreeMap<u64, (usize, &BTreeMap<u64, usize>)> = common
            .iter()
            .enumerate()
            .map(|(question, (&context, actions))| (context, (question, actions)))
            .collect();
        let answered = |(context, answer): (&u64, &Answer)| match *answer {
            Answer::Always { action, place } => {
                let (question, actions) = numbered[context];
                Some(Answered { question, action, bots: actions[&action], place })
            }
            Answer::Varies => None,
        };
        let of_bots = answers.iter().map(|answers| answers.iter().filter_map(answered).collect()).collect();
        Self { of_bots, questions }
    }

    /// Whether nothing is known of any bot's answers.
    pub(super) fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// The questions that two bots both answer, with both answers.
    pub(super) fn common(&self, one: usize, other: usize) -> impl Iterator<Item = (Answered, Answered)> {
        let mut rest = self.of_bots[other].iter().copied().peekable();
        self.of_bots[one].iter().filter_map(move |&own| {
            while rest.next_if(|met| met.question < own.question).is_some() {}
            rest.next_if(|met| met.question == own.question).map(|met| (own, met))
        })
    }

    /// How likely any two bots but those that answer so answer a question the same, 0 to 1; `None` if there are no two.
    pub(super) fn others_agree(&self, one: Answered, other: Answered) -> Option<f64> {
        let Question { bots, agreeing } = self.questions[one.question];
        // An answer of n bots has n(n − 1) agreeing pairs; without the two there are fewer bots of one answer or of two.
        let of_these = if one.action == other.action {
            4 * one.bots - 6
        } else {
            2 * (one.bots - 1) + 2 * (other.bots - 1)
        };
        let others = bots.checked_sub(2).filter(|&others| others >= 2)?;
        Some(whole(agreeing - of_these) / whole(others * (others - 1)))
    }
}
