//! The accounts of house bots on a server.

use anyhow::{Result, bail};
use zetema_bots::House;
use zetema_proto::v1;
use zetema_proto::v1::token_scope::Kind;
use zetema_sdk::BotToken;
use zetema_service::config::HouseBots;

use crate::client::{Client, patiently, said_no};

/// What the accounts that this program has registered have as their fault contact, by which it knows them again: the owner and the admin
/// alone see it.
const REGISTERED_BY_THIS: &str = "whoever runs this server: it is a house bot of the server's program";

/// The account of a house bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) house: House,
    pub(crate) name: String,
    pub(crate) owner: String,
}

impl Account {
    /// That of a house bot by its own name. Each has an owner of its own, as bots of one owner do not meet.
    pub(crate) fn usual(house: House) -> Self {
        Self::named(house, house.to_string())
    }

    /// That of a house bot by another name.
    pub(crate) fn named(house: House, name: String) -> Self {
        Self { house, owner: HouseBots::owner_of(&name), name }
    }

    /// The bot's token: a new one, the account's first if there was no such account. One that this program has registered for the owner
    /// of all house bots of then stays that one's, as no bot changes its owner: then that is the owner from now on.
    ///
    /// # Errors
    /// The name is somebody else's, the bot is retired, or the server refuses for another reason.
    pub(crate) async fn token(&mut self, admin: &Client) -> Result<BotToken> {
        let name = &self.name;
        let request = v1::GetBotRequest { name: name.clone() };
        let found = match patiently(async || admin.get_bot(request.clone()).await).await {
            Ok(found) => found.bot,
            Err(error) if said_no(&error) == Some(v1::ErrorReason::NotFound) => None,
            Err(error) => return Err(error),
        };
        let secret = match found {
            Some(bot) if bot.state() == v1::BotState::Retired => {
                bail!("the bot {name} is retired, for ever: leave it out")
            }
            Some(bot)
                if (bot.owner == self.owner || bot.owner == HouseBots::OLD_OWNER)
                    && bot.fault_contact == REGISTERED_BY_THIS =>
            {
                if bot.owner != self.owner {
                    tracing::info!(
                        bot = name,
                        owner = bot.owner,
                        "a house bot is of the owner of all house bots of earlier releases: it does not meet the others of that owner"
                    );
                    self.owner = bot.owner;
                }
                let request = v1::RotateTokenRequest {
                    name: name.clone(),
                    // A house bot of before is gone, or to be.
                    old_tokens: v1::OldTokens::Void.into(),
                };
                patiently(async || admin.rotate_token(request.clone()).await).await?.secret
            }
            Some(bot) => bail!(
                "the bot {name} of the owner {} was not registered by this program, and keeps its token (NAME_TAKEN): leave it out",
                bot.owner
            ),
            None => self.register(admin).await?,
        };
        Ok(secret.into())
    }

    /// Registers it, if its name is nobody's. The server lets the admin give names that have tokens, and so may have played, too.
    async fn register(&self, admin: &Client) -> Result<String> {
        let Self { house, name, owner } = self;
        let scope = v1::TokenScope { kind: Some(Kind::Bot(v1::BotScope { bot: name.clone() })) };
        // No match has a seat for a bot that never had a token.
        let ever = v1::TokenFilter { scope: Some(scope), void_tokens: Some(v1::VoidTokens::Listed.into()) };
        let request = v1::ListTokensRequest { filter: Some(ever), page_size: 1, page_token: String::new() };
        if !patiently(async || admin.list_tokens(request.clone()).await).await?.tokens.is_empty() {
            bail!(
                "somebody has or had a token for a bot {name}, which is not registered (NAME_TAKEN): leave it out, or register it for whose \
                 it is by `zetema bot register`"
            );
        }
        let request = v1::RegisterBotRequest {
            request_id: String::new(),
            name: name.clone(),
            owner: owner.clone(),
            description: house.summary().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            fault_contact: REGISTERED_BY_THIS.to_owned(),
        };
        Ok(patiently(async || admin.register_bot(request.clone()).await).await?.secret)
    }
}
