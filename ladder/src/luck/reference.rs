//! What a deal's worth is measured by.

use zetema_rules::{Deck, DeckError, MatchEnd, Options, Rules};

use super::baseline::BaselineComputation;
use super::deal::DealComputation;
use super::key::{BaselineKey, DealKey};
use super::version::ReferenceVersion;

/// What a deal's worth is measured by: the rules of one deal, and a version of the reference.
///
/// A deal is worth the same whatever the match is played up to, and faults are no luck. So the target, the end of the
/// match (R24) and the penalty for exposed cards (R28) make no difference: rules that differ in these alone have the same
/// reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    rules: Rules,
    version: ReferenceVersion,
}

impl Reference {
    /// The reference for matches by these rules.
    pub fn new(rules: &Rules, version: ReferenceVersion) -> Self {
        let options =
            Options { target: None, match_end: MatchEnd::AfterDeal, exposed_card_penalty: false, ..**rules };
        let rules = Rules::new(options).unwrap_or_else(|_| unreachable!("a match of one deal is a match"));
        Self { rules, version }
    }

    /// The rules by which the reference plays a deal.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Its version.
    pub const fn version(&self) -> ReferenceVersion {
        self.version
    }

    /// Begins to compute what this deck is worth.
    ///
    /// # Errors
    /// [`DeckError`] if its doubled suit is not that of the rules.
    pub fn deal(&self, deck: &Deck) -> Result<DealComputation, DeckError> {
        let deck = Deck::new(deck.reveal(), self.rules.imperial_suit)?;
        Ok(DealComputation::new(*self, deck))
    }

    /// Begins to compute what the places at the table are usually worth.
    pub fn baseline(&self) -> BaselineComputation {
        BaselineComputation::new(*self)
    }

    /// What the values of this deck are kept under.
    pub fn deal_key(&self, deck: &Deck) -> DealKey {
        DealKey::new(self, deck)
    }

    /// What the baseline is kept under.
    pub fn baseline_key(&self) -> BaselineKey {
        BaselineKey::new(self)
    }
}
