//! The secrets of a run, in every form in which they could slip into a text.

use std::fmt::Write as _;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use zetema_proto::Wire;
use zetema_rules::Card;

/// How many cards in their order are as good as a whole deck or hand.
const CARDS: usize = 5;
/// The least bytes of a secret that are looked for: fewer stand everywhere by chance.
const LEAST_BYTES: usize = 5;
/// What is left of a secret when its beginning is cut off: as good as whole.
const TAIL_BYTES: usize = 24;

/// Secrets, each with a name.
#[derive(Default)]
pub struct Secrets {
    names: Vec<String>,
    forms: Vec<Vec<u8>>,
}

impl Secrets {
    /// Adds bytes or a text, which must be found whole, without its beginning, in hexadecimal digits, in base64 and as a
    /// list of numbers.
    pub fn add(&mut self, name: &str, secret: &[u8]) {
        assert!(secret.len() >= LEAST_BYTES, "{name} is too short to be looked for");
        self.form(name, secret.to_vec());
        if secret.len() > TAIL_BYTES {
            self.form(name, secret[secret.len() - TAIL_BYTES..].to_vec());
        }
        let hex = hex(secret);
        self.form(name, hex.to_uppercase().into_bytes());
        self.form(name, hex.into_bytes());
        self.form(name, BASE64_STANDARD_NO_PAD.encode(secret).into_bytes());
        self.form(name, BASE64_URL_SAFE_NO_PAD.encode(secret).into_bytes());
        self.form(name, secret.escape_ascii().to_string().into_bytes());
        self.form(name, listed(secret.iter()));
    }

    /// Adds cards in their order, of which any five in a row must be found: in the text notation, as `Debug` shows lists
    /// of them, and as numbers of the wire and of the rules.
    pub fn add_cards(&mut self, name: &str, cards: &[Card]) {
        for row in cards.windows(CARDS) {
            let words: Vec<String> = row.iter().map(ToString::to_string).collect();
            for between in [" ", ", ", ",", ""] {
                self.form(name, words.join(between).into_bytes());
            }
            let wire: Vec<u8> = row.iter().map(|card| u8::try_from(card.to_wire()).unwrap()).collect();
            self.form(name, listed(row.iter().map(|card| card.index())));
            self.form(name, listed(wire.iter()));
            self.form(name, hex(&wire).into_bytes());
            self.form(name, wire);
        }
    }

    fn form(&mut self, name: &str, form: Vec<u8>) {
        self.names.push(name.to_owned());
        self.forms.push(form);
    }

    /// The name of a secret that stands in the bytes, and what stands around it.
    pub fn found_in(&self, bytes: &[u8]) -> Option<String> {
        let search = AhoCorasick::new(&self.forms).unwrap();
        let found = search.find(bytes)?;
        let around = &bytes[found.start().saturating_sub(200)..bytes.len().min(found.end() + 50)];
        Some(format!("{}: {}", self.names[found.pattern().as_usize()], around.escape_ascii()))
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn listed<T: std::fmt::Display>(numbers: impl Iterator<Item = T>) -> Vec<u8> {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    numbers.join(", ").into_bytes()
}
