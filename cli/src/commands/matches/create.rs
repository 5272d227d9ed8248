//! `zetema match create`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{AddressArgs, FormatArgs, Seed, ServerArgs, SpecArgs};
use crate::client::Client;
use crate::json::CreatedJson;
use crate::output::{self, Format};

/// Create a match and print its seats' tokens.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Whoever holds a seat's token plays the seat: keep tokens secret. The JSON is one object: match, as
`zetema match show` gives it, and seat_tokens (seat, token). A bot named by --seat plays by its own
token; another's must accept challenges, or it is CHALLENGE_REFUSED.

Examples:
  zetema match create --preset quick --players 3 --set target=100
  zetema match create --seat token --seat bot:greedy
  zetema match create --format json | jq -r '.seat_tokens[].token'")]
pub(crate) struct Create {
    #[command(flatten)]
    spec: SpecArgs,
    /// Deal fixed cards by this seed, a number or 64 hexadecimal digits; unless given, nobody can choose
    #[arg(long)]
    seed: Option<Seed>,
    /// A name for this request, at most 64 characters: sent again it gives the same match
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    request_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Create {
    pub(super) async fn run(self) -> Result<()> {
        let seed = self.seed.as_ref().map(|seed| seed.of_match(0));
        let request = v1::CreateMatchRequest {
            request_id: self.request_id,
            r#match: Some(self.spec.spec(seed.as_ref())?),
        };
        let client = Client::connect(&self.server).await?;
        let v1::CreateMatchResponse { r#match: created, seat_tokens } = client.create_match(request).await?;
        let created = CreatedJson::new(created.as_ref(), seat_tokens)?;
        match self.format.format {
            Format::Json => output::print_json(&created),
            Format::Table => print_table(&created, &self.server.address),
        }
    }
}

fn print_table(created: &CreatedJson, address: &AddressArgs) -> Result<()> {
    output::print(format!("match {}", created.created.match_id))?;
    let mut table = output::table(["seat", "token"]);
    for token in &created.seat_tokens {
        table.add_row([token.seat.to_string(), token.token.clone()]);
    }
    output::print(table)?;
    let program = output::program();
    output::note(format!(
        "Take a seat: {program} bot greedy{address} --token TOKEN\n         or: {program} play{address} --token TOKEN\n\
         Look on:     {program} match watch{address} {}",
        created.created.match_id
    ));
    Ok(())
}
