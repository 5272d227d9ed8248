//! The `zetema` program.
fn main() {}
