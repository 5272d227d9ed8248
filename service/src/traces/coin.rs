//! Which commands are traced. It is drawn by lot before there is a span of any, so that what is not traced costs next to
//! nothing, and so that nothing that a client says of its own trace decides it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};

const MILLION: u32 = 1_000_000;

/// Of a million commands so many are traced. It is of the process, as the subscriber is.
static TRACED: AtomicU32 = AtomicU32::new(0);

/// From here on this share of all commands is traced.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and a million")]
pub(super) fn trace(share: f64) {
    TRACED.store((share.clamp(0.0, 1.0) * f64::from(MILLION)).round() as u32, Relaxed);
}

/// Draws for one command.
pub(super) fn falls() -> bool {
    let traced = TRACED.load(Relaxed);
    // The numbers of traces come from a generator of each thread's own: the same serves for the lot.
    traced > 0 && {
        let drawn = u128::from_be_bytes(RandomIdGenerator::default().new_trace_id().to_bytes());
        drawn % u128::from(MILLION) < u128::from(traced)
    }
}
