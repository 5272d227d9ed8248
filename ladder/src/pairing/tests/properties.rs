//! What holds whatever happens.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// What happens to a queue.
#[derive(Clone, Debug)]
enum Step {
    Join { bot: u64, rating: f64, places: u16 },
    Leave { bot: u64 },
    Wait { ms: u64 },
    Pair,
    Finish { which: prop::sample::Index },
    Abandon { which: prop::sample::Index },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..12_u64, -50.0..100.0, 1..4_u16).prop_map(|(bot, rating, places)| Step::Join { bot, rating, places }),
        1 => (0..12_u64).prop_map(|bot| Step::Leave { bot }),
        2 => (0..40_000_u64).prop_map(|ms| Step::Wait { ms }),
        4 => Just(Step::Pair),
        3 => any::<prop::sample::Index>().prop_map(|which| Step::Finish { which }),
        1 => any::<prop::sample::Index>().prop_map(|which| Step::Abandon { which }),
    ]
}

fn ladder() -> impl Strategy<Value = PairingOptions> {
    let forms = vec![
        (2, Teams::Individual),
        (3, Teams::Individual),
        (4, Teams::Individual),
        (4, Teams::Pairs),
        (5, Teams::Individual),
        (6, Teams::Individual),
        (6, Teams::Pairs),
        (6, Teams::Trios),
    ];
    let owners = vec![SameOwner::Apart, SameOwner::Opponents, SameOwner::Anywhere];
    (prop::sample::select(forms), prop::sample::select(owners))
        .prop_map(|((players, teams), same_owner)| options(players, teams, same_owner))
}

/// A queue and the matches that run.
struct Ladder {
    queue: Queue,
    owners: u64,
    now_ms: u64,
    running: Vec<Pairing>,
    places: BTreeMap<u64, u16>,
}

impl Ladder {
    fn new(options: PairingOptions, owners: u64) -> Self {
        Self { queue: queue(options), owners, now_ms: 0, running: Vec::new(), places: BTreeMap::new() }
    }

    /// Does it, and gives the matches that it makes.
    fn step(&mut self, step: &Step) -> Vec<Pairing> {
        match step {
            Step::Join { bot, rating, places: count } => {
                let strength = Strength::new(*rating, 2.0).unwrap();
                let owner = OwnerId::new(bot % self.owners);
                let entrant = Entrant { owner, strength, places: places(*count), ..entrant(*bot) };
                self.queue.join(entrant, self.now_ms);
                self.places.insert(*bot, *count);
            }
            Step::Leave { bot } => self.queue.leave(BotId::new(*bot)),
            Step::Wait { ms } => self.now_ms += ms,
            Step::Pair => {
                let pairings = self.queue.pair(self.now_ms);
                self.running.extend(pairings.clone());
                return pairings;
            }
            Step::Finish { which } | Step::Abandon { which } if !self.running.is_empty() => {
                let pairing = self.running.remove(which.index(self.running.len()));
                match step {
                    Step::Finish { .. } => self.queue.finish(&pairing, self.now_ms).unwrap(),
                    _ => self.queue.abandon(&pairing, self.now_ms).unwrap(),
                }
            }
            Step::Finish { .. } | Step::Abandon { .. } => {}
        }
        Vec::new()
    }
}

/// Whether these may play one match: some order of them has no two of one owner where they may not be. Tries all
/// orders, but each only once of those in which bots of one owner change places.
fn may_play(settings: &PairingSettings, owners: &[OwnerId]) -> bool {
    fn go(settings: &PairingSettings, left: &[OwnerId], seated: &mut Vec<OwnerId>) -> bool {
        if left.is_empty() {
            return true;
        }
        (0..left.len()).any(|next| {
            let (owner, sides) = (left[next], settings.sides());
            if next > 0 && owner == left[next - 1] {
                return false;
            }
            let barred = match settings.same_owner {
                SameOwner::Apart => seated.contains(&owner),
                SameOwner::Opponents => {
                    let side = seated.len() % sides;
                    seated.iter().skip(side).step_by(sides).any(|&other| other == owner)
                }
                SameOwner::Anywhere => false,
            };
            if barred {
                return false;
            }
            let mut rest = left.to_vec();
            rest.remove(next);
            seated.push(owner);
            let found = go(settings, &rest, seated);
            seated.pop();
            found
        })
    }
    let mut owners = owners.to_vec();
    owners.sort();
    go(settings, &owners, &mut Vec::new())
}

