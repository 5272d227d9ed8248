//! Random decks, rules and choices, and positions written out as text.

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use zetema_tests::reference::{
    Ace, Action, Assembly, AssemblyScores, Card, Deal, Declaration, Draw, ExtraTurn, FlushSuits, Game,
    ImperialBonus, KING, Kind, MarriageHandMin, MatchEnd, MeldSize, PRESETS, QUEEN, RoyalZetema, Rules,
    SUITS, Stage, Suit, Teams, pack,
};

/// The generator of one test run.
pub(crate) fn generator(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// Cards from their text form: `KS TD`.
pub(crate) fn cards(text: &str) -> Vec<Card> {
    let all = pack(Suit::Spades);
    text.split_whitespace()
        .map(|word| {
            let card = all.iter().find(|card| card.to_string() == word);
            *card.unwrap_or_else(|| panic!("no card {word}"))
        })
        .collect()
}

/// One card from its text form.
pub(crate) fn card(text: &str) -> Card {
    cards(text)[0]
}

/// The rules of every preset, player count and team form.
pub(crate) fn all_presets() -> Vec<Rules> {
    let mut all = Vec::new();
    for preset in PRESETS {
        for players in preset.players() {
            for teams in preset.teams(*players) {
                all.extend(preset.rules(*players, *teams));
            }
        }
    }
    all
}

/// A valid record with every option drawn at random.
pub(crate) fn random_rules(random: &mut StdRng) -> Rules {
    let players = random.random_range(2..=6);
    let teams = match players {
        4 => pick(random, &[Teams::Individual, Teams::Pairs]),
        6 => pick(random, &[Teams::Individual, Teams::Pairs, Teams::Trios]),
        _ => Teams::Individual,
    };
    let draws = [
        (Draw::Never, Draw::ToHand),
        (Draw::Never, Draw::ToHandAndOne),
        (Draw::ToHand, Draw::Never),
        (Draw::ToHand, Draw::ToHand),
        (Draw::ToHand, Draw::ToHandAndOne),
        (Draw::ToHandAndOne, Draw::Never),
        (Draw::ToHandAndOne, Draw::ToHand),
        (Draw::ToHandAndOne, Draw::ToHandAndOne),
    ];
    let (draw_at_start, draw_at_end) = pick(random, &draws);
    let most_hand = pick(random, &[4, 5, 6, 7, 10]);
    let target = random.random_range(1..=600);
    Rules {
        players,
        teams,
        imperial: pick(random, &SUITS),
        hand: random.random_range(3..=most_hand),
        draw_at_start,
        draw_at_end,
        sequence: random.random_range(0..=150),
        flush: random.random_range(0..=150),
        flush_sequence: random.random_range(0..=150),
        ace: pick(random, &[Ace::Low, Ace::Either]),
        flush_suits: pick(random, &[FlushSuits::Any, FlushSuits::Plain]),
        meld_size: pick(random, &[MeldSize::Hand, MeldSize::Hand, MeldSize::Six]),
        max_reused: pick(random, &[None, Some(0), Some(1), Some(2), Some(4), Some(9)]),
        assembly_scores: AssemblyScores {
            king_queen: random.random_range(0..=150),
            jack: random.random_range(0..=150),
            ace_five: random.random_range(0..=150),
            other: random.random_range(0..=150),
        },
        assembly: pick(random, &[Assembly::Keep, Assembly::Remove]),
        imperial_bonus: pick(random, &[ImperialBonus::Second, ImperialBonus::Every, ImperialBonus::None]),
        marriage_hand_min: pick(random, &[MarriageHandMin::Each, MarriageHandMin::Any]),
        marriage_then_discard: random.random(),
        royal_zetema: pick(random, &[RoyalZetema::Normal, RoyalZetema::AfterAssembly]),
        melds_after_stock: random.random(),
        extra_turn: pick(random, &[ExtraTurn::None, ExtraTurn::Discard, ExtraTurn::Full]),
        target: pick(random, &[None, Some(target), Some(target)]),
        match_end: pick(random, &[MatchEnd::AtOnce, MatchEnd::AfterDeal]),
        exposed_card_penalty: random.random(),
    }
}

/// One of the values.
pub(crate) fn pick<T: Copy>(random: &mut StdRng, values: &[T]) -> T {
    *values.choose(random).expect("a value to pick")
}

/// A deck that deals each seat the hand given for it, then the stock.
pub(crate) fn deck_of(dealer: usize, hands: &[Vec<Card>], stock: &[Card]) -> Vec<Card> {
    let mut deck = Vec::new();
    for place in 0..hands[0].len() {
        for step in 1..=hands.len() {
            deck.push(hands[(dealer + step) % hands.len()][place]);
        }
    }
    deck.extend(stock);
    deck
}

/// A shuffled deck, or one in which each hand and each stretch of the stock is rich in cards of a
/// rank, of a suit, of neighbouring ranks or of kings and queens: what plain shuffles seldom deal.
pub(crate) fn random_deck(random: &mut StdRng, rules: &Rules, dealer: usize) -> Vec<Card> {
    let mut order = pack(rules.imperial);
    order.shuffle(random);
    let noise = pick(random, &[0, 0, 2, 5]);
    let place = |card: &Card, kind: u8| match kind {
        0 => i32::from(card.rank),
        1 => 13 * suit_number(card.suit) + i32::from(card.rank),
        2 => 26 - i32::from(card.rank),
        _ => i32::from(card.rank < QUEEN) * (10 + i32::from(card.rank % 3)),
    };
    let kind = random.random_range(0..8);
    if kind < 4 {
        let jitter = |random: &mut StdRng| random.random_range(-noise..=noise);
        order.sort_by_cached_key(|card| place(card, kind) + jitter(random));
        if random.random() {
            let cut = random.random_range(0..order.len());
            order.rotate_left(cut);
        }
    }
    let (dealt, stock) = order.split_at(rules.players * rules.hand);
    let hands: Vec<Vec<Card>> = dealt.chunks(rules.hand).map(<[Card]>::to_vec).collect();
    deck_of(dealer, &hands, stock)
}

/// The place of a suit in the order of the text form.
fn suit_number(suit: Suit) -> i32 {
    match suit {
        Suit::Clubs => 0,
        Suit::Diamonds => 1,
        Suit::Hearts => 2,
        Suit::Spades => 3,
    }
}

/// How one game is played: what a random player likes to keep, and how often it declares.
pub(crate) struct Taste {
    /// Out of 100.
    declares: u32,
    /// Declares no fewer marriages at once.
    marriages: usize,
    /// What the player keeps.
    keeps: u8,
}

impl Taste {
    /// Any taste.
    pub(crate) fn random(random: &mut StdRng) -> Self {
        Self {
            declares: pick(random, &[0, 30, 80, 100]),
            marriages: pick(random, &[1, 1, 1, 2, 4, 5]),
            keeps: random.random_range(0..5),
        }
    }

    /// One of the actions.
    pub(crate) fn choose(&self, random: &mut StdRng, game: &Game, legal: &[Action]) -> Action {
        let liked = |action: &&Action| match action {
            Action::Declare(Declaration { kind: Kind::Marriages, hand, tableau }) => {
                hand.len() + tableau.len() >= 2 * self.marriages
            }
            Action::Declare(_) => true,
            Action::Discard(_) => false,
        };
        let declarations: Vec<&Action> = legal.iter().filter(liked).collect();
        let declares = random.random_range(0..100) < self.declares;
        if declares && let Some(action) = declarations.choose(random) {
            return (*action).clone();
        }
        let discards: Vec<Card> = legal
            .iter()
            .filter_map(|action| match action {
                Action::Discard(card) => Some(*card),
                Action::Declare(_) => None,
            })
            .collect();
        let deal = game.deal.as_ref().expect("a deal under way");
        let Stage::ToAct(turn) = &game.stage else {
            panic!("a seat to act");
        };
        let hand = &deal.hands[turn.seat];
        let alike = |test: &dyn Fn(&Card) -> bool| hand.iter().filter(|card| test(card)).count();
        let worth = |card: &Card| match self.keeps {
            0 => 0,
            1 => usize::from(card.rank >= QUEEN),
            2 => alike(&|other| other.suit == card.suit),
            3 => alike(&|other| other.rank == card.rank),
            _ => 5 - deal.pile(card.rank).len(),
        };
        let least = discards.iter().map(worth).min().expect("a discard");
        let mut best = discards;
        best.retain(|card| worth(card) == least || random.random_range(0..10) == 0);
        Action::Discard(pick(random, &best))
    }
}

/// A declaration by its kind, the cards from hand and those from the tableau.
pub(crate) fn declared(kind: Kind, hand: &str, tableau: &str) -> Declaration {
    let sorted = |text| {
        let mut cards = cards(text);
        cards.sort_unstable();
        cards
    };
    Declaration { kind, hand: sorted(hand), tableau: sorted(tableau) }
}

/// A game in which each seat was dealt the hand written down, and the stock begins as written;
/// the cards not named follow in the order of the pack. The first seat plays first.
pub(crate) fn position(rules: Rules, hands: &[&str], stock: &str) -> Game {
    let hands: Vec<Vec<Card>> = hands.iter().map(|text| cards(text)).collect();
    let mut stock = cards(stock);
    let mut rest = pack(rules.imperial);
    for named in hands.iter().flatten().chain(&stock) {
        let place = rest.iter().position(|card| card == named);
        rest.remove(place.expect("no card named too often"));
    }
    stock.extend(rest);
    let dealer = rules.players - 1;
    let deck = deck_of(dealer, &hands, &stock);
    let mut game = Game::new(rules, dealer).expect("valid rules");
    game.deal(&deck).expect("a deck is wanted");
    game
}

/// The deal under way.
pub(crate) fn deal(game: &Game) -> &Deal {
    game.deal.as_ref().expect("a deal under way")
}

/// Moves all cards of the stock, and those of the hands that are not named, to the pile of removed
/// assemblies, puts the named cards into the tableau, and begins with the first seat: how the end
/// of a deal is set up without playing up to it.
pub(crate) fn endgame(rules: Rules, hands: &[&str], tableau: &str) -> Game {
    let filler: Vec<Vec<Card>> = {
        let all = pack(rules.imperial);
        all[..rules.players * rules.hand].chunks(rules.hand).map(<[Card]>::to_vec).collect()
    };
    let dealer = rules.players - 1;
    let mut rest = pack(rules.imperial);
    let mut game = Game::new(rules, dealer).expect("valid rules");
    let (mut dealt, mut after) = (Vec::new(), rest.clone());
    for card in filler.iter().flatten() {
        let place = after.iter().position(|other| other == card);
        dealt.push(after.remove(place.expect("a card of the pack")));
    }
    game.deal(&deck_of(dealer, &filler, &after)).expect("a deck");
    let deal = game.deal.as_mut().expect("a deal");
    deal.hands = hands.iter().map(|text| cards(text)).collect();
    deal.tableau = cards(tableau);
    for named in deal.hands.iter().flatten().chain(&deal.tableau) {
        let place = rest.iter().position(|card| card == named);
        rest.remove(place.expect("no card named too often"));
    }
    deal.removed_pile = rest;
    deal.stock.clear();
    game
}

/// Plays the discard of a card by the seat to act.
pub(crate) fn discard(game: &mut Game, seat: usize, text: &str) {
    let action = Action::Discard(card(text));
    game.play(seat, &action).unwrap_or_else(|refusal| panic!("seat {seat} discards {text}: {refusal:?}"));
}

/// Plays a declaration of the seat to act.
pub(crate) fn declare(game: &mut Game, seat: usize, kind: Kind, hand: &str, tableau: &str) {
    let action = Action::Declare(declared(kind, hand, tableau));
    game.play(seat, &action)
        .unwrap_or_else(|refusal| panic!("seat {seat} declares {hand} {tableau}: {refusal:?}"));
}

/// The declarations of a kind that the seat to act may make.
pub(crate) fn legal_declarations(game: &Game, kind: Kind) -> Vec<Declaration> {
    game.legal_actions()
        .into_iter()
        .filter_map(|action| match action {
            Action::Declare(declaration) if declaration.kind == kind => Some(declaration),
            _ => None,
        })
        .collect()
}

/// The legal discards, as text.
pub(crate) fn legal_discards(game: &Game) -> String {
    let discards = game.legal_actions().into_iter().filter_map(|action| match action {
        Action::Discard(card) => Some(card.to_string()),
        Action::Declare(_) => None,
    });
    discards.collect::<Vec<_>>().join(" ")
}

/// Who is to act.
pub(crate) fn to_act(game: &Game) -> Option<usize> {
    match &game.stage {
        Stage::ToAct(turn) => Some(turn.seat),
        Stage::ToDeal | Stage::Over => None,
    }
}

/// Whether a rank is a king's or a queen's.
pub(crate) fn royal(card: Card) -> bool {
    card.rank == KING || card.rank == QUEEN
}
