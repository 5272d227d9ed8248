//! Who is let in beside whom, and what counts as waiting.

use std::net::IpAddr;

use hyper::body::Buf;

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
    let _waiting = traffic.queue(vec![0; waiting].into());
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

#[test]
fn what_was_handed_over_waits_until_it_is_written_or_thrown_away_whatever_is_flushed() {
    let numbers = Numbers::default().with(Number::MaxQueuedBytesPerConnection, 65_536).unwrap();
    let bounds = Bounds::new(&numbers);
    let traffic = Traffic::new(&bounds, address("192.0.2.1"));
    traffic.speaks_http2();
    let check = |waiting: u64| {
        traffic.flushed();
        assert_eq!((traffic.state().queued, bounds.queued_in_all()), (waiting, waiting));
        assert_eq!(traffic.has_room(), Ok(waiting < 65_536));
        assert_eq!(traffic.state().pace.since().is_some(), waiting > 0);
    };
    let [mut first, second] = [(); 2].map(|()| traffic.queue(vec![0; 50_000].into()));
    // One frame is written and flushed, as h2 does while more waits.
    first.advance(16_384);
    check(100_000 - 16_384);
    first.advance(50_000 - 16_384);
    check(50_000);
    drop(first);
    check(50_000);
    let third = traffic.queue(vec![0; 50_000].into());
    check(100_000);
    // The streams of the others are reset.
    drop(second);
    check(50_000);
    drop(third);
    check(0);
    let left = traffic.queue(vec![0; 50_000].into());
    drop((traffic, left));
    assert_eq!(bounds.queued_in_all(), 0);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_room_is_woken_when_something_is_let_go() {
    let numbers = Numbers::default().with(Number::MaxQueuedBytesPerConnection, 65_536).unwrap();
    let traffic = Traffic::new(&Bounds::new(&numbers), address("192.0.2.1"));
    let check = async |then: fn(Queued, &Traffic)| {
        let piece = traffic.queue(vec![0; 70_000].into());
        let waiting = traffic.clone();
        let waits = tokio::spawn(async move { waiting.room_for_answer().await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        then(piece, &traffic);
        tokio::time::timeout(Duration::from_hours(1), waits).await.unwrap().unwrap();
    };
    let thrown_away: fn(Queued, &Traffic) = |piece, traffic| {
        drop(piece);
        traffic.flushed();
    };
    let sent: fn(Queued, &Traffic) = |mut piece, traffic| {
        piece.advance(10_000);
        traffic.blocked();
    };
    check(thrown_away).await;
    check(sent).await;
}
