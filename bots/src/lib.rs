//! The house bots, on the SDK alone.
