//! The bot that searches a tree of what may follow.

mod tree;

use zetema_sdk::rules::{Game, Phase, Seat, Viewer};
use zetema_sdk::{Action, Bot, Decision, Determiniser, LegalActions};

use crate::appraiser::Appraiser;
use crate::budget::Budget;
use crate::candidates::Candidates;
use crate::endgame::Endgame;
use crate::outlook::worths;
use crate::playout::Playout;
use crate::policy::Policy;
use tree::{NodeId, Seen, Tree};

/// Searches the actions of all seats: an information-set tree search with one tree, that of what its own seat sees.
///
/// The unseen cards are dealt at random again and again. In each deal the search goes down the tree by the
/// actions that are legal there, each weighed by what came of it so far and by how seldom it was tried when it
/// could have been (UCB1 with counts of availability), beginning with what is held of it at first sight: at the
/// root what [`Appraiser`] holds, below it what the policy of the playouts does. Where the search has never been
/// the policy plays the deal out. What comes of it counts against what the policy alone makes of the same deal,
/// so that good cards are not taken for good play.
///
/// The farther off the end of the deal, the more its luck hides. So a decision is searched only if there are 60
/// playouts for each card of the stock; before that the bot plays as [`Appraiser`] does. Between two players nothing is
/// hidden once the stock is empty: the rest of the deal is then played out in all ways, as far as the budget goes.
#[derive(Debug)]
pub struct Searcher {
    determiniser: Determiniser,
    playout: Playout,
    policy: Policy,
    candidates: Candidates,
    worths: Vec<f64>,
    budget: Budget,
    tree: Tree,
    legal: LegalActions,
    seen: Vec<Option<Seen>>,
    path: Vec<NodeId>,
}

/// How many playouts a card of the stock asks for.
const PLAYOUTS_PER_CARD: u32 = 60;
/// How many playouts each deal of the unseen cards is used for.
const PLAYOUTS_PER_DEAL: u32 = 8;
/// How much what was seldom tried is to be tried, in worth.
const EXPLORATION: f64 = 0.08;
/// How many playouts an action's worth at first sight counts for.
const PRIOR_PLAYOUTS: f64 = 200.0;
/// What a point is worth.
const POINT: f64 = 0.005;

impl Searcher {
    /// A bot that chooses the same for the same seed and the same decisions, as long as no clock cuts it short.
    pub fn new(seed: u64, budget: Budget) -> Self {
        let policy = Policy::HOUSE;
        Self {
            determiniser: Determiniser::new(seed),
            playout: Playout::new(policy),
            policy,
            candidates: Candidates::default(),
            worths: Vec::new(),
            budget,
            tree: Tree::default(),
            legal: LegalActions::default(),
            seen: Vec::new(),
            path: Vec::new(),
        }
    }

    /// One way down the tree and a playout from where it ends.
    fn descend(&mut self, mut game: Game, root: NodeId, at_root: &[f64], baseline: &[f64]) {
        let mut node = root;
        self.path.clear();
        while let Phase::Turn { seat, .. } = game.public().phase {
            game.legal_actions_into(&mut self.legal);
            let view = game.view(Viewer::Seat(seat));
            if node == root {
                self.candidates.list(&self.legal, at_root);
            } else {
                self.policy.worths(&view, seat, &self.legal, &mut self.worths);
                self.candidates.list(&self.legal, &self.worths);
            }
            self.tree.look_up(node, self.candidates.actions(), &mut self.seen);
            let Some(place) = highest(&self.seen, self.candidates.worths(), Guess::bound) else {
                break;
            };
            let action = self.candidates.actions()[place];
            if !self.playout.play(&mut game, seat, &action) {
                break;
            }
            if let Some(Some(seen)) = self.seen.get(place) {
                node = seen.node;
                self.path.push(node);
            } else {
                let side = game.rules().side(seat);
                self.path.push(self.tree.add(node, action, side));
                break;
            }
        }
        self.playout.finish(&mut game);
        let worths = worths(&game);
        let mut gained = [0.0; Seat::MAX];
        for (gain, (worth, base)) in gained.iter_mut().zip(worths.iter().zip(baseline)) {
            *gain = worth - base;
        }
        for &node in &self.path {
            self.tree.count(node, &gained);
        }
    }

    /// The action that came out best, what was held of it at first sight counted in.
    fn best(&mut self, decision: &Decision, root: NodeId, at_root: &[f64]) -> Option<Action> {
        self.candidates.list(&decision.legal, at_root);
        self.tree.look_up(root, self.candidates.actions(), &mut self.seen);
        let place = highest(&self.seen, self.candidates.worths(), |guess| guess.mean)?;
        self.candidates.actions().get(place).copied()
    }
}

/// What is held of an action, by what came of it and by first sight.
struct Guess {
    mean: f64,
    tried: f64,
    available: f64,
}

impl Guess {
    /// A bound on what it may be worth.
    fn bound(&self) -> f64 {
        self.mean + EXPLORATION * (self.available.ln() / self.tried).sqrt()
    }
}

/// The place of the first action for which this is highest.
fn highest(seen: &[Option<Seen>], at_first_sight: &[f64], value: impl Fn(&Guess) -> f64) -> Option<usize> {
    let favourite = at_first_sight.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut best: Option<(usize, f64)> = None;
    for (place, (seen, points)) in seen.iter().zip(at_first_sight).enumerate() {
        let prior = (POINT * (points - favourite)).max(-0.5);
        let (visits, available, sum) = seen
            .map_or((0.0, 1.0, 0.0), |seen| (f64::from(seen.visits), f64::from(seen.available), seen.sum));
        let tried = visits + PRIOR_PLAYOUTS;
        let guess = Guess {
            mean: (sum + PRIOR_PLAYOUTS * prior) / tried,
            tried,
            available: available + PRIOR_PLAYOUTS,
        };
        let worth = value(&guess);
        if best.is_none_or(|(_, most)| worth > most) {
            best = Some((place, worth));
        }
    }
    best.map(|(place, _)| place)
}

impl Bot for Searcher {
    fn choose(&mut self, decision: &Decision) -> Action {
        if decision.legal.len() == 1 {
            return decision.first();
        }
        let root = self.tree.plant();
        let mut at_root = Vec::new();
        Appraiser::worths(&decision.view, decision.info.seat, &decision.legal, &mut at_root);
        let spending = self.budget.for_decision(decision);
        if Endgame::is_here(&decision.view)
            && let Ok(game) = self.determiniser.deal(&decision.view)
            && let Some(action) = Endgame::default().best(&game, &decision.legal, &at_root, &spending)
        {
            return action;
        }
        let pays = spending.playouts() / PLAYOUTS_PER_CARD >= u32::from(decision.view.public.stock_count);
        let mut spent = 0;
        while pays && spending.goes_on(spent) {
            let Ok(game) = self.determiniser.deal(&decision.view) else { break };
            let mut by_policy = game.clone();
            self.playout.finish(&mut by_policy);
            let baseline = worths(&by_policy);
            spent += 1;
            for _ in 0..PLAYOUTS_PER_DEAL {
                if !spending.goes_on(spent) {
                    break;
                }
                self.descend(game.clone(), root, &at_root, &baseline);
                spent += 1;
            }
        }
        self.best(decision, root, &at_root).unwrap_or(decision.first())
    }
}
