//! What a bot of these seasons runs.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_bots::House;
use zetema_sdk::rules::{Card, Cards, Rank, Rules};
use zetema_sdk::{Action, Bot, Decision, MatchInfo};

use crate::policy::Policy;
use crate::policy::weights::Weights;

/// What a bot runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Program {
    /// A house bot.
    House(House),
    /// The appraisal of each card by itself, by these weights.
    Weighed(&'static Weights),
    /// Declares what pays most; discards by the first of these that tells its cards apart, and at last the first of the pack's order.
    Sorts(&'static [Criterion]),
    /// The one, and in this share of its decisions the other.
    Mixed(Box<Self>, Box<Self>, f64),
    /// The one, and in this share of its matches the other.
    Alternates(Box<Self>, Box<Self>, f64),
}

impl Program {
    /// It, but choosing at random in this share of its decisions.
    pub(crate) fn careless(self, share: f64) -> Self {
        Self::Mixed(Box::new(self), Box::new(Self::House(House::Random)), share)
    }

    /// A bot for one seat of one match.
    pub(crate) fn make(&self, info: &MatchInfo, seed: u64) -> Box<dyn Bot> {
        match self {
            Self::House(house) => house.make(info, seed),
            Self::Weighed(weights) => Box::new(Weighed(Policy::by(weights))),
            Self::Sorts(criteria) => Box::new(Sorts(criteria)),
            Self::Mixed(mostly, otherwise, share) => {
                let bots = [mostly.make(info, seed), otherwise.make(info, seed + 1)];
                Box::new(Mixed { bots, share: *share, dice: dice(info, seed) })
            }
            Self::Alternates(mostly, otherwise, share) => {
                let otherwise_now = dice(info, seed).random::<f64>() < *share;
                if otherwise_now { otherwise.make(info, seed) } else { mostly.make(info, seed) }
            }
        }
    }
}

fn dice(info: &MatchInfo, seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed ^ 0xCA4E ^ ((info.seat.index() as u64) << 32))
}

struct Weighed(Policy);

impl Bot for Weighed {
    fn choose(&mut self, decision: &Decision) -> Action {
        let chosen = self.0.choose(&decision.view, decision.info.seat, &decision.legal);
        chosen.unwrap_or_else(|| decision.first())
    }
}

struct Mixed {
    bots: [Box<dyn Bot>; 2],
    share: f64,
    dice: StdRng,
}

impl Bot for Mixed {
    fn choose(&mut self, decision: &Decision) -> Action {
        let [mostly, otherwise] = &mut self.bots;
        if self.dice.random::<f64>() < self.share {
            otherwise.choose(decision)
        } else {
            mostly.choose(decision)
        }
    }
}

/// What to discard first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Criterion {
    /// The fifth card of a pile.
    Zetema,
    /// What does not make a pile of four.
    NotTheFourth,
    /// What most of lie open.
    MostOpen,
    /// What fewest of lie open.
    FewestOpen,
    /// What the hand has fewest of by suit.
    FewestOfSuit,
    /// What the hand has fewest of by rank.
    FewestOfRank,
    /// What the hand has most of by rank.
    MostOfRank,
    /// What has the fewest ranks near it, up to two away.
    Lonely,
    /// What is neither king nor queen.
    Commoner,
    /// Kings and queens.
    Royal,
    /// What a zetema pays little for.
    Cheap,
    /// What a zetema pays much for.
    Dear,
    /// What is of the imperial suit.
    Imperial,
    /// The lowest rank.
    Low,
    /// The highest rank.
    High,
    /// The last of the pack's order.
    Last,
}

impl Criterion {
    /// Less is discarded first.
    fn of(self, decision: &Decision, card: Card) -> usize {
        let (hand, rank) = (decision.view.hand, card.rank());
        let open = decision.view.public.tableau.of_rank(rank).len();
        let pays = usize::from(Rules::zetema_points(rank));
        let royal = matches!(rank, Rank::King | Rank::Queen);
        match self {
            Self::Zetema => usize::from(open != 4),
            Self::NotTheFourth => usize::from(open == 3),
            Self::MostOpen => 5 - open,
            Self::FewestOpen => open,
            Self::FewestOfSuit => hand.of_suit(card.suit()).len(),
            Self::FewestOfRank => hand.of_rank(rank).len(),
            Self::MostOfRank => 5 - hand.of_rank(rank).len(),
            Self::Lonely => neighbours(hand, rank),
            Self::Commoner => usize::from(royal),
            Self::Royal => usize::from(!royal),
            Self::Cheap => pays,
            Self::Dear => 50 - pays,
            Self::Imperial => usize::from(card.suit() != decision.info.rules.imperial_suit),
            Self::Low => rank.index(),
            Self::High => 12 - rank.index(),
            Self::Last => Card::FACES - card.index(),
        }
    }
}

/// How many other ranks of a hand are up to two away.
fn neighbours(hand: Cards, rank: Rank) -> usize {
    let near = |other: &Rank| (1..=2).contains(&other.index().abs_diff(rank.index()));
    Rank::ALL.into_iter().filter(near).filter(|&other| !hand.of_rank(other).is_empty()).count()
}

struct Sorts(&'static [Criterion]);

impl Bot for Sorts {
    fn choose(&mut self, decision: &Decision) -> Action {
        if decision.legal.declarations.is_empty() {
            let key = |card: &Card| -> Vec<usize> {
                self.0.iter().map(|criterion| criterion.of(decision, *card)).collect()
            };
            let first = decision.legal.discards.faces_in_order().min_by_key(key);
            return first.map_or_else(|| decision.first(), Action::Discard);
        }
        decision.best(|action| match action {
            Action::Declare(_) => decision.view.points(action) + 1,
            Action::Discard(_) => 0,
        })
    }
}
