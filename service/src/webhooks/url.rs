//! Where a webhook sends, taken apart.

use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::uri::{PathAndQuery, Scheme as UriScheme};

/// How a receiver is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// With TLS.
    Https,
}

impl Scheme {
    /// Its port, unless another is given.
    pub(super) const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// The host of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name, in lower case.
    Name(String),
    /// An IP address.
    Ip(IpAddr),
}

impl Host {
    /// The host that this text is; of IPv6 it may be in brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(bare) = bare {
            return bare.parse().ok().map(|ip| Self::Ip(IpAddr::V6(ip)));
        }
        if let Ok(ip) = text.parse() {
            return Some(Self::Ip(IpAddr::V4(ip)));
        }
        let name = text.to_ascii_lowercase();
        is_name(&name).then_some(Self::Name(name))
    }
}

/// Whether this is the name of a host. One that ends in a number is none: systems read it as an address in some other form.
pub(super) fn is_name(text: &str) -> bool {
    let label = |label: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=63).contains(&label.len()) && label.bytes().all(allowed)
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().next().is_some_and(|first| first.is_ascii_digit());
    text.len() <= 253 && text.split('.').all(label) && !is_number
}

/// Where a webhook sends. `Debug` shows no path: receivers have secrets in theirs.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub(super) scheme: Scheme,
    pub(super) host: Host,
    pub(super) port: u16,
    pub(super) path: PathAndQuery,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// Its host and port.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = self.port;
        match &self.host {
            Host::Name(name) => write!(f, "{name}:{port}"),
            Host::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]:{port}"),
            Host::Ip(ip) => write!(f, "{ip}:{port}"),
        }
    }
}

/// A text that is no address of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It is no such address at all.
    #[error("is no address of a receiver: give one as in https://hooks.example.com/zetema")]
    NoUrl,
    /// It has a user's name, or a password.
    #[error(
        "has a user name or a password in it: leave them out, and put what is secret into the path if need be"
    )]
    UserInfo,
    /// It has a fragment.
    #[error("has a fragment, which is never sent: leave out # and what follows")]
    Fragment,
}

impl Target {
    /// What the header `host` says: its host, and its port if it is another than that of the scheme (RFC 9110, 4.2.3).
    pub(super) fn authority(&self) -> String {
        let whole = self.to_string();
        let usual = format!(":{}", self.scheme.port());
        whole.strip_suffix(&usual).filter(|_| self.port == self.scheme.port()).unwrap_or(&whole).to_owned()
    }

    /// Takes an address apart.
    ///
    /// # Errors
    /// [`UrlError`] says what is wrong with it.
    pub fn parse(url: &str) -> Result<Self, UrlError> {
        if url.contains('#') {
            return Err(UrlError::Fragment);
        }
        let uri: Uri = url.parse().map_err(|_| UrlError::NoUrl)?;
        let parts = uri.into_parts();
        let scheme = match parts.scheme {
            Some(scheme) if scheme == UriScheme::HTTPS => Scheme::Https,
            Some(scheme) if scheme == UriScheme::HTTP => Scheme::Http,
            _ => return Err(UrlError::NoUrl),
        };
        let authority = parts.authority.ok_or(UrlError::NoUrl)?;
        if authority.as_str().contains('@') {
            return Err(UrlError::UserInfo);
        }
        let host = Host::parse(authority.host()).ok_or(UrlError::NoUrl)?;
        // What follows the host has to be a port, whole.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => scheme.port(),
            Some(rest) => {
                let digits = rest.strip_prefix(':').filter(|digits| !digits.starts_with('+'));
                let port = digits.and_then(|digits| digits.parse().ok());
                port.filter(|port| *port > 0).ok_or(UrlError::NoUrl)?
            }
            None => return Err(UrlError::NoUrl),
        };
        let path = match parts.path_and_query {
            None => PathAndQuery::from_static("/"),
            // A query without a path is one of the path "/" (RFC 9112, 3.2.1).
            Some(path) if path.as_str().starts_with('?') => {
                format!("/{}", path.as_str()).parse().map_err(|_| UrlError::NoUrl)?
            }
            Some(path) => path,
        };
        Ok(Self { scheme, host, port, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let check = |url: &str, scheme, host: &str, port, path: &str| {
            let target = Target::parse(url).unwrap();
            assert_eq!((target.scheme, target.port), (scheme, port), "{url}");
            assert_eq!(target.host, Host::parse(host).unwrap(), "{url}");
            assert_eq!(target.path.as_str(), path, "{url}");
            // As it stands it is one that a request can be made of.
            assert!(target.path.as_str().parse::<Uri>().is_ok(), "{url}");
        };
        check("https://Hooks.Example.com", Scheme::Https, "hooks.example.com", 443, "/");
        check("https://hooks.example.com:8443/a/b?c=d", Scheme::Https, "hooks.example.com", 8443, "/a/b?c=d");
        check("https://hooks.example.com?c=d", Scheme::Https, "hooks.example.com", 443, "/?c=d");
        check("https://hooks.example.com:8443?", Scheme::Https, "hooks.example.com", 8443, "/?");
        check("http://127.0.0.1/x", Scheme::Http, "127.0.0.1", 80, "/x");
        check("https://[2001:DB8::1]:9/", Scheme::Https, "[2001:db8::1]", 9, "/");
        check("https://[::ffff:10.0.0.1]/", Scheme::Https, "[::ffff:a00:1]", 443, "/");
    }

    #[test]
    fn a_host_is_told_its_port_unless_it_is_the_usual_one() {
        let check =
            |url: &str, expected| assert_eq!(Target::parse(url).unwrap().authority(), expected, "{url}");
        check("https://hooks.example.com/", "hooks.example.com");
        check("https://hooks.example.com:443/", "hooks.example.com");
        check("https://hooks.example.com:80/", "hooks.example.com:80");
        check("https://hooks.example.com:8443/", "hooks.example.com:8443");
        check("http://10.0.0.1/", "10.0.0.1");
        check("http://10.0.0.1:8080/", "10.0.0.1:8080");
        check("http://[fd00::80]/", "[fd00::80]");
        check("http://[fd00::80]:443/", "[fd00::80]:443");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in [
            "",
            "hooks.example.com",
            "//hooks.example.com/",
            "ftp://hooks.example.com/",
            "https://",
            "https:///path",
            "https://:443/",
            "https://hooks.example.com:0/",
            "https://hooks.example.com:/",
            "https://hooks.example.com:+1/",
            "https://hooks.example.com:65536/",
            "https://hooks.example.com/a b",
            "https://hooks..example.com/",
            "https://hooks.example.com./",
            "https://exa%6dple.com/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://127.1/",
            "https://[127.0.0.1]/",
            "https://[fe80::1%25eth0]/",
        ] {
            assert_eq!(Target::parse(url), Err(UrlError::NoUrl), "{url}");
        }
        assert_eq!(Target::parse("https://me:pw@hooks.example.com/"), Err(UrlError::UserInfo));
        assert_eq!(Target::parse("https://127.0.0.1@hooks.example.com/"), Err(UrlError::UserInfo));
        assert_eq!(Target::parse("https://hooks.example.com/#x"), Err(UrlError::Fragment));
    }

    #[test]
    fn debug_shows_no_path() {
        let target = Target::parse("https://hooks.example.com/secret?token=secret").unwrap();
        assert_eq!(format!("{target:?}"), "Target(hooks.example.com:443)");
    }
}
