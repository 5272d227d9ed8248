//! What the bots of a run have seen of their matches, and whether results and standings say the same.

use std::collections::{BTreeSet, HashMap};

use tokio::time::Instant;
use zetema_proto::v1;

use super::counted;
use crate::check::Ending;
use crate::fault::{Fault, Source, Wrong};
use crate::finished::Finished;
use crate::results::MatchResult;

/// What the bots of a run have seen.
#[derive(Debug)]
pub(super) struct Seen {
    ladder: String,
    /// The bots by their names.
    numbers: HashMap<String, usize>,
    /// What each has seen.
    tallies: Vec<Tally>,
    /// Matches that not all of the run's bots have seen end, or whose result has not come.
    open: HashMap<String, OfMatch>,
    /// The numbers of the results of the others.
    settled: HashMap<String, u64>,
    /// The number of the last result of the server.
    last: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// What the standings must say by the results that came.
    expected: v1::Tally,
    /// Results of which it was told.
    seen: u64,
    /// Matches that it could not follow to their end.
    blind: u64,
}

#[derive(Debug)]
struct OfMatch {
    ending: Ending,
    /// The bots that are done with it.
    done: BTreeSet<usize>,
    /// When the first of them was.
    since: Option<Instant>,
    /// The number of its result, and the bots that played it by that.
    played: Option<(u64, BTreeSet<usize>)>,
}

/// Whether a bot is the first of a match that has seen it end.
#[derive(Clone, Debug)]
pub(super) enum Seat {
    /// It is, and was told this. `None`: it could not follow the match.
    First(Option<Ending>),
    /// Another was.
    Later,
}

/// Whose match a result is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// A match of the run's bots that was played to a result.
    OwnResult,
    /// Another of theirs, or one of others.
    Other,
}

impl Seen {
    /// Nothing, by bots of these names on this ladder.
    pub(super) fn new(ladder: &str, names: &[String]) -> Self {
        Self {
            ladder: ladder.to_owned(),
            numbers: names.iter().cloned().zip(0..).collect(),
            tallies: vec![Tally::default(); names.len()],
            open: HashMap::new(),
            settled: HashMap::new(),
            last: 0,
        }
    }

    /// A bot is done with a match.
    ///
    /// # Errors
    /// If it was told another end than others, or by its result did not play.
    pub(super) fn over(&mut self, now: Instant, bot: usize, finished: Finished) -> (Seat, Result<(), Fault>) {
        let Finished { match_id, why, bot: _ } = finished;
        let ending = why.ending();
        if let Some(tally) = self.tallies.get_mut(bot) {
            match &ending {
                Some(ending) => tally.seen += u64::from(ending.is_result()),
                None => tally.blind += 1,
            }
        }
        let of_match = self.open.entry(match_id.clone()).or_insert_with(OfMatch::new);
        let seat = match of_match.since {
            None => Seat::First(ending.clone()),
            Some(_) => Seat::Later,
        };
        of_match.since.get_or_insert(now);
        of_match.done.insert(bot);
        let agreed = ending.map_or(Ok(()), |ending| of_match.ending.agree(ending));
        let checked = agreed.and_then(|()| of_match.check());
        self.settle(&match_id);
        (seat, checked.map_err(|wrong| Fault { match_id, seat: None, wrong }))
    }

