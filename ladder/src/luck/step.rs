//! A computation in small steps.

/// What one step of a computation leaves. What is done can't be stepped again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<C, T> {
    /// More steps are to be done.
    More(C),
    /// The result.
    Done(T),
}
