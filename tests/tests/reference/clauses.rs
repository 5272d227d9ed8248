//! Single clauses in written-out positions.

use zetema_tests::reference::{
    Action, Assembly, Draw, ExtraTurn, Field, Game, Kind, MarriageHandMin, MatchEnd, Preset, Refusal,
    RoyalZetema, Rules, Stage, Teams,
};

use crate::support::{
    card, deal, declare, discard, endgame, legal_declarations, legal_discards, position, to_act,
};

fn two(preset: Preset) -> Rules {
    preset.rules(2, Teams::Individual).unwrap()
}

#[test]
fn r8_what_is_shown_is_known_until_it_leaves() {
    let hands = ["3S 3S 4S 5S 6S 7S", "AC 2C 3C 4C 5C 7D"];
    let mut game = position(two(Preset::Fosdick), &hands, "KD QD");
    declare(&mut game, 0, Kind::Flush, hands[0], "");
    assert_eq!(deal(&game).known_held(0, card("3S")), 2);
    discard(&mut game, 0, "3S");
    assert_eq!(deal(&game).known_held(0, card("3S")), 1);
    assert_eq!(deal(&game).known_held(0, card("7S")), 1);
    assert_eq!(deal(&game).known_held(0, card("KD")), 0);
    assert!(deal(&game).known[1].is_empty());
}

#[test]
fn r11_an_ace_above_the_king_needs_either() {
    let hands = ["9C TD JH QS KS AC", "2C 2D 2H 2S 3C 3D"];
    for (preset, number) in [(Preset::Sackson, 1), (Preset::Parlett, 0)] {
        let rules = Rules { draw_at_start: Draw::Never, ..two(preset) };
        let game = position(rules, &hands, "");
        assert_eq!(legal_declarations(&game, Kind::Sequence).len(), number);
    }
}

#[test]
fn r12_under_plain_an_imperial_flush_sequence_is_a_sequence() {
    let hands = ["2S 3S 4S 5S 6S 7S", "2C 2D 2H 3H 3C 3D"];
    for (preset, kind) in [(Preset::Sackson, Kind::Sequence), (Preset::Fosdick, Kind::FlushSequence)] {
        let game = position(two(preset), &hands, "");
        for other in [Kind::Sequence, Kind::Flush, Kind::FlushSequence] {
            let number = legal_declarations(&game, other).len();
            assert_eq!(number, usize::from(other == kind), "{preset:?} {other:?}");
        }
    }
}

#[test]
fn r12_seven_cards_of_a_suit_make_seven_flushes() {
    let hands = ["AC 3C 5C 7C 9C JC", "2D 2H 3H 3D 4D 4H"];
    let game = position(two(Preset::Quick), &hands, "KC");
    assert_eq!(legal_declarations(&game, Kind::Flush).len(), 7);
}

#[test]
fn r13_the_discard_is_one_of_the_declared_cards() {
    let hands = ["AC 2D 3H 4S 5C 6D", "2H 3D 4D 5D 6H 7H"];
    let mut game = position(two(Preset::Quick), &hands, "KC");
    declare(&mut game, 0, Kind::Sequence, hands[0], "");
    assert_eq!(legal_discards(&game), "AC 2D 3H 4S 5C 6D");
    assert_eq!(game.play(0, &Action::Discard(card("KC"))), Err(Refusal::Action));
}

#[test]
fn r13_max_reused_bars_a_meld_like_the_last() {
    let hands = ["AC 2D 3H 4S 5C 6D", "2H 3D 4D 5D 8H 9H"];
    for (max_reused, number) in [(Some(4), 0), (Some(5), 1), (None, 1)] {
        let rules = Rules { max_reused, ..two(Preset::Victorian) };
        let mut game = position(rules, &hands, "7C");
        declare(&mut game, 0, Kind::Sequence, hands[0], "");
        discard(&mut game, 0, "AC");
        discard(&mut game, 1, "9H");
        assert_eq!(legal_declarations(&game, Kind::Sequence).len(), number);
    }
}

#[test]
fn r14_an_assembly_leaves_or_binds_the_discard() {
    let hands = ["JC JD JH JS JS 2C", "2D 2H 3H 3D 4D 4H"];
    let rules = |assembly| Rules { assembly, ..two(Preset::Sackson) };
    let mut game = position(rules(Assembly::Remove), &hands, "");
    declare(&mut game, 0, Kind::Assembly, "JC JD JH JS JS", "");
    assert_eq!((game.totals[0], to_act(&game)), (120, Some(1)));
    assert_eq!(deal(&game).removed_pile.len(), 5);
    assert_eq!(deal(&game).hands[0].len(), 6);
    let mut game = position(rules(Assembly::Keep), &hands, "");
    declare(&mut game, 0, Kind::Assembly, "JC JD JH JS JS", "");
    assert_eq!((game.totals[0], to_act(&game)), (120, Some(0)));
    assert_eq!(legal_discards(&game), "JC JD JH JS");
}

