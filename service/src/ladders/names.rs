//! Bots and owners by number, as pairing knows them.

use std::collections::HashMap;
use std::hash::Hash;

use zetema_ladder::pairing::{BotId, OwnerId};

use crate::config::HouseBots;
use crate::journal::{BotName, Owner};

/// Numbers for names, from 0 in the order in which they came.
#[derive(Debug)]
struct Numbers<N> {
    by_name: HashMap<N, u64>,
}

impl<N: Clone + Eq + Hash> Numbers<N> {
    fn of(&mut self, name: &N) -> u64 {
        if let Some(&number) = self.by_name.get(name) {
            return number;
        }
        let next = self.by_name.len() as u64;
        self.by_name.insert(name.clone(), next);
        next
    }
}

impl<N> Default for Numbers<N> {
    fn default() -> Self {
        Self { by_name: HashMap::new() }
    }
}

/// Whom a bot belongs to: one that is not registered, to nobody but itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Belongs {
    To(Owner),
    ToItself(BotName),
    /// To the server, as its house bots do whoever their owner is.
    ToTheHouse,
}

impl Belongs {
    pub(super) fn of(bot: &BotName, owner: Option<&Owner>) -> Self {
        owner.map_or_else(|| Self::ToItself(bot.clone()), |owner| Self::To(owner.clone()))
    }

    /// The same where it is asked who plays honestly. House bots have an owner each, so that they are paired, and whoever runs the server
    /// may have one program play under several of their names.
    pub(super) fn in_a_season(bot: &BotName, owner: Option<&Owner>, house_bots: &HouseBots) -> Self {
        match owner {
            Some(owner) if house_bots.have(bot.as_str(), owner.as_str()) => Self::ToTheHouse,
            owner => Self::of(bot, owner),
        }
    }
}

/// The numbers of all bots and owners of one ladder.
#[derive(Debug, Default)]
pub(super) struct Names {
    bots: Numbers<BotName>,
    by_number: Vec<BotName>,
    owners: Numbers<Belongs>,
}

impl Names {
    /// The number of a bot.
    pub(super) fn bot(&mut self, name: &BotName) -> BotId {
        let number = self.bots.of(name);
        if usize::try_from(number).is_ok_and(|number| number == self.by_number.len()) {
            self.by_number.push(name.clone());
        }
        BotId::new(number)
    }

    /// The number of its owner.
    pub(super) fn owner(&mut self, bot: &BotName, owner: Option<&Owner>) -> OwnerId {
        OwnerId::new(self.owners.of(&Belongs::of(bot, owner)))
    }

    /// The bot of a number, which [`Self::bot`] gave.
    pub(super) fn name(&self, bot: BotId) -> Option<&BotName> {
        self.by_number.get(usize::try_from(bot.number()).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_bots_of_a_server_are_of_one_owner_in_a_season_and_no_others_are() {
        let house_bots: HouseBots = "greedy,random".parse().unwrap();
        let belongs = |(bot, owner): (&str, &str)| {
            let (bot, owner) = (BotName::new(bot).unwrap(), Owner::new(owner).unwrap());
            (Belongs::in_a_season(&bot, Some(&owner), &house_bots), Belongs::of(&bot, Some(&owner)))
        };
        let house = ("random", "house-random");
        for (bot, is_one) in [
            (("greedy", "house-greedy"), true),
            (("greedy", "house"), true),
            (("greedy", "ada"), false),
            (("ada", "house"), false),
            // Whoever registers may take such a name where it is no house bot's.
            (("ada", "house-ada"), false),
        ] {
            let ((in_a_season, paired), (house_in_a_season, house_paired)) = (belongs(bot), belongs(house));
            assert_eq!(in_a_season == house_in_a_season, is_one, "{bot:?}");
            assert_ne!(paired, house_paired, "{bot:?}");
        }
    }
}
