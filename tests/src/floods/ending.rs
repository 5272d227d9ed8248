//! How a connection of an attacker ended.

use std::fmt;
use std::io;

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// HTTP/2 said why, by the code of RFC 9113, section 7.
    GoAway(u32),
    /// HTTP/1 answered, with this status.
    Status(String),
    /// TCP's RST, and nothing before it.
    Reset,
    /// It was closed without a word.
    Closed,
    /// It did not come about.
    Refused(String),
}

impl Ending {
    /// What an error of the socket says.
    pub fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Self::Reset,
            // TLS without its farewell.
            io::ErrorKind::UnexpectedEof => Self::Closed,
            kind => Self::Refused(kind.to_string()),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        match self {
            Self::GoAway(code) => {
                let name = usize::try_from(*code).ok().and_then(|code| NAMES.get(code));
                write!(f, "GOAWAY {}", name.unwrap_or(&"of an unknown code"))
            }
            Self::Status(status) => write!(f, "HTTP {status}"),
            Self::Reset => f.write_str("RST"),
            Self::Closed => f.write_str("closed"),
            Self::Refused(why) => write!(f, "refused: {why}"),
        }
    }
}