#[test]
fn r15_where_a_face_lies_in_both_places_the_player_chooses() {
    let rules = |marriage_hand_min| Rules { marriage_hand_min, ..two(Preset::Sackson) };
    let hands = ["KS QC 2C", "2H 3D"];
    let game = endgame(rules(MarriageHandMin::Each), &hands, "KS QS QS KC");
    let found = legal_declarations(&game, Kind::Marriages);
    let written: Vec<String> =
        found.iter().map(|declaration| format!("{:?} {:?}", declaration.hand, declaration.tableau)).collect();
    assert_eq!(written, ["[QC] [KC]", "[QC, KS] [QS, KC]", "[KS] [QS]"]);
    let game = endgame(rules(MarriageHandMin::Any), &hands, "KS QS QS KC");
    // With the marriage of clubs: none, one (either king) or two of spades; without it: one or two
    // of spades, the king from hand among them.
    assert_eq!(legal_declarations(&game, Kind::Marriages).len(), 4 + 2);
}

#[test]
fn r16_barred_kings_stay_and_marry() {
    let rules = Rules { royal_zetema: RoyalZetema::AfterAssembly, ..two(Preset::Sackson) };
    let mut game = endgame(rules, &["KS 2C", "QC 3D"], "KC KD KH KS");
    discard(&mut game, 0, "KS");
    assert_eq!((game.totals[0], deal(&game).pile(13).len()), (0, 5));
    assert_eq!(to_act(&game), Some(1), "no zetema, no extra turn");
    declare(&mut game, 1, Kind::Marriages, "QC", "KC");
    assert_eq!(game.totals[1], 10);
}

#[test]
fn r19_the_second_imperial_marriage_of_the_deal_has_a_bonus() {
    let mut game = endgame(two(Preset::Sackson), &["KS", "KS"], "QS QS");
    declare(&mut game, 0, Kind::Marriages, "KS", "QS");
    declare(&mut game, 1, Kind::Marriages, "KS", "QS");
    assert_eq!(game.totals, [10, 20]);
}

#[test]
fn r20_a_turn_that_began_without_stock_may_not_declare() {
    let mut game = endgame(two(Preset::Fosdick), &["2C 3D", "KC QC"], "");
    discard(&mut game, 0, "2C");
    assert_eq!(legal_declarations(&game, Kind::Marriages), []);
}

#[test]
fn r21_a_seat_without_cards_is_skipped_and_r23_ends_the_deal() {
    let rules = Preset::Sackson.rules(3, Teams::Individual).unwrap();
    let mut game = endgame(rules, &["2C", "", "3C 4C"], "");
    discard(&mut game, 0, "2C");
    assert_eq!(to_act(&game), Some(2));
    discard(&mut game, 2, "3C");
    assert_eq!(to_act(&game), Some(2));
    discard(&mut game, 2, "4C");
    assert_eq!((game.stage, game.dealer), (Stage::ToDeal, 0));
}

/// Seat 0 completes the fours without a stock, and holds more.
fn fifth_four(extra_turn: ExtraTurn) -> Game {
    let rules = Rules { extra_turn, ..two(Preset::Sackson) };
    let mut game = endgame(rules, &["4S 9S KC QC", "3D"], "4C 4D 4H 4S 9C 9D 9H 9S");
    discard(&mut game, 0, "4S");
    assert_eq!(game.totals[0], 5);
    game
}

#[test]
fn r22_gives_nothing_a_discard_or_a_whole_turn_and_chains() {
    assert_eq!(to_act(&fifth_four(ExtraTurn::None)), Some(1));
    let mut game = fifth_four(ExtraTurn::Discard);
    assert_eq!(to_act(&game), Some(0));
    assert_eq!(legal_declarations(&game, Kind::Marriages), []);
    discard(&mut game, 0, "9S");
    assert_eq!((game.totals[0], to_act(&game)), (10, Some(0)));
    discard(&mut game, 0, "KC");
    assert_eq!(to_act(&game), Some(1));
    let game = fifth_four(ExtraTurn::Full);
    assert_eq!(legal_declarations(&game, Kind::Marriages).len(), 1);
}

#[test]
fn r22_frees_the_discard_from_the_declaration_before() {
    let rules = Rules { hand: 3, extra_turn: ExtraTurn::Discard, ..two(Preset::Fosdick) };
    let mut game = endgame(rules, &["4S 5C 6C KC", "3D"], "4C 4D 4H 4S");
    declare(&mut game, 0, Kind::Sequence, "4S 5C 6C", "");
    assert_eq!(legal_discards(&game), "4S 5C 6C");
    discard(&mut game, 0, "4S");
    assert_eq!(legal_discards(&game), "5C 6C KC");
}

