//! What is suspected of bots.

use serde::Serialize;
use zetema_proto::v1;

/// What is suspected by the results of a ladder.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SuspicionsJson {
    pub(crate) first_result_number: u64,
    pub(crate) last_result_number: u64,
    pub(crate) matches: u64,
    pub(crate) unread_matches: u64,
    pub(crate) left_out_to: u64,
    /// `None`: the server is of an earlier version.
    pub(crate) uncompared: Option<UncomparedJson>,
    pub(crate) suspicion_count: u64,
    pub(crate) suspicions: Vec<SuspicionJson>,
}

/// Pairs of bots of which it can't be told whether they play alike.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct UncomparedJson {
    pub(crate) pairs: u64,
    pub(crate) of_pairs: u64,
    pub(crate) lacking_matches: u64,
}

impl UncomparedJson {
    const fn new(message: &v1::UncomparedPairs) -> Self {
        let v1::UncomparedPairs { pairs, of_pairs, lacking_matches } = *message;
        Self { pairs, of_pairs, lacking_matches }
    }
}

/// Something that honest play is very unlikely to give.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SuspicionJson {
    pub(crate) kind: &'static str,
    pub(crate) bots: Vec<String>,
    pub(crate) p_value: f64,
    bar: f64,
    looked_at: u64,
    pub(crate) line: String,
    result_count: u64,
    results: Vec<CitedResultJson>,
}

/// A result that it was seen in.
#[derive(Clone, Debug, Serialize)]
struct CitedResultJson {
    result_number: u64,
    match_id: String,
}

impl SuspicionsJson {
    /// The JSON form of a page of suspicions.
    pub(crate) fn new(message: &v1::ListSuspicionsResponse) -> Self {
        Self {
            first_result_number: message.first_result_number,
            last_result_number: message.last_result_number,
            matches: message.matches,
            unread_matches: message.unread_matches,
            left_out_to: message.left_out_to,
            uncompared: message.uncompared.as_ref().map(UncomparedJson::new),
            suspicion_count: message.suspicion_count,
            suspicions: message.suspicions.iter().map(SuspicionJson::new).collect(),
        }
    }
}

impl SuspicionJson {
    fn new(message: &v1::Suspicion) -> Self {
        let cited = message.results.iter().map(|result| CitedResultJson {
            result_number: result.result_number,
            match_id: result.match_id.clone(),
        });
        Self {
            kind: kind(message.kind()),
            bots: message.bot_names.clone(),
            p_value: message.p_value,
            bar: message.bar,
            looked_at: message.looked_at,
            line: message.line.clone(),
            result_count: message.result_count,
            results: cited.collect(),
        }
    }
}

const fn kind(kind: v1::SuspicionKind) -> &'static str {
    match kind {
        v1::SuspicionKind::LosesTo => "loses-to",
        v1::SuspicionKind::FeedsOpponent => "feeds-opponent",
        v1::SuspicionKind::FailPartner => "fail-partner",
        v1::SuspicionKind::TimesOutWhenBehind => "times-out-when-behind",
        v1::SuspicionKind::Abandons => "abandons",
        v1::SuspicionKind::SameDecisions => "same-decisions",
        v1::SuspicionKind::Unspecified => "unknown",
    }
}
