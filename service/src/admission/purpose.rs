//! What a call is for: who is let in when there is room for few.

/// Methods of `PlayService` without which nobody plays. Their answers begin with a few kilobytes.
const PLAYS: [&str; 6] = ["Play", "Observe", "JoinSeat", "SendNonce", "Act", "Resign"];

/// What a call is for, as far as its path tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    /// To ask whether the server serves. Who asks would give up a server that is only full.
    Health,
    /// To read the metrics. Who watches over the server must see that it is full.
    Metrics,
    /// To play. What runs has clocks.
    Play,
    /// All else.
    Other,
}

impl Purpose {
    /// That of a call of this path.
    pub(crate) fn of(path: &str) -> Self {
        if path == "/grpc.health.v1.Health/Check" {
            Self::Health
        } else if path == "/metrics" {
            Self::Metrics
        } else if path.strip_prefix("/zetema.v1.PlayService/").is_some_and(|method| PLAYS.contains(&method)) {
            Self::Play
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use zetema_proto::v1::{match_service_server, play_service_server};

    use super::*;

    #[test]
    fn the_path_tells_what_a_call_is_for() {
        let of = |service: &str, method: &str| Purpose::of(&format!("/{service}/{method}"));
        assert_eq!(of("grpc.health.v1.Health", "Check"), Purpose::Health);
        // A stream stays open: it is one of many.
        assert_eq!(of("grpc.health.v1.Health", "Watch"), Purpose::Other);
        assert_eq!(Purpose::of("/metrics"), Purpose::Metrics);
        assert_eq!(Purpose::of("/metrics/more"), Purpose::Other);
        assert_eq!(of(play_service_server::SERVICE_NAME, "Act"), Purpose::Play);
        assert_eq!(of(play_service_server::SERVICE_NAME, "ListFaults"), Purpose::Other);
        assert_eq!(of(match_service_server::SERVICE_NAME, "WatchMatch"), Purpose::Other);
    }
}
