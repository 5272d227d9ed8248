//! What a match adds to a bot's standing.

use zetema_proto::v1;

/// Counts a match that ended with this result, in which the bot had this seat. Without a side in the result it counts nothing.
pub(super) fn count(tally: &mut v1::Tally, result: &v1::MatchResult, seat: &v1::MatchSeat) {
    let own = usize::try_from(seat.side).ok().and_then(|side| Some((side, result.sides.get(side)?)));
    let Some((side, own)) = own else { return };
    tally.matches += 1;
    if own.rank == 1 {
        match result.sides.iter().filter(|side| side.rank == 1).count() {
            1 => tally.wins += 1,
            _ => tally.draws += 1,
        }
    }
    tally.forfeits += u64::from(seat.state() == v1::SeatState::Forfeited);
    for (_, other) in result.sides.iter().enumerate().filter(|(other, _)| *other != side) {
        tally.sides_met += 1;
        tally.margin += i64::from(own.total) - i64::from(other.total);
    }
}

/// As it is shown.
pub(super) fn shown(tally: v1::Tally) -> String {
    let v1::Tally { matches, wins, draws, forfeits, sides_met, margin } = tally;
    format!(
        "{matches} matches ({wins} won, {draws} drawn, {forfeits} forfeited), {sides_met} sides met and a margin of {margin}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_counts_by_the_ranks_and_points_of_its_sides_and_by_who_forfeited() {
        let check = |sides: &[(u32, u32)], side, state: v1::SeatState, expected: v1::Tally| {
            let sides = sides.iter().map(|&(rank, total)| v1::SideResult { rank, total }).collect();
            let result = v1::MatchResult { sides, ..v1::MatchResult::default() };
            let seat = v1::MatchSeat { side, state: state.into(), ..v1::MatchSeat::default() };
            let mut tally = v1::Tally::default();
            count(&mut tally, &result, &seat);
            assert_eq!(tally, expected);
        };
        let joined = v1::SeatState::Joined;
        let of = |[wins, draws, forfeits]: [u64; 3], sides_met, margin| v1::Tally {
            matches: 1,
            wins,
            draws,
            forfeits,
            sides_met,
            margin,
        };
        check(&[(1, 120), (2, 80)], 0, joined, of([1, 0, 0], 1, 40));
        check(&[(1, 120), (2, 80)], 1, joined, of([0, 0, 0], 1, -40));
        check(&[(1, 90), (3, 20), (1, 90)], 2, joined, of([0, 1, 0], 2, 70));
        check(&[(2, 120), (1, 80)], 0, v1::SeatState::Forfeited, of([0, 0, 1], 1, 40));
        check(&[(1, 120)], 5, joined, v1::Tally::default());
    }
}
