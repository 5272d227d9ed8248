//! The ratings of openskill.py's `BradleyTerryFull`: `golden/make_openskill.py` made the cases.

use serde_json::Value;
use zetema_ladder::{Mu, RankedSide, Rating, RatingOptions, RatingSettings, Sigma};

const CASES: &str = include_str!("../golden/openskill.json");

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn settings(case: &Value) -> RatingSettings {
    let options = RatingOptions {
        beta: number(&case["beta"]),
        kappa: number(&case["kappa"]),
        tau: number(&case["tau"]),
        ..RatingOptions::default()
    };
    RatingSettings::new(options).expect("settings in range")
}

fn side((rank, members): (&Value, &Value)) -> RankedSide {
    let rating = |member: &Value| Rating {
        mu: Mu::new(number(&member[0])).expect("a mu"),
        sigma: Sigma::new(number(&member[1])).expect("a sigma"),
    };
    let rank = u8::try_from(rank.as_u64().expect("a rank")).expect("a small rank");
    RankedSide::new(rank, list(members).iter().map(rating).collect()).expect("one to six members")
}

/// By how much of itself a number is not the other.
fn apart(ours: f64, theirs: f64) -> f64 {
    (ours - theirs).abs() / theirs.abs()
}

#[test]
fn a_thousand_matches_are_rated_as_openskill_rates_them_to_nine_digits() {
    let golden: Value = serde_json::from_str(CASES).expect("JSON");
    assert_eq!(golden["openskill"], "6.2.0");
    let cases = list(&golden["cases"]);
    assert_eq!(cases.len(), 1_000);
    let (mut compared, mut worst) = (0, 0.0_f64);
    for (place, case) in cases.iter().enumerate() {
        let sides: Vec<RankedSide> =
            list(&case["ranks"]).iter().zip(list(&case["before"])).map(side).collect();
        let rated = settings(case).rate(&sides);
        assert_eq!(rated.len(), list(&case["after"]).len());
        for (ours, theirs) in rated.iter().zip(list(&case["after"])) {
            assert_eq!(ours.len(), list(theirs).len());
            for (ours, theirs) in ours.iter().zip(list(theirs)) {
                let [mu, sigma] = [number(&theirs[0]), number(&theirs[1])];
                let off = apart(ours.mu.get(), mu).max(apart(ours.sigma.get(), sigma));
                assert!(off < 5e-10, "case {place}: {ours:?}, openskill {theirs}: {case}");
                worst = worst.max(off);
                compared += 1;
            }
        }
    }
    println!("{compared} ratings of {} matches, at most {worst:.1e} apart", cases.len());
}
