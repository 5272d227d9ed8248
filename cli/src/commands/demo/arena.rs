//! A server with house bots that play on it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, anyhow, bail, ensure};
use zetema_bots::House;
use zetema_proto::v1;
use zetema_rules::{Record, Rules, TimeControl};
use zetema_sdk::{DealCheck, MatchInfo, SeatToken, Session, Settings, Unchecked};

use crate::args::{Seed, spec};
use crate::client::Client;
use crate::commands::record;
use crate::embedded::Embedded;
use crate::render::{Names, counted};

/// A server with house bots that play on it.
pub(super) struct Arena {
    server: Embedded,
    client: Client,
    rules: Rules,
    control: TimeControl,
    bots: Vec<House>,
    /// The number of the first match's fixed deals; joint deals without.
    seed: Option<u64>,
}

/// A match that was created, with the tokens of its seats.
pub(super) struct Created {
    /// The match's id.
    pub(super) match_id: String,
    number: u64,
    tokens: Vec<SeatToken>,
}

/// A match that is over.
pub(super) struct Played {
    /// The match's id.
    pub(super) match_id: String,
    /// Its number among the matches of the demo, from 0.
    pub(super) number: u64,
    /// Its record, as the server gives it.
    pub(super) record: Record,
    /// What is wrong with it: with the record, or with what a seat found.
    pub(super) problem: Option<String>,
}

impl Arena {
    /// Starts the server.
    pub(super) async fn start(
        rules: Rules,
        control: TimeControl,
        bots: Vec<House>,
        seed: Option<u64>,
        data: Option<&Path>,
    ) -> Result<Self> {
        let server = Embedded::start(data).await?;
        let client = server.client().await?;
        Ok(Self { server, client, rules, control, bots, seed })
    }

    /// Stops the server.
    pub(super) async fn stop(self) {
        self.server.stop().await;
    }

    /// The rules of every match.
    pub(super) const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The bot of every seat.
    pub(super) fn bots(&self) -> &[House] {
        &self.bots
    }

    /// What the seats are called.
    pub(super) fn names(&self) -> Names {
        Names::players(self.rules, self.bots.iter().map(ToString::to_string).collect())
    }

    /// The client with the admin token.
    pub(super) const fn client(&self) -> &Client {
        &self.client
    }

    /// The server's address.
    pub(super) fn url(&self) -> &str {
        self.server.url()
    }

    /// The server's data folder, if it stays.
    pub(super) fn kept(&self) -> Option<&Path> {
        self.server.kept()
    }

    /// Creates the matches with these numbers, from 0.
    pub(super) async fn create(&self, numbers: Range<u64>) -> Result<Vec<Created>> {
        let matches = numbers.clone().map(|number| {
            let seed = self.seed.map(|seed| Seed::Number(seed).of_match(number));
            spec(&self.rules, &self.control, seed.as_ref())
        });
        let matches: Vec<v1::MatchSpec> = matches.collect();
        let asked = matches.len();
        let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
        let created = self.client.batch_create_matches(request).await?.matches;
        ensure!(created.len() == asked, "the server made {} matches of {asked}", created.len());
        created.into_iter().zip(numbers).map(|(created, number)| Created::new(created, number)).collect()
    }

    /// Has the bots ready to play matches.
    pub(super) fn open(&self) -> Result<Playing<'_>> {
        let numbers = Numbers::default();
        let (known, bots, rules, seed) = (numbers.clone(), self.bots.clone(), self.rules, self.seed);
        // What bots choose at random follows from the seed, if there is one, and the match's number, not its
        // id: so a demo with --seed can be repeated.
        let make = move |info: &MatchInfo| {
            let house = bots[info.seat.index()];
            match (seed, known.of(&info.match_id)) {
                (Some(seed), Some(number)) => {
                    house.make(&MatchInfo::new(number.to_string(), info.seat, rules), seed)
                }
                _ => house.make(info, 0),
            }
        };
        let session = Session::open(self.server.url(), Settings::default(), make)?;
        Ok(Playing { arena: self, session, numbers, open: HashMap::new() })
    }

    /// What the bots have to find of the deals.
    const fn deal_check(&self) -> DealCheck {
        match self.seed {
            Some(_) => DealCheck::Unchecked(Unchecked::Fixed),
            None => DealCheck::Verified,
        }
    }

    async fn over(&self, match_id: String, open: Open) -> Result<Played> {
        let found = record::fetch(&self.client, &match_id).await?;
        let problem = record::problem(&found).or(open.problem);
        Ok(Played { match_id, number: open.number, record: found.record, problem })
    }
}

/// The number of each match, by its id.
#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<HashMap<String, u64>>>);

impl Numbers {
    fn of(&self, match_id: &str) -> Option<u64> {
        self.lock().get(match_id).copied()
    }

    fn insert(&self, match_id: String, number: u64) {
        self.lock().insert(match_id, number);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        // A map of numbers is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Created {
    fn new(created: v1::CreatedMatch, number: u64) -> Result<Self> {
        let match_id = created.r#match.ok_or_else(|| anyhow!("the server sent no match"))?.match_id;
        let tokens = created.seat_tokens.into_iter().map(|token| token.token.into()).collect();
        Ok(Self { match_id, number, tokens })
    }
}

/// Matches that are being played.
pub(super) struct Playing<'a> {
    arena: &'a Arena,
    session: Session,
    numbers: Numbers,
    /// By their ids.
    open: HashMap<String, Open>,
}

/// A match that is being played.
struct Open {
    number: u64,
    seats_left: usize,
    problem: Option<String>,
}

impl Playing<'_> {
    /// How many matches are being played.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Lets the bots play these matches too.
    pub(super) fn play(&mut self, matches: Vec<Created>) -> Result<()> {
        for Created { match_id, number, tokens } in matches {
            self.numbers.insert(match_id.clone(), number);
            self.open.insert(match_id, Open { number, seats_left: tokens.len(), problem: None });
            for token in tokens {
                self.session.play(token)?;
            }
        }
        Ok(())
    }

    /// The next match that is over, in whatever order; `None` if none is being played.
    pub(super) async fn next(&mut self) -> Result<Option<Played>> {
        while let Some(outcome) = self.session.next().await {
            let info = outcome.info.as_ref().with_context(|| format!("a bot found no seat: {outcome}"))?;
            let Entry::Occupied(mut entry) = self.open.entry(info.match_id.clone()) else {
                bail!("a bot played in another match: {outcome}");
            };
            let open = entry.get_mut();
            open.seats_left -= 1;
            if outcome.deal != self.arena.deal_check() || !outcome.faults.is_empty() {
                open.problem.get_or_insert_with(|| outcome.to_string());
            }
            if open.seats_left == 0 {
                let (match_id, open) = entry.remove_entry();
                return self.arena.over(match_id, open).await.map(Some);
            }
        }
        ensure!(self.open.is_empty(), "{} did not end", counted(self.open.len(), "match"));
        Ok(None)
    }
}

/// Writes a record into a folder, which is made if it is not there, and gives the file's path.
pub(super) fn write(folder: &Path, played: &Played) -> Result<PathBuf> {
    let path = folder.join(format!("{}.txt", played.match_id));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, format!("# match {}\n{}", played.match_id, played.record)))
        .with_context(|| format!("{} can't be written", path.display()))?;
    Ok(path)
}
