//! What happened in the matches of a comparison.

use std::collections::BTreeMap;

use zetema_tests::reference::{
    Action, Card, Deal, Declaration, ExtraTurn, Game, KING, Kind, Phase, RoyalZetema, Rules, Stage, Turn,
    count, declarations,
};

/// What a comparison must have met.
pub(crate) const WHAT_HAPPENS: [&str; 26] = [
    "sequence",
    "flush",
    "flush sequence",
    "assembly",
    "marriages",
    "zetema",
    "zetema of an exposed card",
    "barred royal zetema",
    "extra discard",
    "extra turn",
    "fault",
    "forfeit",
    "a further deal",
    "over at once",
    "match over",
    "made up and legal",
    "made up and refused",
    "five marriages at once",
    "second imperial marriage",
    "both imperial marriages",
    "choice between hand and tableau",
    "seat skipped",
    "faults add up",
    "draw to one card",
    "turn without declarations",
    "meld barred by max_reused",
];

/// What happened over all matches, so that a comparison that never met a rule shows.
#[derive(Default)]
pub(crate) struct Coverage {
    /// How many states were compared.
    pub(crate) states: u64,
    /// How often each thing happened.
    pub(crate) happened: BTreeMap<&'static str, u64>,
}

impl Coverage {
    /// Counts one more.
    pub(crate) fn note(&mut self, what: &'static str) {
        *self.happened.entry(what).or_default() += 1;
    }

    /// Each of these must have happened so often at least.
    pub(crate) fn expect(&self, least: u64, all: &[&str]) {
        for what in all {
            let number = self.happened.get(what).copied().unwrap_or_default();
            assert!(number >= least, "{what} happened {number} times: {:?}", self.happened);
        }
    }

    /// What came of an action of this seat.
    pub(crate) fn note_action(&mut self, seat: usize, action: &Action, before: &Game, after: &Game) {
        let (Some(deal_before), Some(deal)) = (&before.deal, &after.deal) else {
            return;
        };
        let rules = &after.rules;
        match action {
            Action::Declare(declaration) => note_declaration(self, declaration, rules, deal_before),
            Action::Discard(card) => {
                let zetema = deal.zetemas > deal_before.zetemas;
                let exposed = deal_before.exposed[seat].is_some();
                if zetema {
                    self.note(if exposed { "zetema of an exposed card" } else { "zetema" });
                }
                if !zetema && deal.pile(card.rank).len() == 5 {
                    assert_eq!(rules.royal_zetema, RoyalZetema::AfterAssembly);
                    self.note("barred royal zetema");
                }
                let goes_on = matches!(&after.stage, Stage::ToAct(next) if next.seat == seat);
                if zetema && goes_on && deal.hands.iter().all(|hand| !hand.is_empty()) {
                    self.note(match rules.extra_turn {
                        ExtraTurn::Discard => "extra discard",
                        ExtraTurn::Full => "extra turn",
                        ExtraTurn::None => "no extra turn, and yet",
                    });
                }
            }
        }
        if after.stage == Stage::Over && deal.hands.iter().any(|hand| !hand.is_empty()) {
            self.note("over at once");
        }
        if let Stage::ToAct(next) = &after.stage {
            note_next(self, rules, deal, seat, next);
        }
    }
}

fn note_declaration(coverage: &mut Coverage, declaration: &Declaration, rules: &Rules, before: &Deal) {
    coverage.note(match declaration.kind {
        Kind::Sequence => "sequence",
        Kind::Flush => "flush",
        Kind::FlushSequence => "flush sequence",
        Kind::Assembly => "assembly",
        Kind::Marriages => "marriages",
    });
    if declaration.kind == Kind::Marriages {
        let all = [&declaration.hand[..], &declaration.tableau[..]].concat();
        let imperial_king = Card { rank: KING, suit: rules.imperial };
        if all.len() == 10 {
            coverage.note("five marriages at once");
        }
        match count(&all, imperial_king) {
            1 if before.imperial_marriages == 1 => coverage.note("second imperial marriage"),
            2 => coverage.note("both imperial marriages"),
            _ => {}
        }
        let elsewhere = |card: &Card| before.tableau.contains(card);
        if declaration.hand.iter().any(elsewhere) {
            coverage.note("choice between hand and tableau");
        }
    }
}

/// What the turn that follows shows.
fn note_next(coverage: &mut Coverage, rules: &Rules, deal: &Deal, seat: usize, next: &Turn) {
    if next.seat != seat && next.seat != (seat + 1) % rules.players {
        coverage.note("seat skipped");
    }
    if deal.penalty[next.seat] >= 2 {
        coverage.note("faults add up");
    }
    if deal.penalty[next.seat] >= rules.hand && !deal.stock.is_empty() {
        coverage.note("draw to one card");
    }
    if next.phase == Phase::Discard && next.seat != seat {
        coverage.note("turn without declarations");
    }
    let last = deal.last_meld[next.seat].as_deref();
    if rules.max_reused.is_some() && last.is_some() && next.phase == Phase::DeclareOrDiscard {
        let hand = &deal.hands[next.seat];
        let number = |last| declarations(rules, hand, &[], last).len();
        if number(last) < number(None) {
            coverage.note("meld barred by max_reused");
        }
    }
}
