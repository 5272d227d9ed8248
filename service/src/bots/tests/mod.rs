//! Accounts over a journal in a folder: whose bots are whose, names, bounds, tokens, and what a restart finds.

mod accounts;
mod harness;
mod registration;
mod tokens;
