//! Reading what is counted of a ladder: of all results, and of one count of them ([`Counting`]).

use tokio::sync::watch;
use tokio::time::timeout;

use super::LadderFault;
use super::archive::Archive;
use super::wishes::{NotNow, Phase};
use crate::limits;

/// Whether the results are being counted, as at a start, and after a fault of the task that counts them.
#[derive(Clone, Debug)]
pub(super) struct Counting(watch::Receiver<Phase>);

impl Counting {
    pub(super) const fn new(phase: watch::Receiver<Phase>) -> Self {
        Self(phase)
    }

    /// Waits until all results that were there are counted, for a while.
    ///
    /// # Errors
    /// [`NotNow::CatchingUp`] if that takes longer.
    pub(super) async fn is_over(&self) -> Result<(), NotNow> {
        let mut phase = self.0.clone();
        let over = phase.wait_for(|phase| !is_counting(*phase));
        match timeout(limits::CATCHING_UP_WAITED_FOR, over).await {
            Ok(_) => Ok(()),
            Err(_elapsed) => Err(NotNow::CatchingUp),
        }
    }

    /// What is read of an archive once all results are counted. Reading may take several steps, between which they may be counted anew:
    /// an archive that begins again from nothing looks as one that has no older results.
    ///
    /// # Errors
    /// What the reader says, and [`NotNow::CatchingUp`] if the results are counted for long, or were counted anew meanwhile.
    pub(super) async fn read<T>(
        &self,
        archive: &Archive,
        read: impl Future<Output = Result<T, LadderFault>>,
    ) -> Result<T, LadderFault> {
        let count = loop {
            self.is_over().await?;
            // In this order: the ladders say that they count before they forget what they had.
            let count = archive.count();
            if !is_counting(*self.0.borrow()) {
                break count;
            }
        };
        let read = read.await;
        if archive.count() == count { read } else { Err(NotNow::CatchingUp.into()) }
    }
}

fn is_counting(phase: Phase) -> bool {
    phase == Phase::Not(NotNow::CatchingUp)
}
