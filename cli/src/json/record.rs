//! Records.

use prost_types::Timestamp;
use serde::{Deserialize, Serialize};
use zetema_proto::RecordHeader;
use zetema_rules::fair::{Commitment, Nonce, NonceHash, ServerSeed};
use zetema_rules::{Card, Clocks, Dealing, Deck, Entrant, PlayedBy, Record, RecordDeal, Rules, Seat, Step};

use super::clock::{self, LedgerEntryJson, TimeControlJson};
use super::outcome::read_seat;
use super::{ActionJson, OutcomeJson, RulesJson, bytes_from_hex, hex};

/// Everything that replays a match. Read and written; an unknown key is an error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordJson {
    /// What a server adds; absent from a record that did not come from one.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    header: Option<HeaderJson>,
    rules_revision: u32,
    rules: RulesJson,
    dealing: DealingJson,
    dealer: Option<usize>,
    deals: Vec<DealJson>,
    steps: Vec<StepJson>,
    outcome: OutcomeJson,
    /// Both are absent from a record of a match that was played without a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_control: Option<TimeControlJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ledger: Option<Vec<LedgerEntryJson>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderJson {
    match_id: String,
    client_reference: String,
    /// As in 2026-11-21T03:04:01.250Z, as is the next.
    create_time: String,
    end_time: String,
}

impl HeaderJson {
    fn new(header: &RecordHeader) -> Self {
        Self {
            match_id: header.match_id.clone(),
            client_reference: header.client_reference.clone(),
            create_time: time(header.created_at_ms),
            end_time: time(header.ended_at_ms),
        }
    }
}

