//! How much of what a client says on a stream is read: as much as its share allows, and as there is room for the answers.

use std::future::pending;

use tokio::time::{Instant, sleep_until};

use crate::{
    admission::{Debt, Share, Taken},
    limits,
};

/// What may be read of one stream.
pub(super) struct Intake {
    share: Option<Share>,
    /// The room of the requests that are not answered, beyond those that every stream may have.
    room: Option<Taken>,
    /// What is not counted yet of what was read.
    debt: Option<Debt>,
    /// Until then nothing is read.
    resting_until: Option<Instant>,
}

impl Intake {
    pub(super) fn new(share: Option<Share>) -> Self {
        let room = share.as_ref().and_then(Share::unanswered);
        Self { share, room, debt: None, resting_until: None }
    }

    /// Whether the next message may be read, with so many requests unanswered. Where there is no room for its answer, it is
    /// looked again after a while.
    pub(super) fn is_open(&mut self, unanswered: usize) -> bool {
        if unanswered >= limits::MAX_REQUESTS_IN_FLIGHT || self.resting_until.is_some() {
            return false;
        }
        let has_room = self.make_room(unanswered);
        if !has_room {
            self.resting_until = Some(Instant::now() + limits::LEAST_REST);
        }
        has_room
    }

    /// Whether it waits by itself until it may be looked again.
    pub(super) const fn rests(&self) -> bool {
        self.resting_until.is_some()
    }

    /// Whether it has more room than every stream may have, which it gives back when it is looked.
    pub(super) fn has_more_room(&self) -> bool {
        self.room.as_ref().is_some_and(|room| room.amount() > 0)
    }

    /// Takes room for one more answer, and gives back what is not needed.
    fn make_room(&mut self, unanswered: usize) -> bool {
        let Some(room) = &mut self.room else { return true };
        let needed = (unanswered + 1).saturating_sub(limits::OWN_REQUESTS_IN_FLIGHT) as u64;
        let at_once = limits::UNANSWERED_REQUESTS_AT_ONCE;
        if needed > room.amount() {
            return room.more((needed - room.amount()).max(at_once));
        }
        if room.amount() > 2 * (needed + at_once) || needed == 0 {
            room.keep(needed);
        }
        true
    }

    /// A message was read. Nothing is refused that may be an action under a clock: what comes too fast is done, and nothing
    /// more is read until it is counted.
    pub(super) fn read_one(&mut self) {
        let counted = self.share.as_ref().map_or(Ok(()), Share::message);
        self.owe(counted.err());
    }

    fn owe(&mut self, debt: Option<Debt>) {
        self.resting_until = debt.map(|debt| Instant::now() + debt.wait);
        self.debt = debt;
    }

    /// Waits until it is to be looked again, which [`Self::look_again`] does. Without end where nothing is waited for.
    pub(super) async fn rest(&self) {
        match self.resting_until {
            Some(until) => sleep_until(until).await,
            None => pending().await,
        }
    }

    /// Looks again whether what was read can be counted.
    pub(super) fn look_again(&mut self) {
        let paid = match (self.debt, &self.share) {
            (Some(debt), Some(share)) => share.pay(debt),
            _ => Ok(()),
        };
        self.owe(paid.err());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{net::IpAddr, sync::Arc};

    use http::HeaderMap;

    use super::*;
    use crate::{
        admission::{Address, Bounds, Origin, Rates, Traffic},
        config::{Number, Numbers},
    };

    struct Server {
        bounds: Arc<Bounds>,
        rates: Arc<Rates>,
    }

    impl Server {
        fn new(numbers: &Numbers) -> Self {
            Self { bounds: Bounds::new(numbers), rates: Rates::new(numbers) }
        }

        fn intake(&self, address: &str) -> Intake {
            let address = Address::from(address.parse::<IpAddr>().unwrap());
            let traffic = Traffic::new(&self.bounds, address);
            let origin = Origin { address, traffic, crowded: false };
            Intake::new(Some(Share::new(Arc::clone(&self.rates), Some(origin), &HeaderMap::new())))
        }
    }

    /// How many are read while none is answered.
    fn unanswered(intake: &mut Intake) -> usize {
        (0..10_000).find(|unanswered| !intake.is_open(*unanswered)).unwrap()
    }

    #[test]
    fn streams_that_read_no_answers_have_their_part_of_what_may_wait_and_leave_others_theirs() {
        let server = Server::new(&Numbers::default());
        let mut streams: Vec<_> = (0..40).map(|_| server.intake("192.0.2.1")).collect();
        let read: Vec<_> = streams.iter_mut().map(unanswered).collect();
        assert_eq!(read[0], limits::MAX_REQUESTS_IN_FLIGHT);
        assert_eq!(read[39], limits::OWN_REQUESTS_IN_FLIGHT);
        let beyond: usize = read.iter().map(|read| read - limits::OWN_REQUESTS_IN_FLIGHT).sum();
        let part = usize::try_from(limits::UNANSWERED_REQUESTS_PER_ADDRESS).unwrap();
        assert!(beyond <= part && beyond + 16 * 40 > part, "{beyond} of {part}");
        assert_eq!(unanswered(&mut server.intake("192.0.2.2")), limits::MAX_REQUESTS_IN_FLIGHT);
        // What is answered, and a stream that ends, makes room for others.
        streams[0].resting_until = None;
        assert!(streams[0].is_open(0));
        streams.truncate(1);
        assert_eq!(unanswered(&mut server.intake("192.0.2.1")), limits::MAX_REQUESTS_IN_FLIGHT);
    }

    #[tokio::test(start_paused = true)]
    async fn many_streams_read_no_faster_than_one() {
        let (rate, burst) = (200, 10);
        let numbers = Numbers::default().with(Number::RequestsPerSecondPerAddress, rate).unwrap();
        let numbers = numbers.with(Number::RequestBurstPerAddress, burst).unwrap();
        let server = Server::new(&numbers);
        let mut streams: Vec<_> = (0..50).map(|_| server.intake("192.0.2.1")).collect();
        let begun = std::time::Instant::now();
        let mut read = 0;
        while read < 250 {
            for stream in &mut streams {
                if stream.is_open(0) {
                    stream.read_one();
                    read += 1;
                } else {
                    stream.look_again();
                }
            }
        }
        // All but the burst, and one of each stream that is still to be counted.
        let least = std::time::Duration::from_secs(250 - burst - 50) / u32::try_from(rate).unwrap();
        assert!(begun.elapsed() >= least, "{:?}", begun.elapsed());
    }
}
