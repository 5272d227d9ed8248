//! A span of ours, or none.

use tracing::Span;

/// A span, or none, in the memory of a pointer: an action has some of them with it wherever it waits, and as a rule they are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Option<Box<Span>>);

impl Trace {
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// None of a span that nobody wants.
    pub(crate) fn of(span: Span) -> Self {
        Self((!span.is_disabled()).then(|| Box::new(span)))
    }

    pub(crate) fn span(&self) -> Option<&Span> {
        self.0.as_deref()
    }

    /// As a span, which may be none.
    pub(crate) fn to_span(&self) -> Span {
        self.span().cloned().unwrap_or_else(Span::none)
    }

    pub(crate) fn into_span(self) -> Span {
        self.0.map_or_else(Span::none, |span| *span)
    }

    /// Does this in it.
    pub(crate) fn in_scope<T>(&self, does: impl FnOnce() -> T) -> T {
        match self.span() {
            Some(span) => span.in_scope(does),
            None => does(),
        }
    }
}

/// A part of a trace. Without a whole there is none.
macro_rules! stage {
    ($of:expr, $name:literal) => {
        match $of.span() {
            None => $crate::traces::Trace::none(),
            Some(of) => $crate::traces::Trace::of(
                tracing::trace_span!(target: $crate::traces::TARGET, parent: of, $name),
            ),
        }
    };
}
pub(crate) use stage;
