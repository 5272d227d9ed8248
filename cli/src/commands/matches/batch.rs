//! `zetema match batch`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, Seed, ServerArgs, SpecArgs};
use crate::client::Client;
use crate::json::CreatedJson;
use crate::output::{self, Format};

/// Create many matches, all or none.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The JSON is a list of what `zetema match create` gives.

Examples:
  zetema match batch 100 --preset fosdick --players 4 --format json > matches.json")]
pub(crate) struct Batch {
    /// How many matches, 1 to 1000
    #[arg(value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,
    #[command(flatten)]
    spec: SpecArgs,
    /// Deal fixed cards by this number, that of the first match; the next ones count up
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// A name for this request, at most 64 characters: sent again it gives the same matches
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    request_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Batch {
    pub(super) async fn run(self) -> Result<()> {
        let seed = self.seed.map(Seed::Number);
        let specs = (0..self.count).map(|index| {
            let seed = seed.as_ref().map(|seed| seed.of_match(index.into()));
            self.spec.spec(seed.as_ref())
        });
        let matches = specs.collect::<Result<_, _>>()?;
        let client = Client::connect(&self.server).await?;
        let request = v1::BatchCreateMatchesRequest { request_id: self.request_id, matches };
        let answer = client.batch_create_matches(request).await?;
        let created: Vec<CreatedJson> = answer
            .matches
            .into_iter()
            .map(|created| CreatedJson::new(created.r#match.as_ref(), created.seat_tokens))
            .collect::<Result<_>>()?;
        match self.format.format {
            Format::Json => output::print_json(&created),
            Format::Table => {
                let mut table = output::table(["match", "seat", "token"]);
                for one in &created {
                    for token in &one.seat_tokens {
                        let seat = token.seat.to_string();
                        table.add_row([&one.created.match_id, &seat, &token.token]);
                    }
                }
                output::print(table)
            }
        }
    }
}
