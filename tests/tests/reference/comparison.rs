//! The fast rules and the slow reference play the same random matches in lock-step and are
//! compared in every state.

use std::collections::BTreeSet;

use rand::RngExt;
use rand::rngs::StdRng;
use zetema_rules as fast;
use zetema_tests::reference::{
    Action, Card, Declaration, Game, Kind, Phase, Rules, Stage, Turn, pack, translate,
};

use crate::coverage::{Coverage, WHAT_HAPPENS};
use crate::support::{Taste, all_presets, generator, pick, random_deck, random_rules, to_act};

/// The same match, played by both.
struct Pair {
    fast: fast::Game,
    slow: Game,
    /// The number of the deal, from 0.
    deal: u32,
    /// The totals before this deal.
    before: Vec<u32>,
    events: Vec<fast::Event>,
}

fn seat(number: usize) -> fast::Seat {
    fast::Seat::new(number).expect("a seat below six")
}

impl Pair {
    fn new(rules: &Rules, dealer: usize, random: &mut StdRng) -> Self {
        let options = translate::fast_options(rules).expect("numbers in range");
        assert_eq!(&translate::rules(&options), rules);
        let deck = random_deck(random, rules, dealer);
        let mut slow = Game::new(rules.clone(), dealer).expect("valid rules");
        slow.deal(&deck).expect("a deck is wanted");
        let mut events = Vec::new();
        let fast_rules = fast::Rules::new(options).expect("the reference accepts these rules");
        let fast = fast::Game::new(fast_rules, seat(dealer), &fast_deck(&deck, rules), &mut events)
            .expect("a fresh match");
        Self { fast, slow, deal: 0, before: vec![0; rules.sides()], events }
    }

    /// The next deal, in both.
    fn deal(&mut self, random: &mut StdRng) {
        let rules = &self.slow.rules;
        let deck = random_deck(random, rules, self.slow.dealer);
        let fast_deck = fast_deck(&deck, rules);
        self.slow.deal(&deck).expect("a deck is wanted");
        self.fast.deal(&fast_deck, &mut self.events).expect("a deck is wanted");
        self.deal += 1;
        self.before.clone_from(&self.slow.totals);
    }

    /// An action that the reference allows, in both.
    fn play(&mut self, number: usize, action: &Action) {
        let fast_action = translate::fast_action(action).expect("an action of both");
        if let Err(error) = self.fast.play(seat(number), &fast_action, &mut self.events) {
            panic!("{number} {action:?} is refused: {error}\n{:?}\n{:?}", self.slow, self.fast);
        }
        self.slow.play(number, action).expect("a legal action");
    }

    /// A fault that the reference allows, in both.
    fn fault(&mut self, number: usize, card: Card) {
        let fast_card = translate::fast_card(card).expect("a card of both");
        self.fast.fault(seat(number), fast_card, &mut self.events).expect("a fault of both");
        self.slow.fault(number, card).expect("a fault of both");
    }

    /// A forfeit, in both.
    fn forfeit(&mut self, number: usize) {
        self.fast.forfeit(seat(number), &mut self.events).expect("a forfeit of both");
        self.slow.forfeit(number).expect("a forfeit of both");
    }

    /// Compares everything, and gives the legal actions.
    fn compare(&mut self) -> Vec<Action> {
        self.events.clear();
        let legal = self.slow.legal_actions();
        if let Err(difference) = self.find_difference(&legal) {
            panic!("{difference}\nslow: {:?}\nfast: {:?}", self.slow, self.fast);
        }
        legal.into_iter().collect()
    }

