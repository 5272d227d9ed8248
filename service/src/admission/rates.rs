//! How fast a token and an address may ask and create, an address connect, and how many seats it may follow and matches have
//! replayed.
//!
//! What can't be told apart in so many slots shares one: so the memory has a bound, however many tokens and addresses a flood
//! makes up, and nobody can choose whose slot to share.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use governor::{
    DefaultKeyedRateLimiter, Quota,
    clock::{Clock, DefaultClock},
};
use http::HeaderMap;
use metrics::counter;
use tokio::time::{MissedTickBehavior, interval};

use super::{
    Address, Crowd, Full, Purpose, Room, Taken, Traffic, Verdict,
    replays::{LongQueue, Replays},
    turns::{Turn, Turns},
};
use crate::{
    access::presented,
    config::{Number, Numbers},
    limits,
    metrics::THROTTLED,
};

/// How fast everyone may connect, ask and create, and how much follow.
#[derive(Debug)]
pub(crate) struct Rates {
    connections: Slots,
    /// As how many connections one counts that was cut for flooding.
    flood: NonZeroU32,
    requests: Rate,
    creates: Rate,
    /// Pages of the metrics.
    pages: Slots,
    lists: Turns,
    replays: Replays,
    seats: Arc<Crowd>,
}

/// So many a second, by token and by address.
#[derive(Debug)]
struct Rate {
    by_token: Slots,
    by_address: Slots,
}

#[derive(Debug)]
struct Slots {
    hasher: RandomState,
    limiter: DefaultKeyedRateLimiter<u64>,
}

impl Slots {
    fn new(numbers: &Numbers, per_second: Number, burst: Number) -> Self {
        // Neither is ever 0.
        let number = |number| NonZeroU32::new(numbers.small(number)).unwrap_or(NonZeroU32::MIN);
        Self::of(number(per_second), number(burst))
    }

    fn of(per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        let quota = Quota::per_second(per_second).allow_burst(burst);
        Self { hasher: RandomState::new(), limiter: DefaultKeyedRateLimiter::keyed(quota) }
    }

    /// Takes so many, or says how long to wait for them.
    fn take(&self, whose: impl Hash, count: NonZeroU32) -> Result<(), Duration> {
        let slot = self.hasher.hash_one(whose) % limits::RATE_SLOTS;
        match self.limiter.check_key_n(&slot, count) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(not_until)) => Err(not_until.wait_time_from(DefaultClock::default().now())),
            // More at once than there may ever be, which the ranges of the settings rule out.
            Err(_) => Err(Duration::from_millis(limits::RETRY_AFTER_MS.into())),
        }
    }

    fn tidy(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }
}

impl Rates {
    pub(crate) fn new(numbers: &Numbers) -> Arc<Self> {
        let rate = |token: [Number; 2], address: [Number; 2]| Rate {
            by_token: Slots::new(numbers, token[0], token[1]),
            by_address: Slots::new(numbers, address[0], address[1]),
        };
        let flood = limits::CONNECTIONS_OF_A_FLOOD.min(numbers.small(Number::ConnectionBurstPerAddress));
        Arc::new(Self {
            connections: Slots::new(
                numbers,
                Number::ConnectionsPerSecondPerAddress,
                Number::ConnectionBurstPerAddress,
            ),
            flood: NonZeroU32::new(flood).unwrap_or(NonZeroU32::MIN),
            requests: rate(
                [Number::RequestsPerSecondPerToken, Number::RequestBurstPerToken],
                [Number::RequestsPerSecondPerAddress, Number::RequestBurstPerAddress],
            ),
            creates: rate(
                [Number::CreatesPerSecondPerToken, Number::CreateBurstPerToken],
                [Number::CreatesPerSecondPerAddress, Number::CreateBurstPerAddress],
            ),
            pages: Slots::of(limits::METRICS_PAGES_PER_SECOND, limits::METRICS_PAGES_BURST),
            lists: Turns::new(limits::LISTS_AT_WORK, limits::LISTS_AT_WORK_PER_ADDRESS),
            replays: Replays::new(numbers),
            seats: Crowd::new(
                numbers.count(Number::MaxFollowedSeats),
                numbers.count(Number::MaxFollowedSeatsPerAddress),
            ),
        })
    }

