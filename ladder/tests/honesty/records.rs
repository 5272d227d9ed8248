//! What the record of a match tells of its seats.

use zetema_ladder::{Cause, Ending, FinishedSeat, Lead, SeatsError, Taken, finished_seats};
use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{
    Dealing, DealingKind, Entrant, ForfeitReason, Game, Phase, PlayedBy, Preset, Record, Rules, Seat, Seats,
    Step, autoplay,
};

const FIRST: Seat = Seat::new(0).expect("a seat");

/// What happens to seat 0 when it has decided so often.
#[derive(Clone, Copy)]
struct Upset {
    after: usize,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Forfeits(ForfeitReason),
    TimesOutOnce,
}

/// A match, and by seat each decision as it came up: how the seat's side stood, and how many legal actions there were.
struct Told {
    record: Record,
    asked: [Vec<(Lead, usize)>; 2],
}

/// The first preset for two, with a target or of one deal.
fn rules(end: MatchEnd) -> Rules {
    let target = |rules: &Rules| rules.target.is_some() == (end == MatchEnd::ToTarget);
    let for_two = |preset: Preset| preset.rules(2, None).ok().filter(target);
    Preset::ALL.into_iter().find_map(for_two).expect("a preset")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchEnd {
    ToTarget,
    OneDeal,
}

fn record(seed: u8, upset: Option<Upset>) -> Record {
    told(rules(MatchEnd::ToTarget), seed, upset).record
}

/// Two players who do what the server would, and what befalls the first. Seat 0 declares nothing.
fn told(rules: Rules, seed: u8, upset: Option<Upset>) -> Told {
    let server_seed = ServerSeed::new([seed; 32]);
    let entrants = vec![Entrant { hash: None, nonce: Some(Nonce::EMPTY) }; 2];
    let commitment = server_seed.commitment();
    let dealing = Dealing { kind: DealingKind::Joint, commitment, server_seed, entrants };
    let match_seed = dealing.match_seed(&rules).expect("nonces");
    let (mut events, mut steps, mut decided) = (Vec::new(), Vec::new(), 0);
    let deck = |deal| match_seed.deck(deal, rules.imperial_suit);
    let dealer = match_seed.dealer(rules.player_count());
    let mut game = Game::new(rules, dealer, &deck(0), &mut events).expect("a game");
    let mut asked = [Vec::new(), Vec::new()];
    loop {
        match game.public().phase {
            Phase::Turn { seat, .. } => {
                let legal = game.legal_actions();
                let [own, other] =
                    [seat.index(), 1 - seat.index()].map(|side| i32::from(game.public().totals[side]));
                asked[seat.index()].push((Lead::of(own - other), legal.len()));
                let due = upset.filter(|upset| seat == FIRST && decided == upset.after);
                decided += usize::from(seat == FIRST);
                if let Some(Upset { what: What::Forfeits(reason), .. }) = due {
                    game.forfeit(seat, &mut events).expect("a forfeit");
                    steps.push(Step::Forfeit { seat, reason });
                    continue;
                }
                let by = if due.is_some() { PlayedBy::Autoplay } else { PlayedBy::Player };
                let declared = legal.declarations.first().copied().map(zetema_rules::Action::Declare);
                let action = declared.filter(|_| seat != FIRST).or(autoplay(&legal)).expect("an action");
                game.play(seat, &action, &mut events).expect("a legal action");
                steps.push(Step::Play { seat, action, points: 0, by });
            }
            Phase::DealOver => game.deal(&deck(game.public().deal + 1), &mut events).expect("a deal"),
            Phase::MatchOver => {
                let record = Record::complete(rules, dealing, steps, None).expect("a record");
                return Told { record, asked };
            }
        }
    }
}

fn seats(record: &Record, cut_off: Seats) -> Vec<FinishedSeat<&'static str>> {
    finished_seats(record, vec!["lovelace", "kahn"], cut_off).expect("a record with a result")
}

fn choices(seat: &FinishedSeat<&str>) -> Vec<Taken> {
    seat.decisions.iter().map(|decision| decision.taken).collect()
}

