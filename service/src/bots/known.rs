//! The accounts in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use zetema_ladder::quota::Quota;

use super::account::{BotAccount, BotState};
use crate::journal::{Accounts, BotName, Owner, StoredOwner};
use crate::limits;

/// What memory has of the accounts.
#[derive(Default)]
pub(super) struct Known {
    by_name: HashMap<BotName, Arc<BotAccount>>,
    by_number: BTreeMap<u64, Arc<BotAccount>>,
    /// The owners that registered themselves.
    owners: HashSet<Owner>,
}

/// How many bots an owner has.
#[derive(Debug, Default)]
pub(super) struct BotCount {
    /// Those that are not retired.
    pub(super) active: usize,
    /// Those that are retired too.
    pub(super) ever: usize,
}

impl Known {
    pub(super) fn new(accounts: Accounts, quota: Quota) -> Self {
        let Accounts { bots, owners } = accounts;
        let owners = owners.into_iter().map(|StoredOwner { name, created_at: _ }| name).collect();
        let mut known = Self { owners, ..Self::default() };
        for bot in bots {
            known.put_bot(Arc::new(BotAccount::new(bot, quota)));
        }
        known
    }

    pub(super) fn bot(&self, name: &BotName) -> Option<Arc<BotAccount>> {
        self.by_name.get(name).cloned()
    }

    /// Those with a lower number, the highest first.
    pub(super) fn before(&self, before: Option<u64>) -> impl Iterator<Item = &Arc<BotAccount>> {
        self.by_number.range(..before.unwrap_or(u64::MAX)).rev().map(|(_, bot)| bot)
    }

    pub(super) fn put_bot(&mut self, bot: Arc<BotAccount>) {
        self.by_number.insert(bot.number, Arc::clone(&bot));
        self.by_name.insert(bot.name.clone(), bot);
    }

    pub(super) fn put_owner(&mut self, owner: Owner) {
        self.owners.insert(owner);
    }

    /// Bots that were ever registered.
    pub(super) fn bots(&self) -> usize {
        self.by_name.len()
    }

    /// The number of the last bot; 0 if there is none.
    pub(super) fn last_number(&self) -> u64 {
        self.by_number.keys().next_back().copied().unwrap_or(0)
    }

    pub(super) fn count(&self, owner: &Owner) -> BotCount {
        let mut count = BotCount::default();
        for bot in self.by_name.values().filter(|bot| bot.owner == *owner) {
            count.ever += 1;
            count.active += usize::from(bot.state == BotState::Active);
        }
        count
    }

    /// Whether this owner, as far as it is one that registered itself, leaves room for those whom the admin knows: a bot is never
    /// forgotten, and strangers can make many owners of themselves.
    pub(super) fn has_room_for_one_of(&self, owner: &Owner) -> bool {
        let theirs = |bot: &&Arc<BotAccount>| self.owners.contains(&bot.owner);
        !self.owners.contains(owner)
            || self.by_name.values().filter(theirs).count() < limits::MAX_BOTS_OF_REGISTERED_OWNERS
    }

    /// Owners that registered themselves.
    pub(super) fn registered_owners(&self) -> usize {
        self.owners.len()
    }

    /// Whether there is, or was, an owner of this name, as far as accounts tell.
    pub(super) fn knows_owner(&self, name: &Owner) -> bool {
        self.owners.contains(name) || self.by_name.values().any(|bot| bot.owner == *name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;
    use crate::journal::{BotNumber, StoredBot, UnixMillis};

    #[test]
    fn owners_that_registered_themselves_leave_room_for_the_bots_of_others() {
        let owner = |name: &str| Owner::new(name).unwrap();
        let created_at = UnixMillis::new(1);
        let bot = |number: usize| StoredBot {
            number: BotNumber::new(number as u64),
            name: BotName::new(format!("bot-{number}")).unwrap(),
            owner: owner("stranger"),
            description: None,
            version: None,
            fault_contact: None,
            created_at,
            retired_at: Some(created_at),
        };
        let strangers = ["stranger", "another"];
        let known = |bots: usize| {
            let owners = strangers.map(|name| StoredOwner { name: owner(name), created_at }).into();
            let quota = Quota::new(4, 100).unwrap();
            Known::new(Accounts { bots: (1..=bots).map(bot).collect(), owners }, quota)
        };
        let check = |bots, expected: [bool; 3]| {
            let room =
                ["stranger", "another", "known"].map(|name| known(bots).has_room_for_one_of(&owner(name)));
            assert_eq!(room, expected, "{bots} bots");
        };
        check(limits::MAX_BOTS_OF_REGISTERED_OWNERS - 1, [true, true, true]);
        check(limits::MAX_BOTS_OF_REGISTERED_OWNERS, [false, false, true]);
    }
}
