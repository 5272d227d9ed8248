//! What the record of a match tells of its seats.

use zetema_ladder::{Cause, Ending, FinishedSeat, Lead, SeatsError, Taken, finished_seats};
use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{
    Action, Attendance, Charge, Clocks, Dealing, DealingKind, Entrant, ForfeitReason, Game, LedgerEntry,
    NamedTimeControl, Phase, PlayedBy, Preset, Record, Rules, Seat, Step, TimeControl, autoplay,
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

/// A match, and by seat each decision as it came up.
struct Told {
    record: Record,
    asked: [Vec<Asked>; 2],
}

struct Asked {
    /// How the seat's side stood.
    stood: Lead,
    /// Over how many other cards the seat preferred what it discarded.
    preferred: usize,
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
                let stood = Lead::of(own - other);
                let due = upset.filter(|upset| seat == FIRST && decided == upset.after);
                decided += usize::from(seat == FIRST);
                if let Some(Upset { what: What::Forfeits(reason), .. }) = due {
                    game.forfeit(seat, &mut events).expect("a forfeit");
                    steps.push(Step::Forfeit { seat, reason });
                    asked[seat.index()].push(Asked { stood, preferred: 0 });
                    continue;
                }
                let by = if due.is_some() { PlayedBy::Autoplay } else { PlayedBy::Player };
                let declared = legal.declarations.first().copied().map(Action::Declare);
                let action = declared.filter(|_| seat != FIRST).or(autoplay(&legal)).expect("an action");
                let preferred = match action {
                    Action::Discard(_) if by == PlayedBy::Player => legal.discards.len() - 1,
                    _ => 0,
                };
                asked[seat.index()].push(Asked { stood, preferred });
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

fn seats(record: &Record) -> Vec<FinishedSeat<&'static str>> {
    finished_seats(record, vec!["lovelace", "kahn"]).expect("a record with a result")
}

fn taken(seat: &FinishedSeat<&str>) -> Vec<Taken> {
    seat.decisions.iter().map(|decision| decision.taken).collect()
}

#[test]
fn each_step_of_a_player_is_a_decision() {
    for end in [MatchEnd::ToTarget, MatchEnd::OneDeal] {
        let Told { record, asked } = told(rules(end), 1, None);
        let mut all = Vec::new();
        for (seat, asked) in seats(&record).iter().zip(&asked) {
            assert_eq!(seat.ending, Ending::PlayedOn);
            assert_eq!(seat.decisions.len(), asked.len());
            for (decision, asked) in seat.decisions.iter().zip(asked) {
                assert_eq!((decision.standing, decision.taken), (asked.stood, Taken::Answered));
            }
            all.extend(asked);
        }
        assert_eq!(all.len(), record.steps.len());
        for lead in [Lead::Behind, Lead::Level, Lead::Ahead] {
            assert!(all.iter().any(|asked| asked.stood == lead), "nobody was {lead:?}");
        }
        assert!(end == MatchEnd::OneDeal || record.deals.len() > 1, "there was one deal");
    }
}

#[test]
fn each_discard_is_preferred_to_every_other_that_was_possible() {
    for end in [MatchEnd::ToTarget, MatchEnd::OneDeal] {
        let Told { record, asked } = told(rules(end), 1, None);
        for (seat, asked) in seats(&record).iter().zip(&asked) {
            assert_eq!(seat.preferences.len(), asked.iter().map(|asked| asked.preferred).sum::<usize>());
            assert!(seat.preferences.len() > seat.decisions.len(), "most discards are of several cards");
        }
    }
}

/// The ledger entry of the decision that the first forfeit was at.
fn forfeited_at(record: &Record, attendance: Option<Attendance>, interrupted: bool) -> LedgerEntry {
    let step = record.steps.iter().position(|step| matches!(step, Step::Forfeit { .. })).expect("a forfeit");
    LedgerEntry {
        decision: u32::try_from(step + 1).expect("few steps"),
        seat: FIRST,
        published_ms: 0,
        received_ms: None,
        charge: Charge { credit_ms: 0, charged_ms: 1_000, bank_ms: 0 },
        interrupted,
        attendance,
    }
}

#[test]
fn who_forfeits_is_told_with_cause_and_lead() {
    let (absent, present) = (Some(Attendance::Absent), Some(Attendance::Present));
    let cases = [
        (ForfeitReason::Resigned, None, false, Cause::Resigned, 12),
        (ForfeitReason::OutOfTime, None, false, Cause::OutOfTime, 13),
        (ForfeitReason::OutOfTime, present, false, Cause::OutOfTime, 13),
        (ForfeitReason::OutOfTime, absent, false, Cause::Disconnected, 13),
        (ForfeitReason::OutOfStrikes, absent, false, Cause::Disconnected, 13),
        // The server was down, and the seat has not found back.
        (ForfeitReason::OutOfTime, absent, true, Cause::OutOfTime, 13),
    ];
    for (reason, attendance, interrupted, cause, decisions) in cases {
        let upset = Upset { after: 12, what: What::Forfeits(reason) };
        let Told { mut record, asked } = told(rules(MatchEnd::ToTarget), 1, Some(upset));
        if reason != ForfeitReason::Resigned {
            let control = TimeControl::named(NamedTimeControl::Blitz);
            let ledger = vec![forfeited_at(&record, attendance, interrupted)];
            record.clocks = Some(Clocks { control, ledger });
        }
        let seats = seats(&record);
        let Ending::Forfeited(departure) = seats[0].ending else { panic!("{reason:?}: it forfeited") };
        assert_eq!(departure.cause, cause, "{reason:?} {attendance:?}");
        assert_eq!(Some(Lead::of(departure.lead)), asked[0].last().map(|asked| asked.stood));
        assert!(departure.decisions_left.is_some_and(|left| left > 0));
        assert_eq!(seats[0].decisions.len(), decisions);
        assert_eq!(seats[1].ending, Ending::PlayedOn);
    }
}

#[test]
fn what_the_server_played_is_a_time_out() {
    let record = record(1, Some(Upset { after: 5, what: What::TimesOutOnce }));
    let taken = taken(&seats(&record)[0]);
    let times_out: Vec<usize> = (0..taken.len()).filter(|&place| taken[place] == Taken::OutOfTime).collect();
    assert_eq!(times_out, [5]);
}

#[test]
fn what_is_no_record_of_a_result_is_refused() {
    let whole = record(1, None);
    let refused =
        |record: &Record, owners| finished_seats(record, owners).expect_err("it tells nothing").to_string();
    assert_eq!(
        refused(&whole, vec!["lovelace"]),
        "1 owners are given for 2 seats: give the owner of each seat's bot"
    );
    let mut undealt = whole.clone();
    undealt.deals.clear();
    let error = finished_seats(&undealt, vec![1, 2]).expect_err("no deal");
    assert_eq!(error, SeatsError::Undealt { deal: 0 });
    let mut mended = whole.clone();
    mended.steps.swap(0, 1);
    assert_eq!(refused(&mended, vec!["a", "b"]), "step 0 can't be played: verify the record");
}