    fn find_difference(&self, legal: &BTreeSet<Action>) -> Result<(), String> {
        let (slow, public) = (&self.slow, self.fast.public());
        let rules = &slow.rules;
        let deal = slow.deal.as_ref().expect("a deal");
        same("phase", &phase(&public.phase), &slow.stage)?;
        same("deal", &public.deal, &self.deal)?;
        same("decision", &u64::from(public.decision), &slow.decision)?;
        if slow.stage != Stage::ToDeal {
            same("dealer", &public.dealer.index(), &slow.dealer)?;
        }
        same("stock", &usize::from(public.stock_count), &deal.stock.len())?;
        for number in 0..rules.players {
            let view = self.fast.view(fast::Viewer::Seat(seat(number)));
            same("hand", &Some(view.hand), &translate::fast_cards(&deal.hands[number]))?;
            same("count", &usize::from(public.hand_counts[number]), &deal.hands[number].len())?;
            let known = translate::fast_cards(&deal.known[number]);
            same("known held", &Some(public.known_held[number]), &known)?;
            same("exposed", &public.exposed[number].map(translate::card), &deal.exposed[number])?;
            same("penalty", &usize::from(public.draw_penalties[number]), &deal.penalty[number])?;
            let last = deal.last_meld[number].as_deref().and_then(translate::fast_cards);
            same("last meld", &public.last_melds[number], &last)?;
            let mut faults = self.fast.faults(seat(number)).distinct();
            for card in slow.faults(number) {
                let fault = translate::fast_card(card).expect("a card of both");
                same("fault", &faults.remove(fault), &true)?;
            }
            same("faults left over", &faults, &fast::Cards::EMPTY)?;
            let forfeited = public.forfeited.contains(seat(number));
            same("forfeited", &forfeited, &slow.forfeited[number])?;
            let its_turn = matches!(&slow.stage, Stage::ToAct(turn) if turn.seat == number);
            let listed = view.legal_actions();
            same("list of the view", &listed.len(), &if its_turn { legal.len() } else { 0 })?;
        }
        same("tableau", &Some(public.tableau), &translate::fast_cards(&deal.tableau))?;
        same("marriages", &Some(public.marriages), &translate::fast_cards(&deal.marriage_pile))?;
        same("zetemas", &ranks(public.zetemas), &ranks_of_fives(&deal.zetema_pile))?;
        same("removed", &ranks(public.removed), &ranks_of_fives(&deal.removed_pile))?;
        let assemblies: BTreeSet<u8> = deal.assemblies.iter().copied().collect();
        same("assemblies", &ranks(public.assemblies), &assemblies)?;
        for (side, total) in slow.totals.iter().enumerate() {
            same("total", &u32::from(public.totals[side]), total)?;
            let scored = total - self.before[side];
            same("score of the deal", &u32::from(public.deal_scores[side]), &scored)?;
        }
        let actions = self.fast.legal_actions();
        let listed: BTreeSet<Action> =
            actions.iter().map(|action| translate::action(action, rules.imperial)).collect();
        same("legal actions", &listed, legal)?;
        same("actions listed, each once", &actions.len(), &legal.len())?;
        self.compare_result()
    }

    /// The result, which is there when the match is over and not before.
    fn compare_result(&self) -> Result<(), String> {
        let slow = &self.slow;
        let over = slow.stage == Stage::Over;
        let result = self.fast.public().result;
        same("a result", &result.is_some(), &over)?;
        let Some(result) = result else {
            return Ok(());
        };
        for (side, rank) in slow.ranks().into_iter().enumerate() {
            same("rank", &usize::from(result.ranks[side]), &rank)?;
            same("final total", &u32::from(result.totals[side]), &slow.totals[side])?;
        }
        let left = |side: &usize| !slow.side_forfeited(*side);
        let sides_left = (0..slow.rules.sides()).filter(left).count();
        let reason = match (sides_left, slow.rules.target) {
            (0 | 1, _) => fast::EndReason::Forfeit,
            (_, None) => fast::EndReason::DealOver,
            (_, Some(_)) => fast::EndReason::Target,
        };
        same("reason", &result.reason, &reason)
    }

    /// Tries every action that is listed: the fast rules allow each (I7).
    fn try_all(&self, number: usize, legal: &[Action]) {
        for action in legal {
            let fast_action = translate::fast_action(action).expect("an action of both");
            let mut fast = self.fast.clone();
            let answer = fast.play(seat(number), &fast_action, &mut Vec::new());
            assert!(answer.is_ok(), "{action:?} {answer:?}\n{:?}\n{:?}", self.slow, self.fast);
        }
    }

    /// Tries an action made up at random: both allow it, or both refuse it and change nothing.
    fn try_anything(&self, random: &mut StdRng, legal: &[Action], coverage: &mut Coverage) {
        let number = random.random_range(0..self.slow.rules.players);
        let action = made_up(random, &self.slow);
        let its_turn = matches!(&self.slow.stage, Stage::ToAct(turn) if turn.seat == number);
        let allowed = its_turn && legal.contains(&action);
        let Some(fast_action) = translate::fast_action(&action) else {
            return;
        };
        // The fast rules name an assembly by its rank: other cards of the rank can't be said.
        if translate::action(fast_action, self.slow.rules.imperial) != action {
            return;
        }
        let mut fast = self.fast.clone();
        let mut events = Vec::new();
        let answer = fast.play(seat(number), &fast_action, &mut events);
        assert_eq!(answer.is_ok(), allowed, "{number} {action:?}\n{:?}\n{:?}", self.slow, self.fast);
        if !allowed {
            assert!(fast == self.fast && events.is_empty(), "R27: {action:?}\n{:?}", self.slow);
        }
        coverage.note(if allowed { "made up and legal" } else { "made up and refused" });
    }
}

