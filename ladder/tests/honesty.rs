//! What is suspected of bots by the results of a season.
#![allow(clippy::expect_used, clippy::cast_possible_truncation)]

#[path = "honesty/properties.rs"]
mod properties;
#[path = "honesty/records.rs"]
mod records;
#[path = "honesty/said.rs"]
mod said;
