//! The secrets of a run, in every form in which they could slip into a text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use zetema_proto::{Wire, v1};
use zetema_rules::Card;

/// How many cards in their order are as good as a whole deck or hand.
const CARDS: usize = 5;
/// How many are looked for in base64, where fewer stand everywhere by chance.
const BASE64_CARDS: usize = 12;
/// The least bytes of a secret that are looked for: fewer stand everywhere by chance.
const LEAST_BYTES: usize = 5;
/// What is left of a secret when its beginning is cut off: as good as whole.
const TAIL_BYTES: usize = 24;

/// Secrets, each with a name.
#[derive(Default)]
pub struct Secrets {
    /// The name of the secret for each form.
    forms: BTreeMap<Vec<u8>, String>,
    /// What finds the forms, made when it is first needed.
    search: OnceLock<AhoCorasick>,
}

impl Secrets {
    /// Adds bytes or a text, which must be found whole, without its beginning, in hexadecimal digits, in base64 wherever
    /// it stands in there, escaped, and as a list of numbers.
    pub fn add(&mut self, name: &str, secret: &[u8]) {
        assert!(secret.len() >= LEAST_BYTES, "{name} is too short to be looked for");
        self.form(name, secret.to_vec());
        if secret.len() > TAIL_BYTES {
            self.form(name, secret[secret.len() - TAIL_BYTES..].to_vec());
        }
        let digits = |byte: &u8| format!("{byte:02x}");
        self.form(name, joined(secret, "", digits).to_uppercase());
        self.form(name, joined(secret, "", digits));
        self.form(name, joined(secret, ", ", digits));
        self.form(name, joined(secret, ", ", u8::to_string));
        self.form(name, secret.escape_ascii().to_string());
        self.form(name, escaped(secret));
        self.base64(name, secret);
    }

    /// Adds cards in their order, of which any five in a row must be found: in the text notation, as `Debug` shows lists
    /// of them, and as numbers of the wire and of the rules. One card alone is told by [`faces`].
    pub fn add_cards(&mut self, name: &str, cards: &[Card]) {
        for row in cards.windows(CARDS) {
            for between in [" ", ", ", ",", ""] {
                self.form(name, joined(row, between, Card::to_string));
            }
            let wire = wire(row);
            self.form(name, joined(row, ", ", |card| face_of_the_wire(*card)));
            self.form(name, joined(row, ", ", |card| card.index().to_string()));
            self.form(name, joined(&wire, ", ", u8::to_string));
            self.form(name, joined(&wire, "", |byte| format!("{byte:02x}")));
            // Bytes that are all of a text's stand in any text by chance.
            if wire.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) {
                self.form(name, escaped(&wire));
                self.form(name, wire);
            }
        }
        for row in cards.windows(BASE64_CARDS) {
            self.base64(name, &wire(row));
        }
    }

    /// Adds the base64 of bytes wherever they stand among others: without the digits that show others too.
    fn base64(&mut self, name: &str, bytes: &[u8]) {
        for before in 0..3 {
            let among = [&[0; 3][..before], bytes].concat();
            let own = (before * 8).div_ceil(6)..among.len() * 8 / 6;
            for engine in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
                self.form(name, &engine.encode(&among)[own.clone()]);
            }
        }
    }

    fn form(&mut self, name: &str, form: impl Into<Vec<u8>>) {
        self.search.take();
        self.forms.insert(form.into(), name.to_owned());
    }

    /// The names of the secrets that stand in the bytes, and what stands around the first.
    pub fn found_in(&self, bytes: &[u8]) -> Option<String> {
        let search = self.search.get_or_init(|| AhoCorasick::new(self.forms.keys()).unwrap());
        let names: Vec<&str> = self.forms.values().map(String::as_str).collect();
        // `{:#?}` puts each number of a list on a line of its own.
        let words: Vec<&[u8]> =
            bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        [bytes, &words.join(&b' ')].into_iter().find_map(|told| {
            let first = search.find(told)?;
            let all: BTreeSet<&str> =
                search.find_iter(told).map(|found| names[found.pattern().as_usize()]).collect();
            let around = &told[first.start().saturating_sub(200)..told.len().min(first.end() + 50)];
            Some(format!("{all:?}, first in: {}", around.escape_ascii()))
        })
    }

    /// Fails the test if a secret stands in what was told.
    ///
    /// # Panics
    /// If one does.
    pub fn check(&self, what: &str, told: &[u8]) {
        assert!(!self.forms.is_empty(), "there are secrets to look for");
        if let Some(found) = self.found_in(told) {
            panic!("{what} has {found}");
        }
    }
}

/// The words of a text that are a card's face, in the text notation or as the wire's messages show it.
pub fn faces(text: &str) -> BTreeSet<&str> {
    let shown: BTreeSet<String> = (0..52).filter_map(Card::from_index).map(face_of_the_wire).collect();
    // `As` and `Ah` are words of English too.
    let is_face = |word: &&str| {
        word.parse::<Card>().is_ok() || *word == "CARD" || word.len() > 2 && shown.contains(*word)
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_face).collect()
}

fn face_of_the_wire(card: Card) -> String {
    format!("{:?}", v1::Card::try_from(card.to_wire()).unwrap())
}

fn wire(cards: &[Card]) -> Vec<u8> {
    cards.iter().map(|card| u8::try_from(card.to_wire()).unwrap()).collect()
}

fn joined<T, U: Display>(items: &[T], between: &str, show: impl Fn(&T) -> U) -> String {
    items.iter().map(|item| show(item).to_string()).collect::<Vec<_>>().join(between)
}

/// As `Bytes` shows itself, without what it puts around it.
fn escaped(bytes: &[u8]) -> String {
    let shown = format!("{:?}", Bytes::copy_from_slice(bytes));
    shown.trim_start_matches("b\"").trim_end_matches('"').to_owned()
}
