//! The wire contract zetema.v1, its generated code, and the conversions to and from the rules.
