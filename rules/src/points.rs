//! What actions score (R16, R18, R19).

use crate::action::{Action, Declaration};
use crate::card::{Card, Rank};
use crate::cards::Cards;
use crate::event::Viewer;
use crate::legal;
use crate::options::{ImperialBonus, RoyalZetema};
use crate::public::{Phase, PublicState, Stage};
use crate::rules::Rules;
use crate::view::View;

impl View {
    /// What this action would score at once if it were played now: a declaration its points (R18, R19), a
    /// discard those of the zetema that it makes (R16), if any. Whether it is legal is not asked.
    ///
    /// ```
    /// # use zetema_rules::{Action, View};
    /// fn pays_best(view: &View) -> Option<Action> {
    ///     view.legal_actions().iter().max_by_key(|action| view.points(action))
    /// }
    /// ```
    pub fn points(&self, action: &Action) -> u16 {
        match *action {
            Action::Declare(declaration) => self.public.declaration_points(&self.rules, &declaration),
            Action::Discard(card) => {
                let mut tableau = self.public.tableau;
                tableau.insert(card);
                let exposed = match (self.public.phase, self.viewer) {
                    (Phase::Turn { seat, stage }, Viewer::Seat(viewer)) => {
                        seat == viewer && stage == Stage::DiscardExposed(card)
                    }
                    _ => false,
                };
                if !exposed && self.public.is_zetema(&self.rules, tableau, card.rank()) {
                    Rules::zetema_points(card.rank())
                } else {
                    0
                }
            }
        }
    }
}

impl PublicState {
    /// What a declaration scores (R18, R19).
    pub(crate) fn declaration_points(&self, rules: &Rules, declaration: &Declaration) -> u16 {
        match *declaration {
            Declaration::Sequence(_) => rules.sequence_score,
            Declaration::Flush(_) => rules.flush_score,
            Declaration::FlushSequence(_) => rules.flush_sequence_score,
            Declaration::Assembly(rank) => rules.assembly_scores.of(rank),
            Declaration::Marriages { hand, tableau } => {
                let all = hand.sum(tableau);
                let imperial_king = Card::new(Rank::King, rules.imperial_suit);
                let imperial = all.count(imperial_king);
                let earlier = self.marriages.count(imperial_king);
                let marriages = all.len() / 2;
                let base = [0, 10, 30, 60, 100, 150][marriages.min(5)];
                let bonus = match (rules.imperial_bonus, imperial) {
                    _ if marriages >= 5 => 0,
                    (ImperialBonus::Second | ImperialBonus::Every, 2) => 20,
                    (ImperialBonus::Second, 1) if earlier > 0 => 10,
                    (ImperialBonus::Every, 1) => 10,
                    _ => 0,
                };
                base + bonus
            }
        }
    }

    /// Whether the pile of this rank in this tableau, just completed, is a zetema (R16).
    pub(crate) fn is_zetema(&self, rules: &Rules, tableau: Cards, rank: Rank) -> bool {
        if !legal::all_five(tableau).contains(rank) {
            return false;
        }
        let needed = match (rules.royal_zetema, rank) {
            (RoyalZetema::AfterAssembly, Rank::King) => Rank::Queen,
            (RoyalZetema::AfterAssembly, Rank::Queen) => Rank::King,
            _ => return true,
        };
        self.assemblies.contains(needed)
    }
}
