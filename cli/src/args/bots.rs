//! The house bots, as a flag.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use zetema_bots::House;
use zetema_rules::Rules;

use crate::failure::Usage;

/// Reads a house bot's name.
pub(crate) fn house() -> impl TypedValueParser<Value = House> {
    PossibleValuesParser::new(House::ALL.map(House::name)).try_map(|name| name.parse::<House>())
}

/// Who sits where.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BotsArgs {
    /// The house bots, seat 0 first, with commas between; fewer than seats are repeated in turn
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = house(), default_value = "greedy")]
    bots: Vec<House>,
}

impl Default for BotsArgs {
    fn default() -> Self {
        Self { bots: vec![House::Greedy] }
    }
}

impl BotsArgs {
    /// The bot of every seat of a match.
    pub(crate) fn by_seat(&self, rules: &Rules) -> Result<Vec<House>, Usage> {
        let players = rules.player_count().count();
        if self.bots.len() > players {
            return Err(Usage::new(format!(
                "--bots names {} bots for {players} players: give at most one for each, or more --players",
                self.bots.len()
            )));
        }
        Ok(self.bots.iter().copied().cycle().take(players).collect())
    }
}