/// A discard of any card, or a declaration of some of the cards in hand and in the tableau.
fn made_up(random: &mut StdRng, game: &Game) -> Action {
    let deal = game.deal.as_ref().expect("a deal");
    let hand = match &game.stage {
        Stage::ToAct(turn) => &deal.hands[turn.seat],
        Stage::ToDeal | Stage::Over => &deal.tableau,
    };
    if random.random() {
        return Action::Discard(pick(random, &pack(game.rules.imperial)));
    }
    let kinds = [Kind::Sequence, Kind::Flush, Kind::FlushSequence, Kind::Assembly, Kind::Marriages];
    let kind = pick(random, &kinds);
    let royal = kind == Kind::Marriages;
    let mut some = |cards: &[Card]| {
        let mut cards = cards.to_vec();
        cards.retain(|card| (!royal || card.rank >= 12) && random.random_range(0..8) > 0);
        cards.sort_unstable();
        cards
    };
    let hand = some(hand);
    let tableau = if royal { some(&deal.tableau) } else { Vec::new() };
    Action::Declare(Declaration { kind, hand, tableau })
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, fast: &T, slow: &T) -> Result<(), String> {
    if fast == slow { Ok(()) } else { Err(format!("{what}: fast {fast:?}, slow {slow:?}")) }
}

fn fast_deck(deck: &[Card], rules: &Rules) -> fast::Deck {
    let options = translate::fast_options(rules).expect("numbers in range");
    let cards: Option<Vec<fast::Card>> = deck.iter().copied().map(translate::fast_card).collect();
    fast::Deck::new(&cards.expect("cards of both"), options.imperial_suit).expect("all 65 cards")
}

/// What is to be done now, in the reference's terms.
fn phase(phase: &fast::Phase) -> Stage {
    match *phase {
        fast::Phase::Turn { seat, stage } => Stage::ToAct(Turn {
            seat: seat.index(),
            phase: match stage {
                fast::Stage::DeclareOrDiscard => Phase::DeclareOrDiscard,
                fast::Stage::Discard => Phase::Discard,
                fast::Stage::DiscardDeclared(cards) => Phase::DiscardOneOf(translate::cards(cards)),
                fast::Stage::DiscardExposed(card) => Phase::DiscardOneOf(vec![translate::card(card)]),
            },
        }),
        fast::Phase::DealOver => Stage::ToDeal,
        fast::Phase::MatchOver => Stage::Over,
    }
}

fn ranks(ranks: fast::Ranks) -> BTreeSet<u8> {
    ranks.iter().map(translate::rank).collect()
}

/// The ranks of a pile in which all five cards of each rank lie.
fn ranks_of_fives(pile: &[Card]) -> BTreeSet<u8> {
    let ranks: BTreeSet<u8> = pile.iter().map(|card| card.rank).collect();
    for rank in &ranks {
        assert_eq!(pile.iter().filter(|card| card.rank == *rank).count(), 5);
    }
    ranks
}

/// Plays one match in both and compares every state of it.
fn play_match(rules: &Rules, random: &mut StdRng, coverage: &mut Coverage) {
    let dealer = random.random_range(0..rules.players);
    let mut pair = Pair::new(rules, dealer, random);
    let faults = pick(random, &[0, 2, 10, 60]);
    let forfeits = pick(random, &[0, 0, 0, 1, 10]);
    let mut taste = Taste::random(random);
    for _ in 0..2_000 {
        let legal = pair.compare();
        coverage.states += 1;
        pair.try_anything(random, &legal, coverage);
        match &pair.slow.stage {
            Stage::Over => break,
            Stage::ToDeal => {
                coverage.note("a further deal");
                taste = Taste::random(random);
                pair.deal(random);
                continue;
            }
            Stage::ToAct(turn) if random.random_range(0..20) == 0 => pair.try_all(turn.seat, &legal),
            Stage::ToAct(_) => {}
        }
        if random.random_range(0..1_000) < forfeits {
            let number = random.random_range(0..rules.players);
            if !pair.slow.forfeited[number] {
                coverage.note("forfeit");
                pair.forfeit(number);
                continue;
            }
        }
        let number = random.random_range(0..rules.players);
        let cards: Vec<_> = pair.slow.faults(number).into_iter().collect();
        if !cards.is_empty() && random.random_range(0..100) < faults {
            coverage.note("fault");
            pair.fault(number, pick(random, &cards));
            continue;
        }
        let Some(seat) = to_act(&pair.slow) else {
            continue;
        };
        let before = pair.slow.clone();
        let action = taste.choose(random, &before, &legal);
        pair.play(seat, &action);
        coverage.note_action(seat, &action, &before, &pair.slow);
    }
    if pair.slow.stage == Stage::Over {
        coverage.note("match over");
    }
}

#[test]
fn every_preset_agrees_over_a_million_states() {
    let mut random = generator(10);
    let mut coverage = Coverage::default();
    while coverage.states < 1_000_000 {
        for rules in all_presets() {
            play_match(&rules, &mut random, &mut coverage);
        }
    }
    println!("{} states: {:?}", coverage.states, coverage.happened);
    coverage.expect(10, &WHAT_HAPPENS);
}

#[test]
fn free_rules_agree_over_a_million_states() {
    let mut random = generator(11);
    let mut coverage = Coverage::default();
    while coverage.states < 1_000_000 {
        let rules = random_rules(&mut random);
        play_match(&rules, &mut random, &mut coverage);
    }
    println!("{} states: {:?}", coverage.states, coverage.happened);
    coverage.expect(100, &WHAT_HAPPENS);
}
