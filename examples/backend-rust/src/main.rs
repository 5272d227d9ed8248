//! A backend that has matches played by others, and reads every result exactly once.
//!
//! `backend-rust COUNT` creates so many matches in one call, writes the tokens of their seats to `seat-tokens.txt` for those
//! who play, and follows the results until it has them all. What it knows is in `backend.sqlite`: killed at any moment and
//! started again, it goes on where it was. `ZETEMA_SERVER` is the server's address, `ZETEMA_TOKEN` the token to create by.

use std::{env, fs, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use rusqlite::{Connection, params};
use tonic::{Code, Request, Status, metadata::AsciiMetadataValue, transport::Channel};
use zetema_proto::v1::{
    self, match_service_client::MatchServiceClient, outcome, watch_results_request::From,
    watch_results_response::Kind,
};

/// The server says something at least every ten seconds: a longer silence is a connection that is dead.
const SILENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(500);

/// One row says what was asked for and how far the results were read; the other table is what was made of them.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS batch (request_id TEXT NOT NULL, count INTEGER NOT NULL, cursor TEXT);
    CREATE TABLE IF NOT EXISTS results (match_id TEXT PRIMARY KEY, result_number INTEGER UNIQUE NOT NULL, outcome TEXT NOT NULL);
";

#[tokio::main]
async fn main() -> Result<()> {
    let count = env::args().nth(1).context("say how many matches: backend-rust COUNT")?.parse()?;
    let mut backend = Backend::open(count)?;
    loop {
        match backend.run().await {
            Ok(()) => return Ok(()),
            Err(error) if passes(&error) => {
                eprintln!("trying again: {error:#}");
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether the same may work later: not what the server has refused.
fn passes(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<Status>() {
        Some(status) => !matches!(
            status.code(),
            Code::InvalidArgument
                | Code::Unauthenticated
                | Code::PermissionDenied
                | Code::NotFound
                | Code::AlreadyExists
                | Code::FailedPrecondition
                | Code::OutOfRange
                | Code::Unimplemented
        ),
        None => error.is::<tonic::transport::Error>() || error.is::<tokio::time::error::Elapsed>(),
    }
}

struct Backend {
    db: Connection,
    server: String,
    token: AsciiMetadataValue,
    /// Names the request, so that asking again makes no other matches, and the matches, so that only theirs are followed.
    request_id: String,
    count: u32,
}

impl Backend {
    fn open(count: u32) -> Result<Self> {
        let server = env::var("ZETEMA_SERVER").unwrap_or_else(|_| "http://127.0.0.1:4680".to_owned());
        let token = env::var("ZETEMA_TOKEN").context("ZETEMA_TOKEN is not set")?;
        let token = format!("Bearer {}", token.trim()).parse().context("ZETEMA_TOKEN is no token")?;
        let db = Connection::open("backend.sqlite")?;
        db.execute_batch(TABLES)?;
        // Stored before anything is asked for.
        let begin = "INSERT INTO batch SELECT lower(hex(randomblob(16))), ?, NULL WHERE NOT EXISTS (SELECT * FROM batch)";
        db.execute(begin, [count])?;
        let (request_id, begun) =
            db.query_row("SELECT request_id, count FROM batch", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        ensure!(
            count == begun,
            "this folder's batch is of {begun} matches: give that, or begin in another folder"
        );
        Ok(Self { db, server, token, request_id, count })
    }

    async fn run(&mut self) -> Result<()> {
        let channel = Channel::from_shared(self.server.clone())?.connect().await?;
        let mut client = MatchServiceClient::new(channel).max_decoding_message_size(16 << 20);
        if self.cursor()?.is_none() {
            self.create(&mut client).await?;
        }
        self.follow(&mut client).await
    }

    /// Creates the matches, and hands out their seats. Done again it gets the same.
    async fn create(&mut self, client: &mut MatchServiceClient<Channel>) -> Result<()> {
        println!("creating {} matches", self.count);
        let rules =
            v1::PresetRules { preset: v1::Preset::Victorian.into(), teams: None, imperial_suit: None };
        let seat = v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) };
        let spec = v1::MatchSpec {
            rules: Some(v1::match_spec::Rules::Preset(rules)),
            seats: vec![seat; 2],
            time_control: Some(v1::TimeControl {
                decisions: Some(v1::time_control::Decisions::Named(v1::NamedTimeControl::Blitz.into())),
                ..Default::default()
            }),
            client_reference: self.request_id.clone(),
            ..Default::default()
        };
        let request = v1::BatchCreateMatchesRequest {
            request_id: self.request_id.clone(),
            matches: vec![spec; self.count as usize],
        };
        let created = client.batch_create_matches(self.authorised(request)).await?.into_inner().matches;
        let tokens: Vec<String> =
            created.into_iter().flat_map(|one| one.seat_tokens).map(|seat| seat.token + "\n").collect();
        fs::write("seat-tokens.part", tokens.concat())?;
        fs::rename("seat-tokens.part", "seat-tokens.txt")?;
        println!("handed out {} seats", tokens.len());
        Ok(())
    }

    /// Follows the results from where it was, until all are there.
    async fn follow(&mut self, client: &mut MatchServiceClient<Channel>) -> Result<()> {
        let request = v1::WatchResultsRequest {
            from: self.cursor()?.map(From::After),
            filter: Some(v1::ResultFilter { client_reference: Some(self.request_id.clone()) }),
        };
        let mut results = client.watch_results(self.authorised(request)).await?.into_inner();
        while self.read()? < self.count {
            let Some(message) = tokio::time::timeout(SILENCE, results.message()).await?? else {
                bail!(Status::unavailable("the stream is over"));
            };
            // The result and the cursor after it are stored together: neither is ever there without the other.
            let transaction = self.db.transaction()?;
            if let Some(Kind::Ended(v1::EndedMatch { r#match: Some(ended), result_number })) = message.kind {
                let outcome = outcome(&ended);
                transaction.execute(
                    "INSERT INTO results VALUES (?, ?, ?)",
                    params![ended.match_id, i64::try_from(result_number)?, outcome],
                )?;
                println!("result {result_number}: match {} {outcome}", ended.match_id);
            }
            transaction.execute("UPDATE batch SET cursor = ?", [message.cursor])?;
            transaction.commit()?;
        }
        println!("all {} results are there", self.count);
        Ok(())
    }

    fn authorised<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", self.token.clone());
        request
    }

    fn cursor(&self) -> Result<Option<String>> {
        Ok(self.db.query_row("SELECT cursor FROM batch", [], |row| row.get(0))?)
    }

    fn read(&self) -> Result<u32> {
        Ok(self.db.query_row("SELECT count(*) FROM results", [], |row| row.get(0))?)
    }
}

/// How a match ended, in a few words.
fn outcome(ended: &v1::Match) -> String {
    match ended.outcome.as_ref().and_then(|outcome| outcome.kind.as_ref()) {
        Some(outcome::Kind::Result(result)) => {
            let totals: Vec<String> = result.sides.iter().map(|side| side.total.to_string()).collect();
            totals.join(" : ")
        }
        Some(outcome::Kind::Aborted(abort)) => abort.reason().as_str_name().to_owned(),
        None => "over, in a way that this program does not know".to_owned(),
    }
}
