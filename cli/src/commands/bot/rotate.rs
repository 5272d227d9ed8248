//! `zetema bot rotate`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::RotatedBotJson;
use crate::output::{self, Format};

/// Give a bot another token, and print it, once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What plays with the old token plays its matches to the end, for 24 hours at most. It gets no new ones: zetema bot
ends with exit code 4 when they are over. Start the bot with the new token when you like: it takes up the seats
of matches that run, and waits for new ones. What the rotation before this one let play on is cut. With --now
all is cut at once: clocks run until the bot is there with the new token; so it is on a server that has no place for
tokens that play on, and what is printed says so. The JSON is one object: bot, secret, old_tokens (play_on, void, or
unspecified, of an older server) and void_time.

Examples:
  zetema bot rotate rex > rex.token
  zetema bot rotate rex --now > rex.token")]
pub(crate) struct Rotate {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Void the old token at once, as when it may be in wrong hands
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Rotate {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let old_tokens = if self.now { v1::OldTokens::Void } else { v1::OldTokens::PlayOn };
        let request = v1::RotateTokenRequest { name: self.name, old_tokens: old_tokens.into() };
        let v1::RotateTokenResponse { bot, secret, old_tokens, void_time } =
            client.rotate_token(request).await?;
        let bot = super::json_of(bot.as_ref())?;
        let (old_tokens, void_time) =
            (v1::OldTokens::try_from(old_tokens), void_time.map(|at| at.to_string()));
        match self.format.format {
            Format::Json => {
                output::print_json(&RotatedBotJson { bot, secret, old_tokens: word(old_tokens), void_time })
            }
            Format::Table => {
                output::print(secret)?;
                output::note(format!(
                    "This is the token of the bot {} from now on. It is shown this once: keep it.{}",
                    bot.name,
                    becomes_of(old_tokens, void_time.as_deref())
                ));
                Ok(())
            }
        }
    }
}

/// A value of a later version is none that is known here.
type Told = Result<v1::OldTokens, prost::UnknownEnumValue>;

const fn word(old_tokens: Told) -> &'static str {
    match old_tokens {
        Ok(v1::OldTokens::PlayOn) => "play_on",
        Ok(v1::OldTokens::Void) => "void",
        Ok(v1::OldTokens::Unspecified) | Err(_) => "unspecified",
    }
}

/// What becomes of the old token, in words.
fn becomes_of(old_tokens: Told, void_time: Option<&str>) -> String {
    match (old_tokens, void_time) {
        (Ok(v1::OldTokens::PlayOn), Some(until)) => {
            format!(" The old one plays the seats of before until {until}.")
        }
        (Ok(v1::OldTokens::Void), _) => {
            " The old one is void already: start the bot with this one at once, as the clocks of its matches run.".to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_until_when_the_old_token_plays_on_that_it_is_void_and_nothing_that_is_not_known() {
        let plays_on = becomes_of(Ok(v1::OldTokens::PlayOn), Some("2026-11-22T03:04:01Z"));
        assert_eq!(plays_on, " The old one plays the seats of before until 2026-11-22T03:04:01Z.");
        let void = becomes_of(Ok(v1::OldTokens::Void), None);
        assert!(void.contains("is void already: start the bot with this one at once"), "{void}");
        assert_eq!(becomes_of(Ok(v1::OldTokens::Unspecified), None), "");
        assert_eq!(becomes_of(v1::OldTokens::try_from(99), None), "");
    }
}
