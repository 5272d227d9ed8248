//! What is suspected of bots, on the wire.

use zetema_ladder::{Finding, Significance, Uncompared};
use zetema_proto::v1::{self, SuspicionKind};

use super::{fault::Fault, lists};
use crate::{
    journal::{BotName, ResultNumber},
    ladders::{Season, Suspected},
};

/// Where a page of suspicions begins: in the season that ends with a result, behind so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) last: ResultNumber,
    behind: usize,
}

impl Place {
    /// `None` for no token: the first page of whatever season there is.
    pub(super) fn read(page_token: &str) -> Result<Option<Self>, Fault> {
        if page_token.is_empty() {
            return Ok(None);
        }
        let parts = page_token.split_once('-').ok_or_else(lists::wrong_token)?;
        let (Some(last), Some(behind)) = (lists::place(parts.0)?, lists::place(parts.1)?) else {
            return Err(lists::wrong_token());
        };
        let behind = usize::try_from(behind).map_err(|_| lists::wrong_token())?;
        Ok(Some(Self { last: ResultNumber::new(last), behind }))
    }
}

/// The season was looked at anew since a page of it was read.
pub(super) fn looked_at_anew() -> Fault {
    Fault::field("page_token", "is of results that were looked at anew since: begin with the first page")
}

/// A page of a season.
pub(super) fn page(season: &Season, place: Option<Place>, size: usize) -> v1::ListSuspicionsResponse {
    let Season { first, last, matches, unread, left_out_to, uncompared, found, suspicions } = season;
    let behind = place.map_or(0, |place| place.behind);
    let rest = suspicions.get(behind..).unwrap_or_default();
    let next = (rest.len() > size).then(|| format!("{}-{}", last.get(), behind + size));
    v1::ListSuspicionsResponse {
        suspicions: rest.iter().take(size).map(suspicion_to_wire).collect(),
        next_page_token: next.unwrap_or_default(),
        suspicion_count: number(*found),
        first_result_number: first.get(),
        last_result_number: last.get(),
        matches: number(*matches),
        unread_matches: number(*unread),
        left_out_to: left_out_to.map_or(0, ResultNumber::get),
        uncompared: Some(uncompared_to_wire(*uncompared)),
    }
}

fn uncompared_to_wire(uncompared: Uncompared) -> v1::UncomparedPairs {
    let Uncompared { pairs, of_pairs, lacking_matches } = uncompared;
    v1::UncomparedPairs {
        pairs: number(pairs),
        of_pairs: number(of_pairs),
        lacking_matches: lacking_matches.map_or(0, number),
    }
}

fn suspicion_to_wire(suspected: &Suspected) -> v1::Suspicion {
    let Suspected { finding, significance, line, seen_in, results } = suspected;
    let Significance { p_value, bar, compared } = *significance;
    let (kind, bots) = about(finding);
    let cited = results.iter().map(|(number, match_id)| v1::CitedResult {
        result_number: number.get(),
        match_id: match_id.to_string(),
    });
    v1::Suspicion {
        kind: kind.into(),
        bot_names: bots.into_iter().map(ToString::to_string).collect(),
        p_value,
        bar,
        looked_at: number(compared),
        line: line.clone(),
        result_count: number(*seen_in),
        results: cited.collect(),
    }
}

/// What kind it is, and about whom.
fn about(finding: &Finding<BotName>) -> (SuspicionKind, Vec<&BotName>) {
    match finding {
        Finding::LosesTo { loser, winner, .. } => (SuspicionKind::LosesTo, vec![loser, winner]),
        Finding::FeedsOpponent { feeder, fed, .. } => (SuspicionKind::FeedsOpponent, vec![feeder, fed]),
        Finding::FailPartner { partners, .. } => (SuspicionKind::FailPartner, partners.iter().collect()),
        Finding::TimesOutWhenBehind { bot, .. } => (SuspicionKind::TimesOutWhenBehind, vec![bot]),
        Finding::Abandons { bot, .. } => (SuspicionKind::Abandons, vec![bot]),
        Finding::SameDecisions { bots, .. } => (SuspicionKind::SameDecisions, bots.iter().collect()),
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    /// A season in which so many bots abandon their matches, of which not all are remembered.
    fn season(suspicions: usize, found: usize) -> Season {
        let suspected = |at: usize| Suspected {
            finding: Finding::Abandons {
                bot: BotName::new(format!("bot-{at}")).unwrap(),
                matches: 50,
                resigned: 40,
                disconnected: 0,
                behind: 30,
                ahead: 10,
                others: 0.02,
            },
            significance: Significance { p_value: 1e-9, bar: 1e-4, compared: 12 },
            line: format!("line {at}"),
            seen_in: 40,
            results: Vec::new(),
        };
        Season {
            first: ResultNumber::new(7),
            last: ResultNumber::new(420),
            matches: 239,
            unread: 1,
            left_out_to: Some(ResultNumber::new(6)),
            uncompared: Uncompared { pairs: 40, of_pairs: 66, lacking_matches: Some(310) },
            found,
            suspicions: (0..suspicions).map(suspected).collect(),
        }
    }

    /// The lines of each page, as its token leads to the next.
    fn check(season: &Season, size: usize, pages: &[&[&str]]) {
        let (mut read, mut token) = (Vec::new(), String::new());
        loop {
            let place = Place::read(&token).unwrap();
            assert!(place.is_none_or(|place| place.last == season.last), "{token}");
            let page = page(season, place, size);
            assert_eq!(page.suspicion_count, season.found as u64);
            read.push(page.suspicions.into_iter().map(|suspicion| suspicion.line).collect::<Vec<_>>());
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        assert_eq!(read, pages);
    }

    #[test]
    fn each_suspicion_that_is_remembered_is_on_one_page() {
        let three = season(3, 5);
        check(&three, 1, &[&["line 0"], &["line 1"], &["line 2"]]);
        check(&three, 2, &[&["line 0", "line 1"], &["line 2"]]);
        check(&three, 3, &[&["line 0", "line 1", "line 2"]]);
        check(&three, 1_000, &[&["line 0", "line 1", "line 2"]]);
        check(&season(0, 0), 1, &[&[]]);
    }

    #[test]
    fn a_page_says_what_was_looked_at() {
        let v1::ListSuspicionsResponse {
            suspicions,
            next_page_token,
            suspicion_count,
            first_result_number,
            last_result_number,
            matches,
            unread_matches,
            left_out_to,
            uncompared,
        } = page(&season(1, 1), None, 100);
        assert_eq!((suspicions.len(), next_page_token.as_str(), suspicion_count), (1, "", 1));
        assert_eq!((first_result_number, last_result_number, left_out_to), (7, 420, 6));
        assert_eq!((matches, unread_matches), (239, 1));
        let pairs = v1::UncomparedPairs { pairs: 40, of_pairs: 66, lacking_matches: 310 };
        assert_eq!(uncompared, Some(pairs));
    }

    #[test]
    fn a_place_behind_the_last_is_an_empty_page_and_what_is_no_place_is_refused() {
        let place = Place::read("420-3").unwrap();
        assert_eq!(page(&season(3, 3), place, 1).suspicions, []);
        for token in ["-", "420", "420-", "-3", "420-x", "420-3-1", "+420-3", "420-99999999999999999999999"] {
            assert_eq!(Place::read(token), Err(lists::wrong_token()), "{token}");
        }
    }
}
