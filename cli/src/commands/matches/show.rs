//! `zetema match show`.

use anyhow::{Result, anyhow};
use zetema_proto::v1;
use zetema_rules::Outcome;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::{MatchJson, matches};
use crate::output::{self, Format};
use crate::render::{self, Names};

/// Show where a match stands.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The JSON is one object: match_id, state, rules, rules_revision, time_control (join_timeout_ms,
idle_timeout_ms, clock), seats (seat, side, state, bot, or null where it is played by token,
or is neither dealt nor over and not yours), deals, commitment, visibility, client_reference, ladder (or null),
create_time, end_time and outcome, which is null, or has the key result (reason, sides) or aborted (reason, seats).")]
pub(crate) struct Show {
    /// The match's id
    #[arg(value_name = "ID")]
    match_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Show {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let answer = client.get_match(v1::GetMatchRequest { match_id: self.match_id }).await?;
        print(answer.r#match.as_ref(), self.format.format)
    }
}

/// Prints one match.
pub(super) fn print(message: Option<&v1::Match>, format: Format) -> Result<()> {
    let message = message.ok_or_else(|| anyhow!("the server sent no match"))?;
    match format {
        Format::Json => output::print_json(&MatchJson::new(message)?),
        Format::Table => output::print(whole(message)?),
    }
}

/// All about one match.
fn whole(message: &v1::Match) -> Result<comfy_table::Table> {
    let json = MatchJson::new(message)?;
    let rules = matches::rules(message)?;
    let names = Names::numbers(rules);
    let outcome = matches::outcome(message)?.map(|outcome| plain(&render::outcome(&outcome, &names)));
    let seats: Vec<String> = json.seats.iter().map(seat).collect();
    let mut table = output::table(["match", &json.match_id]);
    for (name, value) in [
        ("state", json.state.to_owned()),
        ("rules", rules.to_string()),
        ("time control", render::time_control(&matches::time_control(message)?)),
        ("seats", seats.join(", ")),
        ("deals", json.deals.to_owned()),
        ("commitment", json.commitment),
        ("visibility", json.visibility.to_owned()),
        ("reference", output::plain(&json.client_reference)),
        ("ladder", json.ladder.unwrap_or_default()),
        ("created", json.create_time.unwrap_or_default()),
        ("ended", json.end_time.unwrap_or_default()),
        ("outcome", outcome.unwrap_or_default()),
    ] {
        if !value.is_empty() {
            table.add_row([name, &value]);
        }
    }
    Ok(table)
}

/// A seat, and the bot that plays it.
fn seat(matches::SeatJson { seat, state, bot, .. }: &matches::SeatJson) -> String {
    match bot {
        Some(bot) => format!("{seat} {state} ({})", output::plain(bot)),
        None => format!("{seat} {state}"),
    }
}

fn plain(styled: &str) -> String {
    console::strip_ansi_codes(styled).into_owned()
}

/// The headings of matches in a table.
pub(super) const ROW: [&str; 6] = ["match", "state", "rules", "joined", "reference", "outcome"];

/// A match as a row of a table.
pub(super) fn row(message: &v1::Match) -> Result<[String; 6]> {
    let rules = matches::rules(message)?;
    let outcome = match matches::outcome(message)? {
        None => String::new(),
        Some(Outcome::Aborted { reason, .. }) => reason.to_string(),
        Some(Outcome::Result(result)) => {
            let totals = result.totals.iter().take(rules.sides()).map(u16::to_string);
            totals.collect::<Vec<_>>().join(" : ")
        }
    };
    Ok([
        message.match_id.clone(),
        matches::state(message.state()).to_owned(),
        rules.to_string(),
        format!("{} of {}", matches::joined(message).len(), rules.player_count()),
        output::plain(&message.client_reference),
        outcome,
    ])
}
