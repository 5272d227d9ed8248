//! The ledger of a record: what clocks charge verifies, and whatever else is written there does not.

use proptest::prelude::*;
use zetema_rules::fair::ServerSeed;
use zetema_rules::{
    Action, Attendance, Charge, ClockOptions, Clocks, Dealing, DealingKind, DecisionClock, DecisionTime,
    ForfeitReason, Game, LedgerEntry, Phase, Place, PlayedBy, Preset, Record, Rules, Seat, SeatClock, Step,
    TimeControl, TimeOut, TimedOut, autoplay,
};

use crate::support::{Random, preset_rules, seat};

/// What a seat does when it has to act.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// It answers after so long, on a connection with this round trip; too late is a time-out.
    Answer(u64, Option<u32>),
    /// The server goes down for so long, and the decision begins anew.
    Interrupted(u64),
    /// It resigns.
    Resign,
}

/// A match as a server plays and charges it.
fn played(
    rules: Rules,
    decisions: DecisionTime,
    seed: u8,
    mut turn: impl FnMut(Option<&SeatClock>) -> Turn,
) -> Record {
    let control = TimeControl::new(1_000, decisions).unwrap();
    let server_seed = ServerSeed::new([seed; 32]);
    let commitment = server_seed.commitment();
    let dealing = Dealing { kind: DealingKind::Fixed, commitment, server_seed, entrants: Vec::new() };
    let decks = dealing.match_seed(&rules).unwrap();
    let events = &mut Vec::new();
    let first = decks.deck(0, rules.imperial_suit);
    let mut game = Game::new(rules, decks.dealer(rules.player_count()), &first, events).unwrap();
    let mut clocks: Vec<SeatClock> = match control.clock() {
        Some(clock) => rules.seats().map(|_| SeatClock::new(*clock)).collect(),
        None => Vec::new(),
    };
    let (mut now_ms, mut interrupted) = (0, false);
    let (mut steps, mut ledger) = (Vec::new(), Vec::new());
    loop {
        let seat = match game.public().phase {
            Phase::Turn { seat, .. } => seat,
            Phase::DealOver => {
                let deck = decks.deck(game.public().deal + 1, rules.imperial_suit);
                game.deal(&deck, events).unwrap();
                continue;
            }
            Phase::MatchOver => break,
        };
        let legal = game.legal_actions();
        let play = |game: &mut Game, steps: &mut Vec<Step>, action: Action, by: PlayedBy| {
            game.play(seat, &action, &mut Vec::new()).unwrap();
            steps.push(Step::Play { seat, action, points: 0, by });
        };
        if game.public().forfeited.contains(seat) {
            play(&mut game, &mut steps, autoplay(&legal).unwrap(), PlayedBy::Autoplay);
            continue;
        }
        let clock = clocks.get_mut(seat.index());
        let (elapsed_ms, round_trip_ms) = match turn(clock.as_deref()) {
            Turn::Answer(elapsed_ms, round_trip_ms) => (elapsed_ms, round_trip_ms),
            Turn::Interrupted(ms) => {
                (now_ms, interrupted) = (now_ms + ms, true);
                continue;
            }
            Turn::Resign => {
                game.forfeit(seat, events).unwrap();
                steps.push(Step::Forfeit { seat, reason: ForfeitReason::Resigned });
                continue;
            }
        };
        let mut entry = LedgerEntry {
            decision: game.public().decision,
            seat,
            published_ms: now_ms,
            received_ms: Some(now_ms + elapsed_ms),
            charge: Charge { credit_ms: 0, charged_ms: elapsed_ms, bank_ms: 0 },
            interrupted,
            attendance: None,
        };
        interrupted = false;
        let answered =
            clock.map(|clock| (clock.over_after_ms(), clock.answer(elapsed_ms, round_trip_ms), clock));
        match answered {
            Some((over_after_ms, Err(_), clock)) => {
                let (charge, then) = clock.time_out();
                now_ms += over_after_ms;
                (entry.received_ms, entry.charge) = (None, charge);
                entry.attendance = Some(Attendance::Absent);
                match then {
                    TimedOut::PlayedFor => {
                        play(&mut game, &mut steps, autoplay(&legal).unwrap(), PlayedBy::Autoplay);
                    }
                    TimedOut::Forfeits(reason) => {
                        game.forfeit(seat, events).unwrap();
                        steps.push(Step::Forfeit { seat, reason });
                    }
                }
            }
            answered => {
                if let Some((_, Ok(charge), _)) = answered {
                    entry.charge = charge;
                }
                now_ms += elapsed_ms;
                play(&mut game, &mut steps, legal.iter().last().unwrap(), PlayedBy::Player);
            }
        }
        ledger.push(entry);
    }
    let record = Record::complete(rules, dealing, steps, None).unwrap();
    Record { clocks: Some(Clocks { control, ledger }), ..record }
}

