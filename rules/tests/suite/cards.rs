//! Multisets of faces, held against plain counts.

use proptest::prelude::*;
use zetema_rules::{Card, Cards, Rank, Suit};

use crate::support::{card, cards};

/// How many copies of each face.
type Counts = [usize; Card::FACES];

fn counts(cards: Cards) -> Counts {
    std::array::from_fn(|index| cards.count(Card::from_index(index).unwrap()))
}

fn each(left: &Counts, right: &Counts, both: impl Fn(usize, usize) -> usize) -> Counts {
    std::array::from_fn(|index| both(left[index], right[index]))
}

/// None, one or two copies of every face.
fn any_cards() -> impl Strategy<Value = Cards> {
    proptest::collection::vec(0..3_usize, Card::FACES).prop_map(|counts| {
        let copies = Card::all().zip(counts).flat_map(|(card, count)| std::iter::repeat_n(card, count));
        Cards::collect(copies).unwrap()
    })
}

proptest! {
    #[test]
    fn operations_are_those_of_multisets(left in any_cards(), right in any_cards()) {
        let (l, r) = (&counts(left), &counts(right));
        prop_assert_eq!(counts(left.sum(right)), each(l, r, |l, r| (l + r).min(2)));
        prop_assert_eq!(counts(left.minus(right)), each(l, r, usize::saturating_sub));
        prop_assert_eq!(counts(left.union(right)), each(l, r, usize::max));
        prop_assert_eq!(counts(left.intersection(right)), each(l, r, usize::min));
        prop_assert_eq!(counts(left.distinct()), l.map(|count| count.min(1)));
        prop_assert_eq!(left.contains_all(right), l.iter().zip(r).all(|(l, r)| l >= r));
        prop_assert_eq!(left.len(), l.iter().sum::<usize>());
        prop_assert_eq!(left.is_empty(), left == Cards::EMPTY);
    }

    #[test]
    fn cards_go_in_and_out_one_copy_at_a_time(before in any_cards()) {
        for card in Card::all() {
            let (mut more, mut fewer) = (before, before);
            let count = before.count(card);
            prop_assert_eq!(before.contains(card), count > 0);
            prop_assert_eq!(more.insert(card), count < 2);
            prop_assert_eq!(more.count(card), (count + 1).min(2));
            prop_assert_eq!(fewer.remove(card), count > 0);
            prop_assert_eq!(fewer.count(card), count.saturating_sub(1));
            let mut others = [more, fewer];
            for other in &mut others {
                while other.remove(card) {}
            }
            prop_assert_eq!(others[0], others[1]);
        }
    }

    #[test]
    fn ranks_and_suits_part_the_cards(all in any_cards()) {
        let by_rank = Rank::ALL.map(|rank| all.of_rank(rank));
        let by_suit = Suit::ALL.map(|suit| all.of_suit(suit));
        prop_assert_eq!(by_rank.into_iter().fold(Cards::EMPTY, Cards::sum), all);
        prop_assert_eq!(by_suit.into_iter().fold(Cards::EMPTY, Cards::sum), all);
        prop_assert!(Rank::ALL.iter().zip(by_rank).all(|(&rank, some)| some.iter().all(|card| card.rank() == rank)));
        prop_assert!(Suit::ALL.iter().zip(by_suit).all(|(&suit, some)| some.iter().all(|card| card.suit() == suit)));
    }

    #[test]
    fn cards_are_listed_in_order_and_read_back(all in any_cards()) {
        let listed: Vec<Card> = all.iter().collect();
        prop_assert!(listed.is_sorted());
        prop_assert_eq!(listed.len(), all.len());
        prop_assert_eq!(Cards::collect(listed), Some(all));
        prop_assert_eq!(all.to_string().parse::<Cards>(), Ok(all));
    }
}

#[test]
fn the_pack_has_65_cards_five_of_every_rank() {
    for imperial in Suit::ALL {
        let pack = Cards::pack(imperial);
        assert_eq!(pack.len(), 65);
        assert!(Rank::ALL.iter().all(|&rank| pack.of_rank(rank).len() == 5));
        assert!(Card::all().all(|card| pack.count(card) == if card.suit() == imperial { 2 } else { 1 }));
    }
}

#[test]
fn a_third_copy_of_a_face_is_no_multiset_of_faces() {
    assert_eq!(Cards::collect([card("KS"); 3]), None);
    assert!("KS KS KS".parse::<Cards>().is_err());
    assert_eq!(cards(" KS  2C\nKS ").to_string(), "2C KS KS");
}

#[test]
fn a_card_is_a_rank_and_a_suit() {
    for (index, face) in Card::all().enumerate() {
        assert_eq!(face.index(), index);
        assert_eq!(Card::new(face.rank(), face.suit()), face);
        assert_eq!(face.to_string().parse(), Ok(face));
    }
    assert_eq!(Card::all().len(), 52);
    assert_eq!(Card::from_index(52), None);
    for text in ["", "K", "KX", "1S", "KSS", "ks", "SK", "10S", "Kß"] {
        assert!(text.parse::<Card>().is_err(), "{text}");
    }
}
