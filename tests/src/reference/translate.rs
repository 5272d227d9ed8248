//! Between the reference's types and those of `zetema-rules`: the only file here that names both.
//!
//! A record, or a match that the fast rules play, is followed by the reference through these
//! functions. Those that make a value of the fast rules give `None` where it has no such value.

use zetema_rules as fast;

use super::card::{Card, SUITS, Suit, sorted};
use super::declaration::{Declaration, Kind};
use super::game::Action;
use super::rules::{
    Ace, Assembly, AssemblyScores, Draw, ExtraTurn, FlushSuits, ImperialBonus, MarriageHandMin, MatchEnd,
    MeldSize, RoyalZetema, Rules, Teams,
};

/// The two functions between an enum of the reference and the same one of the fast rules.
macro_rules! both_ways {
    ($from_fast:ident, $to_fast:ident, $name:ident: $($slow:ident = $fast:ident),+) => {
        fn $from_fast(value: fast::$name) -> $name {
            match value {
                $(fast::$name::$fast => $name::$slow),+
            }
        }

        fn $to_fast(value: $name) -> fast::$name {
            match value {
                $($name::$slow => fast::$name::$fast),+
            }
        }
    };
}

both_ways!(suit, fast_suit, Suit: Clubs = Clubs, Diamonds = Diamonds, Hearts = Hearts, Spades = Spades);
both_ways!(teams, fast_teams, Teams: Individual = Individual, Pairs = Pairs, Trios = Trios);
both_ways!(draw, fast_draw, Draw: Never = None, ToHand = ToHandSize, ToHandAndOne = ToHandSizePlusOne);
both_ways!(ace, fast_ace, Ace: Low = Low, Either = Either);
both_ways!(flush_suits, fast_flush_suits, FlushSuits: Any = Any, Plain = Plain);
both_ways!(meld_size, fast_meld_size, MeldSize: Hand = Hand, Six = Six);
both_ways!(assembly, fast_assembly, Assembly: Keep = Keep, Remove = Remove);
both_ways!(imperial_bonus, fast_imperial_bonus, ImperialBonus: None = None, Second = Second, Every = Every);
both_ways!(marriage_hand_min, fast_marriage_hand_min, MarriageHandMin: Each = Each, Any = Any);
both_ways!(royal_zetema, fast_royal_zetema, RoyalZetema: Normal = Normal, AfterAssembly = AfterAssembly);
both_ways!(extra_turn, fast_extra_turn, ExtraTurn: None = None, Discard = Discard, Full = Full);
both_ways!(match_end, fast_match_end, MatchEnd: AtOnce = AtOnce, AfterDeal = AfterDeal);

/// The reference's record of the fast rules' options.
pub fn rules(options: &fast::Options) -> Rules {
    let fast::Options {
        players,
        teams: team_form,
        hand_size,
        imperial_suit,
        draw_at_start,
        draw_at_end,
        sequence_score,
        flush_score,
        flush_sequence_score,
        assembly_scores,
        ace: ace_stands,
        flush_suits: suits,
        meld_size: size,
        max_reused,
        assembly: assembly_goes,
        imperial_bonus: bonus,
        marriage_hand_min: hand_min,
        marriage_then_discard,
        royal_zetema: royal,
        melds_after_stock,
        extra_turn: extra,
        target,
        match_end: end,
        exposed_card_penalty,
    } = *options;
    Rules {
        players: usize::from(players),
        teams: teams(team_form),
        imperial: suit(imperial_suit),
        hand: usize::from(hand_size),
        draw_at_start: draw(draw_at_start),
        draw_at_end: draw(draw_at_end),
        sequence: u32::from(sequence_score),
        flush: u32::from(flush_score),
        flush_sequence: u32::from(flush_sequence_score),
        ace: ace(ace_stands),
        flush_suits: flush_suits(suits),
        meld_size: meld_size(size),
        max_reused: max_reused.map(usize::from),
        assembly_scores: AssemblyScores {
            king_queen: u32::from(assembly_scores.royal),
            jack: u32::from(assembly_scores.jack),
            ace_five: u32::from(assembly_scores.ace_and_five),
            other: u32::from(assembly_scores.other),
        },
        assembly: assembly(assembly_goes),
        imperial_bonus: imperial_bonus(bonus),
        marriage_hand_min: marriage_hand_min(hand_min),
        marriage_then_discard,
        royal_zetema: royal_zetema(royal),
        melds_after_stock,
        extra_turn: extra_turn(extra),
        target: target.map(u32::from),
        match_end: match_end(end),
        exposed_card_penalty,
    }
}

