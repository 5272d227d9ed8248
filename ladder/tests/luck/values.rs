//! What holds for the values of every deck.

use zetema_ladder::{DealValues, Reference, ReferenceVersion, Step, SumsError};
use zetema_rules::{Options, Preset, Rules, Seat, Side, Suit, Teams};

use crate::played::seed;
use crate::sums::{baseline, rules};

fn reference(preset: Preset, players: usize) -> Reference {
    Reference::new(&rules(preset, players), ReferenceVersion::One)
}

fn values(reference: Reference, number: u64) -> DealValues {
    let deck = seed(number).deck(0, reference.rules().imperial_suit);
    reference.deal(&deck).expect("the pack").finish()
}

fn sides(reference: Reference) -> impl Iterator<Item = Side> {
    (0..reference.rules().sides()).filter_map(Side::new)
}

#[test]
fn what_a_deck_is_worth_sums_to_zero_over_the_sides() {
    for preset in Preset::ALL {
        for &players in preset.players() {
            let reference = reference(preset, usize::from(players));
            let values = values(reference, u64::from(players));
            for dealer in reference.rules().seats() {
                let sum: f64 = sides(reference).map(|side| values.value(side, dealer)).sum();
                assert!(sum.abs() < 1e-9, "{preset}, {players} players, dealer {dealer}: {sum}");
            }
        }
    }
}

#[test]
fn the_next_dealer_turns_what_a_deck_is_worth() {
    let reference = reference(Preset::Sackson, 3);
    let values = values(reference, 7);
    let at = |side: usize, dealer: usize| {
        values.value(Side::new(side).expect("a side"), Seat::new(dealer).expect("a seat"))
    };
    for side in 0..3 {
        for dealer in 0..3 {
            assert_eq!(at(side, dealer).to_bits(), at((side + 1) % 3, (dealer + 1) % 3).to_bits());
        }
    }
    // Side 0 plays first if the last seat deals, and the sums are by side.
    let sums: Vec<f64> = values.sums().iter().map(|&sum| sum as f64).collect();
    let lead = sums[0] - f64::midpoint(sums[1], sums[2]);
    assert!((at(0, 2) - lead / 16.0).abs() < 1e-9);
}

#[test]
fn steps_that_are_spread_give_the_same_values() {
    let reference = reference(Preset::Quick, 3);
    let deck = |number| seed(number).deck(0, Suit::Spades);
    let mut waiting: Vec<_> =
        (0..3).map(|number| (number, reference.deal(&deck(number)).expect("the pack"))).collect();
    let (mut steps, mut done) = (0, 0);
    while !waiting.is_empty() {
        let (number, computation) = waiting.remove(0);
        let left = computation.left();
        steps += 1;
        match computation.step() {
            Step::More(more) => {
                assert_eq!(more.left(), left - 1);
                waiting.push((number, more));
            }
            Step::Done(found) => {
                assert_eq!((left, found), (1, values(reference, number)));
                done += 1;
            }
        }
    }
    assert_eq!((steps, done), (3 * 16, 3));
}

#[test]
fn a_baseline_is_computed_in_steps_too() {
    let mut computation = reference(Preset::Victorian, 2).baseline();
    for left in (2_048 * 16 - 99..=2_048 * 16).rev() {
        assert_eq!(computation.left(), left);
        let Step::More(more) = computation.step() else { unreachable!("most of the sample is left") };
        computation = more;
    }
}

#[test]
fn target_end_and_penalty_make_no_other_reference() {
    let rules = rules(Preset::Sackson, 2);
    let expected = Reference::new(&rules, ReferenceVersion::One);
    let deck = seed(0).deck(0, Suit::Spades);
    let check = |change: fn(&mut Options), same: bool| {
        let mut options: Options = *rules;
        change(&mut options);
        let reference = Reference::new(&Rules::new(options).expect("rules"), ReferenceVersion::One);
        assert_eq!(reference == expected, same, "{options:?}");
        assert_eq!(reference.deal_key(&deck) == expected.deal_key(&deck), same, "{options:?}");
        assert_eq!(reference.baseline_key() == expected.baseline_key(), same, "{options:?}");
    };
    check(|options| options.target = Some(1_000), true);
    check(|options| options.match_end = zetema_rules::MatchEnd::AfterDeal, true);
    check(|options| options.exposed_card_penalty = true, true);
    check(|options| options.sequence_score = 25, false);
    check(|options| options.hand_size = 7, false);
    check(|options| options.melds_after_stock = false, false);
}

