//! What servers showed of a ladder just before they were killed, held against the records.

use std::collections::BTreeMap;

use zetema_ladder::{Counted, Ladder, LadderResult, Played, RatingSettings, ResultNumber, Unrated};
use zetema_proto::v1::ladder_service_client::LadderServiceClient;
use zetema_proto::v1::{self, Standing};
use zetema_rules::{Outcome, Record, Seats, Step};
use zetema_service::config::Config;

use super::ladder_audit::LADDER;
use crate::harness::{Clients, soon};

/// μ and σ of a bot, bit by bit, and how many matches are counted.
type Shown = (u64, u64, u64);

/// The standings that a server showed, and after which result of the server they are.
#[derive(Clone, Debug)]
pub(super) struct Standings {
    pub(super) after: u64,
    bots: BTreeMap<String, Shown>,
}

impl Standings {
    /// Those that are shown now; `None` from a server that is not ready to show any.
    pub(super) async fn now(clients: &Clients) -> Option<Self> {
        let mut ladders = LadderServiceClient::new(clients.channel().clone());
        let request = v1::GetStandingsRequest {
            ladder: LADDER.to_owned(),
            page_size: 1_000,
            page_token: String::new(),
        };
        let page = soon("GetStandings", ladders.get_standings(request)).await.ok()?.into_inner();
        let shown = |standing: Standing| {
            let v1::Rating { mu, sigma, .. } = standing.rating.unwrap_or_default();
            let matches = standing.tally.unwrap_or_default().matches;
            (standing.bot_name, (mu.to_bits(), sigma.to_bits(), matches))
        };
        let bots = page.standings.into_iter().map(shown).collect();
        Some(Self { after: page.result_number, bots })
    }
}

/// A result of the ladder, as its record has it.
pub(super) struct Recorded {
    number: u64,
    counted: Counted<String>,
}

impl Recorded {
    /// # Errors
    /// When these bots can't have played this match.
    pub(super) fn new(number: u64, record: &Record, bots: Vec<String>) -> Result<Self, String> {
        let counted = match &record.outcome {
            Outcome::Aborted { reason, .. } => Counted::Unrated(Unrated::Aborted(*reason)),
            Outcome::Result(result) => {
                let forfeited = |step: &Step| match step {
                    Step::Forfeit { seat, .. } => Some(*seat),
                    Step::Play { .. } | Step::Fault { .. } => None,
                };
                let forfeited = record.steps.iter().filter_map(forfeited).fold(Seats::EMPTY, Seats::with);
                let played = Played::new(bots, record.rules.teams, *result, forfeited);
                Counted::Rated(played.map_err(|error| format!("result {number} can't be rated: {error}"))?)
            }
        };
        Ok(Self { number, counted })
    }
}

/// The ladder's ratings, folded from its records alone.
pub(super) struct Recount {
    results: std::vec::IntoIter<Recorded>,
    next: Option<Recorded>,
    ladder: Ladder<String>,
}

impl Recount {
    /// Of all results, the first first.
    pub(super) fn new(results: Vec<Recorded>) -> Self {
        let ladders = Config::default().ladders;
        let spec = ladders.iter().find(|spec| spec.name.as_str() == LADDER);
        let settings = spec.map_or_else(RatingSettings::default, |spec| spec.rating);
        let mut results = results.into_iter();
        Self { next: results.next(), results, ladder: Ladder::new(settings) }
    }

    /// What differs of standings that are after the same result or a later one than those before, in words.
    pub(super) fn problem(&mut self, shown: &Standings) -> Option<String> {
        while let Some(Recorded { number, counted }) = self.next.take_if(|next| next.number <= shown.after) {
            let result = LadderResult { number: ResultNumber::new(number), counted };
            if let Err(error) = self.ladder.count(&result) {
                return Some(error.to_string());
            }
            self.next = self.results.next();
        }
        let of = |(bot, entry): (&String, &zetema_ladder::Entry)| {
            let zetema_ladder::Rating { mu, sigma } = entry.rating;
            (bot.clone(), (mu.get().to_bits(), sigma.get().to_bits(), entry.tally.matches))
        };
        let recounted: BTreeMap<String, Shown> = self.ladder.bots().iter().map(of).collect();
        let Standings { after, bots } = shown;
        (*bots != recounted).then(|| {
            format!("after result {after} a server showed {bots:?}, and the records give {recounted:?}")
        })
    }
}

#[cfg(test)]
mod tests {
    use zetema_rules::{AbortReason, EndReason, MatchResult, Teams};

    use super::*;

    /// Ann wins the matches with these numbers against bob, and result 3 is of an aborted one.
    fn recount() -> Recount {
        let result = MatchResult {
            reason: EndReason::Target,
            ranks: [1, 2, 0, 0, 0, 0],
            totals: [310, 260, 0, 0, 0, 0],
        };
        let won = |number| {
            let bots = vec!["ann".to_owned(), "bob".to_owned()];
            let played = Played::new(bots, Teams::Individual, result, Seats::EMPTY).unwrap();
            Recorded { number, counted: Counted::Rated(played) }
        };
        let aborted = Counted::Unrated(Unrated::Aborted(AbortReason::NoShow));
        Recount::new(vec![won(1), won(2), Recorded { number: 3, counted: aborted }, won(4)])
    }

    /// What the ladder is after this result.
    fn shown(after: u64) -> Standings {
        let mut recount = recount();
        let nothing = Standings { after, bots: BTreeMap::new() };
        let _ = recount.problem(&nothing);
        let of = |(bot, entry): (&String, &zetema_ladder::Entry)| {
            let zetema_ladder::Rating { mu, sigma } = entry.rating;
            (bot.clone(), (mu.get().to_bits(), sigma.get().to_bits(), entry.tally.matches))
        };
        Standings { after, bots: recount.ladder.bots().iter().map(of).collect() }
    }

    #[test]
    fn standings_are_held_against_the_records_up_to_their_result() {
        let mut recount = recount();
        for after in [0, 1, 1, 2, 3, 4] {
            assert_eq!(recount.problem(&shown(after)), None, "after {after}");
        }
    }

    #[test]
    fn one_bit_and_one_match_are_found() {
        let (mut bit, mut lost, mut late) = (shown(2), shown(2), shown(2));
        bit.bots.get_mut("ann").unwrap().0 ^= 1;
        lost.bots.get_mut("bob").unwrap().2 -= 1;
        late.after = 4;
        for (name, shown) in [("a bit", bit), ("a match", lost), ("a result that is not counted", late)] {
            assert!(recount().problem(&shown).is_some(), "{name}");
        }
    }
}
