//! In what part of a bot's matches others would be.

use super::super::neighbours::Queued;
use super::super::share::Shares;
use super::*;

/// The share that a bot of the first of these owners has in the matches of one of the second. Each has so many bots.
fn share(players: usize, same_owner: SameOwner, bots_of: &[usize]) -> f64 {
    let usual = PairingOptions::usual(Players::new(players).unwrap(), Teams::Individual);
    let settings = PairingSettings::new(PairingOptions { same_owner, ..usual }).unwrap();
    let owners = (0..).zip(bots_of).flat_map(|(owner, &bots)| vec![OwnerId::new(owner); bots]);
    let queued: Vec<Queued> =
        (0..).zip(owners).map(|(id, owner)| Queued { id: BotId::new(id), owner, rating: 25.0 }).collect();
    let shares = Shares::new(&settings, &queued);
    shares.of(OwnerId::new(1)).with(&shares.of(OwnerId::new(0)))
}

#[test]
fn a_share_is_that_of_all_matches_that_may_be() {
    for (players, bots_of, expected) in [
        (2, &[1, 1][..], 1.0),
        (2, &[1, 3], 1.0),
        (2, &[3, 1], 1.0 / 3.0),
        (2, &[1, 1, 20, 20], 1.0 / 41.0),
        // One bot of each owner is in each match.
        (4, &[1, 1, 3, 3], 1.0),
        (4, &[3, 1, 1, 3], 1.0 / 3.0),
        // Of all matches with the second, 4 · 5 · 5 · 5 lack the first, and 6 · 5 · 5 have it.
        (4, &[1, 1, 5, 5, 5, 5], 150.0 / 650.0),
        (6, &[1; 200], 5.0 / 199.0),
        (6, &[1; 6], 1.0),
        (3, &[1, 1], 1.0),
    ] {
        let found = share(players, SameOwner::Apart, bots_of);
        assert!((found - expected).abs() < 1e-15, "{players} players, {bots_of:?}: {found}");
    }
}

#[test]
fn where_bots_of_one_owner_may_meet_all_others_have_the_same_share() {
    for same_owner in [SameOwner::Opponents, SameOwner::Anywhere] {
        let found = share(4, same_owner, &[1, 5, 4]);
        assert!((found - 3.0 / 9.0).abs() < 1e-15, "{same_owner:?}: {found}");
    }
}

#[test]
fn two_of_one_owner_that_met_before_they_were_kept_apart_have_a_share() {
    let settings =
        PairingSettings::new(PairingOptions::usual(Players::new(4).unwrap(), Teams::Individual)).unwrap();
    let queued: Vec<Queued> = (0..6)
        .map(|id| Queued { id: BotId::new(id), owner: OwnerId::new(u64::from(id == 5)), rating: 25.0 })
        .collect();
    let shares = Shares::new(&settings, &queued);
    let of = shares.of(OwnerId::new(0));
    assert!((0.0..=1.0).contains(&of.with(&of)));
}