#[test]
fn each_step_of_a_player_is_a_decision() {
    for end in [MatchEnd::ToTarget, MatchEnd::OneDeal] {
        let Told { record, asked } = told(rules(end), 1, None);
        let mut all = Vec::new();
        for (seat, asked) in seats(&record, Seats::EMPTY).iter().zip(&asked) {
            assert_eq!(seat.ending, Ending::PlayedOn);
            assert_eq!(seat.decisions.len(), asked.len());
            for (decision, &(lead, legal)) in seat.decisions.iter().zip(asked) {
                assert_eq!(decision.standing, lead);
                assert_eq!(decision.taken == Taken::Answered, legal == 1, "{legal} legal actions");
            }
            all.extend(asked);
        }
        assert_eq!(all.len(), record.steps.len());
        for lead in [Lead::Behind, Lead::Level, Lead::Ahead] {
            assert!(all.iter().any(|&&(stood, _)| stood == lead), "nobody was {lead:?}");
        }
        assert!(end == MatchEnd::ToTarget || all.iter().any(|&&(_, legal)| legal == 1), "nothing was forced");
        assert!(end == MatchEnd::OneDeal || record.deals.len() > 1, "there was one deal");
    }
}

#[test]
fn the_same_cards_ask_the_same_and_others_do_not() {
    let [same, again, other] = [1, 1, 2].map(|seed| seats(&record(seed, None), Seats::EMPTY));
    assert_eq!(choices(&same[0]), choices(&again[0]));
    let contexts = |seats: &[FinishedSeat<&str>]| -> Vec<u64> {
        let context = |taken| match taken {
            Taken::Chosen(choice) => Some(choice.context),
            Taken::Answered | Taken::OutOfTime => None,
        };
        seats.iter().flat_map(choices).filter_map(context).collect()
    };
    let asked = contexts(&same);
    assert!(contexts(&other).iter().all(|context| !asked.contains(context)));
}

#[test]
fn who_forfeits_is_told_with_cause_and_lead() {
    let cases = [
        (ForfeitReason::Resigned, Seats::EMPTY, Cause::Resigned, 12),
        (ForfeitReason::Resigned, Seats::EMPTY.with(FIRST), Cause::Resigned, 12),
        (ForfeitReason::OutOfTime, Seats::EMPTY, Cause::OutOfTime, 13),
        (ForfeitReason::OutOfStrikes, Seats::EMPTY.with(FIRST), Cause::Disconnected, 13),
    ];
    for (reason, cut_off, cause, decisions) in cases {
        let upset = Upset { after: 12, what: What::Forfeits(reason) };
        let Told { record, asked } = told(rules(MatchEnd::ToTarget), 1, Some(upset));
        let seats = seats(&record, cut_off);
        let Ending::Forfeited(departure) = seats[0].ending else { panic!("{reason:?}: it forfeited") };
        assert_eq!(departure.cause, cause);
        assert_eq!(Some(Lead::of(departure.lead)), asked[0].last().map(|&(lead, _)| lead));
        assert!(departure.decisions_left.is_some_and(|left| left > 0));
        assert_eq!(seats[0].decisions.len(), decisions);
        assert_eq!(seats[1].ending, Ending::PlayedOn);
    }
}

#[test]
fn what_the_server_played_is_a_time_out() {
    let record = record(1, Some(Upset { after: 5, what: What::TimesOutOnce }));
    let taken = choices(&seats(&record, Seats::EMPTY)[0]);
    let times_out: Vec<usize> = (0..taken.len()).filter(|&place| taken[place] == Taken::OutOfTime).collect();
    assert_eq!(times_out, [5]);
}

#[test]
fn what_is_no_record_of_a_result_is_refused() {
    let whole = record(1, None);
    let refused = |record: &Record, owners| {
        finished_seats(record, owners, Seats::EMPTY).expect_err("it tells nothing").to_string()
    };
    assert_eq!(
        refused(&whole, vec!["lovelace"]),
        "1 owners are given for 2 seats: give the owner of each seat's bot"
    );
    let mut undealt = whole.clone();
    undealt.deals.clear();
    let error = finished_seats(&undealt, vec![1, 2], Seats::EMPTY).expect_err("no deal");
    assert_eq!(error, SeatsError::Undealt { deal: 0 });
    let mut mended = whole.clone();
    mended.steps.swap(0, 1);
    assert_eq!(refused(&mended, vec!["a", "b"]), "step 0 can't be played: verify the record");
}
