//! Who plays: honest bots of fifty programs, and pairs of names under which one program plays, or nearly one.

use std::error::Error;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_bots::House;
use zetema_sdk::rules::Rules;

use crate::agreement::agreed;
use crate::policy::weights::Weights;
use crate::program::Criterion::{
    Cheap, Commoner, Dear, FewestOfRank, FewestOfSuit, FewestOpen, High, Imperial, Last, Lonely, Low,
    MostOfRank, MostOpen, NotTheFourth, Royal, Zetema,
};
use crate::program::{Criterion, Program};

/// How many programs are honest.
pub(crate) const HONEST: usize = 50;

/// Those whose authors sort their cards, each in a way of its own.
const SORTED: [&[Criterion]; 17] = [
    &[],
    &[Last],
    &[MostOpen],
    &[FewestOpen],
    &[Zetema, FewestOfSuit],
    &[Zetema, NotTheFourth, FewestOfSuit, Cheap],
    &[FewestOfSuit, Lonely],
    &[Zetema, FewestOfRank, Lonely, High],
    &[Zetema, NotTheFourth, Lonely, FewestOpen],
    &[Lonely, Dear],
    &[Zetema, Commoner, FewestOfSuit, Last],
    &[Royal, Zetema, MostOpen, Low],
    &[Zetema, NotTheFourth, Commoner, Lonely],
    &[Imperial, Zetema, FewestOfRank],
    &[Zetema, MostOfRank, NotTheFourth, FewestOpen],
    &[Zetema, Low],
    &[Cheap, FewestOfRank, FewestOfSuit],
];

/// What is told apart in the appraisal: an author may have thought of it, or not.
const THOUGHTS: [fn(&mut Weights); 11] = [
    |weights| weights.flush = [0.0; 6],
    |weights| weights.sequence = [0.0; 6],
    |weights| weights.flush_sequence = 0.0,
    |weights| weights.assembly = [0.0; 5],
    |weights| weights.partner_here = 0.0,
    |weights| weights.partner_to_come = 0.0,
    |weights| weights.marries_elsewhere = 0.0,
    |weights| weights.fifth = 0.0,
    |weights| (weights.fifth_own, weights.fifth_elsewhere, weights.fifth_to_come) = (0.0, 0.0, 0.0),
    |weights| weights.third = [0.0; 3],
    |weights| weights.early = 0.0,
];

/// How often an author has not thought of one of them.
const LEFT_OUT: f64 = 0.4;

/// How far the weights of two authors are apart: each number is up to so many times what it would be, or that part of it.
const APART: f64 = 4.0;

/// The first of the seeds of weights.
const WEIGHTS: u64 = 5_000;

/// Authors of whom those are taken whose programs are no copies of one that is taken.
const AUTHORS: usize = 150;

/// The weights of the house with each number multiplied by one between 1 / `factor` and `factor`, the same for the same seed.
pub(crate) fn moved(weights: &Weights, factor: f64, seed: u64) -> &'static Weights {
    let mut dice = StdRng::seed_from_u64(seed);
    let mut moved = *weights;
    let Weights {
        flush,
        sequence,
        flush_sequence,
        assembly,
        partner_here,
        partner_to_come,
        patience,
        marriages_wait,
        fifth,
        fifth_own,
        fifth_elsewhere,
        fifth_to_come,
        third,
        early,
        marries_elsewhere,
    } = &mut moved;
    let tables = flush.iter_mut().chain(sequence).chain(assembly).chain(marriages_wait).chain(third);
    let single = [
        flush_sequence,
        partner_here,
        partner_to_come,
        patience,
        fifth,
        fifth_own,
        fifth_elsewhere,
        fifth_to_come,
        early,
        marries_elsewhere,
    ];
    for number in tables.chain(single) {
        *number *= factor.powf(dice.random_range(-1.0..=1.0));
    }
    Box::leak(Box::new(moved))
}

/// The weights of an author who thinks of all that the house does, and more.
pub(crate) fn thorough(number: usize) -> &'static Weights {
    let weights = Weights { flush_sequence: 1.0, early: -0.15, ..Weights::HOUSE };
    moved(&weights, APART, WEIGHTS + number as u64)
}

/// The weights of an author.
pub(crate) fn author(number: usize) -> &'static Weights {
    let mut weights = *thorough(number);
    let mut dice = StdRng::seed_from_u64(number as u64);
    for leave_out in THOUGHTS {
        if dice.random::<f64>() < LEFT_OUT {
            leave_out(&mut weights);
        }
    }
    Box::leak(Box::new(weights))
}

