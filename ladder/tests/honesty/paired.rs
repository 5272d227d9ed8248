//! Seasons of bots that a ladder pairs and rates.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, LogNormal};
use zetema_ladder::pairing::{
    BotId, Entrant, OwnerId, Pairing, PairingOptions, PairingSettings, Queue, Strength,
};
use zetema_ladder::{Counted, Ladder, LadderResult};
use zetema_rules::Teams;

use crate::bot::{Bot, Name};
use crate::season::{Finished, finished, ladder, players};

/// A season of so many matches of these bots, as a ladder with the usual numbers of such teams pairs and rates them: all are there all
/// the time with two places each, and a match takes a minute at the median.
pub(crate) fn paired_season(seed: u64, bots: &[Bot], teams: Teams, matches: usize) -> Vec<Finished> {
    let mut dice = StdRng::seed_from_u64(seed);
    let mut ladder = ladder(teams);
    let options = PairingOptions::usual(players(teams), teams);
    let mut queue = Queue::new(PairingSettings::new(options).expect("the usual settings"));
    for (name, bot) in bots.iter().enumerate() {
        let (owner, places) = (OwnerId::new(bot.owner as u64), NonZeroU16::new(2).expect("two"));
        let strength = strength(&ladder, name);
        queue.join(Entrant { bot: BotId::new(name as u64), owner, strength, places }, 0);
    }
    let length_ms = LogNormal::new(60_000.0_f64.ln(), 0.8).expect("a spread");
    let mut running: BTreeMap<(u64, usize), Pairing> = BTreeMap::new();
    let (mut begun, mut results) = (0, Vec::new());
    for now_ms in (0..).step_by(1_000) {
        while let Some(over) = running.first_entry().filter(|first| first.key().0 <= now_ms) {
            let pairing = over.remove();
            let names: Vec<Name> =
                pairing.members().iter().map(|member| member.bot.number() as Name).collect();
            let result = finished(results.len() as u64 + 1, bots, names.clone(), teams, &mut dice);
            let counted = Counted::Rated(result.played().clone());
            ladder.count(&LadderResult { number: result.number(), counted }).expect("in order");
            results.push(result);
            if results.len() == matches {
                return results;
            }
            for name in names {
                queue.rate(BotId::new(name as u64), strength(&ladder, name));
            }
            queue.finish(&pairing, now_ms).expect("it runs");
        }
        for pairing in queue.pair(now_ms) {
            running.insert((now_ms + length_ms.sample(&mut dice) as u64, begun), pairing);
            begun += 1;
        }
    }
    unreachable!("there is always another second")
}

fn strength(ladder: &Ladder<Name>, name: Name) -> Strength {
    let rating = ladder.entry(&name).rating;
    Strength::new(rating.mu.get(), rating.sigma.get()).expect("in range")
}