    /// A result of the server has come, of whichever match.
    ///
    /// # Errors
    /// If its number does not rise, its match has a result, or it says something else than the bots were told.
    pub(super) fn came(&mut self, result: MatchResult) -> (Whose, Result<(), Fault>) {
        let MatchResult { number, match_id, outcome, ladder, seats } = result;
        let of = |match_id: String, wrong| Err(Fault { match_id, seat: None, wrong });
        let before = std::mem::replace(&mut self.last, number);
        if before >= number {
            return (Whose::Other, of(match_id, Wrong::ResultOrder { before, found: number }));
        }
        let played: BTreeSet<usize> =
            seats.iter().filter_map(|seat| self.numbers.get(&seat.bot_name).copied()).collect();
        if played.is_empty() || ladder != self.ladder {
            return (Whose::Other, Ok(()));
        }
        let open = self.open.get(&match_id).and_then(|of_match| of_match.played.as_ref());
        let first = open.map(|(first, _)| *first).or_else(|| self.settled.get(&match_id).copied());
        if let Some(first) = first {
            return (Whose::Other, of(match_id, Wrong::ResultTwice { first, again: number }));
        }
        let of_match = self.open.entry(match_id.clone()).or_insert_with(OfMatch::new);
        of_match.played = Some((number, played));
        let agreed = of_match.ending.told(Source::Result, outcome.clone());
        let checked = agreed.and_then(|()| of_match.check());
        let whose = match &outcome.kind {
            Some(v1::outcome::Kind::Result(result)) => {
                for seat in &seats {
                    if let Some(bot) = self.numbers.get(&seat.bot_name) {
                        counted::count(&mut self.tallies[*bot].expected, result, seat);
                    }
                }
                Whose::OwnResult
            }
            _ => Whose::Other,
        };
        self.settle(&match_id);
        (whose, checked.map_err(|wrong| Fault { match_id, seat: None, wrong }))
    }

    /// How many matches were seen to end whose results have not come.
    pub(super) fn awaited(&self) -> usize {
        self.open.values().filter(|of_match| of_match.is_awaited()).count()
    }

    /// Those that are not waited for any more.
    pub(super) fn give_up(&self, now: Instant) -> impl Iterator<Item = Fault> + use<'_> {
        let missing = self.open.iter().filter(|(_, of_match)| of_match.is_awaited());
        missing.map(move |(match_id, of_match)| {
            let since = of_match.since.unwrap_or(now);
            let waited_s = now.saturating_duration_since(since).as_secs();
            Fault { match_id: match_id.clone(), seat: None, wrong: Wrong::MissingResult { waited_s } }
        })
    }

    /// The number of the last result of the server.
    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    /// What the standings say otherwise than the bots have seen. Who is not in them has no match there.
    pub(super) fn compare(&self, standings: &[v1::Standing]) -> Vec<Fault> {
        let mut counted = vec![v1::Tally::default(); self.tallies.len()];
        for v1::Standing { bot_name, tally, .. } in standings {
            if let Some(bot) = self.numbers.get(bot_name) {
                counted[*bot] = tally.unwrap_or_default();
            }
        }
        let mut faults: Vec<(usize, Fault)> = Vec::new();
        for (name, &bot) in &self.numbers {
            let (Tally { expected, seen, blind }, counted, bot_name) =
                (self.tallies[bot], counted[bot], name.clone());
            let wrong = if !(seen..=seen + blind).contains(&counted.matches) {
                Wrong::Tally { bot: bot_name, counted: counted.matches, seen, blind }
            } else if counted.matches == expected.matches && counted != expected {
                let [counted, expected] = [counted, expected].map(counted::shown);
                Wrong::Counted { bot: bot_name, counted, expected }
            } else {
                // Of a match whose result has not come more is not known: it is a fault of its own if a bot was told its end.
                continue;
            };
            faults.push((bot, Fault { match_id: String::new(), seat: None, wrong }));
        }
        faults.sort_by_key(|(bot, _)| *bot);
        faults.into_iter().map(|(_, fault)| fault).collect()
    }

    /// What all say of whom something is expected is not looked at any more.
    fn settle(&mut self, match_id: &str) {
        if let Some(number) = self.open.get(match_id).and_then(OfMatch::settled) {
            self.open.remove(match_id);
            self.settled.insert(match_id.to_owned(), number);
        }
    }
}

impl OfMatch {
    fn new() -> Self {
        Self { ending: Ending::default(), done: BTreeSet::new(), since: None, played: None }
    }

    /// Whoever has seen it end has played it.
    fn check(&self) -> Result<(), Wrong> {
        match &self.played {
            Some((_, played)) if !self.done.is_subset(played) => Err(Wrong::OtherSeats),
            _ => Ok(()),
        }
    }

    /// Whether its result must come: a bot was told its end. One that was given up may go on without the bot.
    const fn is_awaited(&self) -> bool {
        self.played.is_none() && self.ending.is_told()
    }

