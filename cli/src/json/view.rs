//! Views.

use serde::Serialize;
use zetema_rules::{Phase, Stage, View, Viewer};

use super::{OutcomeJson, cards, ranks};

/// What a seat or a spectator sees of a match.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ViewJson {
    /// The seat that sees it; null for a spectator.
    seat: Option<usize>,
    deal: u32,
    dealer: usize,
    decision: u32,
    phase: PhaseJson,
    stock: u8,
    tableau: Vec<String>,
    zetemas: Vec<String>,
    marriages: Vec<String>,
    removed: Vec<String>,
    assemblies: Vec<String>,
    seats: Vec<SeatJson>,
    sides: Vec<SideJson>,
    hand: Vec<String>,
    outcome: Option<OutcomeJson>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum PhaseJson {
    Turn { seat: usize, stage: StageJson },
    DealOver,
    MatchOver,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum StageJson {
    DeclareOrDiscard,
    Discard,
    DiscardDeclared(Vec<String>),
    DiscardExposed(String),
}

#[derive(Clone, Debug, Serialize)]
struct SeatJson {
    hand_count: u8,
    known_held: Vec<String>,
    exposed: Option<String>,
    draw_penalty: u8,
    last_meld: Option<Vec<String>>,
    forfeited: bool,
}

#[derive(Clone, Debug, Serialize)]
struct SideJson {
    total: u16,
    deal_score: u16,
}

impl ViewJson {
    /// The JSON form of this view.
    pub(crate) fn new(view: &View) -> Self {
        let View { rules, public, viewer, hand } = view;
        let seats = rules.seats().map(|seat| {
            let i = seat.index();
            SeatJson {
                hand_count: public.hand_counts[i],
                known_held: cards(public.known_held[i]),
                exposed: public.exposed[i].map(|card| card.to_string()),
                draw_penalty: public.draw_penalties[i],
                last_meld: public.last_melds[i].map(cards),
                forfeited: public.forfeited.contains(seat),
            }
        });
        let sides = public.totals.iter().zip(&public.deal_scores).take(rules.sides());
        Self {
            seat: match viewer {
                Viewer::Seat(seat) => Some(seat.index()),
                Viewer::Spectator => None,
            },
            deal: public.deal,
            dealer: public.dealer.index(),
            decision: public.decision,
            phase: match public.phase {
                Phase::Turn { seat, stage } => {
                    PhaseJson::Turn { seat: seat.index(), stage: StageJson::new(stage) }
                }
                Phase::DealOver => PhaseJson::DealOver,
                Phase::MatchOver => PhaseJson::MatchOver,
            },
            stock: public.stock_count,
            tableau: cards(public.tableau),
            zetemas: ranks(public.zetemas),
            marriages: cards(public.marriages),
            removed: ranks(public.removed),
            assemblies: ranks(public.assemblies),
            seats: seats.collect(),
            sides: sides.map(|(&total, &deal_score)| SideJson { total, deal_score }).collect(),
            hand: cards(*hand),
            outcome: public.result.as_ref().map(OutcomeJson::result),
        }
    }
}

impl StageJson {
    fn new(stage: Stage) -> Self {
        match stage {
            Stage::DeclareOrDiscard => Self::DeclareOrDiscard,
            Stage::Discard => Self::Discard,
            Stage::DiscardDeclared(declared) => Self::DiscardDeclared(cards(declared)),
            Stage::DiscardExposed(card) => Self::DiscardExposed(card.to_string()),
        }
    }
}
