//! A match played at random, faults and forfeits included, with all that is needed to replay it.

use zetema_rules::{
    Action, Card, Deck, Declaration, Event, Game, Phase, PublicState, Rules, Seat, SeatEvent, Stage, Viewer,
};

use crate::support::{Random, random_deck};

/// One thing that changes a match.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Play(Seat, Action),
    Fault(Seat, Card),
    Forfeit(Seat),
    Deal(Deck),
}

impl Step {
    pub(crate) fn apply(&self, game: &mut Game, events: &mut Vec<Event>) {
        match self {
            Self::Play(seat, action) => game.play(*seat, action, events),
            Self::Fault(seat, card) => game.fault(*seat, *card, events),
            Self::Forfeit(seat) => game.forfeit(*seat, events),
            Self::Deal(deck) => game.deal(deck, events),
        }
        .unwrap();
    }
}

/// How often, in percent, something happens that is no action of the seat to act.
#[derive(Clone, Copy)]
pub(crate) struct Trouble {
    pub(crate) fault: usize,
    pub(crate) forfeit: usize,
}

impl Trouble {
    pub(crate) const NONE: Self = Self { fault: 0, forfeit: 0 };
    pub(crate) const SOME: Self = Self { fault: 10, forfeit: 1 };
}

#[derive(Clone)]
pub(crate) struct Walk {
    pub(crate) game: Game,
    /// The deck of the deal that goes on.
    pub(crate) deck: Deck,
    /// The events of the last step.
    pub(crate) events: Vec<Event>,
    pub(crate) random: Random,
    trouble: Trouble,
}

impl Walk {
    pub(crate) fn new(rules: Rules, seed: u64, trouble: Trouble) -> Self {
        let mut random = Random::new(seed);
        let deck = random_deck(&mut random, &rules);
        let dealer = rules.seats().nth(random.below(rules.player_count().count())).unwrap();
        let mut events = Vec::new();
        let game = Game::new(rules, dealer, &deck, &mut events).unwrap();
        Self { game, deck, events, random, trouble }
    }

    /// Takes the next step of the first `deals` deals; `None` after them, or when the match is over.
    pub(crate) fn step(&mut self, deals: u32) -> Option<Step> {
        let step = self.choose(deals)?;
        if let Step::Deal(deck) = step {
            self.deck = deck;
        }
        self.events.clear();
        step.apply(&mut self.game, &mut self.events);
        Some(step)
    }

    fn choose(&mut self, deals: u32) -> Option<Step> {
        let Self { game, random, .. } = self;
        let to_act = match game.public().phase {
            Phase::Turn { seat, .. } => seat,
            Phase::DealOver if game.public().deal + 1 < deals => {
                return Some(Step::Deal(random_deck(random, game.rules())));
            }
            Phase::DealOver | Phase::MatchOver => return None,
        };
        let seats: Vec<Seat> = game.rules().seats().collect();
        let seat = random.pick(&seats);
        if random.percent(self.trouble.forfeit) && !game.public().forfeited.contains(seat) {
            return Some(Step::Forfeit(seat));
        }
        let faults: Vec<Card> = game.faults(seat).iter().collect();
        if !faults.is_empty() && random.percent(self.trouble.fault) {
            return Some(Step::Fault(seat, random.pick(&faults)));
        }
        let legal = game.legal_actions();
        let discards: Vec<Card> = legal.discards.iter().collect();
        let action = if !legal.declarations.is_empty() && random.percent(70) {
            Action::Declare(random.pick(&legal.declarations))
        } else {
            Action::Discard(random.pick(&discards))
        };
        Some(Step::Play(to_act, action))
    }
}

/// What all seats see of these events.
pub(crate) fn public_events(events: &[Event]) -> impl Iterator<Item = SeatEvent> {
    events.iter().map(|event| event.seen_by(Viewer::Spectator))
}

/// Whether a turn ended with this action, which led to this state (R9, R14, R15).
pub(crate) fn ends_turn(action: &Action, rules: &Rules, after: &PublicState, seat: Seat) -> bool {
    match action {
        Action::Discard(_) => true,
        Action::Declare(Declaration::Marriages { .. }) => {
            !rules.marriage_then_discard || after.hand_counts[seat.index()] == 0
        }
        Action::Declare(Declaration::Assembly(_)) => rules.assembly == zetema_rules::Assembly::Remove,
        Action::Declare(_) => !matches!(after.phase, Phase::Turn { stage: Stage::DiscardDeclared(_), .. }),
    }
}
