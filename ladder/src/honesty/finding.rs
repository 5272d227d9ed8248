//! Who is suspected of what, and the numbers of it.

use std::fmt;

use super::season::BotIndex;

/// Who is suspected of what, and the numbers of it. The order of the kinds is that in which they are listed.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding<B> {
    /// A bot that loses to a bot of another owner far more often than it should.
    LosesTo {
        /// Who loses.
        loser: B,
        /// To whom.
        winner: B,
        /// How often they met on different sides, without teams.
        meetings: usize,
        /// In how many of these the loser was behind.
        lost: usize,
        /// In how many it should have been, by their ratings.
        by_ratings: f64,
        /// In how many it should have been, by their ratings, how often the loser forfeits, and how much more both lose and win
        /// against all others than the ratings give.
        by_the_rest: f64,
    },
    /// A bot whose side does far worse against a bot of another owner than against others.
    FeedsOpponent {
        /// Whose side does worse.
        feeder: B,
        /// Against whom.
        fed: B,
        /// By how much.
        short: Shortfall,
    },
    /// Two bots of different owners that do far worse as partners than each does with others. Which of them fails the other is not
    /// to be seen from points.
    FailPartner {
        /// The two.
        partners: [B; 2],
        /// By how much.
        short: Shortfall,
    },
    /// A bot whose time runs out when it is behind, and hardly ever when it is ahead.
    TimesOutWhenBehind {
        /// Which.
        bot: B,
        /// In how many matches its time was first out when it was behind.
        behind: usize,
        /// In how many when it was ahead.
        ahead: usize,
        /// In how many of these it would have been behind, as often as it is behind at those stages of a match.
        expected: f64,
    },
    /// A bot that leaves far more of its matches than others do.
    Abandons {
        /// Which.
        bot: B,
        /// How many matches it played.
        matches: usize,
        /// How many of these it resigned, but for those in which it was far behind.
        resigned: usize,
        /// In how many its time ran out while it was not connected.
        disconnected: usize,
        /// How many of both it was behind in.
        behind: usize,
        /// How many of both it was ahead in.
        ahead: usize,
        /// The share of their matches that all others abandoned so, 0 to 1.
        others: f64,
    },
    /// Bots of different owners that play alike: one program under two names, or authors who each weighed the same features.
    SameDecisions {
        /// The two.
        bots: [B; 2],
        /// In how many stretches of their matches they were compared.
        stretches: usize,
        /// In how many of these they were nearer than two programs may be.
        nearer: usize,
        /// How often they prefer the same, in parts of how often each does what it did before: 1 if nothing tells them apart.
        likeness: f64,
    },
}

/// How far margins are from what the bots' results with and against all others give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortfall {
    /// How many matches.
    pub matches: usize,
    /// The mean of what their side's margin was short by, in points a match.
    pub points: f64,
    /// The standard deviation of one margin, in points.
    pub deviation: f64,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { matches, points, deviation } = self;
        write!(
            f,
            "in {matches} matches their margin is {points:.1} points a match short of what all their other \
             results give, where one match varies by {deviation:.1}"
        )
    }
}

impl<B: fmt::Display> fmt::Display for Finding<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LosesTo { loser, winner, meetings, lost, by_ratings, by_the_rest } => write!(
                f,
                "{loser} loses to {winner}: behind in {lost} of {meetings} meetings, where the ratings give {by_ratings:.1} \
                 and their results against all others {by_the_rest:.1}"
            ),
            Self::FeedsOpponent { feeder, fed, short } => write!(f, "{feeder} feeds {fed} in teams: {short}"),
            Self::FailPartner { partners: [one, other], short } => {
                write!(f, "{one} and {other} fail each other as partners: {short}")
            }
            Self::TimesOutWhenBehind { bot, behind, ahead, expected } => write!(
                f,
                "{bot} runs out of time when it is behind: {behind} times behind and {ahead} times ahead, where {expected:.1} \
                 times behind are as often as it is behind then"
            ),
            Self::Abandons { bot, matches, resigned, disconnected, behind, ahead, others } => write!(
                f,
                "{bot} abandons matches: of {matches} it resigned {resigned} that were not lost and left {disconnected}, {behind} when \
                 it was behind and {ahead} when it was ahead; all others abandon {:.1} of 100",
                others * 100.0
            ),
            Self::SameDecisions { bots: [one, other], stretches, nearer, likeness } => write!(
                f,
                "{one} and {other} decide alike: nearer than programs of different ideas may be in {nearer} of {stretches} stretches \
                 of their matches, {:.1} % as near as each is to itself. Authors of one idea who tuned it each by themselves are \
                 listed too: where that was measured, up to 8 of 231 such pairs a season",
                likeness * 100.0
            ),
        }
    }
}

impl Finding<BotIndex> {
    /// The same with the bots themselves, which are given in their order.
    pub(super) fn with_bots<B: Clone>(self, bots: &[&B]) -> Finding<B> {
        let bot = |index: BotIndex| bots[index].clone();
        match self {
            Self::LosesTo { loser, winner, meetings, lost, by_ratings, by_the_rest } => Finding::LosesTo {
                loser: bot(loser),
                winner: bot(winner),
                meetings,
                lost,
                by_ratings,
                by_the_rest,
            },
            Self::FeedsOpponent { feeder, fed, short } => {
                Finding::FeedsOpponent { feeder: bot(feeder), fed: bot(fed), short }
            }
            Self::FailPartner { partners, short } => {
                Finding::FailPartner { partners: partners.map(bot), short }
            }
            Self::TimesOutWhenBehind { bot: index, behind, ahead, expected } => {
                Finding::TimesOutWhenBehind { bot: bot(index), behind, ahead, expected }
            }
            Self::Abandons { bot: index, matches, resigned, disconnected, behind, ahead, others } => {
                Finding::Abandons { bot: bot(index), matches, resigned, disconnected, behind, ahead, others }
            }
            Self::SameDecisions { bots, stretches, nearer, likeness } => {
                Finding::SameDecisions { bots: bots.map(bot), stretches, nearer, likeness }
            }
        }
    }
}
