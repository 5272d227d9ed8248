//! Messages that are not valid, and the field that each error names.

#![allow(clippy::expect_used, clippy::panic)] // The whole file is tests.

use zetema_proto::v1::{self, action, declaration, match_spec};
use zetema_proto::{FieldError, Views, Wire, seat_event_from_wire, view_from_wire, view_to_wire};
use zetema_rules::fair::{MatchSeed, Nonce, NonceHash, ServerSeed};
use zetema_rules::{
    Action, DecisionTime, Game, LegalActions, MatchResult, Preset, Rules, Seat, TimeControl, View, Viewer,
};

fn rules() -> Rules {
    Preset::Sackson.rules(2, None).expect("sackson is played by two")
}

/// The path of the field, words of the error, and what breaks the message.
type Case<M> = (&'static str, &'static str, fn(&mut M));

/// The path and the words of the error.
fn check<T>(result: Result<T, FieldError>, path: &str, words: &str) {
    let Err(error) = result else { panic!("{path} should be refused: {words}") };
    assert_eq!(error.path, path);
    let problem = error.problem.to_string();
    assert!(problem.contains(words), "{path}: {problem:?} should say {words:?}");
}

#[test]
fn rules_that_are_not_valid_name_the_option() {
    let cases: &[Case<v1::Rules>] = &[
        ("players", "give 2 to 6", |rules| rules.players = 7),
        ("players", "300 is too large", |rules| rules.players = 300),
        ("teams", "missing", |rules| rules.teams = 0),
        ("teams", "99 is no value", |rules| rules.teams = 99),
        ("teams", "pairs need", |rules| rules.teams = v1::Teams::Pairs as i32),
        ("hand_size", "give 3 to 10", |rules| rules.hand_size = 11),
        ("imperial_suit", "-1 is no value", |rules| rules.imperial_suit = -1),
        ("draw_at_start", "at least one", |rules| rules.draw_at_end = v1::Draw::None as i32),
        ("draw_at_end", "missing", |rules| rules.draw_at_end = 0),
        ("sequence_score", "give 0 to 150", |rules| rules.sequence_score = 151),
        ("flush_score", "70000 is too large", |rules| rules.flush_score = 70_000),
        ("assembly_scores", "missing", |rules| rules.assembly_scores = None),
        ("assembly_scores.jack", "give 0 to 150", |rules| {
            rules.assembly_scores = Some(v1::AssemblyScores { jack: 151, ..Default::default() });
        }),
        ("assembly_scores.other", "is too large", |rules| {
            rules.assembly_scores = Some(v1::AssemblyScores { other: u32::MAX, ..Default::default() });
        }),
        ("ace", "missing", |rules| rules.ace = 0),
        ("flush_suits", "missing", |rules| rules.flush_suits = 0),
        ("meld_size", "3 is no value", |rules| rules.meld_size = 3),
        ("max_reused", "give 0 to 9", |rules| rules.max_reused = Some(10)),
        ("assembly", "missing", |rules| rules.assembly = 0),
        ("imperial_bonus", "missing", |rules| rules.imperial_bonus = 0),
        ("marriage_hand_min", "missing", |rules| rules.marriage_hand_min = 0),
        ("royal_zetema", "missing", |rules| rules.royal_zetema = 0),
        ("extra_turn", "missing", |rules| rules.extra_turn = 0),
        ("target", "give 1 to 10000", |rules| rules.target = Some(0)),
        ("match_end", "missing", |rules| rules.match_end = 0),
    ];
    for (path, words, break_it) in cases {
        let mut message = rules().to_wire();
        break_it(&mut message);
        check(Rules::from_wire(&message), path, words);
    }
}

#[test]
fn actions_that_are_not_valid_name_the_field() {
    let declare = |kind| v1::Action { kind: Some(action::Kind::Declare(v1::Declaration { kind })) };
    let cards = |cards: &[i32]| v1::CardList { cards: cards.to_vec() };
    let cases = [
        (v1::Action { kind: None }, "kind", "missing"),
        (v1::Action { kind: Some(action::Kind::Discard(0)) }, "discard", "missing"),
        (v1::Action { kind: Some(action::Kind::Discard(53)) }, "discard", "53 is no value"),
        (v1::Action { kind: Some(action::Kind::Discard(-3)) }, "discard", "-3 is no value"),
        (declare(None), "declare.kind", "missing"),
        (declare(Some(declaration::Kind::Assembly(14))), "declare.assembly", "14 is no value"),
        (
            declare(Some(declaration::Kind::Flush(cards(&[5, 5, 5])))),
            "declare.flush.cards[2]",
            "5C stands here a third time",
        ),
        (declare(Some(declaration::Kind::Sequence(cards(&[1, 0])))), "declare.sequence.cards[1]", "missing"),
        (
            declare(Some(declaration::Kind::Marriages(v1::Marriages { hand: vec![13], tableau: vec![99] }))),
            "declare.marriages.tableau[0]",
            "99 is no value",
        ),
    ];
    for (message, path, words) in cases {
        check(Action::from_wire(&message), path, words);
    }
}

