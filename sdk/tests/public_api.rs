//! Who uses this crate need not know what carries its messages: no type of the transport is in its public items.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that carry the messages.
const TRANSPORT: [&str; 6] = ["tonic", "prost", "hyper", "h2", "http", "tower"];

/// The words of a text: what lies between all other characters.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Source without comments and attributes, line by line.
fn code(source: &str) -> Vec<&str> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.trim_start().starts_with("#[");
    source.lines().filter(is_code).collect()
}

/// The lines from the first on, up to one that ends with any of these.
fn up_to(lines: &[&str], ends: &[&str]) -> String {
    let last = lines.iter().position(|line| ends.iter().any(|end| line.trim_end().ends_with(end)));
    lines[..=last.unwrap_or(0)].join(" ")
}

/// The names that a file takes from the transport.
fn imported(lines: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(path) = line.trim_start().strip_prefix("use ") else { continue };
        if words(path).next().is_some_and(|root| TRANSPORT.contains(&root)) {
            names.extend(words(&up_to(&lines[at..], &[";"])).skip(1).map(str::to_owned));
        }
    }
    // Types have capitals.
    names.retain(|name| name.starts_with(char::is_uppercase));
    names
}

/// What everyone sees of a file: the public items, without the bodies of functions, and what is implemented on public
/// types.
fn public(lines: &[&str]) -> Vec<String> {
    let is_hidden = |name: &str| {
        let kinds = ["struct ", "enum ", "pub(crate) struct ", "pub(crate) enum "];
        let declares = |line: &str| {
            kinds
                .iter()
                .any(|kind| line.strip_prefix(kind).is_some_and(|rest| words(rest).next() == Some(name)))
        };
        lines.iter().any(|line| declares(line))
    };
    let mut parts = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        if code.starts_with("pub enum ") || code.starts_with("pub trait ") {
            let end = format!("{indent}}}");
            let last = lines[at..].iter().position(|line| *line == end || line.ends_with("{ }"));
            parts.push(lines[at..=at + last.unwrap_or(0)].join(" "));
        } else if ["pub fn ", "pub async fn ", "pub const fn "].iter().any(|kind| code.starts_with(kind)) {
            parts.push(up_to(&lines[at..], &["{", ";", "}"]));
        } else if code.starts_with("pub ") {
            parts.push(up_to(&lines[at..], &["{", ";", "}", ","]));
        } else if let Some((_, on)) = code.strip_prefix("impl").and_then(|header| header.split_once(" for "))
            && !words(on).next().is_some_and(is_hidden)
        {
            parts.push(up_to(&lines[at..], &["{", "}"]));
        }
    }
    parts
}

/// What the public items of this source name of the transport.
fn found(source: &str) -> BTreeSet<String> {
    let lines = code(source);
    let imported = imported(&lines);
    let mut found = BTreeSet::new();
    for part in public(&lines) {
        found.extend(words(&part).filter(|word| imported.contains(*word)).map(str::to_owned));
        // What comes before a `::` begins a path.
        let roots = part.match_indices("::").filter_map(|(at, _)| words(&part[..at]).last());
        found.extend(roots.filter(|root| TRANSPORT.contains(root)).map(str::to_owned));
    }
    found
}

fn check(source: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(found(source), expected, "{source}");
}

#[test]
fn a_type_of_the_transport_is_found_in_every_kind_of_public_item() {
    check("pub fn call() -> Result<(), tonic::Status> {", &["tonic"]);
    check("    pub async fn call(\n        status: tonic::Status,\n    ) {", &["tonic"]);
    check(
        "use tonic::{\n    Code,\n    Status as Answer,\n};\npub struct Error {\n    pub answer: Answer,\n}",
        &["Answer"],
    );
    check("use tonic::Code;\npub enum Error {\n    /// Why.\n    Refused(Code),\n    Other,\n}", &["Code"]);
    check("use tonic::Status;\npub struct E;\nimpl From<Status> for E {", &["Status"]);
    check("impl E {\n    pub fn of(bytes: prost::bytes::Bytes) -> Self {", &["prost"]);
    check("pub trait Carry {\n    fn channel(&self) -> Vec<tonic::transport::Channel>;\n}", &["tonic"]);
    check("pub use tonic::Code;", &["tonic"]);
    check("pub type Answer = http::Response<()>;", &["http"]);
}

#[test]
fn what_is_not_public_may_name_it() {
    check("use tonic::Status;\npub(crate) fn refusal(status: &Status) {", &[]);
    check("use tonic::Status;\npub struct Error {\n    status: Status,\n}", &[]);
    check("struct E;\nimpl From<tonic::Status> for E {", &[]);
    check("pub struct E;\nimpl E {\n    fn of() {\n        tonic::Code::Ok;\n    }\n}", &[]);
    check("/// As `tonic::Status` has it.\npub fn status() {", &[]);
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[test]
fn no_public_item_names_a_type_of_the_transport() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 20, "{sources:?}");
    for path in sources {
        let found = found(&fs::read_to_string(&path).unwrap());
        assert!(found.is_empty(), "{} shows {found:?}", path.display());
    }
}
