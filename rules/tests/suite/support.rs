//! What several modules share: a seeded source of choices, rules, decks and a few short names.

use proptest::prelude::*;
use zetema_rules::{
    Ace, Assembly, AssemblyScores, Card, Cards, Deck, Draw, ExtraTurn, FlushSuits, Game, ImperialBonus,
    MarriageHandMin, MatchEnd, MeldSize, Options, Players, Preset, RoyalZetema, Rules, Seat, Suit, Teams,
    Viewer,
};

/// Choices that follow from a seed (splitmix64).
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i + 1));
        }
    }
}

pub(crate) fn card(text: &str) -> Card {
    text.parse().unwrap()
}

pub(crate) fn cards(text: &str) -> Cards {
    text.parse().unwrap()
}

pub(crate) fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

/// Each seat's hand.
pub(crate) fn hands(game: &Game) -> Vec<Cards> {
    game.rules().seats().map(|seat| game.view(Viewer::Seat(seat)).hand).collect()
}

/// The stock of a game whose current deal was dealt from this deck, next card first.
pub(crate) fn stock<'a>(game: &Game, deck: &'a Deck) -> &'a [Card] {
    let all = deck.reveal();
    &all[all.len() - usize::from(game.public().stock_count)..]
}

/// The rules of every preset, player count and team form that a preset allows.
pub(crate) fn preset_rules() -> Vec<Rules> {
    let mut all = Vec::new();
    for preset in Preset::ALL {
        for &players in preset.players() {
            let players = Players::new(usize::from(players)).unwrap();
            for &teams in preset.teams(players) {
                all.push(preset.rules(players.count(), Some(teams)).unwrap());
            }
        }
    }
    all
}

/// Options chosen at random from all that are valid.
pub(crate) fn free_rules() -> impl Strategy<Value = Rules> {
    any::<u64>().prop_map(|seed| random_rules(&mut Random::new(seed)))
}

fn random_rules(random: &mut Random) -> Rules {
    let players = Players::new(random.below(5) + 2).unwrap();
    let teams: Vec<Teams> = Teams::ALL.into_iter().filter(|teams| teams.allowed(players)).collect();
    let draws = [Draw::None, Draw::ToHandSize, Draw::ToHandSizePlusOne];
    let draw_at_start = random.pick(&draws);
    let draw_at_end =
        if draw_at_start == Draw::None { random.pick(&draws[1..]) } else { random.pick(&draws) };
    let on = [false, true];
    Rules::new(Options {
        players: u8::try_from(players.count()).unwrap(),
        teams: random.pick(&teams),
        hand_size: u8::try_from(random.below(8) + 3).unwrap(),
        imperial_suit: random.pick(&Suit::ALL),
        draw_at_start,
        draw_at_end,
        sequence_score: random.pick(&[0, 10, 20]),
        flush_score: random.pick(&[0, 30]),
        flush_sequence_score: random.pick(&[50, 150]),
        assembly_scores: AssemblyScores { royal: 130, jack: 120, ace_and_five: 110, other: 100 },
        ace: random.pick(&[Ace::Low, Ace::Either]),
        flush_suits: random.pick(&[FlushSuits::Any, FlushSuits::Plain]),
        meld_size: random.pick(&[MeldSize::Hand, MeldSize::Six]),
        max_reused: random.pick(&[None, Some(0), Some(2), Some(4)]),
        assembly: random.pick(&[Assembly::Keep, Assembly::Remove]),
        imperial_bonus: random.pick(&[ImperialBonus::None, ImperialBonus::Second, ImperialBonus::Every]),
        marriage_hand_min: random.pick(&[MarriageHandMin::Each, MarriageHandMin::Any]),
        marriage_then_discard: random.pick(&on),
        royal_zetema: random.pick(&[RoyalZetema::Normal, RoyalZetema::AfterAssembly]),
        melds_after_stock: random.pick(&on),
        extra_turn: random.pick(&[ExtraTurn::None, ExtraTurn::Discard, ExtraTurn::Full]),
        target: random.pick(&[None, Some(1), Some(100), Some(300)]),
        match_end: random.pick(&[MatchEnd::AtOnce, MatchEnd::AfterDeal]),
        exposed_card_penalty: random.pick(&on),
    })
    .unwrap()
}

/// A deck for these rules. Three in four are stacked, so that hands hold many flushes, sequences and
/// assemblies, or marriages.
pub(crate) fn random_deck(random: &mut Random, rules: &Rules) -> Deck {
    let mut pack: Vec<Card> = Cards::pack(rules.imperial_suit).iter().collect();
    let stacked_by = random.below(4);
    pack.sort_by_cached_key(|card| {
        let order = match stacked_by {
            0 => 0,
            1 => card.suit().index() * 100,
            2 => card.rank().index() * 25,
            _ => 12 - card.rank().index(),
        };
        order + random.below(60)
    });
    let (players, hand) = (rules.player_count().count(), usize::from(rules.hand_size));
    let mut order = pack.clone();
    for place in 0..players * hand {
        order[place] = pack[place % players * hand + place / players];
    }
    Deck::new(&order, rules.imperial_suit).unwrap()
}