#[test]
fn legal_actions_out_of_order_are_refused_and_unknown_declarations_left_out() {
    let message = v1::LegalActions { discards: vec![1, 3, 3], declarations: vec![] };
    check(LegalActions::from_wire(&message), "discards[2]", "in order");

    let known = v1::Declaration { kind: Some(declaration::Kind::Assembly(v1::Rank::King as i32)) };
    let message =
        v1::LegalActions { discards: vec![1], declarations: vec![v1::Declaration { kind: None }, known] };
    let legal = LegalActions::from_wire(&message).expect("what is known can be read");
    assert_eq!(legal.len(), 2);
}

fn view() -> View {
    let rules = rules();
    let seed = MatchSeed::derive(&ServerSeed::new([0; 32]), &[Nonce::EMPTY, Nonce::EMPTY]);
    let deck = seed.deck(0, rules.imperial_suit);
    let game = Game::new(rules, seed.dealer(rules.player_count()), &deck, &mut Vec::new());
    game.expect("the dealer is a seat").view(Viewer::Seat(Seat::new(1).expect("a seat")))
}

#[test]
fn views_that_are_not_valid_name_the_field() {
    let cases: &[Case<v1::View>] = &[
        ("viewer", "missing", |view| view.viewer = None),
        ("seat", "2 is no seat of 2", |view| view.viewer = Some(v1::view::Viewer::Seat(2))),
        ("dealer", "6 is no seat", |view| view.dealer = 6),
        ("phase", "missing", |view| view.phase = None),
        ("phase.kind", "missing", |view| view.phase = Some(v1::Phase { kind: None })),
        ("phase.turn.stage", "missing", |view| {
            view.phase =
                Some(v1::Phase { kind: Some(v1::phase::Kind::Turn(v1::Turn { seat: 0, stage: None })) });
        }),
        ("stock_count", "256 is too large", |view| view.stock_count = 256),
        ("zetemas[1]", "stands here twice", |view| view.zetemas = vec![4, 4]),
        ("seats", "there are 1", |view| {
            view.seats.pop();
        }),
        ("seats[1].known_held[0]", "54 is no value", |view| view.seats[1].known_held = vec![54]),
        ("seats[0].exposed", "missing", |view| view.seats[0].exposed = Some(0)),
        ("seats[0].last_meld.cards[0]", "missing", |view| {
            view.seats[0].last_meld = Some(v1::CardList { cards: vec![0] });
        }),
        ("sides", "there are 3", |view| view.sides.push(v1::SideView::default())),
        ("sides[0].total", "is too large", |view| view.sides[0].total = 70_000),
        ("hand[6]", "99 is no value", |view| view.hand.push(99)),
        ("result.sides", "there are 0 sides", |view| view.result = Some(v1::MatchResult::default())),
    ];
    for (path, words, break_it) in cases {
        let mut message = view_to_wire(&view());
        break_it(&mut message);
        check(view_from_wire(&message, &rules()), path, words);
    }
}

#[test]
fn an_event_of_a_kind_that_is_not_known_is_none() {
    assert_eq!(seat_event_from_wire(&v1::Event { kind: None }), Ok(None));
    let about_the_match = v1::event::Kind::Resigned(v1::Resigned { seat: 0 });
    assert_eq!(seat_event_from_wire(&v1::Event { kind: Some(about_the_match) }), Ok(None));
}

#[test]
fn a_draw_with_more_cards_than_it_counts_is_refused() {
    let drew = v1::event::Kind::Drew(v1::Drew { seat: 0, count: 1, cards: vec![1, 2] });
    check(seat_event_from_wire(&v1::Event { kind: Some(drew) }), "drew.cards", "there are 2 cards");
}

#[test]
fn a_result_with_a_rank_that_none_can_have_is_refused() {
    let side = |rank| v1::SideResult { rank, total: 0 };
    for (sides, path) in
        [(vec![side(1), side(0)], "sides[1].rank"), (vec![side(3), side(1)], "sides[0].rank")]
    {
        let message = v1::MatchResult { reason: v1::EndReason::Target as i32, sides };
        check(MatchResult::from_wire(&message), path, "is no rank");
    }
}

