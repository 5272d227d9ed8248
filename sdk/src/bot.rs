//! The trait that a bot implements, and what it is asked.

use std::fmt;
use std::sync::Arc;

use zetema_rules::{Action, DealingKind, LegalActions, Rules, Seat, SeatEvent, View, Viewer};

use crate::clock::Clock;
use crate::end::End;

/// A player of one seat in one match.
///
/// Only [`Bot::choose`] is required. The other methods are told what happens, in order: `start`
/// once, then `observe` for each event, with `choose` in between, then `end` once. The same calls
/// come over the network and from [`simulate`](crate::simulate).
///
/// A bot that panics, or that chooses what is not legal, forfeits its seat, and no other.
pub trait Bot: Send {
    /// Chooses one of the decision's legal actions.
    fn choose(&mut self, decision: &Decision) -> Action;

    /// The seat is taken. `view` is what it sees if the cards were dealt before the bot was made: always
    /// so in the middle of a match, and possibly at its start, for the seat that joins last.
    fn start(&mut self, view: Option<&View>) {
        let _ = view;
    }

    /// Something happened that the seat may see, its own actions included.
    fn observe(&mut self, event: &SeatEvent) {
        let _ = event;
    }

    /// The match is over for this seat.
    fn end(&mut self, end: &End) {
        let _ = end;
    }
}

impl<B: Bot + ?Sized> Bot for Box<B> {
    fn choose(&mut self, decision: &Decision) -> Action {
        (**self).choose(decision)
    }

    fn start(&mut self, view: Option<&View>) {
        (**self).start(view);
    }

    fn observe(&mut self, event: &SeatEvent) {
        (**self).observe(event);
    }

    fn end(&mut self, end: &End) {
        (**self).end(end);
    }
}

/// What is known about a match when a bot is made for one of its seats.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatchInfo {
    /// The match's id: opaque text.
    pub match_id: String,
    /// The seat that the bot plays.
    pub seat: Seat,
    /// The rules of the match.
    pub rules: Rules,
    /// How its cards are dealt. Those of [`Fixed`](DealingKind::Fixed) deals were chosen by whoever made the match,
    /// or could be.
    pub deals: DealingKind,
}

impl MatchInfo {
    /// The seat of a match, for a test of a bot or for play by other means than this crate's. Its deals are joint.
    pub fn new(match_id: impl Into<String>, seat: Seat, rules: Rules) -> Self {
        Self { match_id: match_id.into(), seat, rules, deals: DealingKind::Joint }
    }

    /// The same with these deals.
    #[must_use]
    pub fn with_deals(mut self, deals: DealingKind) -> Self {
        self.deals = deals;
        self
    }
}

/// What a bot is asked: the view of its seat and what it may do. There is always a legal action.
///
/// `Debug` shows no card of the hand.
#[derive(Clone)]
#[non_exhaustive]
pub struct Decision {
    /// The match and the seat.
    pub info: Arc<MatchInfo>,
    /// What the seat sees.
    pub view: View,
    /// What it may do.
    pub legal: LegalActions,
    pub(crate) clock: Option<Clock>,
    /// The first of these.
    pub(crate) first: Action,
}

impl Decision {
    /// The decision that this view shows; `None` if the seat has none to take.
    pub fn new(info: Arc<MatchInfo>, view: &View) -> Option<Self> {
        if view.viewer != Viewer::Seat(info.seat) {
            return None;
        }
        let legal = view.legal_actions();
        Self::with_legal(info, view, legal)
    }

    /// As [`Decision::new`], with legal actions that are known.
    pub(crate) fn with_legal(info: Arc<MatchInfo>, view: &View, legal: LegalActions) -> Option<Self> {
        let first = legal.get(0)?;
        Some(Self { info, view: *view, legal, clock: None, first })
    }

    /// The same decision with this clock, for a test of a bot or for play by other means than this crate's.
    #[must_use]
    pub const fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// How long the bot has for it; `None` in a match without a clock, and in [`simulate`](crate::simulate).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use zetema_sdk::Decision;
    /// /// A fiftieth of all that is left, so that the bank lasts for the match, and a second without a clock.
    /// fn time_to_think(decision: &Decision) -> Duration {
    ///     decision.clock().map_or(Duration::from_secs(1), |clock| clock.left() / 50)
    /// }
    /// ```
    pub const fn clock(&self) -> Option<Clock> {
        self.clock
    }

    /// The decision's number: 1 for the first of the match, one for each action of anyone.
    pub const fn number(&self) -> u32 {
        self.view.public.decision
    }

    /// The first legal action.
    pub const fn first(&self) -> Action {
        self.first
    }

    /// The legal action with the greatest value, the first of those if there are several.
    ///
    /// ```
    /// # use zetema_sdk::{Action, Decision};
    /// fn declare_when_possible(decision: &Decision) -> Action {
    ///     decision.best(|action| matches!(action, Action::Declare(_)))
    /// }
    /// ```
    pub fn best<V: PartialOrd>(&self, mut value: impl FnMut(&Action) -> V) -> Action {
        let mut best = (value(&self.first), self.first);
        for action in self.legal.iter().skip(1) {
            let worth = value(&action);
            if worth > best.0 {
                best = (worth, action);
            }
        }
        best.1
    }
}

impl fmt::Debug for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { info, view, legal, clock, first: _ } = self;
        f.debug_struct("Decision")
            .field("info", info)
            .field("view", view)
            .field("legal", legal)
            .field("clock", clock)
            .finish_non_exhaustive()
    }
}
