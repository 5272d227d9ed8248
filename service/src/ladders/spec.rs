//! Which ladders there are ([`LadderSpec`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use zetema_ladder::RatingSettings;
use zetema_ladder::conduct::ConductSettings;
use zetema_ladder::pairing::{PairingSettings, SameOwner};
use zetema_rules::{Rules, TimeControl};

use super::accounts::{Account, Standing};
use super::presence::QueueRefused;
use crate::journal::{BotName, LadderName, Owner};
use crate::limits;

/// What a ladder is.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderSpec {
    /// Its name.
    pub name: LadderName,
    /// What it is, for people.
    pub description: String,
    /// The rules of its matches.
    pub rules: Rules,
    /// Their clocks.
    pub time_control: TimeControl,
    /// How it rates.
    pub rating: RatingSettings,
    /// How it pairs. The players and teams are those of the rules.
    pub pairing: PairingSettings,
    /// What comes of no-shows and forfeits.
    pub conduct: ConductSettings,
    /// Who may enter.
    pub entry: Entry,
}

/// Who may enter a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Every bot that is registered.
    Registered,
    /// The bots of these owners.
    Owners(BTreeSet<Owner>),
}

impl LadderSpec {
    /// The most bytes of a description.
    pub const MAX_DESCRIPTION_BYTES: usize = limits::MAX_LADDER_DESCRIPTION_BYTES;

    /// Lets a bot in.
    pub(super) fn admit(&self, bot: &BotName, account: Option<&Account>) -> Result<(), QueueRefused> {
        let Some(Account { owner, quota: _, standing }) = account else {
            return Err(QueueRefused::NotRegistered(bot.clone()));
        };
        if *standing == Standing::Retired {
            return Err(QueueRefused::Retired(bot.clone()));
        }
        match &self.entry {
            Entry::Owners(owners) if !owners.contains(owner) => {
                Err(QueueRefused::NotAdmitted { ladder: self.name.clone(), owner: owner.clone() })
            }
            Entry::Registered | Entry::Owners(_) => Ok(()),
        }
    }

    /// Whether its matches are rated: not where bots of one owner may play for one another.
    pub fn is_rated(&self) -> bool {
        self.pairing.same_owner != SameOwner::Anywhere
    }
}

/// The ladders of a server: each name once.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladders(Vec<Arc<LadderSpec>>);

/// Ladders that no server has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaddersError {
    /// Two have the same name.
    #[error("two ladders are named {0}: give each a name of its own")]
    Twice(LadderName),
    /// There are too many.
    #[error("there are {given} ladders: give at most {most}")]
    TooMany {
        /// How many.
        given: usize,
        /// How many there may be.
        most: usize,
    },
}

impl Ladders {
    /// None.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// These.
    ///
    /// # Errors
    /// [`LaddersError`].
    pub fn new(specs: Vec<LadderSpec>) -> Result<Self, LaddersError> {
        if specs.len() > limits::MAX_LADDERS {
            return Err(LaddersError::TooMany { given: specs.len(), most: limits::MAX_LADDERS });
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = specs.iter().find(|spec| !names.insert(&spec.name)) {
            return Err(LaddersError::Twice(twice.name.clone()));
        }
        Ok(Self(specs.into_iter().map(Arc::new).collect()))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<LadderSpec>> {
        self.0.iter()
    }
}
