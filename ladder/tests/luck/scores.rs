//! The scores of single matches.

use zetema_ladder::{AdjustError, Baseline, Reference, ReferenceVersion};
use zetema_rules::{EndReason, MatchResult, Preset, Seat};

use crate::played::{Played, play};
use crate::player::Player;
use crate::sums::{baseline, rules};

fn usual(preset: Preset, players: usize) -> Baseline {
    let reference = Reference::new(&rules(preset, players), ReferenceVersion::One);
    let sums = vec![5_000_000; reference.rules().sides()];
    Baseline::from_sums(reference, &sums).expect("sums")
}

#[test]
fn scores_sum_to_zero_over_the_sides() {
    for (preset, players) in [
        (Preset::Sackson, 2),
        (Preset::Quick, 3),
        (Preset::Sackson, 4),
        (Preset::Fosdick, 5),
        (Preset::Akagiri, 6),
    ] {
        let baseline = usual(preset, players);
        let bots =
            [Player::Suits, Player::Eager, Player::Planner, Player::Suits, Player::Eager, Player::Planner];
        let scores = play(rules(preset, players), 5, &bots[..players]).scores(&baseline);
        for sum in [
            scores.iter().map(|score| score.raw).sum::<f64>(),
            scores.iter().map(|score| score.luck).sum(),
            scores.iter().map(|score| score.adjusted()).sum(),
        ] {
            assert!(sum.abs() < 1e-9, "{preset}, {players} players: {scores:?}");
        }
        assert!(scores.iter().any(|score| score.luck.abs() > 1.0), "{preset}, {players} players: {scores:?}");
    }
}

#[test]
fn luck_is_the_same_whatever_is_played() {
    let baseline = usual(Preset::Victorian, 2);
    let scores =
        |bots: [Player; 2]| play(rules(Preset::Victorian, 2), 11, &bots).scores(&baseline).swap_remove(0);
    let (one, other) = (scores([Player::Suits, Player::Eager]), scores([Player::Eager, Player::Planner]));
    assert_eq!(one.luck.to_bits(), other.luck.to_bits());
    assert!((one.raw - other.raw).abs() > 1.0, "the bots played otherwise: {one:?}, {other:?}");
}

#[test]
fn the_luck_of_a_match_is_that_of_its_deals_with_the_dealer_going_round() {
    let baseline = baseline(Preset::Quick, 3);
    let mut played = (0..).map(|number| play(rules(Preset::Quick, 3), number, &[Player::Suits; 3]));
    let played: Played = played.find(|played| played.decks.len() >= 3).expect("a long match");
    let values = played.values(baseline.reference());
    for (side, score) in (0..).zip(played.scores(&baseline)) {
        let side = zetema_rules::Side::new(side).expect("a side");
        let mut dealer = played.dealer;
        let mut luck = 0.0;
        for deal in &values {
            luck += deal.value(side, dealer) - baseline.value(side, dealer);
            dealer = dealer.clockwise(1, baseline.reference().rules().player_count());
        }
        assert!((score.luck - luck).abs() < 1e-9, "side {side}: {score:?}, not {luck}");
    }
}

#[test]
fn deals_that_no_score_can_be_adjusted_by_are_refused() {
    let (two, quick) = (usual(Preset::Sackson, 2), usual(Preset::Quick, 2));
    let deals = play(rules(Preset::Quick, 2), 0, &[Player::Suits; 2]).values(quick.reference());
    let result =
        MatchResult { reason: EndReason::Target, ranks: [1, 2, 0, 0, 0, 0], totals: [310, 145, 0, 0, 0, 0] };
    let seat = |index| Seat::new(index).expect("a seat");
    let (given, expected) = (quick.reference(), two.reference());
    let error = two.adjusted_scores(seat(0), &deals, &result);
    assert_eq!(error, Err(AdjustError::OtherReference { deal: 0, given, expected }));
    assert_eq!(
        error.expect_err("another reference").to_string(),
        "deal 0 was measured by reference 1, rules quick players=2 teams=individual target=none match_end=after-deal, the \
        baseline by reference 1, rules sackson players=2 teams=individual target=none match_end=after-deal: compute the deal \
        anew"
    );
    assert_eq!(
        quick.adjusted_scores(seat(2), &deals, &result),
        Err(AdjustError::Dealer { dealer: seat(2), last: 1 })
    );
    assert_eq!(quick.adjusted_scores(seat(0), &[], &result), Err(AdjustError::NoDeal));
}