    /// The number of its result, if all who played it have seen it end.
    fn settled(&self) -> Option<u64> {
        let (number, played) = self.played.as_ref()?;
        self.done.is_superset(played).then_some(*number)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::finished::Why;

    const LADDER: &str = "quick-2";

    fn names() -> Vec<String> {
        ["ann", "bob", "cat"].map(str::to_owned).into()
    }

    fn outcome(totals: [u32; 2]) -> v1::Outcome {
        let most = totals.into_iter().max();
        let rank = |total| if Some(total) == most { 1 } else { 2 };
        let sides = totals.map(|total| v1::SideResult { total, rank: rank(total) }).into();
        let result = v1::MatchResult { sides, ..v1::MatchResult::default() };
        v1::Outcome { kind: Some(v1::outcome::Kind::Result(result)) }
    }

    fn aborted() -> v1::Outcome {
        v1::Outcome { kind: Some(v1::outcome::Kind::Aborted(v1::Abort::default())) }
    }

    fn finished(match_id: &str, outcome: Option<v1::Outcome>) -> Finished {
        let why = outcome.map_or(Why::GivenUp, |outcome| {
            let mut ending = Ending::default();
            ending.told(Source::Seat(0), outcome).unwrap();
            Why::Told(ending)
        });
        Finished { match_id: match_id.to_owned(), why, bot: None }
    }

    fn result(number: u64, match_id: &str, bots: &[&str], outcome: v1::Outcome) -> MatchResult {
        let seat = |(side, name): (u32, &&str)| v1::MatchSeat {
            side,
            seat: side,
            bot_name: (*name).to_owned(),
            ..v1::MatchSeat::default()
        };
        let seats = (0..).zip(bots).map(seat).collect();
        MatchResult { number, match_id: match_id.to_owned(), outcome, ladder: LADDER.to_owned(), seats }
    }

    /// Standings with these tallies.
    fn standings_of(tallies: [v1::Tally; 3]) -> Vec<v1::Standing> {
        let standing = |(bot_name, tally): (String, v1::Tally)| v1::Standing {
            bot_name,
            tally: Some(tally),
            ..v1::Standing::default()
        };
        names().into_iter().zip(tallies).filter(|(_, tally)| tally.matches > 0).map(standing).collect()
    }

    /// Standings with so many matches, of which nothing else is said.
    fn standings(matches: [u64; 3]) -> Vec<v1::Standing> {
        standings_of(matches.map(|matches| v1::Tally { matches, ..v1::Tally::default() }))
    }

    /// A tally of matches of two sides.
    fn tally([matches, wins, draws, forfeits]: [u64; 4], margin: i64) -> v1::Tally {
        v1::Tally { matches, wins, draws, forfeits, sides_met: matches, margin }
    }

    fn wrong(checked: Result<(), Fault>) -> String {
        checked.unwrap_err().to_string()
    }

    #[tokio::test(start_paused = true)]
    async fn a_match_is_one_whoever_tells_of_it_first_and_counts_once_for_each_of_its_bots() {
        let (mut seen, now) = (Seen::new(LADDER, &names()), Instant::now());
        // Both of its bots, then the result; the result between them; a bot of others.
        let (first, checked) = seen.over(now, 0, finished("m", Some(outcome([30, 20]))));
        assert!(matches!(first, Seat::First(Some(_))) && checked.is_ok());
        let (second, checked) = seen.over(now, 1, finished("m", Some(outcome([30, 20]))));
        assert!(matches!(second, Seat::Later) && checked.is_ok());
        assert_eq!(seen.awaited(), 1);
        assert_eq!(seen.came(result(1, "m", &["ann", "bob"], outcome([30, 20]))), (Whose::OwnResult, Ok(())));
        assert!(seen.over(now, 0, finished("n", Some(outcome([1, 2])))).1.is_ok());
        assert_eq!(seen.came(result(3, "n", &["ann", "cat"], outcome([1, 2]))).1, Ok(()));
        assert!(seen.over(now, 2, finished("n", Some(outcome([1, 2])))).1.is_ok());
        assert_eq!(seen.came(result(4, "o", &["zoe", "cat"], outcome([1, 2]))).1, Ok(()));
        assert!(seen.over(now, 2, finished("o", Some(outcome([1, 2])))).1.is_ok());
        // One that was not played to a result counts for nobody.
        assert!(seen.over(now, 1, finished("p", Some(aborted()))).1.is_ok());
        assert_eq!(seen.came(result(5, "p", &["ann", "bob"], aborted())), (Whose::Other, Ok(())));
        assert_eq!((seen.awaited(), seen.last()), (0, 5));
        // Ann has won by 10 and lost by 1, bob has lost by 10, and cat has won by 1 twice.
        let right = [tally([2, 1, 0, 0], 9), tally([1, 0, 0, 0], -10), tally([2, 2, 0, 0], 2)];
        assert_eq!(seen.compare(&standings_of(right)), []);
        let others: [fn(&mut v1::Tally); 5] = [
            |tally| tally.wins += 1,
            |tally| tally.draws += 1,
            |tally| tally.forfeits += 1,
            |tally| tally.sides_met -= 1,
            |tally| tally.margin = -tally.margin,
        ];
        for change in others {
            let mut wrong = right;
            change(&mut wrong[1]);
            let faults = seen.compare(&standings_of(wrong));
            assert_eq!(faults.len(), 1);
            let said = faults[0].to_string();
            assert!(
                said.contains("of bob, and its results make 1 matches (0 won, 0 drawn, 0 forfeited)"),
                "{said}"
            );
        }
        for (counted, said) in [([3, 1, 2], "3 matches of ann"), ([2, 0, 2], "0 matches of bob")] {
            let counted = [0, 1, 2].map(|bot| v1::Tally { matches: counted[bot], ..right[bot] });
            let faults = seen.compare(&standings_of(counted));
            assert_eq!(faults.len(), 1);
            assert!(faults[0].to_string().contains(said), "{faults:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_could_not_follow_a_match_may_have_it_counted_or_not() {
        let (mut seen, now) = (Seen::new(LADDER, &names()), Instant::now());
        assert!(seen.over(now, 0, finished("m", None)).1.is_ok());
        assert_eq!(seen.compare(&standings([0, 0, 0])), []);
        assert_eq!(seen.compare(&standings([1, 0, 0])), []);
        let faults = seen.compare(&standings([2, 0, 0]));
        assert!(faults[0].to_string().contains("has seen 0 to 1 end"), "{faults:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_no_server_may_say_is_a_fault() {
        let (mut seen, now) = (Seen::new(LADDER, &names()), Instant::now());
        assert!(seen.over(now, 0, finished("m", Some(outcome([1, 2])))).1.is_ok());
        let other = seen.over(now, 1, finished("m", Some(outcome([2, 2])))).1;
        assert!(wrong(other).contains("it ended with"));
        let other = seen.came(result(2, "m", &["ann", "bob"], outcome([2, 2]))).1;
        assert!(wrong(other).contains("it ended with"));
        let twice = seen.came(result(3, "m", &["ann", "bob"], outcome([1, 2]))).1;
        assert!(wrong(twice).contains("twice"));
        let order = seen.came(result(3, "n", &["ann", "bob"], outcome([1, 2]))).1;
        assert!(wrong(order).contains("result 3 came after result 3"));
        assert_eq!(seen.came(result(4, "o", &["ann", "bob"], outcome([1, 2]))).1, Ok(()));
        let not_there = seen.over(now, 2, finished("o", Some(outcome([1, 2])))).1;
        assert!(wrong(not_there).contains("does not name"));
        assert!(seen.over(now, 0, finished("q", Some(outcome([1, 2])))).1.is_ok());
        // Whoever has given a match up was not told that it is over.
        assert!(seen.over(now, 0, finished("r", None)).1.is_ok());
        assert_eq!(seen.awaited(), 1);
        let missing: Vec<Fault> = seen.give_up(now).collect();
        assert_eq!(missing.len(), 1);
        assert_eq!(missing[0].match_id, "q");
    }
}
