//! File descriptors: each connection takes one, and many systems give a program 1,024 unless it asks for more.

use zetema_service::config::{Config, Number};
use zetema_service::limits;

/// Takes as many file descriptors as the system lets this program have, and warns if these are fewer than the connections that its
/// settings allow, and what else it opens.
#[cfg(unix)]
pub(crate) fn take_all(config: &Config) {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| {
        if soft < hard {
            setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
            tracing::debug!(from = soft, to = hard, "the limit of file descriptors was raised");
        }
        Ok(hard)
    });
    let may_have = match raised {
        Ok(may_have) => may_have,
        Err(error) => {
            tracing::warn!(%error, "the limit of file descriptors can't be raised: set it where the server is started");
            return;
        }
    };
    if let Some(wanted) = too_few(may_have, config) {
        tracing::warn!(
            may_have,
            wanted,
            "there may be fewer file descriptors than connections: raise the limit (LimitNOFILE of a unit, --ulimit nofile of a \
             container, ulimit -n of a shell), or lower max_connections"
        );
    }
}

#[cfg(not(unix))]
pub(crate) fn take_all(_: &Config) {}

/// How many there should be, if there are fewer.
#[cfg(unix)]
fn too_few(may_have: u64, config: &Config) -> Option<u64> {
    let wanted = config.numbers.get(Number::MaxConnections) + limits::DESCRIPTORS_BESIDE_CONNECTIONS;
    (may_have < wanted).then_some(wanted)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn fewer_than_the_connections_and_what_else_is_opened_are_too_few() {
        let config = Config::embedded("data").with(Number::MaxConnections, 4_096).unwrap();
        assert_eq!(too_few(1_024, &config), Some(4_608));
        assert_eq!(too_few(4_607, &config), Some(4_608));
        assert_eq!(too_few(4_608, &config), None);
        assert_eq!(too_few(u64::MAX, &config), None);
    }
}