/// The honest programs that are no weights alone.
fn honest() -> Vec<Program> {
    let mut all = [House::Greedy, House::GreedyWithoutZetemas, House::Random].map(Program::House).to_vec();
    all.extend(SORTED.map(Program::Sorts));
    let house = |house| Box::new(Program::House(house));
    let sorts = |criteria| Box::new(Program::Sorts(criteria));
    all.extend([
        Program::House(House::Greedy).careless(0.3),
        Program::House(House::Appraiser).careless(0.5),
        Program::Mixed(house(House::GreedyWithoutZetemas), sorts(&[Lonely]), 0.3),
        Program::Mixed(house(House::Appraiser), sorts(&[FewestOfSuit]), 0.4),
        Program::Alternates(house(House::Greedy), sorts(&[MostOpen]), 0.4),
        Program::Alternates(house(House::Appraiser), house(House::Random), 0.4),
    ]);
    all
}

/// Who plays.
pub(crate) struct Field {
    /// The honest, then the pairs, one after the other.
    pub(crate) programs: Vec<Program>,
    pub(crate) pairs: Vec<Pair>,
}

impl Field {
    /// Honest bots of which no two that go by weights discard the same in more than this share of what they are asked, in so many matches of
    /// `greedy`; and the pairs, of programs that are as far from those and from one another.
    ///
    /// # Errors
    /// There are not so many programs.
    pub(crate) fn new(rules: Rules, nearest: f64, matches: u64) -> Result<Self, Box<dyn Error>> {
        let mut candidates = honest();
        candidates.extend([Program::House(House::Appraiser), Program::Sorts(TWIN)]);
        let fixed = candidates.len();
        candidates.extend((0..AUTHORS).map(|number| Program::Weighed(author(number))));
        let agreed = agreed(&candidates, rules, matches)?;
        let mut taken: Vec<usize> = (0..fixed).collect();
        for author in fixed..candidates.len() {
            if taken.iter().all(|&other| agreed.share([author, other]) <= nearest) {
                taken.push(author);
            }
        }
        let mut authors = taken.into_iter().skip(fixed).map(|place| candidates[place].clone());
        let mut programs = honest();
        programs.extend(authors.by_ref().take(HONEST - programs.len()));
        let pairs = pairs(&mut authors).filter(|_| programs.len() == HONEST);
        let pairs = pairs.ok_or("too few of the authors are as far apart: allow them to be nearer")?;
        programs.extend(pairs.iter().flat_map(|pair| pair.programs.clone()));
        Ok(Self { programs, pairs })
    }

    /// The pair that two bots are.
    pub(crate) fn pair_of([one, other]: [usize; 2]) -> Option<usize> {
        let place = one.checked_sub(HONEST)?;
        (place.is_multiple_of(2) && other == one + 1).then_some(place / 2)
    }
}

/// How the program sorts that plays under two names.
const TWIN: &[Criterion] = &[Zetema, NotTheFourth, FewestOfRank, Imperial, High];

/// Two names of one program, or nearly one.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) kind: &'static str,
    pub(crate) level: Level,
    pub(crate) programs: [Program; 2],
}

/// Whether it must be found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Level {
    /// It must.
    Bare,
    /// It is printed whether it is.
    Disguised,
}

/// Who is to be found, or to be seen whether it is, of the programs of these authors. `None` if they are too few.
fn pairs(authors: &mut impl Iterator<Item = Program>) -> Option<Vec<Pair>> {
    let mut pairs = vec![
        same("one program, which sorts", Program::Sorts(TWIN)),
        same("one program, by weights", authors.next()?),
        Pair {
            kind: "one program, of which one searches at the end (appraiser, searcher)",
            level: Level::Bare,
            programs: [House::Appraiser, House::Searcher].map(Program::House),
        },
    ];
    for (kind, share) in [
        ("one chooses at random in 5 of 100 decisions", 0.05),
        ("one chooses at random in 10 of 100 decisions", 0.1),
        ("one chooses at random in 20 of 100 decisions", 0.2),
    ] {
        let program = authors.next()?;
        pairs.push(disguised(kind, [program.clone(), program.careless(share)]));
    }
    for (kind, factor) in [
        ("each weight of one is moved by up to 5 of 100", 1.05),
        ("each weight of one is moved by up to 20 of 100", 1.2),
    ] {
        let program = authors.next()?;
        let Program::Weighed(weights) = program else { return None };
        pairs.push(disguised(kind, [program, Program::Weighed(moved(weights, factor, WEIGHTS))]));
    }
    for (kind, share) in [
        ("one is another program in 10 of 100 matches", 0.1),
        ("one is another program in 30 of 100 matches", 0.3),
    ] {
        let program = authors.next()?;
        let another = Box::new(authors.next()?);
        let alternates = Program::Alternates(Box::new(program.clone()), another, share);
        pairs.push(disguised(kind, [program, alternates]));
    }
    Some(pairs)
}

fn same(kind: &'static str, program: Program) -> Pair {
    Pair { kind, level: Level::Bare, programs: [program.clone(), program] }
}

fn disguised(kind: &'static str, programs: [Program; 2]) -> Pair {
    Pair { kind, level: Level::Disguised, programs }
}
