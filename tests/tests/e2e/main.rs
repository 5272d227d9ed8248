//! End-to-end tests: clients from the generated code, sockets, and a real server.

mod bad_input;
mod exactly_once;
mod resume;
mod takeover;