#[test]
fn r24_at_once_ends_before_the_draw_and_after_deal_plays_on() {
    let hands = ["JC JD JH JS JS 2C", "2D 2H 3H 3D 4D 4H"];
    for match_end in [MatchEnd::AtOnce, MatchEnd::AfterDeal] {
        let rules = Rules { target: Some(120), match_end, ..two(Preset::Sackson) };
        let mut game = position(rules, &hands, "");
        declare(&mut game, 0, Kind::Assembly, "JC JD JH JS JS", "");
        let at_once = match_end == MatchEnd::AtOnce;
        assert_eq!(game.stage == Stage::Over, at_once);
        assert_eq!(deal(&game).hands[0].len(), if at_once { 1 } else { 6 });
    }
}

#[test]
fn r25_equal_totals_share_a_rank_and_forfeits_come_last() {
    let rules = Preset::Sackson.rules(5, Teams::Individual).unwrap();
    let mut game = Game::new(rules, 0).unwrap();
    game.totals = vec![10, 250, 10, 40, 30];
    assert_eq!(game.ranks(), [4, 1, 4, 2, 3]);
    for (seat, ranks) in [(1, [3, 5, 3, 1, 2]), (3, [2, 4, 2, 5, 1]), (0, [5, 3, 2, 4, 1])] {
        game.forfeit(seat).unwrap();
        assert_eq!(game.ranks(), ranks);
        assert_eq!(game.stage, Stage::ToDeal);
    }
    game.forfeit(2).unwrap();
    assert_eq!(game.stage, Stage::Over);
    assert_eq!(game.forfeit(4), Err(Refusal::Forfeit));
}

#[test]
fn r28_an_exposed_card_binds_the_turn_and_shortens_the_draws() {
    let hands = ["2C 3C 4C 5C 6C 8C", "2D 3D 4D 5D 6D 7D"];
    let mut game = position(two(Preset::Victorian), &hands, "");
    assert_eq!(game.fault(0, card("2C")), Err(Refusal::Fault), "its own turn");
    assert_eq!(game.fault(1, card("8C")), Err(Refusal::Fault), "not held");
    game.fault(1, card("4D")).unwrap();
    assert_eq!(game.fault(1, card("5D")), Err(Refusal::Fault), "one lies exposed");
    assert_eq!(deal(&game).known_held(1, card("4D")), 1);
    assert_eq!(game.decision, 1);
    discard(&mut game, 0, "8C");
    assert_eq!(deal(&game).hands[0].len(), 6);
    assert_eq!(legal_discards(&game), "4D");
    assert_eq!(game.legal_actions().len(), 1, "a flush sequence in hand, but no declaration");
    discard(&mut game, 1, "4D");
    assert_eq!(deal(&game).hands[1].len(), 5);
}

#[test]
fn r28_a_zetema_of_an_exposed_card_leaves_without_points_and_still_brings_a_turn() {
    let rules = Rules { extra_turn: ExtraTurn::Full, ..two(Preset::Victorian) };
    let mut game = endgame(rules, &["2C 3C", "4S KC QC"], "4C 4D 4H 4S");
    game.fault(1, card("4S")).unwrap();
    discard(&mut game, 0, "2C");
    assert_eq!(legal_discards(&game), "4S");
    discard(&mut game, 1, "4S");
    assert_eq!((game.totals[1], deal(&game).zetemas), (0, 1));
    assert_eq!(to_act(&game), Some(1));
    assert_eq!(legal_declarations(&game, Kind::Marriages).len(), 1);
}

#[test]
fn a_record_outside_its_bounds_is_refused_with_the_field() {
    let good = Preset::Sackson.rules(4, Teams::Pairs).unwrap();
    let check = |change: &dyn Fn(&mut Rules), field| {
        let mut rules = good.clone();
        change(&mut rules);
        assert_eq!(Game::new(rules, 0), Err(vec![field]));
    };
    check(&|rules| rules.teams = Teams::Trios, Field::Teams);
    check(&|rules| rules.players = 5, Field::Teams);
    check(&|rules| rules.hand = 2, Field::Hand);
    check(&|rules| rules.hand = 11, Field::Hand);
    check(&|rules| rules.draw_at_end = Draw::Never, Field::Draw);
    check(&|rules| rules.sequence = 151, Field::Sequence);
    check(&|rules| rules.flush = 151, Field::Flush);
    check(&|rules| rules.flush_sequence = 151, Field::FlushSequence);
    check(&|rules| rules.assembly_scores.jack = 151, Field::AssemblyScores);
    check(&|rules| rules.max_reused = Some(10), Field::MaxReused);
    check(&|rules| rules.target = Some(0), Field::Target);
    check(&|rules| rules.target = Some(10_001), Field::Target);
    let individual = Rules { teams: Teams::Individual, ..good };
    for players in [1, 7] {
        let rules = Rules { players, ..individual.clone() };
        assert_eq!(Game::new(rules, 0), Err(vec![Field::Players]));
    }
}