    /// One more connection of an address, if it does not open them too fast.
    pub(crate) fn connection(&self, address: Address) -> Result<(), Duration> {
        self.connections.take(address, NonZeroU32::MIN)
    }

    /// A connection of this address was cut for flooding, and counts as many. When the address has not as many left, it has
    /// none.
    pub(crate) fn flooded(&self, address: Address) {
        if self.connections.take(address, self.flood).is_err() {
            while self.connections.take(address, NonZeroU32::MIN).is_ok() {}
        }
    }

    /// Forgets again and again who has its whole burst back.
    pub(crate) async fn tidy(self: Arc<Self>) {
        let mut ticks = interval(limits::RATES_TIDY_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.connections.tidy();
            self.pages.tidy();
            for Rate { by_token, by_address } in [&self.requests, &self.creates] {
                by_token.tidy();
                by_address.tidy();
            }
        }
    }
}

/// Where a request came from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) address: Address,
    pub(crate) traffic: Traffic,
    /// Whether there is no room for one more call.
    pub(crate) crowded: bool,
}

/// What was asked too fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooFast {
    /// How long to wait.
    pub(crate) wait: Duration,
    /// Who asked too fast: the token or the address.
    pub(crate) by: &'static str,
}

/// A message that was taken in and is not counted yet, as its sender has sent too much: nothing more is read until it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Debt {
    /// How long to wait before it is tried again.
    pub(crate) wait: Duration,
    to: Creditor,
}

/// Whose share it is still to be counted for: an address that has counted it does so once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Creditor {
    AddressAndToken,
    Token,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    Message,
    Create,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Message => "message",
            Self::Create => "create",
        }
    }
}

/// The share of whoever sent a request.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    rates: Arc<Rates>,
    origin: Option<Origin>,
    /// Stands for the token, valid or not.
    token: Option<u64>,
}

impl Share {
    /// That of a request from there, by the token of its headers. A header that has none to look up counts for its address
    /// alone.
    pub(crate) fn new(rates: Arc<Rates>, origin: Option<Origin>, headers: &HeaderMap) -> Self {
        let token = presented(headers).ok().flatten();
        let token = token.map(|token| rates.requests.by_token.hasher.hash_one(token));
        Self { rates, origin, token }
    }

    /// One more request. The address counts whatever the token is, so that who makes up tokens has no more than who has none.
    pub(crate) fn request(&self) -> Result<(), TooFast> {
        let (rate, kind, one) = (&self.rates.requests, Kind::Request, NonZeroU32::MIN);
        let taken = self.take_of_address(rate, kind, one).and_then(|()| self.take_of_token(rate, kind, one));
        if let (Err(_), Some(origin)) = (&taken, &self.origin) {
            origin.traffic.refused();
        }
        taken
    }

    /// One more question of who watches over the server, about its health or its metrics: an address has a share for each of
    /// these alone, so that who asks on behalf of a proxy is answered however busy the proxy's clients are. A page of metrics is
    /// much to send, and nobody needs many.
    pub(crate) fn watching_over(&self, purpose: Purpose) -> Result<(), TooFast> {
        let taken = match purpose {
            Purpose::Metrics => self.rates.pages.take(self.address(), NonZeroU32::MIN),
            _ => self.rates.requests.by_address.take((self.address(), purpose), NonZeroU32::MIN),
        };
        taken.map_err(|wait| {
            if let Some(origin) = &self.origin {
                origin.traffic.refused();
            }
            self.too_fast(Kind::Request, "address", wait)
        })
    }

    /// One more message on a stream that is open.
    pub(crate) fn message(&self) -> Result<(), Debt> {
        if let Some(origin) = &self.origin {
            origin.traffic.useful();
        }
        self.settle(Creditor::AddressAndToken).inspect_err(|debt| {
            let by = match debt.to {
                Creditor::AddressAndToken => "address",
                Creditor::Token => "token",
            };
            counter!(THROTTLED, "what" => Kind::Message.name(), "by" => by).increment(1);
        })
    }

