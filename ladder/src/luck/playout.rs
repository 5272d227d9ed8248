//! One deal, played by the reference at all seats.

use zetema_rules::{Deck, Event, Game, LegalActions, Rules, Seat, Viewer};

use super::policy::choose;
use super::random::Random;

/// The points of each side. The rules are those of one deal, so it ends with its last card.
/// The table is round: another dealer turns the points and changes nothing else.
pub(super) fn play_out(rules: &Rules, deck: &Deck, dealer: Seat, random: &mut Random) -> [u16; Seat::MAX] {
    let mut events: Vec<Event> = Vec::new();
    let mut legal = LegalActions::default();
    let mut game = Game::new(*rules, dealer, deck, &mut events)
        .unwrap_or_else(|_| unreachable!("the dealer is a seat of the match"));
    while let Some(seat) = game.to_act() {
        events.clear();
        game.legal_actions_into(&mut legal);
        let view = game.view(Viewer::Seat(seat));
        let action = choose(&view, seat, &legal, random)
            .unwrap_or_else(|| unreachable!("a decision has a legal discard (R10)"));
        if game.play(seat, &action, &mut events).is_err() {
            unreachable!("a legal action is played (R27)");
        }
    }
    game.public().deal_scores
}

#[cfg(test)]
mod tests {
    use zetema_rules::fair::{MatchSeed, ServerSeed};
    use zetema_rules::{Preset, Side};

    use super::super::reference::Reference;
    use super::super::sums::place;
    use super::super::version::ReferenceVersion;
    use super::{Random, play_out};

    #[test]
    fn another_dealer_turns_the_points() {
        for (preset, players) in
            [(Preset::Sackson, 2), (Preset::Sackson, 4), (Preset::Quick, 5), (Preset::Victorian, 6)]
        {
            let Ok(rules) = preset.rules(players, None) else { unreachable!("the preset is played so") };
            let reference = Reference::new(&rules, ReferenceVersion::One);
            let rules = reference.rules();
            for number in 0..4 {
                let deck =
                    MatchSeed::derive(&ServerSeed::new([7; 32]), &[]).deck(number, rules.imperial_suit);
                let random = || Random::new(ReferenceVersion::One, 0, &deck);
                let points = |dealer| play_out(rules, &deck, dealer, &mut random());
                let last = rules.seats().next_back().map(points);
                for dealer in rules.seats() {
                    for side in (0..rules.sides()).filter_map(Side::new) {
                        let turned = last.map(|points| points[place(rules, side, dealer)]);
                        assert_eq!(
                            Some(points(dealer)[side.index()]),
                            turned,
                            "{preset} {players}, dealer {dealer}"
                        );
                    }
                }
            }
        }
    }
}
