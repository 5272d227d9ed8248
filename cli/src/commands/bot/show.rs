//! `zetema bot show`.

use anyhow::Result;
use comfy_table::Table;
use zetema_proto::v1;

use super::{ROW, json_of, row};
use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::commands::ladder::conduct;
use crate::json::{BotJson, BotOnLadderJson, ShownBotJson};
use crate::output::{self, Format};

/// Show a bot, and how it behaves on ladders. Everybody may: it needs no token.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With the token of the bot's owner, or the admin's, there are its contact for faults and all ladders, whether the bot is
there or not: its strikes for matches to which it did not come, its forfeits and benches, and what to do. For others
there are the ladders in whose standings it is, with what those say.

The JSON is the object that `zetema bot list` has, and on_ladders: a list, or null if the ladders don't say now, as just
after a start. Each has ladder, conduct (state: free, cooling-down or benched; until, or null) and counts, null unless the
bot is yours: strikes, cool_down_until (or null), matches_to_clear (in so many more matches in a row it has to come to
be without strikes), forfeits (of the last of_last_matches, since the last bench), forfeits_to_bench and benches.

Examples:
  zetema bot show rex
  zetema bot show rex --token TOKEN_OF_THE_OWNER --format json")]
pub(crate) struct Show {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Show {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect_with_any_token(&self.server).await?;
        let answer = client.get_bot(v1::GetBotRequest { name: self.name }).await?;
        let bot = json_of(answer.bot.as_ref())?;
        let on_ladders = answer.on_ladders.as_ref();
        let on_ladders = on_ladders.map(|on| on.ladders.iter().map(BotOnLadderJson::new).collect());
        let shown = ShownBotJson { bot, on_ladders };
        match self.format.format {
            Format::Json => output::print_json(&shown),
            Format::Table => print(shown),
        }
    }
}

/// Prints a bot for people, and what its owner is to do.
fn print(ShownBotJson { bot, on_ladders }: ShownBotJson) -> Result<()> {
    let name = bot.name.clone();
    let contact = contact(&bot);
    let mut table = output::table(ROW);
    table.add_row(row(bot));
    output::print(table)?;
    if let Some(contact) = contact {
        output::print(contact)?;
    }
    let Some(on_ladders) = on_ladders else {
        output::note("the ladders don't say now how it behaves there: ask again in a moment");
        return Ok(());
    };
    if !on_ladders.is_empty() {
        output::print(conduct_table(&on_ladders))?;
    }
    for on in &on_ladders {
        if let Some(next) = next_step(&name, on) {
            output::note(next);
        }
    }
    Ok(())
}

/// Whom to tell of the bot's faults; nothing if nobody is named, and for those to whom the server does not say it.
fn contact(bot: &BotJson) -> Option<String> {
    let contact = &bot.fault_contact;
    (!contact.is_empty()).then(|| format!("contact for faults: {}", output::plain(contact)))
}

/// How a bot behaves on ladders.
fn conduct_table(on_ladders: &[BotOnLadderJson]) -> Table {
    let mut table = output::table(["ladder", "conduct", "strikes", "forfeits", "benches"]);
    for BotOnLadderJson { ladder, conduct: now, counts } in on_ladders {
        let now = Some(conduct(now)).filter(|now| !now.is_empty()).unwrap_or_else(|| "free".to_owned());
        let [strikes, forfeits, benches] = match counts {
            Some(counts) => [
                counts.strikes.to_string(),
                format!("{} of the last {}", counts.forfeits, counts.of_last_matches),
                counts.benches.to_string(),
            ],
            None => ["–"; 3].map(str::to_owned),
        };
        table.add_row([ladder.clone(), now, strikes, forfeits, benches]);
    }
    table
}

/// What the owner of a bot does next on a ladder; nothing if nothing is wrong, and for others.
fn next_step(bot: &str, BotOnLadderJson { ladder, conduct, counts }: &BotOnLadderJson) -> Option<String> {
    let counts = counts.as_ref()?;
    let again = counts.forfeits_to_bench;
    Some(match (conduct.state, &conduct.until) {
        ("benched", None) => format!(
            "{ladder}: {bot} is not paired until you put it back: mend it, then `zetema ladder reinstate {ladder} --bot {bot}`"
        ),
        ("benched", Some(_)) => format!(
            "{ladder}: {bot} is paired again by itself when the bench is over: have it play its matches to the end, as with {again} forfeits of \
             {} the next bench is longer",
            counts.of_last_matches
        ),
        ("cooling-down", _) => {
            let clear = match counts.matches_to_clear {
                0 => String::new(),
                matches => format!("; without strikes it is after {matches} in a row"),
            };
            format!(
                "{ladder}: {bot} is paired again by itself when the cool-down is over: have it join its matches in time{clear}"
            )
        }
        ("free", _) if counts.forfeits > 0 && counts.forfeits + 1 >= again => format!(
            "{ladder}: with one more forfeit {bot} is benched: `zetema bot faults {bot}` says what went wrong"
        ),
        ("free", _) if counts.strikes > 0 => format!(
            "{ladder}: {bot} is without strikes after {} matches in a row to which it comes: `zetema bot faults {bot}` says what went wrong",
            counts.matches_to_clear
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bot that its owner looks at.
    fn on(conduct: v1::bot_conduct::Kind, strikes: u32, forfeits: u32) -> BotOnLadderJson {
        BotOnLadderJson::new(&v1::BotOnLadder {
            ladder: "quick-2".to_owned(),
            conduct: Some(v1::BotConduct { kind: Some(conduct) }),
            counts: Some(v1::ConductCounts {
                strikes,
                cool_down_until: None,
                matches_to_clear: 4,
                forfeits,
                of_last_matches: 10,
                forfeits_to_bench: 3,
                benches: 1,
            }),
        })
    }

    #[test]
    fn an_owner_is_told_what_to_do_next_and_nothing_where_all_is_well() {
        use v1::bot_conduct::Kind;
        let until = Some(prost_types::Timestamp { seconds: 1_800_000_000, nanos: 0 });
        let (free, benched) = (Kind::Free(v1::FreeToPlay {}), |until| Kind::Benched(v1::Benched { until }));
        let told = |on: &BotOnLadderJson| next_step("rex", on);
        assert_eq!(told(&on(free, 0, 1)), None);
        for (on, says) in [
            (on(benched(None), 0, 0), "`zetema ladder reinstate quick-2 --bot rex`"),
            (on(benched(until), 0, 0), "with 3 forfeits of 10 the next bench is longer"),
            (on(Kind::CoolingDown(v1::CoolingDown { until }), 1, 0), "after 4 in a row"),
            (on(free, 1, 0), "after 4 matches in a row"),
            (on(free, 0, 2), "with one more forfeit rex is benched"),
        ] {
            let told = told(&on).expect(says);
            assert!(told.contains(says) && told.starts_with("quick-2: "), "{told}");
        }
        let mut others = on(benched(None), 0, 0);
        others.counts = None;
        assert_eq!(told(&others), None, "it is no bot of whoever looks");
        let shown = conduct_table(&[others, on(free, 2, 1)]).to_string();
        for part in ["benched until its owner puts it back", "free", "1 of the last 10"] {
            assert!(shown.contains(part), "{shown}");
        }
    }
}
