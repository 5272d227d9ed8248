//! Which package may see which: the arrows of the map in `ARCHITECTURE.md` run one way.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Each package with the packages of this workspace that it may depend on.
const ARROWS: [(&str, &[&str]); 10] = [
    ("zetema-rules", &[]),
    ("zetema-proto", &["zetema-rules"]),
    ("zetema-ladder", &["zetema-rules"]),
    ("zetema-service", &["zetema-rules", "zetema-proto", "zetema-ladder"]),
    ("zetema-sdk", &["zetema-rules", "zetema-proto"]),
    ("zetema-bots", &["zetema-sdk"]),
    ("zetema-load", &["zetema-rules", "zetema-proto", "zetema-sdk"]),
    (
        "zetema-cli",
        &["zetema-rules", "zetema-proto", "zetema-service", "zetema-sdk", "zetema-bots", "zetema-load"],
    ),
    ("backend-rust", &["zetema-proto"]),
    (
        "zetema-tests",
        &[
            "zetema-rules",
            "zetema-proto",
            "zetema-ladder",
            "zetema-service",
            "zetema-sdk",
            "zetema-bots",
            "zetema-load",
        ],
    ),
];

/// What the rules and the SDK must stay free of: a clock's runtime, a transport, randomness.
const NEVER: [(&str, &[&str]); 3] = [
    ("zetema-rules", &["tokio", "tonic", "prost", "rand", "serde", "getrandom"]),
    ("zetema-ladder", &["tokio", "tonic", "prost", "rand", "getrandom"]),
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

/// Files of Rust in a folder and all below it, without what was built.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Decks, ids and clocks of one's own come into the service by `InProcess` alone, which only tests open: those here, and the
/// service's own.
#[test]
fn no_program_reaches_the_seam_of_the_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for room in ["rules", "proto", "service", "sdk", "bots", "load", "cli", "examples"] {
        sources(&root.join(room), &mut found);
    }
    let named = |path: &&PathBuf| fs::read_to_string(path).unwrap().contains("InProcess");
    let mut named: Vec<_> = found.iter().filter(named).map(|path| path.strip_prefix(root).unwrap()).collect();
    named.retain(|path| !path.ends_with("tests.rs"));
    named.sort();
    let its_own = ["service/src/server/in_process.rs", "service/src/server/mod.rs"].map(Path::new);
    assert_eq!(named, its_own);
}
