use std::net::IpAddr;

use http::{HeaderValue, header::AUTHORIZATION};

use super::*;
use crate::admission::Bounds;

fn rates(changes: &[(Number, u64)]) -> Arc<Rates> {
    let change = |numbers: Numbers, &(number, value)| numbers.with(number, value).unwrap();
    Rates::new(&changes.iter().fold(Numbers::default(), change))
}

fn share(rates: &Arc<Rates>, address: &str, token: Option<&'static str>) -> Share {
    let address = Address::from(address.parse::<IpAddr>().unwrap());
    let traffic = Traffic::new(&Bounds::new(&Numbers::default()), address);
    let token = token.map(|token| (AUTHORIZATION, HeaderValue::from_static(token)));
    let headers = token.into_iter().collect();
    Share::new(Arc::clone(rates), Some(Origin { address, traffic, crowded: false }), &headers)
}

const ONE: &str = "192.0.2.1";
const OTHER: &str = "192.0.2.2";

#[test]
fn a_token_has_its_share_wherever_it_is_used_and_leaves_the_others_theirs() {
    let rates = rates(&[(Number::RequestsPerSecondPerToken, 1), (Number::RequestBurstPerToken, 3)]);
    let [here, there] = [ONE, OTHER].map(|address| share(&rates, address, Some("Bearer a")));
    for share in [&here, &there, &here] {
        share.request().unwrap();
    }
    let refused = there.request().unwrap_err();
    assert_eq!(refused.by, "token");
    for spelling in ["bearer a", "bEaReR   a", "Bearer a  "] {
        let refused = share(&rates, OTHER, Some(spelling)).request().unwrap_err();
        assert_eq!(refused.by, "token", "{spelling:?} is the same token");
    }
    assert!(refused.wait > Duration::ZERO && refused.wait <= Duration::from_secs(1), "{refused:?}");
    share(&rates, ONE, Some("Bearer b")).request().unwrap();
    share(&rates, ONE, None).request().unwrap();
    // A message on a stream is a request like any other.
    assert_eq!(here.message().unwrap_err().to, Creditor::Token);
}

#[test]
fn an_address_has_its_share_whatever_tokens_it_makes_up() {
    let rates = rates(&[(Number::RequestsPerSecondPerAddress, 1), (Number::RequestBurstPerAddress, 3)]);
    for token in [Some("Bearer a"), Some("Bearer b"), None] {
        share(&rates, ONE, token).request().unwrap();
    }
    for token in [Some("Bearer a"), Some("Bearer c"), None] {
        assert_eq!(share(&rates, ONE, token).request().unwrap_err().by, "address");
    }
    share(&rates, OTHER, Some("Bearer a")).request().unwrap();
}

#[test]
fn an_address_may_read_the_page_of_metrics_so_often_and_ask_after_its_health_all_the_same() {
    let rates = rates(&[]);
    let share = |address| share(&rates, address, None);
    let read = (0..1_000).filter(|_| share(ONE).watching_over(Purpose::Metrics).is_ok()).count();
    let burst = limits::METRICS_PAGES_BURST.get() as usize;
    assert!((burst..burst + 500).contains(&read), "{read} were read");
    share(ONE).watching_over(Purpose::Health).unwrap();
    share(ONE).request().unwrap();
    share(OTHER).watching_over(Purpose::Metrics).unwrap();
}

#[test]
fn a_batch_costs_as_many_creates_as_it_has_matches() {
    let rates = rates(&[(Number::CreatesPerSecondPerToken, 1), (Number::CreateBurstPerToken, 1_000)]);
    let share = share(&rates, ONE, Some("Bearer a"));
    share.create(999).unwrap();
    assert_eq!(share.create(2).unwrap_err().by, "token");
    share.create(1).unwrap();
    assert_eq!(share.create(1).unwrap_err().by, "token");
    share.request().unwrap();
}

#[test]
fn what_a_token_is_refused_to_create_is_left_to_the_others_of_its_address() {
    let rates = rates(&[
        (Number::CreatesPerSecondPerToken, 1),
        (Number::CreateBurstPerToken, 1_000),
        (Number::CreatesPerSecondPerAddress, 1),
        (Number::CreateBurstPerAddress, 2_000),
    ]);
    let [greedy, modest] = ["Bearer a", "Bearer b"].map(|token| share(&rates, ONE, Some(token)));
    greedy.create(1_000).unwrap();
    for _ in 0..10 {
        assert_eq!(greedy.create(1_000).unwrap_err().by, "token");
    }
    modest.create(1_000).unwrap();
    assert_eq!(share(&rates, ONE, Some("Bearer c")).create(1_000).unwrap_err().by, "address");
}

#[test]
fn who_is_cut_for_flooding_connects_less_often() {
    let changes = [(Number::ConnectionsPerSecondPerAddress, 1), (Number::ConnectionBurstPerAddress, 42)];
    let rates = rates(&changes);
    let [one, other] = [ONE, OTHER].map(|address| Address::from(address.parse::<IpAddr>().unwrap()));
    for _ in 0..2 {
        rates.connection(one).unwrap();
        rates.flooded(one);
    }
    let wait = rates.connection(one).unwrap_err();
    assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1), "{wait:?}");
    rates.connection(other).unwrap();
    // Less than a flood's worth is left, and nothing after it.
    for _ in 0..30 {
        rates.connection(other).unwrap();
    }
    rates.flooded(other);
    rates.connection(other).unwrap_err();
}

#[test]
fn a_million_addresses_and_tokens_take_no_more_memory_than_there_are_slots() {
    let rates = rates(&[(Number::RequestsPerSecondPerAddress, 1), (Number::RequestsPerSecondPerToken, 1)]);
    for i in 0..1_000_000_u32 {
        let _ = rates.requests.by_address.take(i, NonZeroU32::MIN);
    }
    let slots = usize::try_from(limits::RATE_SLOTS).unwrap();
    assert!(rates.requests.by_address.limiter.len() <= slots);
}

#[test]
fn who_has_its_whole_burst_back_is_forgotten() {
    let rates = rates(&[(Number::RequestsPerSecondPerAddress, 10_000_000)]);
    for i in 0..1_000_u32 {
        rates.requests.by_address.take(i, NonZeroU32::MIN).unwrap();
    }
    // A ten-millionth of a second later all have it.
    while !rates.requests.by_address.limiter.is_empty() {
        rates.requests.by_address.tidy();
    }
}
