//! The tree of a search: what followed what, how often, and what came of it.

use zetema_sdk::Action;
use zetema_sdk::rules::Side;

/// A place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(usize);

/// One action after those on the way to it. What is drawn is no part of the tree: a node stands for all
/// cards that the actions before it allow.
#[derive(Clone, Debug)]
struct Node {
    action: Option<Action>,
    /// The side that played the action.
    side: usize,
    /// How often it was played.
    visits: u32,
    /// How often it could have been.
    available: u32,
    /// What came of it for the side that played it.
    sum: f64,
    first_child: Option<NodeId>,
    next_sibling: Option<NodeId>,
}

/// A tree that grows by a node with each playout, in one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

/// What is known about an action at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) node: NodeId,
    pub(crate) visits: u32,
    pub(crate) available: u32,
    pub(crate) sum: f64,
}

impl Tree {
    /// Empties it, and gives its root.
    pub(crate) fn plant(&mut self) -> NodeId {
        self.nodes.clear();
        self.push(None, 0)
    }

    fn push(&mut self, action: Option<Action>, side: usize) -> NodeId {
        let id = NodeId(self.nodes.len());
        let (first_child, next_sibling) = (None, None);
        self.nodes.push(Node { action, side, visits: 0, available: 0, sum: 0.0, first_child, next_sibling });
        id
    }

    /// A new node for an action that was never played here.
    pub(crate) fn add(&mut self, parent: NodeId, action: Action, side: Side) -> NodeId {
        let id = self.push(Some(action), side.index());
        self.nodes[id.0].available = 1;
        self.nodes[id.0].next_sibling = self.nodes[parent.0].first_child;
        self.nodes[parent.0].first_child = Some(id);
        id
    }

    /// What is known about each of these actions, in their order, into `seen`; all are counted as available.
    pub(crate) fn look_up(&mut self, parent: NodeId, actions: &[Action], seen: &mut Vec<Option<Seen>>) {
        seen.clear();
        seen.resize(actions.len(), None);
        let mut next = self.nodes[parent.0].first_child;
        while let Some(id) = next {
            let node = &mut self.nodes[id.0];
            next = node.next_sibling;
            let place = actions.iter().position(|action| Some(*action) == node.action);
            if let Some(slot) = place.and_then(|place| seen.get_mut(place)) {
                node.available += 1;
                let Node { visits, available, sum, .. } = *node;
                *slot = Some(Seen { node: id, visits, available, sum });
            }
        }
    }

    /// Counts one playout through a node.
    pub(crate) fn count(&mut self, id: NodeId, worths: &[f64]) {
        let node = &mut self.nodes[id.0];
        node.visits += 1;
        node.sum += worths.get(node.side).copied().unwrap_or(0.0);
    }
}

#[cfg(test)]
mod tests {
    use zetema_sdk::rules::Side;

    use super::*;

    fn discards(cards: &[&str]) -> Vec<Action> {
        cards.iter().map(|card| Action::Discard(card.parse().unwrap())).collect()
    }

    fn side(index: usize) -> Side {
        Side::new(index).unwrap()
    }

    #[test]
    fn an_action_is_available_as_often_as_it_was_looked_up() {
        let mut tree = Tree::default();
        let root = tree.plant();
        let node = tree.add(root, discards(&["2C"])[0], side(0));
        let mut seen = Vec::new();
        for (cards, available) in [(&["2C", "KS"][..], Some(2)), (&["KS"], None), (&["KS", "2C"], Some(3))] {
            tree.look_up(root, &discards(cards), &mut seen);
            assert_eq!(seen.len(), cards.len());
            let found = seen.iter().flatten().next();
            assert_eq!(found.map(|seen| seen.available), available, "{cards:?}");
            assert!(found.is_none_or(|seen| seen.node == node && seen.visits == 0));
        }
    }

    #[test]
    fn a_playout_counts_for_the_side_that_played_the_action() {
        let mut tree = Tree::default();
        let root = tree.plant();
        let actions = discards(&["2C", "3C"]);
        let own = tree.add(root, actions[0], side(0));
        let reply = tree.add(own, actions[1], side(1));
        for node in [own, reply] {
            tree.count(node, &[0.25, -0.25]);
        }
        let mut seen = Vec::new();
        for (parent, node, sum) in [(root, own, 0.25), (own, reply, -0.25)] {
            tree.look_up(parent, &actions, &mut seen);
            let expected = Seen { node, visits: 1, available: 2, sum };
            assert_eq!(seen.iter().flatten().copied().collect::<Vec<_>>(), [expected]);
        }
    }

    #[test]
    fn a_tree_is_planted_anew_for_each_decision() {
        let mut tree = Tree::default();
        let root = tree.plant();
        let actions = discards(&["2C"]);
        tree.add(root, actions[0], side(0));
        let root = tree.plant();
        let mut seen = Vec::new();
        tree.look_up(root, &actions, &mut seen);
        assert_eq!(seen, [None]);
    }
}
