//! The commands that need a server, against one that runs as a process of its own or inside the program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod audits;
mod bot_accounts;
mod bots;
mod challenges;
mod demo;
mod exports;
mod house_bots;
mod joined_load;
mod ladders;
mod load;
mod load_refusals;
mod logs;
mod matches;
mod person;
mod refusals;
mod server;
mod status;
mod tokens;
mod unrated;
mod webhooks;
