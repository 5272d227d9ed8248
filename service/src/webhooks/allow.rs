//! Where webhooks may send to, as the operator says.
//!
//! A server that sends requests to addresses that others give it could be made to ask its own network for things. So it sends to
//! nothing that the setting `webhook_allow` does not have, and what is checked is the IP address that is connected to, each
//! time: what a name stands for may change.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;

use super::url::{Host, Scheme, Target, is_name};

/// The addresses that may be sent to; none, unless configured.
///
/// It is written as a list with commas. Each entry is a host's name (`hooks.example.com`, `*.example.com` for the names below
/// it, `*` for all), which allows the addresses of the internet that the name stands for, or an IP address or network
/// (`10.1.2.0/24`, `[fd00::/8]`), which allows any name that stands for one in it. It allows https on port 443, unless it ends with
/// another port (`:8443`) or `:*`, and plain http if it begins with `http://` (port 80).
///
/// ```
/// use zetema_service::webhooks::Allowed;
///
/// let allowed: Allowed = "hooks.example.com, *.example.org:8443, http://127.0.0.1:*".parse()?;
/// assert_eq!(allowed.to_string(), "hooks.example.com,*.example.org:8443,http://127.0.0.1/32:*");
/// assert!("10.0.0.1/8".parse::<Allowed>().is_err());
/// # Ok::<(), zetema_service::webhooks::AllowError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    scheme: Scheme,
    place: Place,
    ports: Ports,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Name(String),
    NamesBelow(String),
    AnyName,
    Network(IpNet),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ports {
    One(u16),
    Any,
}

/// A text that does not say where webhooks may send to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither a host's name nor a network")]
pub struct AllowError(String);

impl Allowed {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this address of the target may be connected to.
    pub(super) fn allows(&self, target: &Target, ip: IpAddr) -> bool {
        // An IPv4 address in the form of an IPv6 one is itself.
        let ip = ip.to_canonical();
        self.fitting(target).any(|place| match (place, &target.host) {
            (Place::Network(network), _) => network.contains(&ip),
            (_, Host::Ip(_)) => false,
            (Place::AnyName, Host::Name(_)) => is_public(ip),
            (Place::Name(allowed), Host::Name(name)) => name == allowed && is_public(ip),
            (Place::NamesBelow(parent), Host::Name(name)) => is_below(name, parent) && is_public(ip),
        })
    }

    /// Whether an address of the target might be allowed, so that it is worth asking for them.
    pub(super) fn may_allow(&self, target: &Target) -> bool {
        self.fitting(target).any(|place| match (place, &target.host) {
            (Place::Network(network), Host::Ip(ip)) => network.contains(&ip.to_canonical()),
            (_, Host::Ip(_)) => false,
            (Place::Network(_) | Place::AnyName, Host::Name(_)) => true,
            (Place::Name(allowed), Host::Name(name)) => name == allowed,
            (Place::NamesBelow(parent), Host::Name(name)) => is_below(name, parent),
        })
    }

    /// Whether it may not be told if a target's name stands for nothing or for what is not allowed: that of any but a name that is
    /// here itself says what names the server's own network has.
    pub(super) fn hides(&self, target: &Target) -> bool {
        let Host::Name(name) = &target.host else { return false };
        !self.fitting(target).any(|place| matches!(place, Place::Name(allowed) if allowed == name))
    }

    /// The places that a target may be at by its scheme and port.
    fn fitting(&self, target: &Target) -> impl Iterator<Item = &Place> {
        let Target { scheme, port, .. } = *target;
        let fits = move |entry: &&Entry| {
            let port = match entry.ports {
                Ports::Any => true,
                Ports::One(one) => one == port,
            };
            entry.scheme == scheme && port
        };
        self.0.iter().filter(fits).map(|entry| &entry.place)
    }
}

fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.'))
}

/// Whether an address is one of the internet, as the registries of special addresses have it (RFC 6890 and its followers), and
/// no cloud's own.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    // Of the internet by its number, and in each virtual machine of Azure a service of its host.
    let azure = ip == Ipv4Addr::new(168, 63, 129, 16);
    let special = a == 0
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || ip.is_multicast()
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        || (a == 198 && (18..20).contains(&b))
        || a >= 240
        || azure;
    !special
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    // Global unicast is 2000::/3. In it are the protocols of the IETF and Teredo (2001::/23), 6to4, which has an IPv4 address
    // in it (2002::/16), and documentation.
    let global = a & 0xe000 == 0x2000;
    let special = (a == 0x2001 && (b < 0x200 || b == 0xdb8)) || a == 0x2002 || (a == 0x3fff && b < 0x1000);
    global && !special
}

