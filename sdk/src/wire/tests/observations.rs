use prost::Message;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use zetema_proto::v1::play_response::Kind;
use zetema_proto::{FieldError, Wire, seat_event_to_wire, view_to_wire};
use zetema_rules::fair::{MatchSeed, Nonce};
use zetema_rules::{Event, Game, LegalActions, Phase, Preset, Rules, Seat, SeatEvent, View, Viewer};

use super::super::*;
use super::with_mistakes;

/// All that an observation says.
type Said =
    (u64, Option<u32>, Vec<Option<SeatEvent>>, Option<(View, LegalActions, Option<v1::Clock>)>, Option<u32>);

fn said(observed: Observed, rules: &Rules) -> Result<Said, FieldError> {
    let Observed { seq, decision, happened, asked, answered } = observed;
    let asked = asked.map(|asked| {
        let Asked { mut view, legal, clock } = *asked;
        view.of_match(rules).map(|view| (view.under(rules), legal, clock))
    });
    Ok((seq, decision, happened.iter().map(Happened::in_game).collect(), asked.transpose()?, answered))
}

/// A response of which nothing but its fields is decoded.
#[derive(Message)]
struct Response {
    #[prost(uint64, tag = "1")]
    tag: u64,
    #[prost(uint32, tag = "2")]
    handle: u32,
    #[prost(message, optional, tag = "5")]
    observation: Option<Fields>,
}

/// The fields of an observation.
#[derive(Message)]
struct Fields {
    #[prost(uint64, tag = "1")]
    seq: u64,
    #[prost(uint32, optional, tag = "2")]
    decision_number: Option<u32>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    events: Vec<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "4")]
    view: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "5")]
    decision: Option<Vec<u8>>,
    #[prost(uint32, optional, tag = "7")]
    answered_decision_number: Option<u32>,
}

/// These bytes without a view that comes without a decision.
fn without_view_of_others(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut response = Response::decode(bytes).ok()?;
    let observation = response.observation.as_mut().filter(|observation| observation.decision.is_none());
    if let Some(observation) = observation {
        observation.view = None;
    }
    Some(response.encode_to_vec())
}

/// What comes of decoding these bytes as any message, but for a view that comes without a decision: nobody looks into
/// it.
fn decoded(bytes: &[u8], rules: &Rules) -> Option<(u32, Option<Said>)> {
    let bytes = &without_view_of_others(bytes)?[..];
    let v1::PlayResponse { tag: _, handle, kind } = v1::PlayResponse::decode(bytes).ok()?;
    let Some(Kind::Observation(observation)) = kind else { return None };
    Some((handle, said(Observed::from_message(observation).ok()?, rules).ok()))
}

fn read(bytes: &[u8], rules: &Rules) -> Option<(u32, Option<Said>)> {
    let Incoming::Observed { handle, observed } = Incoming::read(bytes)? else { return None };
    Some((handle, said(observed, rules).ok()))
}

/// What the seats of a match that is played at random observe, as a server sends it.
fn observations(rules: Rules, random: &mut SmallRng) -> Vec<Vec<u8>> {
    let nonces = vec![Nonce::EMPTY; rules.player_count().count()];
    let seed = MatchSeed::derive(&crate::numbered_seed(random.random()), &nonces);
    let mut events = Vec::<Event>::new();
    let deck = |deal| seed.deck(deal, rules.imperial_suit);
    let mut game = Game::new(rules, seed.dealer(rules.player_count()), &deck(0), &mut events).unwrap();
    let mut all = Vec::new();
    for seq in 1..200 {
        for seat in rules.seats() {
            let shown =
                events.iter().map(|event| seat_event_to_wire(&event.seen_by(Viewer::Seat(seat)), &rules));
            // It comes with every decision, whoever is to take it.
            let view = game.to_act().map(|_| game.view(Viewer::Seat(seat)));
            let asked = view.filter(|_| game.to_act() == Some(seat));
            let decision = asked.map(|view| {
                let clock = v1::Clock { budget_ms: 300, bank_ms: seq << 33, elapsed_ms: 0, strikes_left: 1 };
                let clock = random.random::<bool>().then_some(clock);
                v1::Decision { legal_actions: Some(view.legal_actions().to_wire()), clock }
            });
            let view = view.map(|view| Box::new(view_to_wire(&view)));
            let observation = v1::Observation {
                seq,
                decision_number: Some(game.public().decision),
                events: shown.collect(),
                view,
                decision,
                answered_decision_number: random.random::<bool>().then_some(7),
            };
            let kind = Some(Kind::Observation(observation));
            all.push(v1::PlayResponse { tag: seq << 2, handle: random.random(), kind }.encode_to_vec());
        }
        events.clear();
        match game.public().phase {
            Phase::Turn { seat, .. } => {
                let legal: Vec<_> = game.legal_actions().iter().collect();
                game.play(seat, legal.choose(random).unwrap(), &mut events).unwrap();
            }
            Phase::DealOver => game.deal(&deck(game.public().deal + 1), &mut events).unwrap(),
            Phase::MatchOver => break,
        }
    }
    all
}

