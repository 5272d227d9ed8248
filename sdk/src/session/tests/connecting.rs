//! What ends a session at its first connection, and is tried again once there was one.

use tonic::Status;

use super::world::World;
use super::{check_whole, rules};
use crate::end::End;
use crate::error::{Disconnect, Error};
use crate::session::Records;
use crate::tls::TlsProblem;
use crate::transport::disconnect;

fn check(why: &Disconnect, is_why: impl Fn(&Error) -> bool) {
    let rules = rules(2);
    let mut never_open = World::new(rules, Records::Ignored);
    never_open.play_all(rules);
    never_open.perform();
    never_open.cut_because(why.clone());
    never_open.perform();
    assert_eq!(never_open.outcomes.len(), 2);
    for outcome in never_open.outcomes.values() {
        assert!(matches!(&outcome.end, End::Failed(error) if is_why(error)), "{:?}", outcome.end);
    }

    let mut world = World::new(rules, Records::Checked);
    world.play_all(rules);
    while world.server.first().steps.len() < 4 && world.step() {}
    for attempt in 1..=6 {
        world.cut_because(why.clone());
        while world.connections == attempt {
            assert!(world.step(), "it goes on trying");
        }
    }
    assert!(world.outcomes.is_empty());
    world.run();
    check_whole(&world);
}

#[test]
fn tls_that_breaks_ends_a_session_at_once_but_not_one_that_was_open_before() {
    let insecure = Disconnect::Insecure(TlsProblem::BadCertificate("expired".to_owned()));
    check(&insecure, |error| matches!(error, Error::Insecure { .. }));
}

/// As a proxy answers while its server is replaced.
#[test]
fn who_knows_nothing_of_zetema_ends_a_session_at_once_but_not_one_that_was_open_before() {
    let unknown = disconnect(&Status::unimplemented("404 page not found"));
    let address = |error: &Error| error.to_string().contains("no Zetema server answers at http://test");
    check(&unknown, address);
}