/// Whether this one may play with some of those who wait. Tries all that differ by owner.
fn has_match(settings: &PairingSettings, bot: &Waiting, waiting: &[Waiting]) -> bool {
    fn go(settings: &PairingSettings, owners: &mut Vec<OwnerId>, left: &[Waiting]) -> bool {
        if owners.len() == settings.players.count() {
            return may_play(settings, owners);
        }
        (0..left.len()).any(|next| {
            if next > 0 && left[next].owner == left[next - 1].owner {
                return false;
            }
            owners.push(left[next].owner);
            let found = go(settings, owners, &left[next + 1..]);
            owners.pop();
            found
        })
    }
    let mut others: Vec<Waiting> = waiting.iter().filter(|other| other.bot != bot.bot).copied().collect();
    others.sort_by_key(|other| other.owner);
    go(settings, &mut vec![bot.owner], &others)
}

proptest! {
    #[test]
    fn every_match_is_one_that_may_be(
        options in ladder(),
        owners in 1..13_u64,
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let mut ladder = Ladder::new(options, owners);
        for step in &steps {
            let waiting: BTreeSet<BotId> = ladder.queue.waiting().map(|waiting| waiting.bot).collect();
            let mut paired = BTreeSet::new();
            for pairing in ladder.step(step) {
                prop_assert_eq!(pairing.members().len(), options.players.count());
                for (seat, side, member) in pairing.seats() {
                    prop_assert!(waiting.contains(&member.bot), "nobody plays who does not wait");
                    prop_assert!(paired.insert(member.bot), "nobody has two seats");
                    prop_assert!(ladder.queue.playing(member.bot) <= ladder.places[&member.bot.number()].into());
                    for (other_seat, other_side, other) in pairing.seats() {
                        if other_seat != seat && other.owner == member.owner {
                            prop_assert_ne!(options.same_owner, SameOwner::Apart);
                            prop_assert!(options.same_owner == SameOwner::Anywhere || side != other_side);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn equal_calls_give_equal_matches(
        options in ladder(),
        owners in 1..13_u64,
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let [mut one, mut other] = [Ladder::new(options, owners), Ladder::new(options, owners)];
        for step in &steps {
            prop_assert_eq!(one.step(step), other.step(step));
        }
    }

    /// `docs/pairing.md`: a bot whose patience is over, with r bots ahead of it, plays by the (r + 1)th call at which it may play with
    /// some of those who wait.
    #[test]
    fn nobody_waits_longer_than_the_bound(
        options in ladder(),
        owners in 1..13_u64,
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let mut ladder = Ladder::new(options, owners);
        // Of each bot whose patience is over: since when it waits, how many were ahead, and how many chances it had.
        let mut late: BTreeMap<BotId, (u64, usize, usize)> = BTreeMap::new();
        for step in steps.iter().filter(|step| !matches!(step, Step::Abandon { .. })) {
            let waiting: Vec<Waiting> = ladder.queue.waiting().collect();
            let is_late = |one: &&Waiting| ladder.now_ms >= one.since_ms + options.patience_ms;
            let all_late: Vec<Waiting> = waiting.iter().filter(is_late).copied().collect();
            let played: BTreeSet<BotId> =
                ladder.step(step).iter().flat_map(|pairing| pairing.members().to_vec()).map(|member| member.bot).collect();
            if !matches!(step, Step::Pair) {
                continue;
            }
            late.retain(|bot, (since_ms, ..)| {
                all_late.iter().any(|one| one.bot == *bot && one.since_ms == *since_ms)
            });
            for one in &all_late {
                let ahead = waiting.iter().filter(|other| (other.since_ms, other.bot) < (one.since_ms, one.bot)).count();
                let (_, ahead, chances) = late.entry(one.bot).or_insert((one.since_ms, ahead, 0));
                if !played.contains(&one.bot) && has_match(ladder.queue.settings(), one, &waiting) {
                    *chances += 1;
                    prop_assert!(*chances <= *ahead, "{} had {} chances behind {}", one.bot, chances, ahead);
                }
            }
        }
    }
}
