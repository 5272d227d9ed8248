//! What the rules say comes back from the wire as it was: over whole matches of random play, in every
//! preset, and for rules of every kind.

#![allow(clippy::expect_used, clippy::panic)] // The whole file is tests.

use proptest::prelude::*;
use prost::Message;
use zetema_proto::{
    Fields, Wire, encode_legal_actions, encode_seat_event, encode_view, seat_event_from_wire,
    seat_event_to_wire, v1, view_from_wire, view_to_wire,
};
use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{
    Action, Card, Cards, Event, Game, LegalActions, Options, Phase, Players, Preset, Rules, Seat, Teams,
    Viewer,
};

/// Sends a message through its bytes.
fn over_the_wire<M: Message + Default>(message: &M) -> M {
    M::decode(message.encode_to_vec().as_slice()).expect("what was encoded can be decoded")
}

/// Holds what is written without a message against the bytes of the message.
fn check_bytes<M: Message + std::fmt::Debug>(message: &M, write: impl FnOnce(&mut Fields<'_>)) {
    let mut bytes = Vec::new();
    write(&mut Fields::of(&mut bytes));
    assert_eq!(bytes, message.encode_to_vec(), "{message:?}");
}

fn viewers(rules: &Rules) -> impl Iterator<Item = Viewer> {
    rules.seats().map(Viewer::Seat).chain([Viewer::Spectator])
}

fn check_views(game: &Game) {
    for viewer in viewers(game.rules()) {
        let view = game.view(viewer);
        let message = over_the_wire(&view_to_wire(&view));
        check_bytes(&message, |fields| encode_view(fields, &view));
        assert_eq!(view_from_wire(&message, game.rules()).as_ref(), Ok(&view));
        assert_eq!(message.hand.is_empty(), view.hand.is_empty());
    }
}

fn check_events(events: &mut Vec<Event>, rules: &Rules) {
    for event in events.drain(..) {
        for viewer in viewers(rules) {
            let seen = event.seen_by(viewer);
            let message = over_the_wire(&seat_event_to_wire(&seen, rules));
            check_bytes(&message, |fields| encode_seat_event(fields, &seen, rules));
            assert_eq!(seat_event_from_wire(&message), Ok(Some(seen)));
        }
    }
}

fn check_legal_actions(legal: &LegalActions) {
    let message = over_the_wire(&legal.to_wire());
    check_bytes(&message, |fields| encode_legal_actions(fields, legal));
    assert!(LegalActions::from_wire(&message).as_ref() == Ok(legal));
    assert_eq!(message.discards.len() + message.declarations.len(), legal.len());
    for action in legal.iter() {
        assert_eq!(Action::from_wire(&over_the_wire(&action.to_wire())), Ok(action));
    }
}

/// Plays a match by numbers that stand for chance, with a fault now and then and one forfeit.
fn check_match(rules: Rules, chances: &[u32]) {
    let seed = MatchSeed::derive(
        &ServerSeed::new([u8::try_from(chances[0] % 256).expect("a byte"); 32]),
        &vec![Nonce::EMPTY; rules.player_count().count()],
    );
    let deck = |deal| seed.deck(deal, rules.imperial_suit);
    let mut chances =
        chances.iter().cycle().zip(0_u32..).map(|(&chance, i)| chance.wrapping_add(i * i) as usize);
    let mut chance = || chances.next().expect("a cycle has no end");
    let mut events = Vec::new();
    let mut game = Game::new(rules, seed.dealer(rules.player_count()), &deck(0), &mut events)
        .expect("the dealer is a seat");
    loop {
        check_events(&mut events, &rules);
        check_views(&game);
        match game.public().phase {
            Phase::MatchOver => break,
            Phase::DealOver => game.deal(&deck(game.public().deal + 1), &mut events).expect("a deal is due"),
            Phase::Turn { seat, .. } => {
                let legal = game.legal_actions();
                check_legal_actions(&legal);
                let other = rules.seats().nth(chance() % rules.player_count().count()).expect("a seat");
                if let Some(card) = game.faults(other).iter().next()
                    && chance().is_multiple_of(20)
                {
                    game.fault(other, card, &mut events).expect("it was listed");
                }
                if chance().is_multiple_of(400) {
                    game.forfeit(other, &mut events).ok();
                }
                // Declarations come last, and are rare.
                let index = if chance().is_multiple_of(2) { legal.len() - 1 } else { chance() % legal.len() };
                let action = legal.get(index).expect("the index is in the list");
                if game.public().phase != Phase::MatchOver {
                    game.play(seat, &action, &mut events).expect("it was listed");
                }
            }
        }
    }
}

fn presets() -> impl Strategy<Value = Rules> {
    let mut all = Vec::new();
    for preset in Preset::ALL {
        for &players in preset.players() {
            let players = Players::new(players.into()).expect("a preset lists valid numbers");
            for &teams in preset.teams(players) {
                all.push(preset.rules(players.count(), Some(teams)).expect("the preset lists it"));
            }
        }
    }
    proptest::sample::select(all)
}

prop_compose! {
    /// Rules with every option drawn by itself.
    fn free_rules()(
        first in presets(),
        second in presets(),
        mix in any::<u32>(),
        hand_size in 3..=10_u8,
        scores in proptest::array::uniform7(0..=150_u16),
        max_reused in proptest::option::of(0..=9_u8),
        target in proptest::option::of(1..=10_000_u16),
        imperial in 0..4_usize,
    ) -> Rules {
        let from = |bit: u32| if mix >> bit & 1 == 0 { *first } else { *second };
        let mut options: Options = *first;
        options.hand_size = hand_size;
        options.imperial_suit = zetema_rules::Suit::ALL[imperial];
        [options.sequence_score, options.flush_score, options.flush_sequence_score] = [scores[0], scores[1], scores[2]];
        options.assembly_scores.royal = scores[3];
        options.assembly_scores.jack = scores[4];
        options.assembly_scores.ace_and_five = scores[5];
        options.assembly_scores.other = scores[6];
        options.max_reused = max_reused;
        options.target = target;
        options.draw_at_start = from(0).draw_at_start;
        options.draw_at_end = from(0).draw_at_end;
        options.ace = from(1).ace;
        options.flush_suits = from(2).flush_suits;
        options.meld_size = from(3).meld_size;
        options.assembly = from(4).assembly;
        options.imperial_bonus = from(5).imperial_bonus;
        options.marriage_hand_min = from(6).marriage_hand_min;
        options.marriage_then_discard = from(7).marriage_then_discard;
        options.royal_zetema = from(8).royal_zetema;
        options.melds_after_stock = from(9).melds_after_stock;
        options.extra_turn = from(10).extra_turn;
        options.match_end = from(11).match_end;
        options.exposed_card_penalty = from(12).exposed_card_penalty;
        Rules::new(options).expect("every option is in its range")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_match_of_any_preset_comes_back_as_it_was(
        rules in presets(),
        chances in proptest::collection::vec(any::<u32>(), 20..200),
    ) {
        check_match(rules, &chances);
    }

    #[test]
    fn rules_come_back_as_they_were(rules in free_rules()) {
        prop_assert_eq!(Rules::from_wire(&over_the_wire(&rules.to_wire())), Ok(rules));
    }

    #[test]
    fn cards_come_back_as_they_were(faces in proptest::collection::vec(0..Card::FACES, 0..40)) {
        let mut cards = Cards::EMPTY;
        for face in faces {
            cards.insert(Card::from_index(face).expect("a face"));
        }
        prop_assert_eq!(Cards::from_wire(&cards.to_wire()), Ok(cards));
    }

    #[test]
    fn bytes_that_are_no_message_are_an_error_or_a_message_but_no_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let rules = Preset::Sackson.rules(2, None).expect("sackson is played by two");
        if let Ok(message) = v1::View::decode(bytes.as_slice()) {
            let _ = view_from_wire(&message, &rules);
        }
        if let Ok(message) = v1::Event::decode(bytes.as_slice()) {
            let _ = seat_event_from_wire(&message);
        }
        if let Ok(message) = v1::Action::decode(bytes.as_slice()) {
            let _ = Action::from_wire(&message);
        }
        if let Ok(message) = v1::MatchSpec::decode(bytes.as_slice()) {
            let _ = message.checked_rules();
        }
    }
}

#[test]
fn a_card_is_its_index_and_one_and_is_called_by_its_text_form() {
    for card in Card::all() {
        let number = card.to_wire();
        assert_eq!(usize::try_from(number), Ok(card.index() + 1));
        let name = v1::Card::try_from(number).map(|card| card.as_str_name());
        assert_eq!(name, Ok(format!("CARD_{card}").as_str()));
    }
}

#[test]
fn seats_and_teams_come_back_as_they_were() {
    for seat in (0..Seat::MAX).filter_map(Seat::new) {
        assert_eq!(Seat::from_wire(&seat.to_wire()), Ok(seat));
    }
    for teams in Teams::ALL {
        assert_eq!(Teams::from_wire(&teams.to_wire()), Ok(teams));
    }
}
