//! Where traces are sent, and how many.

use std::{fmt, str::FromStr};

use http::{Uri, uri::Scheme};

/// A collector of traces, and which share of all commands it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Otlp {
    /// Where it is.
    pub endpoint: OtlpEndpoint,
    /// The share that is traced, above 0, at most 1.
    pub share: f64,
}

/// The URL of a collector that takes OTLP over gRPC: `http` or `https`, a host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpEndpoint(String);

/// A text is no URL of a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no URL of a collector: give http or https, a host and a port, as in http://127.0.0.1:4317")]
pub struct NoOtlpEndpoint;

impl OtlpEndpoint {
    /// Whether it is spoken to over TLS.
    pub(crate) fn is_https(&self) -> bool {
        self.0.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"))
    }
}

impl FromStr for OtlpEndpoint {
    type Err = NoOtlpEndpoint;

    fn from_str(text: &str) -> Result<Self, NoOtlpEndpoint> {
        let uri: Uri = text.parse().map_err(|_| NoOtlpEndpoint)?;
        let known = [Some(&Scheme::HTTP), Some(&Scheme::HTTPS)].contains(&uri.scheme());
        let alone = ["", "/"].contains(&uri.path()) && uri.query().is_none();
        // A name and password in it would be shown with the other settings.
        let open = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        if known && alone && open { Ok(Self(text.to_owned())) } else { Err(NoOtlpEndpoint) }
    }
}

impl fmt::Display for OtlpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_has_a_scheme_and_a_host_and_no_secret() {
        for good in ["http://127.0.0.1:4317", "https://collector.example:4317/", "http://[::1]:4317"] {
            assert_eq!(
                good.parse::<OtlpEndpoint>().map(|endpoint| endpoint.to_string()),
                Ok(good.to_owned())
            );
        }
        let bad = [
            "",
            "127.0.0.1:4317",
            "collector",
            "ftp://collector:4317",
            "http://",
            "http://a:b@collector:4317",
            "http://collector:4317/v1/traces",
            "http://collector:4317/?a=b",
            "/",
        ];
        for bad in bad {
            assert_eq!(bad.parse::<OtlpEndpoint>(), Err(NoOtlpEndpoint), "{bad}");
        }
    }

    #[test]
    fn the_scheme_says_whether_tls_is_spoken_in_capitals_too() {
        let check = |text: &str, https| assert_eq!(text.parse::<OtlpEndpoint>().unwrap().is_https(), https);
        check("https://collector.example:4317", true);
        check("HTTPS://collector.example:4317", true);
        check("http://https:4317", false);
    }
}