fn every_observation(mut check: impl FnMut(&[u8], &Rules, &mut SmallRng)) {
    let mut random = SmallRng::seed_from_u64(1);
    for preset in Preset::ALL {
        for players in 2..=6 {
            let Ok(rules) = preset.rules(players, None) else { continue };
            for bytes in observations(rules, &mut random) {
                check(&bytes, &rules, &mut random);
            }
        }
    }
}

#[test]
fn what_is_read_is_what_is_decoded_and_all_but_the_end_of_a_match_is_read() {
    let mut ends = 0;
    every_observation(|bytes, rules, _| {
        let decoded = decoded(bytes, rules).unwrap();
        let Some((_, _, happened, ..)) = &decoded.1 else { panic!("{bytes:?}") };
        let is_end = happened.iter().any(|event| matches!(event, Some(SeatEvent::MatchOver { .. })));
        ends += u32::from(is_end);
        match read(bytes, rules) {
            Some(read) => assert!(read == decoded),
            None => assert!(is_end, "{happened:?}"),
        }
    });
    assert!(ends > 10, "{ends} matches came to their end");
}

#[test]
fn whatever_is_read_of_bytes_with_mistakes_is_what_is_decoded() {
    let mut plain = 0;
    every_observation(|bytes, rules, random| {
        for _ in 0..20 {
            let bytes = with_mistakes(bytes, random);
            if let Some(read) = read(&bytes, rules) {
                plain += 1;
                assert!(decoded(&bytes, rules) == Some(read), "{bytes:?}");
            }
        }
    });
    assert!(plain > 1_000, "{plain} were read");
}

/// What is seldom or never in a match that is played at random.
#[test]
fn deals_exposed_cards_and_extra_turns_are_read_as_they_are_decoded() {
    let (rules, mut random) = (Preset::Sackson.rules(6, None).unwrap(), SmallRng::seed_from_u64(3));
    let (seat, first) = (Seat::new(5).unwrap(), Seat::new(0).unwrap());
    let card = "KS".parse().unwrap();
    let mut read_with_mistakes = 0;
    for event in [
        SeatEvent::DealStarted { deal: 0, dealer: first },
        SeatEvent::DealStarted { deal: u32::MAX, dealer: seat },
        SeatEvent::Exposed { seat, card },
        SeatEvent::Exposed { seat: first, card },
        SeatEvent::ExtraTurn { seat },
        SeatEvent::ExtraTurn { seat: first },
        SeatEvent::DealOver { deal: 300, deal_scores: [0, 1, 127, 128, 300, u16::MAX] },
        SeatEvent::DealOver { deal: 0, deal_scores: [0; Seat::MAX] },
    ] {
        let events = vec![seat_event_to_wire(&event, &rules)];
        let observation = v1::Observation { seq: 1, events, ..v1::Observation::default() };
        let kind = Some(Kind::Observation(observation));
        let bytes = v1::PlayResponse { tag: 0, handle: 1, kind }.encode_to_vec();
        let seen = read(&bytes, &rules);
        assert!(seen.is_some() && seen == decoded(&bytes, &rules), "{event:?}");
        for _ in 0..500 {
            let bytes = with_mistakes(&bytes, &mut random);
            if let Some(read) = read(&bytes, &rules) {
                read_with_mistakes += 1;
                assert!(decoded(&bytes, &rules) == Some(read), "{bytes:?}");
            }
        }
    }
    assert!(read_with_mistakes > 200, "{read_with_mistakes}");
}
