//! End-to-end tests: clients from the generated code, sockets, and a real server.

mod bad_input;
mod exactly_once;
mod house_bots;
mod matrix;
mod restart;
mod resume;
mod takeover;
