//! Matches to ask for.

use zetema_proto::v1::time_control::Decisions;
use zetema_proto::v1::{deals, match_spec, seat_spec};
use zetema_proto::{Wire, v1};
use zetema_rules::{Options, Preset, Rules};

/// A match by a preset's rules, with joint deals.
pub fn preset(preset: v1::Preset, players: usize) -> v1::MatchSpec {
    let rules = v1::PresetRules { preset: preset.into(), teams: None, imperial_suit: None };
    with_rules(match_spec::Rules::Preset(rules), players)
}

/// A match by rules of its own.
pub fn own(rules: v1::Rules) -> v1::MatchSpec {
    let players = usize::try_from(rules.players).unwrap();
    with_rules(match_spec::Rules::Own(rules), players)
}

/// A match by the rules of `sackson` to another target, in points: for one longer than the preset's.
pub fn sackson_to(target: u16, players: usize) -> v1::MatchSpec {
    let sackson: Options = *Preset::Sackson.rules(players, None).unwrap();
    own(Rules::new(Options { target: Some(target), ..sackson }).unwrap().to_wire())
}

fn with_rules(rules: match_spec::Rules, players: usize) -> v1::MatchSpec {
    let seat = v1::SeatSpec { kind: Some(seat_spec::Kind::Token(v1::TokenSeat {})) };
    v1::MatchSpec { rules: Some(rules), seats: vec![seat; players], ..v1::MatchSpec::default() }
}

/// The same with a bot in this seat.
pub fn with_bot(mut spec: v1::MatchSpec, seat: usize, name: &str) -> v1::MatchSpec {
    spec.seats[seat].kind = Some(seat_spec::Kind::Bot(v1::BotSeat { name: name.to_owned() }));
    spec
}

/// The same without a clock.
pub fn unhurried(spec: v1::MatchSpec) -> v1::MatchSpec {
    timed(spec, Decisions::Named(v1::NamedTimeControl::None.into()))
}

/// The same with this clock for its decisions.
pub fn clocked(spec: v1::MatchSpec, clock: v1::DecisionClock) -> v1::MatchSpec {
    timed(spec, Decisions::Clock(clock))
}

fn timed(spec: v1::MatchSpec, decisions: Decisions) -> v1::MatchSpec {
    let time_control = v1::TimeControl { decisions: Some(decisions), ..v1::TimeControl::default() };
    v1::MatchSpec { time_control: Some(time_control), ..spec }
}

/// The same with joint deals, said aloud.
pub fn joint(spec: v1::MatchSpec) -> v1::MatchSpec {
    dealt(spec, deals::Kind::Joint(v1::JointDeals {}))
}

/// The same with the deals of a seed.
pub fn fixed(spec: v1::MatchSpec, server_seed: [u8; 32]) -> v1::MatchSpec {
    dealt(spec, deals::Kind::Fixed(v1::FixedDeals { server_seed: server_seed.to_vec() }))
}

/// The same with the deals of a set of its batch.
pub fn shared(spec: v1::MatchSpec, deal_set: u32) -> v1::MatchSpec {
    dealt(spec, deals::Kind::Shared(v1::SharedDeals { deal_set }))
}

fn dealt(spec: v1::MatchSpec, kind: deals::Kind) -> v1::MatchSpec {
    v1::MatchSpec { deals: Some(v1::Deals { kind: Some(kind) }), ..spec }
}
