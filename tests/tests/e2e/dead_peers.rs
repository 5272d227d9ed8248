//! A peer that is gone without a word: its connection stays open, and nothing comes any more.

use std::ffi::OsStr;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tonic::Streaming;
use zetema_proto::v1;
use zetema_proto::v1::Preset;
use zetema_sdk::{Action, Bot, Decision, Disconnect, End, Fault, Session, Settings};
use zetema_tests::harness::{Clients, Created, PlayStream, Process, Table, preset, soon, unhurried};
use zetema_tests::proxy::Proxy;

const PING_INTERVAL: Duration = Duration::from_secs(2);
/// What docs/server.md says: three ping intervals.
const NOTICED_WITHIN: Duration = PING_INTERVAL.saturating_mul(3);
/// What a busy machine may take in a test beyond that: less than as many intervals again.
const SLACK: Duration = Duration::from_secs(5);

async fn start() -> (Process, Clients) {
    let interval = PING_INTERVAL.as_millis().to_string();
    let flags = ["--ping-interval-ms", &interval].map(OsStr::new);
    let process = Process::start_with(tempfile::tempdir().unwrap(), &flags).await;
    let clients = process.connect().await;
    (process, clients)
}

/// A connection that can fall silent.
async fn by_proxy(clients: &Clients) -> (Proxy, Clients) {
    let server = clients.url().strip_prefix("http://").unwrap().parse().unwrap();
    let proxy = Proxy::start(server, None).await;
    let clients = Clients::connect(proxy.address(), clients.admin_token()).await;
    (proxy, clients)
}

/// One stream of each kind that only reads.
struct Readers {
    _observe: Table,
    _match: Streaming<v1::WatchMatchResponse>,
    _results: Streaming<v1::WatchResultsResponse>,
}

/// Opens them, and waits until they have begun.
async fn readers(clients: &Clients, created: &Created) -> Readers {
    let mut observe = Table::open(clients, &created.tokens).await;
    assert!(observe.read().await.unwrap());
    let request = v1::WatchMatchRequest { match_id: created.id().to_owned(), ..Default::default() };
    let mut one = soon("WatchMatch", clients.matches().watch_match(request)).await.unwrap().into_inner();
    soon("a match", one.message()).await.unwrap().unwrap();
    let request = v1::WatchResultsRequest::default();
    let mut results =
        soon("WatchResults", clients.matches().watch_results(request)).await.unwrap().into_inner();
    soon("the results", results.message()).await.unwrap().unwrap();
    Readers { _observe: observe, _match: one, _results: results }
}

async fn open_streams(process: &Process, rpc: &str) -> u64 {
    process.scrape().await.at("zetema_streams", "rpc", rpc).to_string().parse().unwrap()
}

/// Waits until as many streams of an RPC are open, and says for how long.
async fn until_open(process: &Process, rpc: &str, count: u64) -> Duration {
    let begun = Instant::now();
    let mut look = tokio::time::interval(Duration::from_millis(50));
    let gone = async {
        while open_streams(process, rpc).await != count {
            look.tick().await;
        }
    };
    soon(rpc, gone).await;
    begun.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_gives_up_a_dead_client_in_three_ping_intervals_and_no_other() {
    let (process, clients) = start().await;
    let created = clients.create(unhurried(preset(Preset::Sackson, 2))).await;
    let (reading, dead) = by_proxy(&clients).await;
    let _dead = readers(&dead, &created).await;
    // A connection of its own: on one with others a Play stream would go with them.
    let (playing, dead) = by_proxy(&clients).await;
    let _dead_player = PlayStream::open(&dead).await;
    // It reads nothing and answers all the same: HTTP/2 does that by itself.
    let _alive = readers(&clients, &created).await;
    for rpc in ["Observe", "WatchMatch", "WatchResults"] {
        assert_eq!(open_streams(&process, rpc).await, 2, "{rpc}");
    }
    assert_eq!(open_streams(&process, "Play").await, 1);

    reading.fall_silent();
    playing.fall_silent();
    let until_gone = |rpc, left| until_open(&process, rpc, left);
    let (observe, one, results, play) = tokio::join!(
        until_gone("Observe", 1),
        until_gone("WatchMatch", 1),
        until_gone("WatchResults", 1),
        until_gone("Play", 0),
    );
    for (rpc, noticed) in
        [("Observe", observe), ("WatchMatch", one), ("WatchResults", results), ("Play", play)]
    {
        assert!(noticed >= PING_INTERVAL && noticed <= NOTICED_WITHIN + SLACK, "{rpc}: {noticed:?}");
    }
    for rpc in ["Observe", "WatchMatch", "WatchResults"] {
        assert_eq!(open_streams(&process, rpc).await, 1, "{rpc}");
    }
    process.kill();
}

/// Plays on, but at its first decision lets the connection fall silent before its answer goes out.
struct Silencing {
    proxy: Arc<Proxy>,
    once: Arc<Once>,
    silent_since: watch::Sender<Option<Instant>>,
}

impl Bot for Silencing {
    fn choose(&mut self, decision: &Decision) -> Action {
        self.once.call_once(|| {
            self.proxy.fall_silent();
            self.silent_since.send_replace(Some(Instant::now()));
        });
        decision.first()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sdk_gives_up_a_dead_server_in_three_ping_intervals_and_plays_on() {
    let (process, clients) = start().await;
    let created = clients.create(unhurried(preset(Preset::Quick, 2))).await;
    let (proxy, _) = by_proxy(&clients).await;
    let proxy = Arc::new(proxy);
    let (silent_since, mut silent) = watch::channel(None);
    let (url, bots, once) = (proxy.url(), Arc::clone(&proxy), Arc::new(Once::new()));
    let bot = move |_: &_| Silencing {
        proxy: Arc::clone(&bots),
        once: Arc::clone(&once),
        silent_since: silent_since.clone(),
    };
    let mut session = Session::open(&url, Settings::default(), bot).unwrap();
    for token in &created.tokens {
        session.play(token.as_str().into()).unwrap();
    }
    let since = soon("a decision", silent.wait_for(Option::is_some)).await.unwrap().unwrap();
    // The first is the tests' own, the second the session's.
    soon("another connection", proxy.connections(3)).await;
    let noticed = since.elapsed();
    assert!(noticed >= PING_INTERVAL && noticed <= NOTICED_WITHIN + SLACK, "{noticed:?}");
    for _ in &created.tokens {
        let outcome = soon("the end of the match", session.next()).await.unwrap();
        assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
        let [Fault::Disconnected(Disconnect::Silence(silence))] = outcome.faults[..] else {
            panic!("{outcome}");
        };
        assert_eq!(silence, NOTICED_WITHIN);
    }
    clients.verified_record(created.id()).await;
    process.kill();
}