    /// Counts a message at last, if its time has come.
    pub(crate) fn pay(&self, debt: Debt) -> Result<(), Debt> {
        self.settle(debt.to)
    }

    fn settle(&self, to: Creditor) -> Result<(), Debt> {
        let owed = |to| move |wait: Duration| Debt { wait: wait.max(limits::LEAST_REST), to };
        let Rate { by_token, by_address } = &self.rates.requests;
        if to == Creditor::AddressAndToken {
            by_address.take(self.address(), NonZeroU32::MIN).map_err(owed(to))?;
        }
        match self.token {
            Some(token) => by_token.take(token, NonZeroU32::MIN).map_err(owed(Creditor::Token)),
            None => Ok(()),
        }
    }

    /// So many more matches, by a token that is known. It counts first: what it is refused is not taken from the others behind its
    /// address, which may be a proxy's.
    pub(crate) fn create(&self, count: usize) -> Result<(), TooFast> {
        let Some(count) = u32::try_from(count).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        let (rate, kind) = (&self.rates.creates, Kind::Create);
        self.take_of_token(rate, kind, count)?;
        self.take_of_address(rate, kind, count)
    }

    /// Waits for a turn to make a list or a record, behind others of the same address, and for room for it. None is made
    /// while as much waits to be sent as may.
    pub(crate) async fn list(&self) -> Result<Turn, Full> {
        loop {
            let turn = self.rates.lists.next(self.address()).await;
            match &self.origin {
                Some(Origin { traffic, .. }) if !traffic.has_room()? => {
                    drop(turn);
                    traffic.room_for_answer().await;
                }
                _ => return Ok(turn),
            }
        }
    }

    /// Waits for a turn to have a match replayed that is over, behind others of the same address.
    pub(crate) async fn replay(&self) -> Result<Turn, LongQueue> {
        self.rates.replays.to_make(self.address()).await
    }

    /// Waits for a turn to read a replay of so many places, which may be kept as long as that takes.
    pub(crate) async fn replay_to_read(&self, places: usize) -> Result<Turn, LongQueue> {
        self.rates.replays.to_read(self.address(), places).await
    }

    /// Waits for a turn to read what a seat has missed of its match, which runs.
    pub(crate) async fn replay_to_read_by_seat(&self, places: usize) -> Result<Turn, LongQueue> {
        self.rates.replays.to_read_by_seat(self.address(), places).await
    }

    /// The room of requests on a Play stream that are not answered. `None`: of one that came by no connection.
    pub(crate) fn unanswered(&self) -> Option<Taken> {
        self.origin.as_ref().map(|origin| origin.traffic.unanswered())
    }

    /// Room to follow one more seat, for as long as what is returned lives.
    pub(crate) fn seat(&self) -> Result<Room, Full> {
        self.rates.seats.room(self.address())
    }

    pub(crate) fn address(&self) -> Address {
        self.origin.as_ref().map_or(Address::NONE, |origin| origin.address)
    }

    /// Why the server closed the connection, if it did.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.origin.as_ref().and_then(|origin| origin.traffic.verdict())
    }

    fn take_of_address(&self, rate: &Rate, kind: Kind, count: NonZeroU32) -> Result<(), TooFast> {
        let taken = rate.by_address.take(self.address(), count);
        taken.map_err(|wait| self.too_fast(kind, "address", wait))
    }

    fn take_of_token(&self, rate: &Rate, kind: Kind, count: NonZeroU32) -> Result<(), TooFast> {
        let Some(token) = self.token else { return Ok(()) };
        rate.by_token.take(token, count).map_err(|wait| self.too_fast(kind, "token", wait))
    }

    /// Counts it, and tells whoever looks for the address. Which token it was is known only when it is looked up.
    fn too_fast(&self, kind: Kind, by: &'static str, wait: Duration) -> TooFast {
        tracing::debug!(from = %self.address(), what = kind.name(), by, "a share is used up");
        counter!(THROTTLED, "what" => kind.name(), "by" => by).increment(1);
        TooFast { wait, by }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
