//! Whose a connection is, as far as an address can tell, and how many of an address are open.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::tally::Tally;

/// What counts as one address: one of IPv4, or the first 64 bits of IPv6, since a client has the rest to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Address(IpAddr);

impl Address {
    /// Of what has no connection: a server without a port.
    pub(crate) const NONE: Self = Self(IpAddr::V6(Ipv6Addr::UNSPECIFIED));

    /// Whether it is the loopback address itself, from which only programs of this machine come.
    pub(crate) fn is_loopback(self) -> bool {
        // ::1 without its last 64 bits. No network has an address in there.
        self.0 == IpAddr::V4(Ipv4Addr::LOCALHOST) || self.0 == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            ip @ IpAddr::V4(_) => Self(ip),
            IpAddr::V6(ip) => Self(IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)))),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(ip) => ip.fmt(f),
            IpAddr::V6(ip) => write!(f, "{ip}/64"),
        }
    }
}

/// What is open at once, by address: connections, calls, or seats that are followed. There are never more addresses than that.
#[derive(Debug)]
pub(crate) struct Crowd {
    most: usize,
    most_of_address: usize,
    open: Mutex<Tally<Address>>,
}

/// Why there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// As much is open as may be.
    All,
    /// As much of this address.
    Address,
}

impl Crowd {
    pub(crate) fn new(most: usize, most_of_address: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_address, open: Mutex::default() })
    }

    /// Room for one more of an address.
    pub(crate) fn room(self: &Arc<Self>, address: Address) -> Result<Room, Full> {
        self.room_within(self.most, address)
    }

    /// The same, as long as fewer than so many are open in all: the rest is kept for others.
    pub(crate) fn room_within(self: &Arc<Self>, most: usize, address: Address) -> Result<Room, Full> {
        let mut open = self.tally();
        if open.all() >= most.min(self.most) {
            return Err(Full::All);
        }
        if !open.add_below(address, self.most_of_address) {
            return Err(Full::Address);
        }
        Ok(Room { crowd: Arc::clone(self), address })
    }

    /// How much is open.
    pub(crate) fn open(&self) -> usize {
        self.tally().all()
    }

    fn tally(&self) -> MutexGuard<'_, Tally<Address>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The room of one, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Room {
    crowd: Arc<Crowd>,
    address: Address,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.crowd.tally().remove(Some(&self.address));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_client_is_one_address_whatever_it_chooses_of_its_64_bits() {
        let check = |left: &str, right: &str, same| {
            let address = |text: &str| Address::from(text.parse::<IpAddr>().unwrap());
            assert_eq!(address(left) == address(right), same, "{left} and {right}");
        };
        check("192.0.2.1", "192.0.2.1", true);
        check("192.0.2.1", "192.0.2.2", false);
        check("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true);
        check("2001:db8:0:1::1", "2001:db8:0:2::1", false);
        check("::ffff:192.0.2.1", "192.0.2.1", true);
        check("::ffff:192.0.2.1", "::ffff:192.0.2.2", false);
    }

    #[test]
    fn an_address_is_told_as_a_firewall_takes_it() {
        for (text, told) in [("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:0:1::1", "2001:db8:0:1::/64")] {
            assert_eq!(Address::from(text.parse::<IpAddr>().unwrap()).to_string(), told);
        }
    }

    #[test]
    fn one_address_with_as_much_open_as_it_may_have_leaves_room_for_another() {
        let crowd = Crowd::new(4, 2);
        let [one, other, third] =
            ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|ip| Address::from(ip.parse::<IpAddr>().unwrap()));
        let mut open = vec![crowd.room(one).unwrap(), crowd.room(one).unwrap()];
        assert_eq!(crowd.room(one).unwrap_err(), Full::Address);
        let of_other = crowd.room(other).unwrap();
        open.pop();
        let again = crowd.room(one).unwrap();
        assert_eq!(crowd.room(one).unwrap_err(), Full::Address);
        let of_third = crowd.room(third).unwrap();
        assert_eq!(crowd.room(other).unwrap_err(), Full::All);
        let most = 3;
        assert_eq!(crowd.room_within(most, other).unwrap_err(), Full::All, "what is kept for others");
        drop((open, of_other, again, of_third));
        let open = crowd.tally();
        assert_eq!((open.all(), open.of(&one)), (0, 0), "what is closed leaves room");
    }
}