#[test]
fn keys_are_those_of_one_deck_and_hide_it() {
    let reference = reference(Preset::Sackson, 2);
    let key = |number| reference.deal_key(&seed(number).deck(0, Suit::Spades));
    assert_eq!(key(1), key(1));
    assert_ne!(key(1), key(2));
    assert_ne!(key(1).as_bytes(), reference.baseline_key().as_bytes());
    let computation = reference.deal(&seed(1).deck(0, Suit::Spades)).expect("the pack");
    assert!(format!("{computation:?}").contains("Deck(hidden)"));
}

#[test]
fn rules_of_ones_own_have_values_within_the_bound() {
    for (hand_size, players) in [(3, 2), (3, 6), (6, 5), (10, 2), (10, 6)] {
        for (preset, score) in [(Preset::Victorian, 0), (Preset::Parlett, 150), (Preset::Quick, 150)] {
            let options = Options {
                hand_size,
                players,
                teams: Teams::Individual,
                sequence_score: score,
                flush_score: score,
                flush_sequence_score: score,
                ..*rules(preset, 2)
            };
            let rules = Rules::new(options).expect("rules");
            let values = values(Reference::new(&rules, ReferenceVersion::One), 1);
            assert_eq!(DealValues::from_sums(values.reference(), values.sums()), Ok(values), "{rules}");
            let dealer = Seat::new(0).expect("a seat");
            let sum: f64 = sides(values.reference()).map(|side| values.value(side, dealer)).sum();
            assert!(sum.abs() < 1e-9, "{rules}: {sum}");
        }
    }
}

#[test]
fn a_deck_of_another_imperial_suit_is_refused() {
    let error =
        reference(Preset::Sackson, 2).deal(&seed(0).deck(0, Suit::Hearts)).expect_err("hearts are doubled");
    assert_eq!(error.to_string(), "these 65 cards are no pack of 65 with S doubled (R1)");
}

#[test]
fn values_come_back_from_their_sums() {
    let reference = reference(Preset::Sackson, 4);
    let values = values(reference, 3);
    assert_eq!(DealValues::from_sums(reference, values.sums()), Ok(values));
    assert_eq!(DealValues::from_sums(reference, &[1, 2, 3]), Err(SumsError::Sides { given: 3, sides: 2 }));
    let most = 65 * 200;
    assert!(DealValues::from_sums(reference, &[16 * most, 0]).is_ok());
    assert_eq!(
        DealValues::from_sums(reference, &[0, 16 * most + 1]),
        Err(SumsError::TooMany { side: 1, given: 16 * most + 1, playouts: 16, most })
    );
}

#[test]
fn the_mean_luck_of_other_decks_is_zero() {
    for (preset, players, decks) in [(Preset::Sackson, 2, 120), (Preset::Quick, 3, 120)] {
        let usual = baseline(preset, players);
        let reference = usual.reference();
        let (side, dealer) = (Side::new(0).expect("a side"), Seat::new(players - 1).expect("a seat"));
        let luck: Vec<f64> = (0..decks)
            .map(|number| {
                values(reference, 1_000_000 + number).value(side, dealer) - usual.value(side, dealer)
            })
            .collect();
        let count = decks as f64;
        let mean = luck.iter().sum::<f64>() / count;
        let variance = luck.iter().map(|luck| (luck - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let sample = f64::from(reference.version().sample_decks());
        let error = (variance / count + variance / sample).sqrt();
        println!(
            "{preset}, {players} players: who plays first is worth {:.2} ± {:.2} points a deal; the luck of {decks} other \
            decks is {mean:.2} ± {error:.2}, one deck's ± {:.1}",
            usual.value(side, dealer),
            (variance / sample).sqrt(),
            variance.sqrt()
        );
        assert!(mean.abs() < 3.0 * error, "{preset}, {players} players: {mean}, not 0 ± {error}");
        assert!(variance.sqrt() > 10.0, "{preset}, {players} players: decks differ");
    }
}