fn spec(seats: usize, rules: Option<match_spec::Rules>) -> v1::MatchSpec {
    let seat = v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) };
    v1::MatchSpec { rules, seats: vec![seat; seats], ..Default::default() }
}

#[test]
fn a_match_whose_rules_don_t_fit_its_seats_names_the_field() {
    let preset = |preset: v1::Preset, teams: Option<v1::Teams>| {
        Some(match_spec::Rules::Preset(v1::PresetRules {
            preset: preset as i32,
            teams: teams.map(|teams| teams as i32),
            imperial_suit: None,
        }))
    };
    let unknown = match_spec::Rules::Preset(v1::PresetRules { preset: 77, ..Default::default() });
    let cases = [
        (spec(2, None), "rules", "missing", v1::ErrorReason::InvalidField),
        (spec(1, None), "seats", "give 2 to 6", v1::ErrorReason::InvalidRules),
        (spec(2, Some(unknown)), "preset.preset", "77 is no value", v1::ErrorReason::InvalidField),
        (
            spec(5, preset(v1::Preset::Victorian, None)),
            "seats",
            "not played by 5",
            v1::ErrorReason::InvalidRules,
        ),
        (
            spec(4, preset(v1::Preset::Sackson, Some(v1::Teams::Trios))),
            "preset.teams",
            "not played as trios",
            v1::ErrorReason::InvalidRules,
        ),
        (
            spec(3, Some(match_spec::Rules::Own(rules().to_wire()))),
            "seats",
            "own.players is 2",
            v1::ErrorReason::InvalidField,
        ),
    ];
    for (spec, path, words, reason) in cases {
        let result = spec.checked_rules();
        assert_eq!(result.as_ref().map_err(FieldError::reason), Err(reason));
        check(result, path, words);
    }
    let four = spec(4, preset(v1::Preset::Sackson, None)).checked_rules().expect("sackson is played by four");
    assert_eq!(four, Preset::Sackson.rules(4, None).expect("sackson is played by four"));
}

#[test]
fn time_controls_have_defaults_and_bounds() {
    assert_eq!(TimeControl::from_wire(&v1::TimeControl::default()), Ok(TimeControl::default()));
    let unlimited = DecisionTime::Unlimited { idle_timeout_ms: 2_592_000_000 };
    let stated = TimeControl::new(1_000, unlimited).expect("the times are in range");
    assert_eq!(TimeControl::from_wire(&stated.to_wire()), Ok(stated));
    let message = v1::TimeControl { join_timeout_ms: Some(999), ..Default::default() };
    check(TimeControl::from_wire(&message), "join_timeout_ms", "give 1000 to 604800000");
    let none = Some(v1::time_control::Decisions::Named(v1::NamedTimeControl::None.into()));
    let message = v1::TimeControl { idle_timeout_ms: Some(0), decisions: none, ..Default::default() };
    check(TimeControl::from_wire(&message), "idle_timeout_ms", "is 0: give 1000");
    let message = v1::TimeControl { idle_timeout_ms: Some(1_000), ..Default::default() };
    check(TimeControl::from_wire(&message), "idle_timeout_ms", "without a clock");
}

#[test]
fn seeds_nonces_and_hashes_have_their_lengths() {
    check(ServerSeed::from_wire(&vec![0; 31]), "", "has 31 bytes: give 32");
    check(Option::<NonceHash>::from_wire(&vec![0; 33]), "", "give 32, or none");
    assert_eq!(Option::<NonceHash>::from_wire(&vec![]), Ok(None));
    check(Nonce::from_wire(&vec![0; 33]), "", "33 were given");
    assert_eq!(Nonce::from_wire(&vec![]), Ok(Nonce::EMPTY));
}

#[test]
fn views_that_are_stated_are_known() {
    assert_eq!(Views::from_wire(&Views::SnapshotsOnly.to_wire()), Ok(Views::SnapshotsOnly));
    check(Views::from_wire(&0), "", "missing");
    check(Views::from_wire(&3), "", "3 is no value");
}

#[test]
fn debug_of_a_view_shows_no_hand() {
    let view = view();
    let message = view_to_wire(&view);
    let mut without = message.clone();
    without.hand.clear();
    assert!(!message.hand.is_empty());
    assert_eq!(format!("{message:?}"), format!("{without:?}"));
    assert_eq!(
        format!("{:?}", v1::LegalActions { discards: message.hand.clone(), declarations: vec![] }),
        "LegalActions { discards: [redacted], declarations: [redacted] }"
    );
    let act = v1::Act { decision_number: 4, choice: Some(v1::act::Choice::LegalIndex(2)) };
    assert_eq!(format!("{act:?}"), "Act { decision_number: 4, choice: [redacted] }");
}