/// What seats do by chance, the instants at which something changes above all.
fn at_random(clock: Option<&SeatClock>, random: &mut Random) -> Turn {
    match random.below(100) {
        0 => return Turn::Resign,
        1..=4 => return Turn::Interrupted(random.below(3_000) as u64),
        _ => {}
    }
    let any = random.below(600) as u64;
    let elapsed_ms = clock.map_or(any, |clock| {
        let budget_ms = u64::from(clock.budget_ms());
        let with_bank_ms = budget_ms + clock.bank_ms();
        let within = |ms: u64, random: &mut Random| random.below(usize::try_from(ms + 1).unwrap()) as u64;
        match random.below(12) {
            0 => budget_ms - 1,
            1 => budget_ms,
            2 => budget_ms + 1,
            3 => with_bank_ms - 1,
            4 => with_bank_ms + within(50, random),
            5 => within(with_bank_ms, random),
            _ => within(budget_ms, random),
        }
    });
    let round_trip_ms = random.percent(70).then(|| u32::try_from(random.below(150)).unwrap());
    Turn::Answer(elapsed_ms, round_trip_ms)
}

fn random_control(random: &mut Random) -> DecisionTime {
    if random.percent(15) {
        return DecisionTime::Unlimited { idle_timeout_ms: 1_000 };
    }
    let time_outs = [1, 2, 9].map(|strikes| TimeOut::Autoplay { strikes });
    let clock = DecisionClock::new(ClockOptions {
        budget_ms: random.pick(&[1, 100, 500]),
        first_budget_ms: random.pick(&[1, 100, 5_000]),
        bank_ms: random.pick(&[0, 1, 300, 5_000]),
        increment_ms: random.pick(&[0, 1, 200]),
        network_credit_ms: random.pick(&[0, 1, 100]),
        network_credit_total_ms: random.pick(&[0, 150, 10_000]),
        time_out: random.pick(&[TimeOut::Forfeit, time_outs[0], time_outs[1], time_outs[2]]),
    });
    DecisionTime::Clock(clock.unwrap())
}

fn random_match(seed: u64) -> Record {
    let mut random = Random::new(seed);
    let rules = random.pick(&preset_rules());
    let control = random_control(&mut random);
    let number = u8::try_from(random.below(256)).unwrap();
    played(rules, control, number, |clock| at_random(clock, &mut random))
}

fn ledger(record: &mut Record) -> &mut Vec<LedgerEntry> {
    &mut record.clocks.as_mut().unwrap().ledger
}