impl FromStr for Allowed {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Self, AllowError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        text.split(',').map(|entry| entry.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for Entry {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Self, AllowError> {
        let error = || AllowError(text.to_owned());
        let (scheme, rest) = match text.split_once("://") {
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(("https", rest)) => (Scheme::Https, rest),
            None => (Scheme::Https, text),
            Some(_) => return Err(error()),
        };
        let (place, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((network, "")) => (network, None),
            Some((network, port)) => (network, Some(port.strip_prefix(':').ok_or_else(error)?)),
            // Of IPv6 a network has more than one colon, and needs brackets.
            None => match rest.split_once(':') {
                Some((place, port)) => (place, Some(port)),
                None => (rest, None),
            },
        };
        let ports = match port {
            None => Ports::One(scheme.port()),
            Some("*") => Ports::Any,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                Ports::One(port.parse().ok().filter(|port| *port > 0).ok_or_else(error)?)
            }
            Some(_) => return Err(error()),
        };
        let is_v6 = rest.starts_with('[');
        let place = place.parse().ok().filter(|place: &Place| place.is_v6() == is_v6).ok_or_else(error)?;
        Ok(Self { scheme, place, ports })
    }
}

impl Place {
    const fn is_v6(&self) -> bool {
        matches!(self, Self::Network(IpNet::V6(_)))
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text == "*" {
            return Ok(Self::AnyName);
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Self::Network(ip.into()));
        }
        if let Ok(network) = text.parse::<IpNet>() {
            // With more bits than it has it is a mistake for a smaller one, or a larger one.
            return if network == network.trunc() { Ok(Self::Network(network)) } else { Err(()) };
        }
        let name = text.to_ascii_lowercase();
        match name.strip_prefix("*.") {
            Some(parent) if is_name(parent) => Ok(Self::NamesBelow(parent.to_owned())),
            None if is_name(&name) => Ok(Self::Name(name)),
            _ => Err(()),
        }
    }
}

/// As it is written in the configuration.
impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, entry) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            entry.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, place, ports } = self;
        if *scheme == Scheme::Http {
            f.write_str("http://")?;
        }
        match place {
            Place::Name(name) => f.write_str(name)?,
            Place::NamesBelow(parent) => write!(f, "*.{parent}")?,
            Place::AnyName => f.write_str("*")?,
            Place::Network(IpNet::V6(network)) => write!(f, "[{network}]")?,
            Place::Network(network) => write!(f, "{network}")?,
        }
        match ports {
            Ports::Any => f.write_str(":*"),
            Ports::One(port) if *port == scheme.port() => Ok(()),
            Ports::One(port) => write!(f, ":{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_allowed_by_the_one_that_is_connected_to() {
        let check = |allowed: &str, url: &str, ip: &str, expected: bool| {
            let target = Target::parse(url).unwrap();
            let rules: Allowed = allowed.parse().unwrap();
            assert_eq!(rules.allows(&target, ip.parse().unwrap()), expected, "{allowed:?}: {url} at {ip}");
            assert!(!expected || rules.may_allow(&target), "{allowed:?}: {url}");
            // What is written reads back as the same.
            assert_eq!(rules.to_string().parse(), Ok(rules));
        };
        let (name, public) = ("https://hooks.example.com/", "93.184.215.14");
        check("", name, public, false);
        check("hooks.example.com", name, public, true);
        check("hooks.example.com", name, "168.63.129.17", true);
        check("HOOKS.example.com", name, "2606:2800:21f:cb07:6820:80da:af6b:8b2c", true);
        check("example.com", name, public, false);
        check("*.example.com", name, public, true);
        check("*.hooks.example.com", name, public, false);
        check("*.example.com", "https://evilexample.com/", public, false);
        check("*", name, public, true);
        check("*", "https://93.184.215.14/", public, false);
        // The port and the scheme.
        check("hooks.example.com", "https://hooks.example.com:8443/", public, false);
        check("hooks.example.com:8443", "https://hooks.example.com:8443/", public, true);
        check("hooks.example.com:*", "https://hooks.example.com:8443/", public, true);
        check("hooks.example.com", "http://hooks.example.com:443/", public, false);
        check("http://hooks.example.com", "http://hooks.example.com/", public, true);
        check("http://hooks.example.com", name, public, false);
        // A name that stands for what is not of the internet.
        for ip in [
            "127.0.0.1",
            "127.255.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.9",
            "168.63.129.16",
            "::ffff:168.63.129.16",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "100::1",
        ] {
            check("hooks.example.com", name, ip, false);
            check("*", name, ip, false);
        }
        // A network.
        let inner = "https://inner.example.com:8443/";
        check("10.0.0.0/8:8443", inner, "10.9.8.7", true);
        check("10.0.0.0/8:8443", inner, "::ffff:10.9.8.7", true);
        check("10.0.0.0/8:8443", inner, "11.0.0.1", false);
        check("10.0.0.0/8", inner, "10.9.8.7", false);
        check("10.0.0.0/8:*", "https://10.9.8.7:1/", "10.9.8.7", true);
        check("[fd00::/8]:8443", inner, "fd00::1", true);
        check("[fd00::/8]", "https://[fd00::1]/", "fd00::1", true);
        check("[::1]:*", "https://[::1]:4/", "::1", true);
        check("127.0.0.1", "https://127.0.0.1/", "127.0.0.1", true);
        check("127.0.0.1", "http://127.0.0.1/", "127.0.0.1", false);
        check("http://127.0.0.1:9000", "http://127.0.0.1:9000/", "127.0.0.1", true);
        check("http://127.0.0.1:9000", "http://localhost:9000/", "127.0.0.1", true);
        check("http://127.0.0.1:9000", "http://localhost:9000/", "::1", false);
        check("hooks.example.com, 10.0.0.0/8", name, "10.1.1.1", true);
    }

    #[test]
    fn what_says_no_place_is_refused() {
        for text in [
            ",",
            "a,,b",
            "hooks.example.com/",
            "hooks.example.com:0",
            "hooks.example.com:x",
            "hooks.example.com:+1",
            "ftp://hooks.example.com",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "fd00::/8",
            "[10.0.0.0/8]",
            "[hooks.example.com]",
            "[fd00::/8]8443",
            "*.*",
            "*hooks",
            "me@example.com",
            "127.1",
            "2130706433",
            "-",
            "a b",
        ] {
            let read = text.parse::<Allowed>();
            assert_eq!(read.is_ok(), text == "-", "{text}: {read:?}");
        }
    }
}
