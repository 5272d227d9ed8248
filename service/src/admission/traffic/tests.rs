//! Who is let in beside whom.

use std::net::IpAddr;

use super::*;

fn address(text: &str) -> Address {
    Address::from(text.parse::<IpAddr>().unwrap())
}

/// Of 8 calls these are open, and so many bytes wait: who is let in?
fn check(open: &[(Purpose, usize)], waiting: usize, let_in: &[Purpose]) {
    let numbers = Numbers::default().with(Number::MaxStreams, 8).unwrap();
    let traffic = Traffic::new(&Bounds::new(&numbers), address("192.0.2.1"));
    let open = open.iter().flat_map(|&(purpose, count)| std::iter::repeat_n(purpose, count));
    let rooms: Vec<Room> = open.map(|purpose| traffic.room(purpose).unwrap()).collect();
    traffic.queue(waiting);
    for purpose in [Purpose::Health, Purpose::Metrics, Purpose::Play, Purpose::Other] {
        let room = traffic.room(purpose);
        assert_eq!(room.is_some(), let_in.contains(&purpose), "{purpose:?} beside {}", rooms.len());
    }
}

#[test]
fn who_watches_over_the_server_is_let_in_however_full_it_is_and_who_plays_before_all_else() {
    use Purpose::{Health, Metrics, Other, Play};
    let full = limits::DEFAULT_MAX_QUEUED_BYTES_PER_ADDRESS;
    check(&[], 0, &[Health, Metrics, Play, Other]);
    check(&[(Other, 7)], 0, &[Health, Metrics, Play]);
    check(&[(Other, 7), (Play, 1)], 0, &[Health, Metrics]);
    check(&[], full, &[Health, Metrics, Play]);
    check(&[(Metrics, limits::MAX_METRICS_PAGES_PER_ADDRESS)], 0, &[Health, Play, Other]);
}

#[test]
fn pages_of_metrics_take_no_room_of_calls_and_one_address_leaves_others_theirs() {
    let bounds = Bounds::new(&Numbers::default());
    let page = |from: &str| Traffic::new(&bounds, address(from)).room(Purpose::Metrics);
    let most = limits::MAX_METRICS_PAGES_PER_ADDRESS;
    let mut pages: Vec<Room> = (0..most).map(|_| page("192.0.2.1").unwrap()).collect();
    assert!(page("192.0.2.1").is_none());
    assert_eq!(bounds.calls.open(), 0);
    pages.push(page("192.0.2.2").unwrap());
    pages.clear();
    assert!(page("192.0.2.1").is_some(), "what was read leaves room");
}