/// One number of an entry.
type Field = (&'static str, fn(&mut LedgerEntry) -> Option<&mut u64>);

/// Those that follow from the others, or others follow from.
const FIELDS: [Field; 4] = [
    ("published_ms", |entry| entry.received_ms.map(|_| &mut entry.published_ms)),
    ("received_ms", |entry| entry.received_ms.as_mut()),
    ("charged_ms", |entry| Some(&mut entry.charge.charged_ms)),
    ("bank_ms", |entry| Some(&mut entry.charge.bank_ms)),
];

proptest! {
    #[test]
    fn what_clocks_charge_verifies(seed: u64) {
        let record = random_match(seed);
        prop_assert_eq!(record.verify(), Ok(()));
        prop_assert_eq!(record.to_string().parse(), Ok(record));
    }

    #[test]
    fn any_number_that_is_changed_by_one_is_found_and_its_entry_named(seed: u64, chance: prop::sample::Index) {
        let mut original = random_match(seed);
        let length = ledger(&mut original).len();
        prop_assume!(length > 0);
        let at = chance.index(length);
        let check = |what: &str, place: usize, change: &dyn Fn(&mut Vec<LedgerEntry>)| {
            let mut record = original.clone();
            change(ledger(&mut record));
            let found = record.verify().expect_err(what);
            assert_eq!(found.place, Place::Ledger(place), "{what}: {found}");
        };
        for up in [true, false] {
            for (field, number) in FIELDS {
                let mut entry = original.clocks.as_ref().unwrap().ledger[at];
                let Some(number_of) = number(&mut entry) else { continue };
                let Some(changed) = number_of.checked_add_signed(if up { 1 } else { -1 }) else { continue };
                check(field, at, &|ledger| *number(&mut ledger[at]).unwrap() = changed);
            }
            check("decision", at, &|ledger| {
                let decision = &mut ledger[at].decision;
                *decision = if up { *decision + 1 } else { *decision - 1 };
            });
            check("credit_ms", at, &|ledger| {
                let credit_ms = &mut ledger[at].charge.credit_ms;
                *credit_ms = if up { *credit_ms + 1 } else { credit_ms.checked_sub(1).unwrap_or(1) };
            });
        }
        check("seat", at, &|ledger| ledger[at].seat = seat((ledger[at].seat.index() + 1) % Seat::MAX));
        check("an answer for a time-out, or the other way round", at, &|ledger| {
            ledger[at].received_ms = match ledger[at].received_ms {
                Some(_) => None,
                None => Some(ledger[at].published_ms),
            };
        });
        check("left out", at, &|ledger| {
            ledger.remove(at);
        });
        check("twice", at + 1, &|ledger| ledger.insert(at, ledger[at]));
    }
}

/// A match of two without increment, whose first decision takes 150 ms, 10 of them on the network.
fn short(time_out: TimeOut, first_turns: &[Turn]) -> Record {
    let clock = DecisionClock::new(ClockOptions {
        budget_ms: 100,
        first_budget_ms: 100,
        bank_ms: 60,
        increment_ms: 0,
        network_credit_ms: 20,
        network_credit_total_ms: 25,
        time_out,
    });
    let rules = Preset::Quick.rules(2, None).unwrap();
    let mut turns = first_turns.iter().copied();
    played(rules, DecisionTime::Clock(clock.unwrap()), 3, |_| turns.next().unwrap_or(Turn::Answer(7, None)))
}

#[test]
fn a_wrong_entry_is_told_with_what_is_right() {
    let turns = [Turn::Answer(150, Some(10)), Turn::Answer(100, None), Turn::Answer(500, None)];
    let original = short(TimeOut::Autoplay { strikes: 3 }, &turns);
    assert_eq!(original.verify(), Ok(()));
    let check = |told: &str, change: &dyn Fn(&mut Vec<LedgerEntry>)| {
        let mut record = original.clone();
        change(ledger(&mut record));
        assert_eq!(record.verify().map_err(|error| error.to_string()), Err(told.to_owned()));
    };
    check("ledger entry 0: bank_ms=20 is recorded, bank_ms=10 is right", &|ledger| {
        assert_eq!(ledger[0].charge, Charge { credit_ms: 10, charged_ms: 140, bank_ms: 20 });
        ledger[0].charge = Charge { credit_ms: 0, charged_ms: 150, bank_ms: 20 };
    });
    check("ledger entry 0: credit_ms=21 is recorded, credit_ms=20 is right", &|ledger| {
        ledger[0].charge = Charge { credit_ms: 21, charged_ms: 129, bank_ms: 31 };
    });
    check(
        "ledger entry 0: an answer after 180 ms is recorded, a time-out, or an answer before 170 ms were over, is right",
        &|ledger| ledger[0].received_ms = Some(180),
    );
    check("ledger entry 0: published_ms=1 is recorded, published_ms=0 is right", &|ledger| {
        (ledger[0].published_ms, ledger[0].received_ms) = (1, Some(151));
    });
    check("ledger entry 1: published_ms=149 is recorded, published_ms=150 or later is right", &|ledger| {
        (ledger[1].published_ms, ledger[1].received_ms) = (149, Some(249));
    });
    check("ledger entry 1: received_ms=149 is recorded, received_ms=150 or later is right", &|ledger| {
        ledger[1].received_ms = Some(149);
    });
    check("ledger entry 1: none is recorded, the received_ms of the seat's answer is right", &|ledger| {
        ledger[1].received_ms = None;
    });
    check(
        "ledger entry 1: attendance=present is recorded, no attendance, since it was answered, is right",
        &|ledger| ledger[1].attendance = Some(Attendance::Present),
    );
    check("ledger entry 2: charged_ms=119 is recorded, charged_ms=120 is right", &|ledger| {
        ledger[2].charge.charged_ms = 119;
    });
    check("ledger entry 3: published_ms=369 is recorded, published_ms=370 or later is right", &|ledger| {
        assert_eq!((ledger[2].published_ms, ledger[3].published_ms), (250, 385));
        (ledger[3].published_ms, ledger[3].received_ms) = (369, Some(376));
    });
    check("ledger entry 0: none is recorded, an entry for decision 1 of seat 1 is right", &Vec::clear);
    let end = original.clocks.as_ref().unwrap().ledger.len();
    check(
        &format!(
            "ledger entry {end}: an entry for decision 1 is recorded, none, since nobody took it or ran out of time, is right"
        ),
        &|ledger| ledger.push(ledger[0]),
    );
}

#[test]
fn what_is_played_for_a_seat_is_played_only_when_it_is_due_and_by_the_rule() {
    let late = Turn::Answer(500, None);
    let forfeits = short(TimeOut::Forfeit, &[late]);
    assert_eq!(forfeits.steps, [Step::Forfeit { seat: seat(1), reason: ForfeitReason::OutOfTime }]);
    let struck = short(TimeOut::Autoplay { strikes: 2 }, &[late, Turn::Answer(1, None), late]);
    let struck_out = struck.steps.len() - 1;
    let check = |record: &Record, step: usize, told: &str, change: &dyn Fn(&mut Record)| {
        assert_eq!(record.verify(), Ok(()));
        let mut record = record.clone();
        change(&mut record);
        let error = record.verify().expect_err(told);
        assert_eq!(error.to_string(), format!("step {step}: {told}"));
    };
    let forfeit = |reason| {
        move |record: &mut Record| {
            let step = record.steps.len() - 1;
            record.steps[step] = Step::Forfeit { seat: seat(1), reason };
        }
    };
    let none = |record: &mut Record| {
        let clocks = record.clocks.as_mut().unwrap();
        clocks.control = TimeControl::new(1_000, DecisionTime::Unlimited { idle_timeout_ms: 1_000 }).unwrap();
    };
    check(
        &forfeits,
        0,
        "out-of-strikes is recorded, out-of-time is right",
        &forfeit(ForfeitReason::OutOfStrikes),
    );
    check(&forfeits, 0, "out-of-time is recorded, no time-out, since no clock runs, is right", &none);
    check(&forfeits, 0, "out-of-time is recorded, no time-out, since no clock runs, is right", &|record| {
        record.clocks = None;
    });
    check(
        &forfeits,
        0,
        "out-of-time is recorded, no time-out, since the seat does not have to act, is right",
        &|record| record.steps[0] = Step::Forfeit { seat: seat(0), reason: ForfeitReason::OutOfTime },
    );
    check(
        &struck,
        struck_out,
        "out-of-time is recorded, out-of-strikes is right",
        &forfeit(ForfeitReason::OutOfTime),
    );
    check(&struck, 0, "autoplay is recorded, the player's action, since no clock runs, is right", &none);
    check(&struck, 0, "out-of-strikes is recorded, autoplay, since strikes are left, is right", &|record| {
        record.steps[0] = Step::Forfeit { seat: seat(1), reason: ForfeitReason::OutOfStrikes };
    });
    let Step::Play { action: right, .. } = struck.steps[0] else { panic!("the first step is no action") };
    let mut game_legal = Vec::new();
    let mut replay = zetema_rules::Replay::new(&struck).unwrap();
    game_legal.extend(replay.game().unwrap().legal_actions().iter().filter(|action| *action != right));
    replay.step().unwrap();
    let other = game_legal[0];
    check(&struck, 0, &format!("autoplay {other} is recorded, autoplay {right} is right"), &|record| {
        record.steps[0] = Step::Play { seat: seat(1), action: other, points: 0, by: PlayedBy::Autoplay };
    });
    let one_strike = short(TimeOut::Autoplay { strikes: 1 }, &[late]);
    check(
        &one_strike,
        0,
        &format!("1 autoplay {right} is recorded, 1 forfeit out-of-strikes is right"),
        &|record| {
            record.steps[0] = Step::Play { seat: seat(1), action: right, points: 0, by: PlayedBy::Autoplay };
        },
    );
}

#[test]
fn an_interrupted_decision_begins_anew_and_its_seat_is_charged_from_there() {
    let turns =
        [Turn::Interrupted(10_000), Turn::Answer(40, None), Turn::Interrupted(5), Turn::Answer(1, None)];
    let mut record = short(TimeOut::Forfeit, &turns);
    assert_eq!(record.verify(), Ok(()));
    let begun: Vec<_> =
        ledger(&mut record).iter().map(|entry| (entry.published_ms, entry.interrupted)).collect();
    assert_eq!(begun[..3], [(10_000, true), (10_045, true), (10_046, false)]);
    ledger(&mut record)[0].interrupted = false;
    assert_eq!(record.verify().unwrap_err().place, Place::Ledger(0));
}
