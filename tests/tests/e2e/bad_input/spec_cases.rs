//! Matches that may not be asked for.

use zetema_proto::v1;
use zetema_proto::v1::{ErrorReason, MatchSpec, Preset, deals, match_spec};
use zetema_tests::harness::{own, preset, shared, with_bot};

use super::case::{Caller, Case, Expected};

/// A value that no enum of the protocol has.
const UNKNOWN: i32 = 99;

/// What is asked for, and what must come back.
type Row = (&'static str, MatchSpec, Expected);

/// `owner` is the token of one who has no bots.
pub(crate) fn cases(rules: v1::Rules, owner: &str) -> Vec<Case> {
    let case = |(name, spec, expected): Row| {
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
        Case::new("MatchService/CreateMatch", name, &request, expected)
    };
    let rows = [presets(), own_rules(rules), all_else()].concat();
    let challenge = case((
        "a challenge of a bot that is not there",
        of_bot("rex"),
        Expected {
            fields: vec!["match.seats[1].bot.name"],
            ..Expected::reason(ErrorReason::ChallengeRefused)
        },
    ));
    let challenge = challenge.by(Caller::Token(owner.to_owned()));
    rows.into_iter().map(case).chain([challenge]).collect()
}

fn presets() -> Vec<Row> {
    let of_preset = |rules: v1::PresetRules, players| MatchSpec {
        rules: Some(match_spec::Rules::Preset(rules)),
        ..preset(Preset::Sackson, players)
    };
    let victorian = v1::PresetRules { preset: Preset::Victorian.into(), teams: None, imperial_suit: None };
    vec![
        ("no rules", MatchSpec { rules: None, ..preset(Preset::Sackson, 2) }, Expected::field("match.rules")),
        ("preset unspecified", preset(Preset::Unspecified, 2), Expected::field("match.preset.preset")),
        (
            "a preset that does not exist",
            of_preset(v1::PresetRules { preset: UNKNOWN, ..victorian }, 2),
            Expected::field("match.preset.preset"),
        ),
        ("players that the preset does not allow", of_preset(victorian, 5), Expected::rules("match.seats")),
        (
            "teams that the preset does not allow",
            of_preset(v1::PresetRules { teams: Some(v1::Teams::Individual.into()), ..victorian }, 4),
            Expected::rules("match.preset.teams"),
        ),
        (
            "teams that do not exist",
            of_preset(v1::PresetRules { teams: Some(UNKNOWN), ..victorian }, 4),
            Expected::field("match.preset.teams"),
        ),
        (
            "a suit that does not exist",
            of_preset(v1::PresetRules { imperial_suit: Some(UNKNOWN), ..victorian }, 2),
            Expected::field("match.preset.imperial_suit"),
        ),
        ("no seat", preset(Preset::Sackson, 0), Expected::rules("match.seats")),
        ("one seat", preset(Preset::Sackson, 1), Expected::rules("match.seats")),
        ("seven seats", preset(Preset::Sackson, 7), Expected::rules("match.seats")),
    ]
}

fn own_rules(rules: v1::Rules) -> Vec<Row> {
    vec![
        (
            "rules that can't be played",
            own(v1::Rules { hand_size: 2, ..rules }),
            Expected::rules("match.own.hand_size"),
        ),
        (
            "rules with a number far out of range",
            own(v1::Rules { target: Some(u32::MAX), ..rules }),
            Expected::field("match.own.target"),
        ),
        (
            "rules with a part left out",
            own(v1::Rules { assembly_scores: None, ..rules }),
            Expected::field("match.own.assembly_scores"),
        ),
        (
            "rules with an unknown value",
            own(v1::Rules { extra_turn: UNKNOWN, ..rules }),
            Expected::field("match.own.extra_turn"),
        ),
        (
            "rules for other players than the seats",
            MatchSpec { seats: preset(Preset::Sackson, 3).seats, ..own(rules) },
            Expected::field("match.seats"),
        ),
    ]
}

fn of_bot(name: &str) -> MatchSpec {
    with_bot(preset(Preset::Sackson, 2), 1, name)
}

fn all_else() -> Vec<Row> {
    let two = || preset(Preset::Sackson, 2);
    let mut no_kind = two();
    no_kind.seats[1].kind = None;
    let bot = of_bot;
    let bot_name = || Expected::field("match.seats[1].bot.name");
    let clocks = |join, idle| MatchSpec {
        time_control: Some(v1::TimeControl {
            join_timeout_ms: join,
            idle_timeout_ms: idle,
            decisions: Some(v1::time_control::Decisions::Named(v1::NamedTimeControl::None.into())),
        }),
        ..two()
    };
    vec![
        ("a seat for nobody", no_kind, Expected::field("match.seats[1].kind")),
        ("a seat for a bot without a name", bot(""), bot_name()),
        ("a seat for a bot with a blank", bot("a bot"), bot_name()),
        ("a seat for a bot with too long a name", bot(&"x".repeat(65)), bot_name()),
        ("a seat for a bot of which nobody has heard", bot("nobody"), bot_name()),
        ("too short to join", clocks(Some(999), None), Expected::field("match.time_control.join_timeout_ms")),
        (
            "too long a wait",
            clocks(None, Some(u32::MAX)),
            Expected::field("match.time_control.idle_timeout_ms"),
        ),
        (
            "visibility unspecified",
            MatchSpec { visibility: Some(0), ..two() },
            Expected::field("match.visibility"),
        ),
        (
            "visibility unknown",
            MatchSpec { visibility: Some(UNKNOWN), ..two() },
            Expected::field("match.visibility"),
        ),
        (
            "too long a reference",
            MatchSpec { client_reference: "x".repeat(65), ..two() },
            Expected::field("match.client_reference"),
        ),
        (
            "deals of no kind",
            MatchSpec { deals: Some(v1::Deals { kind: None }), ..two() },
            Expected::field("match.deals.kind"),
        ),
        (
            "a seed of 31 bytes",
            MatchSpec {
                deals: Some(v1::Deals {
                    kind: Some(deals::Kind::Fixed(v1::FixedDeals { server_seed: vec![1; 31] })),
                }),
                ..two()
            },
            Expected::field("match.deals.fixed.server_seed"),
        ),
        ("shared deals alone", shared(two(), 1), Expected::field("match.deals.shared")),
    ]
}
