//! Matches without a server: every preset, number of players and team form, and bots that go wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_sdk::rules::{Card, EndReason, Players, Preset, Record, Replay, Rules, SeatEvent, Step, Viewer};
use zetema_sdk::{
    Action, Bot, DealingKind, Decision, End, Fault, MatchInfo, Simulated, View, numbered_seed, simulate,
};

/// Chooses at random, and writes down what it is told.
struct Recorder<'a> {
    random: StdRng,
    told: &'a mut Vec<SeatEvent>,
    ended: &'a mut u32,
}

impl Bot for Recorder<'_> {
    fn choose(&mut self, decision: &Decision) -> Action {
        assert_eq!(decision.legal, decision.view.legal_actions());
        decision.legal.get(self.random.random_range(0..decision.legal.len())).unwrap()
    }

    fn start(&mut self, view: Option<&View>) {
        assert_eq!(view, None);
        assert!(self.told.is_empty());
    }

    fn observe(&mut self, event: &SeatEvent) {
        self.told.push(*event);
    }

    fn end(&mut self, end: &End) {
        assert!(matches!(end, End::Result(_)));
        *self.ended += 1;
    }
}

fn every_rules() -> Vec<Rules> {
    let mut all = Vec::new();
    for preset in Preset::ALL {
        for &players in preset.players() {
            for &teams in preset.teams(Players::new(players.into()).unwrap()) {
                all.push(preset.rules(players.into(), Some(teams)).unwrap());
            }
        }
    }
    all
}

#[test]
fn every_preset_is_played_to_its_end_and_replays() {
    for rules in every_rules() {
        let mut told = vec![Vec::new(); 6];
        let mut ended = [0; 6];
        let mut lent: Vec<_> = told.iter_mut().zip(&mut ended).map(Some).collect();
        let played = simulate(rules, &numbered_seed(3), |info: &MatchInfo| {
            let (told, ended) = lent[info.seat.index()].take().unwrap();
            Recorder { random: StdRng::seed_from_u64(info.seat.index() as u64), told, ended }
        })
        .unwrap();
        assert_eq!(played.faults, []);
        let record = played.record().unwrap();
        record.verify().unwrap();
        assert_eq!(record.steps, played.steps);
        for seat in rules.seats() {
            assert_eq!(ended[seat.index()], 1);
            assert_eq!(seen_by(Viewer::Seat(seat), &record), told[seat.index()], "{rules:?}");
        }
    }
}

/// What a viewer sees of a record that is replayed.
fn seen_by(viewer: Viewer, record: &Record) -> Vec<SeatEvent> {
    let mut replay = Replay::new(record).unwrap();
    let mut seen = Vec::new();
    loop {
        seen.extend(replay.events().iter().map(|event| event.seen_by(viewer)));
        if replay.step().unwrap().is_none() {
            return seen;
        }
    }
}

/// Chooses the first action, until it is told to do something else.
struct Faulty(What);

#[derive(Clone, Copy, PartialEq)]
enum What {
    Behaves,
    PanicsInFactory,
    PanicsInStart,
    PanicsWhenObserving,
    PanicsWhenChoosing,
    ChoosesWhatIsIllegal,
}

impl Bot for Faulty {
    fn choose(&mut self, decision: &Decision) -> Action {
        match self.0 {
            What::PanicsWhenChoosing => panic!("no idea"),
            What::ChoosesWhatIsIllegal => {
                let hand = decision.view.hand;
                Action::Discard(Card::all().find(|&card| !hand.contains(card)).unwrap())
            }
            _ => decision.first(),
        }
    }

    fn start(&mut self, _: Option<&View>) {
        assert!(self.0 != What::PanicsInStart, "no start");
    }

    fn observe(&mut self, event: &SeatEvent) {
        if let (What::PanicsWhenObserving, SeatEvent::Discarded { .. }) = (self.0, event) {
            panic!("seen too much");
        }
    }
}

fn play_with_fault(players: usize, what: What) -> Simulated {
    simulate(Preset::Akagiri.rules(players, None).unwrap(), &numbered_seed(5), |info: &MatchInfo| {
        assert!(info.seat.index() != 1 || what != What::PanicsInFactory, "no bot");
        Faulty(if info.seat.index() == 1 { what } else { What::Behaves })
    })
    .unwrap()
}

fn check_forfeits(what: What, fault: &Fault) {
    let two = play_with_fault(2, what);
    assert_eq!(two.result.reason, EndReason::Forfeit);
    assert_eq!(two.result.ranks[..2], [1, 2]);
    let three = play_with_fault(3, what);
    assert_eq!(three.result.reason, EndReason::Target, "the others play on");
    assert_eq!(three.result.ranks[1], 3);
    for played in [two, three] {
        let [(seat, found)] = &played.faults[..] else { panic!("{:?}", played.faults) };
        assert_eq!(seat.index(), 1);
        assert_eq!(found, fault);
        let forfeits = played.steps.iter().filter(|step| matches!(step, Step::Forfeit { .. }));
        assert_eq!(forfeits.count(), 1);
        played.record().unwrap().verify().unwrap();
    }
}

#[test]
fn a_bot_that_goes_wrong_forfeits_its_seat_alone() {
    let panicked = |message: &str| Fault::Panicked { message: message.to_owned() };
    check_forfeits(What::PanicsInFactory, &panicked("no bot"));
    check_forfeits(What::PanicsInStart, &panicked("no start"));
    check_forfeits(What::PanicsWhenObserving, &panicked("seen too much"));
    check_forfeits(What::PanicsWhenChoosing, &panicked("no idea"));
}

#[test]
fn an_illegal_choice_forfeits_and_the_fault_names_the_decision() {
    let played = play_with_fault(3, What::ChoosesWhatIsIllegal);
    let [(seat, Fault::IllegalChoice { decision })] = played.faults[..] else {
        panic!("{:?}", played.faults)
    };
    assert_eq!(seat.index(), 1);
    let before = played.steps.iter().take_while(|step| matches!(step, Step::Play { .. })).count();
    assert_eq!(decision as usize, before + 1);
}

#[test]
fn the_same_seed_gives_the_same_match_and_another_seed_another() {
    let play = |seed| {
        let make = |_: &MatchInfo| Faulty(What::Behaves);
        simulate(Preset::Sackson.rules(2, None).unwrap(), &numbered_seed(seed), make).unwrap()
    };
    assert_eq!(play(1), play(1));
    assert_ne!(play(1).steps, play(2).steps);
}

#[test]
fn bots_of_a_simulation_know_that_its_deals_are_fixed() {
    let make = |info: &MatchInfo| {
        assert_eq!(info.deals, DealingKind::Fixed);
        Faulty(What::Behaves)
    };
    assert_eq!(
        simulate(Preset::Sackson.rules(2, None).unwrap(), &numbered_seed(1), make).unwrap().faults,
        []
    );
}

/// Looks for its hand in what a log would show.
struct Discreet;

impl Bot for Discreet {
    fn choose(&mut self, decision: &Decision) -> Action {
        let public = format!("{:?}", decision.view.public);
        let shown = format!("{decision:?}");
        for card in decision.view.hand.iter().map(|card| card.to_string()) {
            assert_eq!(shown.matches(&card).count(), public.matches(&card).count(), "{card} in {shown}");
        }
        decision.first()
    }
}

#[test]
fn a_decision_shows_no_card_of_the_hand_to_a_log() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    assert_eq!(simulate(rules, &numbered_seed(1), |_| Discreet).unwrap().faults, []);
}