/// The fast rules' options of the reference's record; `None` if a number has no room there.
pub fn fast_options(rules: &Rules) -> Option<fast::Options> {
    let number = |value: usize| u8::try_from(value).ok();
    let points = |value: u32| u16::try_from(value).ok();
    Some(fast::Options {
        players: number(rules.players)?,
        teams: fast_teams(rules.teams),
        hand_size: number(rules.hand)?,
        imperial_suit: fast_suit(rules.imperial),
        draw_at_start: fast_draw(rules.draw_at_start),
        draw_at_end: fast_draw(rules.draw_at_end),
        sequence_score: points(rules.sequence)?,
        flush_score: points(rules.flush)?,
        flush_sequence_score: points(rules.flush_sequence)?,
        assembly_scores: fast::AssemblyScores {
            royal: points(rules.assembly_scores.king_queen)?,
            jack: points(rules.assembly_scores.jack)?,
            ace_and_five: points(rules.assembly_scores.ace_five)?,
            other: points(rules.assembly_scores.other)?,
        },
        ace: fast_ace(rules.ace),
        flush_suits: fast_flush_suits(rules.flush_suits),
        meld_size: fast_meld_size(rules.meld_size),
        max_reused: match rules.max_reused {
            None => None,
            Some(most) => Some(number(most)?),
        },
        assembly: fast_assembly(rules.assembly),
        imperial_bonus: fast_imperial_bonus(rules.imperial_bonus),
        marriage_hand_min: fast_marriage_hand_min(rules.marriage_hand_min),
        marriage_then_discard: rules.marriage_then_discard,
        royal_zetema: fast_royal_zetema(rules.royal_zetema),
        melds_after_stock: rules.melds_after_stock,
        extra_turn: fast_extra_turn(rules.extra_turn),
        target: match rules.target {
            None => None,
            Some(target) => Some(points(target)?),
        },
        match_end: fast_match_end(rules.match_end),
        exposed_card_penalty: rules.exposed_card_penalty,
    })
}

/// A rank's number from 1.
pub fn rank(rank: fast::Rank) -> u8 {
    match rank {
        fast::Rank::Ace => 1,
        fast::Rank::Two => 2,
        fast::Rank::Three => 3,
        fast::Rank::Four => 4,
        fast::Rank::Five => 5,
        fast::Rank::Six => 6,
        fast::Rank::Seven => 7,
        fast::Rank::Eight => 8,
        fast::Rank::Nine => 9,
        fast::Rank::Ten => 10,
        fast::Rank::Jack => 11,
        fast::Rank::Queen => 12,
        fast::Rank::King => 13,
    }
}

/// The rank of a number from 1 to 13.
pub fn fast_rank(number: u8) -> Option<fast::Rank> {
    fast::Rank::ALL.into_iter().find(|found| rank(*found) == number)
}

/// A card.
pub fn card(card: fast::Card) -> Card {
    Card { rank: rank(card.rank()), suit: suit(card.suit()) }
}

/// A card of the fast rules.
pub fn fast_card(card: Card) -> Option<fast::Card> {
    Some(fast::Card::new(fast_rank(card.rank)?, fast_suit(card.suit)))
}

/// A multiset of cards, in order.
pub fn cards(cards: fast::Cards) -> Vec<Card> {
    sorted(cards.iter().map(card).collect())
}

/// A multiset of cards of the fast rules; it holds at most two of a face.
pub fn fast_cards(cards: &[Card]) -> Option<fast::Cards> {
    let cards: Option<Vec<fast::Card>> = cards.iter().copied().map(fast_card).collect();
    fast::Cards::collect(cards?)
}

/// An action, in a match with this imperial suit.
pub fn action(action: fast::Action, imperial: Suit) -> Action {
    let of_hand = |kind, hand| Declaration { kind, hand: cards(hand), tableau: Vec::new() };
    let declaration = match action {
        fast::Action::Discard(discarded) => return Action::Discard(card(discarded)),
        fast::Action::Declare(declaration) => declaration,
    };
    Action::Declare(match declaration {
        fast::Declaration::Sequence(hand) => of_hand(Kind::Sequence, hand),
        fast::Declaration::Flush(hand) => of_hand(Kind::Flush, hand),
        fast::Declaration::FlushSequence(hand) => of_hand(Kind::FlushSequence, hand),
        fast::Declaration::Assembly(of) => {
            let rank = rank(of);
            let suits = SUITS.into_iter().chain([imperial]);
            let five = suits.map(|suit| Card { rank, suit }).collect();
            Declaration { kind: Kind::Assembly, hand: sorted(five), tableau: Vec::new() }
        }
        fast::Declaration::Marriages { hand, tableau } => {
            Declaration { kind: Kind::Marriages, hand: cards(hand), tableau: cards(tableau) }
        }
    })
}

/// An action of the fast rules.
pub fn fast_action(action: &Action) -> Option<fast::Action> {
    let declaration = match action {
        Action::Discard(card) => return Some(fast::Action::Discard(fast_card(*card)?)),
        Action::Declare(declaration) => declaration,
    };
    let hand = fast_cards(&declaration.hand)?;
    Some(fast::Action::Declare(match declaration.kind {
        Kind::Sequence => fast::Declaration::Sequence(hand),
        Kind::Flush => fast::Declaration::Flush(hand),
        Kind::FlushSequence => fast::Declaration::FlushSequence(hand),
        Kind::Assembly => fast::Declaration::Assembly(fast_rank(declaration.hand.first()?.rank)?),
        Kind::Marriages => fast::Declaration::Marriages { hand, tableau: fast_cards(&declaration.tableau)? },
    }))
}
