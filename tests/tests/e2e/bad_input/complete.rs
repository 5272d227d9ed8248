//! Whether the table is complete: every RPC, and every reason.

use std::collections::BTreeSet;

use prost::Message;
use prost_types::FileDescriptorSet;
use zetema_proto::FILE_DESCRIPTOR_SET;
use zetema_proto::v1::ErrorReason;
use zetema_proto::v1::ErrorReason::{MessageTooLarge, NotSupported, Unauthenticated, Undecodable};
use zetema_service::limits;

use super::Met;
use super::case::{Caller, Case, Expected};

/// Reasons that no row can meet, and why.
const NOT_BY_INPUT: [(ErrorReason, &str); 9] = [
    (ErrorReason::Unspecified, "is never sent"),
    (ErrorReason::Superseded, "comes to a stream whose seat another takes: see takeover"),
    (ErrorReason::SlowReader, "comes to a client that does not read, not to an input"),
    (ErrorReason::Draining, "comes when the server stops: see restart"),
    (ErrorReason::OutcomeUnknown, "comes when the disk fails"),
    (ErrorReason::Overloaded, "comes when the server is late, whatever is asked: see its tests"),
    (ErrorReason::NotBenched, "needs a bot that has played on a ladder: see those of the service"),
    (ErrorReason::TokenRotated, "needs a token that was rotated: see rotation"),
    (ErrorReason::Internal, "is a fault of the server, which no input may cause"),
];

/// RPCs whose requests have no field that could be wrong.
const WITHOUT_FIELDS: [&str; 3] =
    ["LadderService/ListLadders", "RulesService/ListPresets", "RulesService/ListTimeControls"];

/// Every method of the protocol, as `MatchService/GetMatch`.
fn methods() -> Vec<&'static str> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let ours = set.file.iter().filter(|file| file.package() == "zetema.v1");
    let methods = ours.flat_map(|file| &file.service).flat_map(|service| {
        service.method.iter().map(|method| format!("{}/{}", service.name(), method.name()))
    });
    methods.map(|method| &*method.leak()).collect()
}

/// What every method refuses.
pub(crate) fn of_every_method() -> Vec<Case> {
    let garbage = || vec![0xff; 16];
    let mut cases = Vec::new();
    for method in methods() {
        let case = |name, bodies, expected| Case { name, method, caller: Caller::Admin, bodies, expected };
        let long = vec![0; limits::DEFAULT_MAX_REQUEST_BYTES + 1];
        cases.push(case("what is no message", vec![garbage()], Expected::reason(Undecodable)));
        cases.push(case("too large a message", vec![long], Expected::reason(MessageTooLarge)));
        if ["BotService/", "MatchService/", "TokenService/", "WebhookService/"]
            .iter()
            .any(|of| method.starts_with(of))
        {
            let unknown = Caller::Token("nobody's".to_owned());
            let by = |name, caller| case(name, vec![vec![]], Expected::reason(Unauthenticated)).by(caller);
            cases.push(by("a token of nobody's", unknown));
        }
    }
    cases.push(Case {
        name: "a method that does not exist",
        method: "MatchService/DealMeAces",
        caller: Caller::Admin,
        bodies: vec![vec![]],
        expected: Expected::reason(NotSupported),
    });
    cases
}

/// Every method has rows of its own, and every reason that an input can meet was met.
pub(crate) fn check(cases: &[Case], met: &Met) {
    let rows = |method: &str| cases.iter().filter(|case| case.method == method).count();
    let general = |method: &str| of_every_method().iter().filter(|case| case.method == method).count();
    for method in methods() {
        let own = rows(method) - general(method);
        assert!(own > 0 || WITHOUT_FIELDS.contains(&method), "{method} has no row of its own");
    }
    let all: BTreeSet<ErrorReason> =
        (0..1_000).filter_map(|number| ErrorReason::try_from(number).ok()).collect();
    let excepted: BTreeSet<ErrorReason> = NOT_BY_INPUT.iter().map(|(reason, _)| *reason).collect();
    let missing: Vec<_> = all.difference(met).filter(|reason| !excepted.contains(reason)).collect();
    assert!(missing.is_empty(), "no row meets {missing:?}");
    let needless: Vec<_> = excepted.intersection(met).collect();
    assert!(needless.is_empty(), "{needless:?} are met, so they are no exceptions");
}
