//! A server with house bots that play on it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use zetema_bots::House;
use zetema_proto::v1;
use zetema_rules::{Record, Rules};
use zetema_sdk::{DealCheck, Session, Settings};

use crate::args::{Seed, spec};
use crate::client::Client;
use crate::commands::record;
use crate::embedded::Embedded;
use crate::render::Names;

/// A server with house bots that play on it.
pub(super) struct Arena {
    server: Embedded,
    client: Client,
    rules: Rules,
    bots: Vec<House>,
    seed: Option<Seed>,
}

/// A match that was created, with the tokens of its seats.
pub(super) struct Created {
    /// The match's id.
    pub(super) match_id: String,
    tokens: Vec<String>,
}

/// A match that is over.
pub(super) struct Played {
    /// The match's id.
    pub(super) match_id: String,
    /// Its record, as the server gives it.
    pub(super) record: Record,
    /// What is wrong with it: with the record, or with what a seat found.
    pub(super) problem: Option<String>,
}

impl Arena {
    /// Starts the server.
    pub(super) async fn start(
        rules: Rules,
        bots: Vec<House>,
        seed: Option<u64>,
        data: Option<&Path>,
    ) -> Result<Self> {
        let server = Embedded::start(data).await?;
        let client = server.client().await?;
        Ok(Self { server, client, rules, bots, seed: seed.map(Seed::Number) })
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
    pub(super) async fn create(&self, numbers: std::ops::Range<usize>) -> Result<Vec<Created>> {
        let matches = numbers.map(|number| {
            let number = u64::try_from(number).unwrap_or(u64::MAX);
            spec(&self.rules, self.seed.as_ref().map(|seed| seed.of_match(number)).as_ref())
        });
        let request = v1::BatchCreateMatchesRequest { request_id: String::new(), matches: matches.collect() };
        let answer = self.client.batch_create_matches(request).await?;
        answer.matches.into_iter().map(Created::new).collect()
    }

    /// Lets the bots play these matches, and gives each when it is over, in whatever order.
    pub(super) fn play(&self, matches: Vec<Created>) -> Result<Playing<'_>> {
        let bots = self.bots.clone();
        // Whatever a bot does at random follows from this, so that a demo with --seed can be repeated.
        let choices = match self.seed {
            Some(Seed::Number(number)) => number,
            _ => 0,
        };
        let make = move |info: &zetema_sdk::MatchInfo| bots[info.seat.index()].make(info, choices);
        let mut session = Session::open(self.server.url(), Settings::default(), make)?;
        for created in &matches {
            for token in &created.tokens {
                session.play(token.as_str().into())?;
            }
        }
        Ok(Playing { arena: self, session, open: matches.into_iter().map(Open::new).collect() })
    }
}

impl Created {
    fn new(created: v1::CreatedMatch) -> Result<Self> {
        let match_id = created.r#match.ok_or_else(|| anyhow!("the server sent no match"))?.match_id;
        Ok(Self { match_id, tokens: created.seat_tokens.into_iter().map(|token| token.token).collect() })
    }
}

/// Matches that are being played.
pub(super) struct Playing<'a> {
    arena: &'a Arena,
    session: Session,
    open: Vec<Open>,
}

/// A match that is being played.
struct Open {
    match_id: String,
    seats_left: usize,
    problem: Option<String>,
}

impl Open {
    fn new(created: Created) -> Self {
        Self { seats_left: created.tokens.len(), match_id: created.match_id, problem: None }
    }
}

impl Playing<'_> {
    /// The next match that is over; `None` after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Played>> {
        while let Some(outcome) = self.session.next().await {
            let info = outcome.info.as_ref().with_context(|| format!("a bot found no seat: {outcome}"))?;
            let place = self.open.iter().position(|open| open.match_id == info.match_id);
            let place = place.ok_or_else(|| anyhow!("a bot played in another match: {outcome}"))?;
            let open = &mut self.open[place];
            open.seats_left -= 1;
            if outcome.deal != DealCheck::Verified || !outcome.faults.is_empty() {
                open.problem.get_or_insert_with(|| outcome.to_string());
            }
            if open.seats_left == 0 {
                let open = self.open.swap_remove(place);
                return self.arena.over(open).await.map(Some);
            }
        }
        ensure!(self.open.is_empty(), "{} matches did not end", self.open.len());
        Ok(None)
    }
}

impl Arena {
    async fn over(&self, open: Open) -> Result<Played> {
        let found = record::fetch(&self.client, &open.match_id).await?;
        let problem = record::problem(&found).or(open.problem);
        Ok(Played { match_id: open.match_id, record: found.record, problem })
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
