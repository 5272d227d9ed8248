//! Which package may see which: the arrows of the map in `ARCHITECTURE.md` run one way.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Each package with the packages of this workspace that it may depend on.
const ARROWS: [(&str, &[&str]); 8] = [
    ("zetema-rules", &[]),
    ("zetema-proto", &["zetema-rules"]),
    ("zetema-service", &["zetema-rules", "zetema-proto"]),
    ("zetema-sdk", &["zetema-rules", "zetema-proto"]),
    ("zetema-bots", &["zetema-sdk"]),
    ("zetema-cli", &["zetema-rules", "zetema-proto", "zetema-service", "zetema-sdk", "zetema-bots"]),
    ("backend-rust", &["zetema-proto"]),
    ("zetema-tests", &["zetema-rules", "zetema-proto", "zetema-service", "zetema-sdk", "zetema-bots"]),
];

/// What the rules and the SDK must stay free of: a clock's runtime, a transport, randomness.
const NEVER: [(&str, &[&str]); 2] = [
    ("zetema-rules", &["tokio", "tonic", "prost", "rand", "serde", "getrandom"]),
    ("zetema-bots", &["tonic"]),
];

#[test]
fn arrows_run_one_way() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ARROWS.into_iter().map(|(name, may_see)| (name, may_see.iter().copied().collect())).collect();
    let named: BTreeSet<&str> = allowed.keys().copied().collect();
    let found: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(found, named, "the packages of the workspace are those of the map");
    for package in &metadata.packages {
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            if !named.contains(name) || dependency.kind == DependencyKind::Development {
                continue;
            }
            assert!(
                allowed[package.name.as_str()].contains(name),
                "{} depends on {name}, against the arrows",
                package.name
            );
        }
    }
}

#[test]
fn the_rules_are_pure_and_bots_know_no_transport() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    for (name, never) in NEVER {
        let package = metadata.packages.iter().find(|package| package.name == name).unwrap();
        for dependency in &package.dependencies {
            let used = dependency.kind != DependencyKind::Development;
            assert!(!used || !never.contains(&dependency.name.as_str()), "{name} uses {}", dependency.name);
        }
    }
}
