//! Bots and owners by number, as pairing knows them.

use std::collections::HashMap;
use std::hash::Hash;

use zetema_ladder::pairing::{BotId, OwnerId};

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
}

impl Belongs {
    pub(super) fn of(bot: &BotName, owner: Option<&Owner>) -> Self {
        owner.map_or_else(|| Self::ToItself(bot.clone()), |owner| Self::To(owner.clone()))
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