/// A time in milliseconds since 1970, as text.
fn time(ms: i64) -> String {
    let below = i32::try_from(ms.rem_euclid(1_000)).unwrap_or_default();
    Timestamp { seconds: ms.div_euclid(1_000), nanos: below * 1_000_000 }.to_string()
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DealingJson {
    kind: String,
    commitment: String,
    server_seed: String,
    entrants: Vec<EntrantJson>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntrantJson {
    nonce_hash: Option<String>,
    nonce: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DealJson {
    deck: Vec<String>,
    scores: Vec<u16>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StepJson {
    Play { seat: usize, action: ActionJson, points: u16, by: PlayedByJson },
    Fault { seat: usize, card: String },
    Forfeit { seat: usize, reason: String },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PlayedByJson {
    Player,
    Autoplay,
}

impl RecordJson {
    /// The JSON form of this record.
    pub(crate) fn new(record: &Record, header: Option<&RecordHeader>) -> Self {
        let Record { revision, rules, dealing, dealer, deals, steps, outcome, clocks } = record;
        let Dealing { kind, commitment, server_seed, entrants } = dealing;
        Self {
            header: header.map(HeaderJson::new),
            rules_revision: *revision,
            rules: RulesJson::new(rules),
            dealing: DealingJson {
                kind: kind.to_string(),
                commitment: hex(&commitment.0),
                server_seed: hex(server_seed.reveal()),
                entrants: entrants.iter().map(EntrantJson::new).collect(),
            },
            dealer: dealer.map(Seat::index),
            deals: deals.iter().map(DealJson::new).collect(),
            steps: steps.iter().map(StepJson::new).collect(),
            outcome: OutcomeJson::new(outcome),
            time_control: clocks.as_ref().map(|Clocks { control, .. }| TimeControlJson::new(control)),
            ledger: clocks
                .as_ref()
                .map(|Clocks { ledger, .. }| ledger.iter().map(LedgerEntryJson::new).collect()),
        }
    }

    /// The record.
    pub(crate) fn record(&self) -> Result<Record, String> {
        let rules = self.rules.rules()?;
        let DealingJson { kind, commitment, server_seed, entrants } = &self.dealing;
        let at = |list: &str, i: usize, error: String| format!("{list}[{i}]: {error}");
        Ok(Record {
            revision: self.rules_revision,
            rules,
            dealing: Dealing {
                kind: kind.parse().map_err(|error| format!("dealing.kind: {error}"))?,
                commitment: Commitment(hash("dealing.commitment", commitment)?),
                server_seed: ServerSeed::new(hash("dealing.server_seed", server_seed)?),
                entrants: numbered(entrants, EntrantJson::entrant)
                    .map_err(|(i, error)| at("dealing.entrants", i, error))?,
            },
            dealer: self.dealer.map(read_seat).transpose().map_err(|error| format!("dealer: {error}"))?,
            deals: numbered(&self.deals, |deal| deal.deal(&rules))
                .map_err(|(i, error)| at("deals", i, error))?,
            steps: numbered(&self.steps, StepJson::step).map_err(|(i, error)| at("steps", i, error))?,
            outcome: self.outcome.outcome()?,
            clocks: clock::clocks(self.time_control.as_ref(), self.ledger.as_deref())?,
        })
    }
}

fn numbered<J, T>(
    list: &[J],
    mut read: impl FnMut(&J) -> Result<T, String>,
) -> Result<Vec<T>, (usize, String)> {
    list.iter().enumerate().map(|(i, json)| read(json).map_err(|error| (i, error))).collect()
}

fn hash(field: &str, text: &str) -> Result<[u8; 32], String> {
    let bytes = bytes_from_hex(text).map_err(|error| format!("{field}: {error}"))?;
    let given = bytes.len();
    bytes.try_into().map_err(|_| format!("{field}: {given} bytes: give 32"))
}

impl EntrantJson {
    fn new(entrant: &Entrant) -> Self {
        let Entrant { hash, nonce } = entrant;
        Self {
            nonce_hash: hash.as_ref().map(|hash| hex(&hash.0)),
            nonce: nonce.as_ref().map(|nonce| hex(nonce.reveal())),
        }
    }

    fn entrant(&self) -> Result<Entrant, String> {
        let nonce = self.nonce.as_deref().map(|text| {
            bytes_from_hex(text).and_then(|bytes| Nonce::new(&bytes).map_err(|error| error.to_string()))
        });
        Ok(Entrant {
            hash: self.nonce_hash.as_deref().map(|text| hash("nonce_hash", text)).transpose()?.map(NonceHash),
            nonce: nonce.transpose()?,
        })
    }
}

impl DealJson {
    fn new(deal: &RecordDeal) -> Self {
        let RecordDeal { deck, scores } = deal;
        Self { deck: deck.reveal().iter().map(Card::to_string).collect(), scores: scores.clone() }
    }

    fn deal(&self, rules: &Rules) -> Result<RecordDeal, String> {
        let cards: Result<Vec<Card>, _> = self.deck.iter().map(|text| text.parse()).collect();
        let cards = cards.map_err(|error| error.to_string())?;
        let deck = Deck::new(&cards, rules.imperial_suit).map_err(|error| error.to_string())?;
        Ok(RecordDeal { deck, scores: self.scores.clone() })
    }
}

impl StepJson {
    fn new(step: &Step) -> Self {
        match step {
            Step::Play { seat, action, points, by } => Self::Play {
                seat: seat.index(),
                action: ActionJson::new(action),
                points: *points,
                by: match by {
                    PlayedBy::Player => PlayedByJson::Player,
                    PlayedBy::Autoplay => PlayedByJson::Autoplay,
                },
            },
            Step::Fault { seat, card } => Self::Fault { seat: seat.index(), card: card.to_string() },
            Step::Forfeit { seat, reason } => {
                Self::Forfeit { seat: seat.index(), reason: reason.to_string() }
            }
        }
    }

    fn step(&self) -> Result<Step, String> {
        Ok(match self {
            Self::Play { seat, action, points, by } => Step::Play {
                seat: read_seat(*seat)?,
                action: action.action()?,
                points: *points,
                by: match by {
                    PlayedByJson::Player => PlayedBy::Player,
                    PlayedByJson::Autoplay => PlayedBy::Autoplay,
                },
            },
            Self::Fault { seat, card } => Step::Fault {
                seat: read_seat(*seat)?,
                card: card.parse().map_err(|error| format!("card: {error}"))?,
            },
            Self::Forfeit { seat, reason } => Step::Forfeit {
                seat: read_seat(*seat)?,
                reason: reason.parse().map_err(|error| format!("reason: {error}"))?,
            },
        })
    }
}
